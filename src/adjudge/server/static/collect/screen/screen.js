// @ts-check
/** One screen: what is judged, with what stands around it, and the stops that keys go through. */
import { h } from "../shared/dom.js";
import { context, headings, markHint } from "./item_parts.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {Record<string, Server.AnswerOut>} Answers
 * @typedef {{outputs: string[], attended: string[], element: HTMLElement, isOpen: () => boolean,
 *   key: (event: KeyboardEvent) => boolean, focus: () => void, comment: () => void, skip: () => void, show: () => void,
 *   takesShift?: boolean, optional?: boolean}} Stop  optional: passed over when nothing is open
 * @typedef {{kind: Kind, campaign: Server.CampaignOut, answers: () => Answers, locked: boolean, tutorial: boolean,
 *   change: (changes: Answers) => void, attend: (stop: Stop) => void, turn: (stop: Stop) => void,
 *   on: () => void, mediumAt: (place: string, number: number) => string,
 *   played: (place: string, seconds: number) => void}} Setting  attend: to what has the focus; turn: to what is to get it
 * @typedef {{before: HTMLElement[], after: HTMLElement[]}} Around
 * @typedef {{element: HTMLElement, stops: Stop[], show?: () => void}} ItemView
 * @typedef {import("../marking/marking.js").Marking} Marking
 * @typedef {{
 *   item: (item: Server.ItemOut, setting: Setting, number: number, around: Around) => ItemView,
 *   whole?: (screen: Server.ScreenOut, setting: Setting) => ItemView,
 *   mark?: (...given: ConstructorParameters<typeof import("../marking/marking.js").Marking>) => Marking}} Kind
 *   what a page loads to build the items of its campaign, scores of whole documents, and texts in which errors are marked
 */

/**
 * @param {Server.ScreenOut} screen
 * @param {Setting} setting
 * @returns {{element: HTMLElement, stops: Stop[], show: () => void}}
 */
export function screenView(screen, setting) {
  /** @type {Stop[]} */
  const stops = [];
  /** @type {(() => void)[]} */
  const refreshers = [];
  const before = screen.context_before.map((segment) => context(segment, setting.campaign));
  const after = screen.context_after.map((segment) => context(segment, setting.campaign));
  // A ranking has its context beside the cards, around the source; elsewhere it stands above and below.
  const beside = setting.campaign.protocol === "ranking";
  const around = beside ? { before, after } : { before: [], after: [] };
  const take = (/** @type {ItemView} */ built) => {
    stops.push(...built.stops);
    if (built.show) refreshers.push(built.show);
    return built.element;
  };
  const items = screen.items.map((item, i) => take(setting.kind.item(item, setting, screen.items.length > 1 ? i + 1 : 0, around)));
  const whole = setting.kind.whole && screen.whole.length ? [take(setting.kind.whole(screen, setting))] : [];
  const element = h(
    `section.screen.${setting.campaign.protocol}`,
    { "aria-label": t("screen") },
    setting.campaign.spans ? markHint() : null,
    headings(setting.campaign),
    ...(beside ? items : [...before, ...items, ...after, ...whole]),
  );
  const show = () => [...stops.map((stop) => stop.show), ...refreshers].forEach((refresh) => refresh());
  return { element, stops, show };
}

/**
 * How much there is to read.
 * @param {Server.ScreenOut} screen @returns {number}
 */
export function characters(screen) {
  const texts = screen.items.flatMap((item) => [
    item.source,
    item.reference,
    ...item.outputs.map((output) => output.text),
  ]);
  return texts.reduce(
    (/** @type {number} */ sum, /** @type {any} */ text) => sum + JSON.stringify(text ?? "").length,
    0,
  );
}
