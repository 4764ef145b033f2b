// @ts-check
/** Parts that the items of all protocols are made of: texts in their own direction, context, comments, lessons. */
import { h, present, shownText } from "../shared/dom.js";
import { languageName, t } from "../shared/interface_texts.js";

/** @typedef {import("./screen.js").Setting} Setting */

const NOTED_EVERY_S = 10; // so that little is lost if the page is closed
const LONGEST_STEP_S = 2; // of a player that goes on: it says where it is several times a second

/** @param {Server.CampaignOut} campaign @returns {HTMLElement} */
export function headings(campaign) {
  const target = { language: languageName(campaign.target.lang) };
  const source = { language: languageName(campaign.source.lang) };
  const left = campaign.shows === "reference" ? t("reference_in", target) : t("source_in", source);
  const parts = [campaign.shows === "nothing" ? null : h("div", {}, left), h("div", {}, t("translation_in", target))];
  return h(`div.columns.headings${campaign.shows === "nothing" ? ".alone" : ""}`, { "aria-hidden": "true" }, ...parts);
}

/** @returns {HTMLElement} how errors are marked, said once for all that is on the screen */
export function markHint() {
  return h("p.hint.mark-hint", {}, t("mark_hint"), h("span.keys-hint", {}, ` ${t("mark_hint_keys")}`));
}

/**
 * A text in its own language and direction.
 * @param {any} text @param {{lang: string, dir: string}} language @param {string} label @param {string} [kind]
 * @returns {HTMLElement | null}
 */
export function textBlock(text, language, label, kind = "") {
  if (text === null || text === undefined) return null;
  const lang = language.lang.split("_")[0];
  // A system may have said nothing: that is judged, too, and must not look like a fault of the page.
  const words = text.length
    ? h("div.words", { lang, dir: language.dir }, ...shownText(text))
    : h("div.words.hint", {}, t("no_text"));
  return h(`div.text${kind}`, {}, h("span.label", {}, label), words);
}

/** @param {Server.ContextOut} segment @param {Server.CampaignOut} campaign @returns {HTMLElement} */
export function context(segment, campaign) {
  return h(
    "div.columns.context",
    { role: "note", "aria-label": t("context") },
    h("div", {}, textBlock(segment.source, campaign.source, t("source"))),
    h("div", {}, textBlock(segment.target, campaign.target, t("translation"))),
  );
}

/**
 * What is given on the left, and what is judged on the right; alone, if nothing is given.
 * @param {(HTMLElement | null)[]} beside @param {(HTMLElement | null)[]} judged @returns {HTMLElement}
 */
export function columns(beside, judged) {
  const left = present(beside);
  return h(`div.columns${left.length ? "" : ".alone"}`, {}, left.length ? h("div", {}, ...left) : null, h("div", {}, ...judged));
}

/**
 * Pictures, sound and video. What is played is noted: for how long, and of what.
 * @param {Server.MediumOut[]} media @param {Setting} setting @param {string} label @returns {HTMLElement | null}
 */
export function mediaBlock(media, setting, label) {
  if (!media.length) return null;
  return h("div.media", {}, ...media.map((medium) => mediumElement(medium, setting, label)));
}

/** @param {Server.MediumOut} medium @param {Setting} setting @param {string} label @returns {HTMLElement} */
function mediumElement({ kind, place, number }, setting, label) {
  const src = setting.mediumAt(place, number);
  if (kind === "image")
    return h("a", { href: src, target: "_blank", rel: "noopener" }, h("img", { src, alt: label, loading: "lazy" }));
  const player = /** @type {HTMLMediaElement} */ (h(kind, { src, controls: true, preload: "metadata", "aria-label": label }));
  let [at, seconds] = [0, 0];
  const count = () => {
    // A leap to another place is not played.
    const passed = player.currentTime - at;
    if (passed > 0 && passed < LONGEST_STEP_S * player.playbackRate) seconds += passed;
    at = player.currentTime;
    if (seconds >= NOTED_EVERY_S) tell();
  };
  const tell = () => {
    if (seconds > 0) setting.played(place, Math.round(seconds * 10) / 10);
    seconds = 0;
  };
  const stop = () => (count(), tell());
  player.addEventListener("play", () => (at = player.currentTime));
  player.addEventListener("timeupdate", count);
  player.addEventListener("pause", stop);
  return player;
}

/**
 * Source and reference of an item; the source with the marks in it, where it can be marked.
 * @param {Server.ItemOut} item @param {Setting} setting
 * @param {...({words: HTMLElement} | null | undefined)} marked
 * @returns {(HTMLElement | null)[]}
 */
export function given(item, setting, ...marked) {
  const { campaign } = setting;
  const words = marked.flatMap((text) => (text ? [text.words] : []));
  return [
    words.length
      ? h("div.text", {}, h("span.label", {}, t("source")), ...words)
      : textBlock(item.source, campaign.source, t("source")),
    mediaBlock(item.media, setting, t("source")),
    textBlock(item.reference, campaign.target, t("reference"), ".reference"),
  ];
}

/** @param {Server.ItemOut} item @returns {HTMLElement | null} */
export function note(item) {
  // A note speaks the language of the campaign, which need not be that of the interface.
  return item.note ? h("p.lesson", { dir: "auto" }, item.note) : null;
}

/**
 * The place for a comment, opened by its key or button.
 * @param {string} output @param {Setting} setting
 * @returns {{element: HTMLElement | null, open: () => void, show: () => void}}
 */
export function commentBox(output, setting) {
  if (!setting.campaign.comments) return { element: null, open: () => undefined, show: () => undefined };
  const area = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { rows: 2, maxlength: 5000, dir: "auto", "aria-label": t("comment"), placeholder: t("comment_hint") })
  );
  area.disabled = setting.locked;
  area.addEventListener("input", () => setting.change({ [output]: { comment: area.value || null } }));
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

/**
 * What a tutorial says to an answer: a score, what errors cost, or how much was changed.
 * @param {Server.OutputOut} output @param {number | null} value @param {"score" | "cost" | "changed"} [kind]
 * @returns {string}
 */
export function lesson(output, value, kind = "score") {
  if (!output.expected || value === null) return "";
  // Why it is so, in the language of the campaign, which need not be that of the interface.
  const why = output.explanation ? ` \u2068${output.explanation}\u2069` : "";
  return lessonOf(output.expected, value, kind) + why;
}

/** @param {[number, number]} expected @param {number} value @param {string} kind @returns {string} */
function lessonOf([low, high], value, kind) {
  if (value >= low && value <= high) return t("lesson_right");
  if (kind !== "score") {
    const range = low === high ? low : `${low}–${high}`;
    return high === 0 ? t("lesson_nothing") : t(kind === "cost" ? "lesson_cost" : "lesson_changed", { range });
  }
  return low === high ? t("lesson_other", { value: low }) : t("lesson_between", { low, high });
}

/**
 * The letter by which a translation is called on the screen.
 * @param {number} i @returns {string}
 */
export function letter(i) {
  return String.fromCharCode(65 + i);
}
