// @ts-check
/** One screen: what is judged, with what stands around it, and the stops that keys go through. */
import { h, shownText } from "./dom.js";
import { choiceOf, pairWidget, RANKS } from "./pair.js";
import { letter, rankWidget, shelves } from "./rank.js";
import { scoreWidget } from "./score.js";
import { currentLanguage, t } from "./texts.js";

/**
 * @typedef {Record<string, Record<string, any>>} Answers
 * @typedef {{outputs: string[], attended: string[], element: HTMLElement, isOpen: () => boolean,
 *   key: (event: KeyboardEvent) => boolean, focus: () => void, comment: () => void, show: () => void}} Stop
 * @typedef {{campaign: any, answers: () => Answers, locked: boolean, tutorial: boolean,
 *   change: (changes: Answers) => void, attend: (stop: Stop) => void}} Setting
 */

/**
 * @param {any} screen
 * @param {Setting} setting
 * @returns {{element: HTMLElement, stops: Stop[], show: () => void}}
 */
export function screenView(screen, setting) {
  const build = { ranking: rankingItem, pairwise: pairItem }[/** @type {string} */ (setting.campaign.protocol)] || scoreItem;
  /** @type {Stop[]} */
  const stops = [];
  /** @type {(() => void)[]} */
  const refreshers = [];
  const items = screen.items.map((/** @type {any} */ item, /** @type {number} */ i) => {
    const built = build(item, setting, screen.items.length > 1 ? i + 1 : 0);
    stops.push(...built.stops);
    if (built.show) refreshers.push(built.show);
    return built.element;
  });
  const element = h(
    `section.screen.${setting.campaign.protocol}`,
    { "aria-label": t("screen") },
    headings(setting.campaign),
    ...screen.context_before.map((/** @type {any} */ one) => context(one, setting.campaign)),
    ...items,
    ...screen.context_after.map((/** @type {any} */ one) => context(one, setting.campaign)),
  );
  const show = () => [...stops.map((stop) => stop.show), ...refreshers].forEach((one) => one());
  return { element, stops, show };
}

/** How much there is to read. @param {any} screen @returns {number} */
export function characters(screen) {
  const texts = screen.items.flatMap((/** @type {any} */ one) => [
    one.source,
    one.reference,
    ...one.outputs.map((/** @type {any} */ output) => output.text),
  ]);
  return texts.reduce((/** @type {number} */ sum, /** @type {any} */ text) => sum + JSON.stringify(text ?? "").length, 0);
}

/** @param {any} campaign @returns {HTMLElement} */
function headings(campaign) {
  return h(
    "div.columns.headings",
    { "aria-hidden": "true" },
    h("div", {}, t("source_in", { language: languageName(campaign.source.lang) })),
    h("div", {}, t("translation_in", { language: languageName(campaign.target.lang) })),
  );
}

/** @param {string} code @returns {string} */
function languageName(code) {
  try {
    return new Intl.DisplayNames([currentLanguage()], { type: "language" }).of(code.replace("_", "-")) || code;
  } catch {
    return code;
  }
}

/**
 * A text in its own language and direction.
 * @param {any} text @param {{lang: string, dir: string}} language @param {string} label @param {string} [kind]
 * @returns {HTMLElement | null}
 */
function textBlock(text, language, label, kind = "") {
  if (text === null || text === undefined) return null;
  const lang = language.lang.split("_")[0];
  const words = h("div.words", { lang, dir: language.dir }, ...shownText(text));
  return h(`div.text${kind}`, {}, h("span.label", {}, label), words);
}

/** @param {any} segment @param {any} campaign @returns {HTMLElement} */
function context(segment, campaign) {
  return h(
    "div.columns.context",
    { role: "note", "aria-label": t("context") },
    h("div", {}, textBlock(segment.source, campaign.source, t("source"))),
    h("div", {}, textBlock(segment.target, campaign.target, t("translation"))),
  );
}

/** Source and reference of an item. @param {any} item @param {any} campaign @returns {(HTMLElement | null)[]} */
function given(item, campaign) {
  return [
    textBlock(item.source, campaign.source, t("source")),
    textBlock(item.reference, campaign.target, t("reference"), ".reference"),
  ];
}

/** @param {any} item @returns {HTMLElement | null} */
function note(item) {
  return item.note ? h("p.lesson", {}, item.note) : null;
}

/**
 * The place for a comment, opened by its key or button.
 * @param {string} output @param {Setting} setting
 * @returns {{element: HTMLElement | null, open: () => void, show: () => void}}
 */
