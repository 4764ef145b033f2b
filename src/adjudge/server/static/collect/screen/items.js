// @ts-check
/** The items of each protocol: a score per translation, a ranking of several, a choice between two. */
import { h, present } from "../shared/dom.js";
import { choiceOf, pairWidget, RANKS } from "./pair.js";
import { commentBox, given, lesson, note, textBlock } from "./item_parts.js";
import { letter, rankWidget, shelves } from "./rank.js";
import { scoreWidget } from "./score.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {import("./screen.js").Answers} Answers
 * @typedef {import("./screen.js").Setting} Setting
 * @typedef {import("./screen.js").Stop} Stop
 * @typedef {{element: HTMLElement, stops: Stop[], show?: () => void}} ItemView
 */

/** @param {Server.ItemOut} item @param {Setting} setting @param {number} number @returns {ItemView} */
export function scoreItem(item, setting, number) {
  const several = item.outputs.length > 1;
  const article = h("article.item", { "aria-label": number ? t("segment_n", { n: number }) : t("segment") });
  /** @type {Stop[]} */
  const stops = [];
  const blocks = item.outputs.map((output, i) => {
    const value = () => setting.answers()[output.id]?.score ?? null;
    const name = several ? t("translation_n", { letter: letter(i) }) : t("translation");
    const comment = commentBox(output.id, setting);
    const said = h("p.lesson.said", { role: "status" });
    const widget = scoreWidget({
      scale: setting.campaign.scale,
      label: number ? t("score_of", { n: number }) : t("score"),
      value: value(),
      locked: setting.locked,
      change: (score) => {
        setting.change({ [output.id]: { score } });
        said.textContent = lesson(output, score);
      },
      attend: () => setting.attend(stop),
    });
    const judged = h("div.judge", {}, widget.element, comment.element, said);
    /** @type {Stop} */
    const stop = {
      outputs: [output.id],
      attended: [output.id],
      element: several ? judged : article,
      isOpen: () => value() === null,
      key: widget.key,
      focus: widget.focus,
      comment: comment.open,
      show: () => {
        widget.show(value());
        comment.show();
      },
    };
    stops.push(stop);
    return { text: textBlock(output.text, setting.campaign.target, name), judged };
  });
  const right = several ? blocks.flatMap((block) => [block.text, block.judged]) : [blocks[0].text];
  const columns = h("div.columns", {}, h("div", {}, ...given(item, setting.campaign)), h("div", {}, ...right));
  if (number) article.append(h("span.place", { "aria-hidden": "true" }, number));
  article.append(...present([note(item), columns, several ? null : blocks[0].judged]));
  return { element: article, stops };
}

/**
 * @param {Server.ItemOut} item @param {Setting} setting @param {number} number
 * @param {{before: HTMLElement[], after: HTMLElement[]}} around
 * @returns {ItemView}
 */
export function rankingItem(item, setting, number, around) {
  const ids = item.outputs.map((output) => output.id);
  const rank = (/** @type {string} */ output) => setting.answers()[output]?.rank ?? null;
  const comment = commentBox(ids[0], setting);
  /** @param {string} output @param {number | null} to */
  function give(output, to) {
    /** @type {Answers} */
    const changes = { [output]: { rank: to } };
    const taken = ids.find((/** @type {string} */ id) => id !== output && to !== null && rank(id) === to);
    if (!setting.campaign.ties && taken) changes[taken] = { rank: null };
    setting.change(changes);
    refresh();
  }
  const board = shelves({
    outputs: ids,
    ties: setting.campaign.ties,
    ranks: () => Object.fromEntries(ids.map((/** @type {string} */ id) => [id, rank(id)])),
    locked: setting.locked,
    change: give,
  });
  /** @type {Stop[]} */
  const stops = [];
  const cards = item.outputs.map((output, i) => {
    const widget = rankWidget({
      count: ids.length,
      label: t("rank_of", { letter: letter(i) }),
      value: rank(output.id),
      locked: setting.locked,
      change: (to) => give(output.id, to),
      attend: () => setting.attend(stop),
    });
    const badge = h("span.badge", { "aria-hidden": "true" }, letter(i));
    board.drag(badge, output.id);
    const text = textBlock(output.text, setting.campaign.target, t("translation_n", { letter: letter(i) }));
    const said = h("p.lesson.said", { role: "status" });
    const card = h(
      "article.card",
      { "aria-label": t("translation_n", { letter: letter(i) }) },
      badge,
      text,
      widget.element,
      said,
    );
    /** @type {Stop} */
    const stop = {
      outputs: [output.id],
      attended: ids,
      element: card,
      isOpen: () => rank(output.id) === null,
      key: widget.key,
      focus: widget.focus,
      comment: comment.open,
      show: () => {
        widget.show(rank(output.id));
        said.textContent = lesson(output, rank(output.id));
      },
    };
    stops.push(stop);
    return card;
  });
  const refresh = () => {
    board.show();
    stops.forEach((stop) => stop.show());
  };
  const texts = given(item, setting.campaign);
  // On narrow screens a long source scrolls by itself above the cards: keys must reach it.
  if (texts[0] && matchMedia("(max-width: 46rem)").matches) texts[0].tabIndex = 0;
  const left = h("div.given", {}, ...around.before, ...texts, ...around.after, board.element);
  const right = h("div.cards", {}, ...cards, comment.element);
  const element = h("div.item.ranked", {}, note(item), h("div.columns", {}, left, right));
  return { element, stops, show: () => (board.show(), comment.show()) };
}

/** @param {Server.ItemOut} item @param {Setting} setting @param {number} number @returns {ItemView} */
export function pairItem(item, setting, number) {
  const ids = item.outputs.map((output) => output.id);
  const choice = () => choiceOf(ids.map((/** @type {string} */ id) => setting.answers()[id]?.rank));
  const comment = commentBox(ids[0], setting);
  const said = h("p.lesson.said", { role: "status" });
  const cards = item.outputs.map((output, i) =>
    h(
      "article.card",
      { "data-side": i ? "second" : "first" },
      textBlock(output.text, setting.campaign.target, t("translation_n", { letter: letter(i) })),
    ),
  );
  const widget = pairWidget({
    ties: setting.campaign.ties,
    locked: setting.locked,
    value: choice(),
    change: (next) => {
      const ranks = RANKS[next ?? "none"];
      setting.change({ [ids[0]]: { rank: ranks[0] }, [ids[1]]: { rank: ranks[1] } });
      stop.show();
    },
    attend: () => setting.attend(stop),
  });
  const element = h(
    "div.item.paired",
    { role: "group", "aria-label": number ? t("segment_n", { n: number }) : t("segment") },
    note(item),
    h("div.given", {}, ...given(item, setting.campaign)),
    h("div.pair", { dir: "ltr" }, ...cards),
    widget.element,
    comment.element,
    said,
  );
  /** @type {Stop} */
  const stop = {
    outputs: ids,
    attended: ids,
    element,
    isOpen: () => choice() === null,
    key: widget.key,
    focus: widget.focus,
    comment: comment.open,
    show: () => {
      widget.show(choice());
      comment.show();
      cards.forEach((/** @type {HTMLElement} */ card) => {
        card.classList.toggle("chosen", choice() === "tie" || choice() === card.dataset.side);
      });
      said.textContent = lesson(item.outputs[0], setting.answers()[ids[0]]?.rank ?? null);
    },
  };
  stop.show();
  return { element, stops: [stop] };
}
