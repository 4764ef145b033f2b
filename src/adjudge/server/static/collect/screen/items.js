// @ts-check
/** The items of each protocol: a score per translation, a ranking of several, a choice between two. */
import { h, present } from "../shared/dom.js";
import { choiceOf, pairWidget, RANKS } from "./pair.js";
import { columns, commentBox, given, lesson, mediaBlock, note, textBlock } from "./item_parts.js";
import { isOpen, questionsOf, questionsOfPage, scoresOf, scoresOfPage } from "./judged.js";
import { judgedOutput, scoreViews } from "./output.js";
import { letter, rankWidget, shelves } from "./rank.js";
import { skipBox } from "./skip.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {import("./screen.js").Answers} Answers
 * @typedef {import("./screen.js").Setting} Setting
 * @typedef {import("./screen.js").Stop} Stop
 * @typedef {{element: HTMLElement, stops: Stop[], show?: () => void}} ItemView
 */

/**
 * A segment whose translations are judged each by itself: one, or several side by side.
 * @param {Server.ItemOut} item @param {Setting} setting @param {number} number @returns {ItemView}
 */
export function scoreItem(item, setting, number) {
  return item.outputs.length > 1 ? comparedItem(item, setting, number) : singleItem(item, setting, number);
}

/** @param {Server.ItemOut} item @param {Setting} setting @param {number} number @returns {ItemView} */
function singleItem(item, setting, number) {
  const [output] = item.outputs;
  const element = articleOf(item, setting, number, "");
  const none = { letter: "", changed: () => undefined, others: () => [] };
  const { text, judge, stops, marking } = judgedOutput(item, output, setting, { ...none, number, element });
  const left = given(item, setting, marking?.source);
  element.append(...present([note(item), columns(left, [text]), judge]));
  return { element, stops };
}

/**
 * Several translations side by side, below or beside the source, which stays in view.
 * @param {Server.ItemOut} item @param {Setting} setting @param {number} number @returns {ItemView}
 */
function comparedItem(item, setting, number) {
  const element = articleOf(item, setting, number, ".compared");
  const values = item.outputs.map((output) =>
    scoresOf(item, output, setting.campaign).map(({ id }) => () => setting.answers()[id]?.score ?? null),
  );
  const sides = item.outputs.map((output, i) => {
    const side = h("section.side", { "aria-label": t("translation_n", { letter: letter(i) }) });
    const others = (/** @type {number} */ score) =>
      values.flatMap((of, j) => (j === i ? [] : [{ letter: letter(j), value: of[score]() }]));
    const place = { number, letter: letter(i), element: side, changed: () => refresh(), others };
    const view = judgedOutput(item, output, setting, place);
    side.append(...present([h("span.badge", { "aria-hidden": "true" }, letter(i)), view.text, view.judge]));
    return { ...view, side };
  });
  const stops = sides.flatMap((side) => side.stops);
  // On a phone one translation stands below the other: buttons go from one to the next, and show what each has.
  const jumps = item.outputs.map((_, i) =>
    h("button.jump-side", { type: "button", onclick: () => setting.turn(sides[i].stops[0]) }, h("b", {}, letter(i)), h("span")),
  );
  const sources = sides.map((side) => side.marking?.source ?? null);
  const texts = given(item, setting, sources[0], ...sources.slice(1));
  element.classList.toggle("alone", !present(texts).length);
  const source = h("div.given", { role: "group", "aria-label": t("source"), tabindex: isLong(item) ? 0 : null }, ...texts);
  const row = h("div.sides", {}, ...sides.map(({ side }) => side));
  row.style.setProperty("--sides", String(sides.length));
  const switcher = h("div.jump-sides", { role: "group", "aria-label": t("go_to_translation") }, ...jumps);
  element.append(...present([note(item), h("div.compare", {}, h("div.above", {}, source, switcher), row)]));
  element.classList.toggle("many", sides.length > 3);

  function refresh() {
    sides.forEach((side, i) => {
      side.showOthers();
      const open = questionsOf(item, item.outputs[i]).some((question) => isOpen(question, setting.answers()));
      const points = values[i].length === 1 ? values[i][0]() : null;
      jumps[i].lastElementChild?.replaceChildren(points === null ? (open ? "–" : "✓") : String(points));
      jumps[i].classList.toggle("open", open);
    });
  }
  // Where the source is marked, each translation has marks of its own in it: those of the one in hand are shown.
  sides.forEach((side, i) =>
    side.side.addEventListener("focusin", () =>
      sources.forEach((one, j) => one && one.words.classList.toggle("away", i !== j)),
    ),
  );
  sources.forEach((one, j) => one && one.words.classList.toggle("away", j > 0));
  refresh();
  return { element, stops, show: refresh };
}