function commentBox(output, setting) {
  if (!setting.campaign.comments) return { element: null, open: () => undefined, show: () => undefined };
  const area = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { rows: 2, maxlength: 5000, dir: "auto", "aria-label": t("comment"), placeholder: t("comment_hint") })
  );
  area.disabled = setting.locked;
  area.addEventListener("input", () => setting.change({ [output]: { comment: area.value || null } }));
  area.addEventListener("keydown", (event) => event.key === "Escape" && area.blur());
  const button = h("button.quiet", { type: "button", "data-key": "c" }, t("comment"));
  const element = h("div.comment", {}, button, area);
  const open = () => {
    element.classList.add("open");
    area.focus();
  };
  button.addEventListener("click", open);
  const show = () => {
    const text = setting.answers()[output]?.comment ?? "";
    if (text) element.classList.add("open");
    if (document.activeElement !== area) area.value = text;
  };
  show();
  return { element, open, show };
}

/** What a tutorial says to an answer. @param {any} output @param {number | null} value @returns {string} */
function lesson(output, value) {
  if (!output.expected || value === null) return "";
  const [low, high] = output.expected;
  if (value >= low && value <= high) return t("lesson_right");
  return low === high ? t("lesson_other", { value: low }) : t("lesson_between", { low, high });
}

/** @param {any} item @param {Setting} setting @param {number} place @returns {{element: HTMLElement, stops: Stop[], show?: () => void}} */
function scoreItem(item, setting, place) {
  const several = item.outputs.length > 1;
  const article = h("article.item", { "aria-label": place ? t("segment_n", { n: place }) : t("segment") });
  /** @type {Stop[]} */
  const stops = [];
  const blocks = item.outputs.map((/** @type {any} */ output, /** @type {number} */ i) => {
    const value = () => setting.answers()[output.id]?.score ?? null;
    const name = several ? t("translation_n", { letter: letter(i) }) : t("translation");
    const comment = commentBox(output.id, setting);
    const said = h("p.lesson.said", { role: "status" });
    const widget = scoreWidget({
      scale: setting.campaign.scale,
      label: place ? t("score_of", { n: place }) : t("score"),
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
  const right = several ? blocks.flatMap((/** @type {any} */ one) => [one.text, one.judged]) : [blocks[0].text];
  const columns = h("div.columns", {}, h("div", {}, ...given(item, setting.campaign)), h("div", {}, ...right));
  if (place) article.append(h("span.place", { "aria-hidden": "true" }, place));
  article.append(...[note(item), columns, several ? null : blocks[0].judged].filter((one) => one !== null));
  article.addEventListener("pointerdown", () => setting.attend(stops[0]));
  return { element: article, stops };
}

/** @param {any} item @param {Setting} setting @returns {{element: HTMLElement, stops: Stop[], show?: () => void}} */
function rankingItem(item, setting) {
  const ids = item.outputs.map((/** @type {any} */ one) => one.id);
  const rank = (/** @type {string} */ output) => setting.answers()[output]?.rank ?? null;
  const comment = commentBox(ids[0], setting);
  /** @param {string} output @param {number | null} to */
  function give(output, to) {
    /** @type {Answers} */
    const changes = { [output]: { rank: to } };
    const taken = ids.find((/** @type {string} */ one) => one !== output && to !== null && rank(one) === to);
    if (!setting.campaign.ties && taken) changes[taken] = { rank: null };
    setting.change(changes);
    refresh();
  }
  const board = shelves({
    outputs: ids,
    ranks: () => Object.fromEntries(ids.map((/** @type {string} */ one) => [one, rank(one)])),
    locked: setting.locked,
    change: give,
  });
  /** @type {Stop[]} */
  const stops = [];
  const cards = item.outputs.map((/** @type {any} */ output, /** @type {number} */ i) => {
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
    const card = h("article.card", { "aria-label": t("translation_n", { letter: letter(i) }) }, badge, text, widget.element, said);
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
    card.addEventListener("pointerdown", () => setting.attend(stop));
    stops.push(stop);
    return card;
  });
  const refresh = () => {
    board.show();
    stops.forEach((stop) => stop.show());
  };
  const left = h("div.given", {}, ...given(item, setting.campaign), board.element);
  const right = h("div.cards", {}, ...cards, comment.element);
  const element = h("div.item.ranked", {}, note(item), h("div.columns", {}, left, right));
  return { element, stops, show: () => (board.show(), comment.show()) };
}

/** @param {any} item @param {Setting} setting @param {number} place @returns {{element: HTMLElement, stops: Stop[], show?: () => void}} */
function pairItem(item, setting, place) {
  const ids = item.outputs.map((/** @type {any} */ one) => one.id);
  const choice = () => choiceOf(ids.map((/** @type {string} */ one) => setting.answers()[one]?.rank));
  const comment = commentBox(ids[0], setting);
  const said = h("p.lesson.said", { role: "status" });
  const cards = item.outputs.map((/** @type {any} */ output, /** @type {number} */ i) =>
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
    { "aria-label": place ? t("segment_n", { n: place }) : t("segment") },
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
  element.addEventListener("pointerdown", () => setting.attend(stop));
  return { element, stops: [stop] };
}
