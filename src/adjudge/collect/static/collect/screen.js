// @ts-check
/** One screen: what is judged, with what stands around it, and the stops that keys go through. */
import { h } from "./dom.js";
import { editItem } from "./edit.js";
import { pairItem, rankingItem, scoreItem } from "./items.js";
import { context, headings } from "./parts.js";
import { categorisedSpansItem, scoredSpansItem } from "./spans.js";
import { t } from "./texts.js";

/**
 * @typedef {Record<string, Record<string, any>>} Answers
 * @typedef {{outputs: string[], attended: string[], element: HTMLElement, isOpen: () => boolean,
 *   key: (event: KeyboardEvent) => boolean, focus: () => void, comment: () => void, show: () => void,
 *   takesShift?: boolean}} Stop
 * @typedef {{campaign: any, answers: () => Answers, locked: boolean, tutorial: boolean,
 *   change: (changes: Answers) => void, attend: (stop: Stop) => void, on: () => void}} Setting
 */

/**
 * @param {any} screen
 * @param {Setting} setting
 * @returns {{element: HTMLElement, stops: Stop[], show: () => void}}
 */
export function screenView(screen, setting) {
  const builders = { ranking: rankingItem, pairwise: pairItem, esa: scoredSpansItem, mqm: categorisedSpansItem, postedit: editItem };
  const build = builders[/** @type {string} */ (setting.campaign.protocol)] || scoreItem;
  /** @type {Stop[]} */
  const stops = [];
  /** @type {(() => void)[]} */
  const refreshers = [];
  const before = screen.context_before.map((/** @type {any} */ one) => context(one, setting.campaign));
  const after = screen.context_after.map((/** @type {any} */ one) => context(one, setting.campaign));
  // A ranking has its context beside the cards, around the source; elsewhere it stands above and below.
  const beside = setting.campaign.protocol === "ranking";
  const around = beside ? { before, after } : { before: [], after: [] };
  const items = screen.items.map((/** @type {any} */ item, /** @type {number} */ i) => {
    const built = build(item, setting, screen.items.length > 1 ? i + 1 : 0, around);
    stops.push(...built.stops);
    if (built.show) refreshers.push(built.show);
    return built.element;
  });
  const element = h(
    `section.screen.${setting.campaign.protocol}`,
    { "aria-label": t("screen") },
    headings(setting.campaign),
    ...(beside ? items : [...before, ...items, ...after]),
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
  return texts.reduce(
    (/** @type {number} */ sum, /** @type {any} */ text) => sum + JSON.stringify(text ?? "").length,
    0,
  );
}