/**
 * The page as a whole: a score for each column of outputs, by each criterion that is of documents.
 * @param {Server.ScreenOut} screen @param {Setting} setting @returns {ItemView}
 */
export function wholePage(screen, setting) {
  const { criteria } = setting.campaign;
  const several = screen.whole.length > 1;
  const kind = several ? ".compared" : "";
  const element = h(`article.item.whole${kind}`, { "aria-label": t("whole_document") }, h("h2", {}, t("whole_document")));
  const value = (/** @type {number} */ j, /** @type {number} */ score) =>
    setting.answers()[screen.whole[j][score].id]?.score ?? null;
  const sides = screen.whole.map((column, i) => {
    const name = several ? t("translation_n", { letter: letter(i) }) : t("whole_document");
    const side = several ? h("section.side", { "aria-label": name }, h("span.badge", { "aria-hidden": "true" }, letter(i))) : element;
    const judge = h("div.judge");
    const [{ owner }] = questionsOfPage(column);
    const [comment, skip] = [commentBox(owner, setting), skipBox([owner], setting, judge, () => refresh())];
    const said = h("p.lesson.said", { role: "status" });
    const [taught] = screen.items[0].asks.length ? [] : [screen.items[0].outputs[i]];
    const teach = () => (said.textContent = taught ? lesson(taught, value(i, 0)) : "");
    const others = (/** @type {number} */ score) =>
      screen.whole.flatMap((_, j) => (j === i ? [] : [{ letter: letter(j), value: value(j, score) }]));
    const place = { number: 0, letter: several ? letter(i) : "", element: side, changed: () => refresh(), others };
    const sliders = scoreViews(scoresOfPage(column, criteria), setting, place, {
      label: several ? `${t("whole_document")}, ${name}` : t("score_of_document"),
      owner,
      optional: false,
      skip,
      comment: comment.open,
      changed: () => (teach(), refresh()),
      key: () => false,
      show: () => (comment.show(), skip.show()),
    });
    judge.append(...sliders.map((slider) => slider.element), ...present([comment.element, skip.element, said]));
    side.append(judge);
    return { side, sliders };
  });
  const refresh = () => sides.forEach(({ sliders }) => sliders.forEach((slider) => slider.showOthers()));
  if (several) {
    const row = h("div.sides", {}, ...sides.map(({ side }) => side));
    row.style.setProperty("--sides", String(sides.length));
    element.append(row);
  }
  refresh();
  return { element, stops: sides.flatMap(({ sliders }) => sliders.map(({ stop }) => stop)), show: refresh };
}

const LONG = 900; // characters of a text beyond which what is judged stays in sight by itself

/** @param {Server.ItemOut} item @returns {boolean} */
function isLong(item) {
  const texts = [item.source, item.reference, ...item.outputs.map((output) => output.text)];
  return texts.some((text) => JSON.stringify(text ?? "").length > LONG);
}

/** @param {Server.ItemOut} item @param {Setting} setting @param {number} number @param {string} kind @returns {HTMLElement} */
function articleOf(item, setting, number, kind) {
  const marked = setting.campaign.spans ? ".marked" : "";
  const label = number ? t("segment_n", { n: number }) : t("segment");
  const shown = number ? h("span.place", { "aria-hidden": "true" }, number) : null;
  return h(`article.item${marked}${kind}${isLong(item) ? ".long" : ""}`, { "aria-label": label }, shown);
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
  const labels = setting.campaign.rank_labels;
  const element = h("div.item.ranked");
  const skip = skipBox(ids, setting, element);
  const open = (/** @type {string} */ id) => isOpen({ id, owner: ids[0], asks: item.asks }, setting.answers());
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
    labels,
    ties: setting.campaign.ties,
    ranks: () => Object.fromEntries(ids.map((/** @type {string} */ id) => [id, rank(id)])),
    locked: setting.locked,
    change: give,
  });
  /** @type {Stop[]} */
  const stops = [];
  const cards = item.outputs.map((output, i) => {
    const widget = rankWidget({
      count: labels.length || ids.length,
      labels,
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
      h("div", {}, text, mediaBlock(output.media, setting, t("translation_n", { letter: letter(i) }))),
      widget.element,
      said,
    );
    /** @type {Stop} */
    const stop = {
      outputs: [output.id],
      attended: ids,
      element: card,
      isOpen: () => open(output.id),
      key: (event) => !skip.skipped() && widget.key(event),
      focus: widget.focus,
      comment: comment.open,
      skip: skip.open,
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
  const texts = given(item, setting);
  // On narrow screens a long source scrolls by itself above the cards: keys must reach it.
  if (texts[0] && matchMedia("(max-width: 46rem)").matches) texts[0].tabIndex = 0;
  const left = h("div.given", {}, ...around.before, ...texts, ...around.after, board.element);
  const right = h("div.cards", {}, ...cards, comment.element, skip.element);
  element.append(...present([note(item), h("div.columns", {}, left, right)]));
  return { element, stops, show: () => (board.show(), comment.show(), skip.show()) };
}

/** @param {Server.ItemOut} item @param {Setting} setting @param {number} number @returns {ItemView} */
export function pairItem(item, setting, number) {
  const ids = item.outputs.map((output) => output.id);
  const choice = () =>
    choiceOf(
      ids.map((/** @type {string} */ id) => setting.answers()[id]?.rank),
      setting.answers()[ids[0]]?.both,
    );
  const comment = commentBox(ids[0], setting);
  const said = h("p.lesson.said", { role: "status" });
  const cards = item.outputs.map((output, i) =>
    h(
      "article.card",
      { "data-side": i ? "second" : "first" },
      textBlock(output.text, setting.campaign.target, t("translation_n", { letter: letter(i) })),
      mediaBlock(output.media, setting, t("translation_n", { letter: letter(i) })),
    ),
  );
  const widget = pairWidget({
    ties: setting.campaign.ties,
    apart: setting.campaign.ties_apart,
    locked: setting.locked,
    value: choice(),
    change: (next) => {
      const ranks = RANKS[next ?? "none"] ?? RANKS.tie;
      const both = setting.campaign.ties_apart ? { both: ranks === RANKS.tie ? next : null } : {};
      setting.change({ [ids[0]]: { rank: ranks[0], ...both }, [ids[1]]: { rank: ranks[1], ...both } });
      stop.show();
    },
    attend: () => setting.attend(stop),
  });
  const name = number ? t("segment_n", { n: number }) : t("segment");
  const element = h("div.item.paired", { role: "group", "aria-label": name });
  const skip = skipBox(ids, setting, element);
  const above = [note(item), h("div.given", {}, ...given(item, setting)), h("div.pair", { dir: "ltr" }, ...cards)];
  element.append(...present([...above, widget.element, comment.element, skip.element, said]));
  /** @type {Stop} */
  const stop = {
    outputs: ids,
    attended: ids,
    element,
    isOpen: () => isOpen({ id: ids[0], owner: ids[0], asks: item.asks }, setting.answers()),
    key: (event) => !skip.skipped() && widget.key(event),
    focus: widget.focus,
    comment: comment.open,
    skip: skip.open,
    show: () => {
      widget.show(choice());
      comment.show();
      skip.show();
      cards.forEach((/** @type {HTMLElement} */ card) => {
        card.classList.toggle("chosen", ["tie", "good", card.dataset.side].includes(choice() ?? ""));
      });
      said.textContent = lesson(item.outputs[0], setting.answers()[ids[0]]?.rank ?? null);
    },
  };
  stop.show();
  return { element, stops: [stop] };
}
