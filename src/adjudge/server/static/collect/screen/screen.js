// @ts-check
/** One screen: what is judged, with what stands around it, and the stops that keys go through. */
import { h } from "../shared/dom.js";
import { editItem } from "./edit.js";
import { pairItem, rankingItem, scoreItem, wholePage } from "./items.js";
import { context, headings, markHint } from "./item_parts.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {Record<string, Server.AnswerOut>} Answers
 * @typedef {{outputs: string[], attended: string[], element: HTMLElement, isOpen: () => boolean,
 *   key: (event: KeyboardEvent) => boolean, focus: () => void, comment: () => void, skip: () => void, show: () => void,
 *   takesShift?: boolean, optional?: boolean}} Stop  optional: passed over when nothing is open
 * @typedef {{campaign: Server.CampaignOut, answers: () => Answers, locked: boolean, tutorial: boolean,
 *   change: (changes: Answers) => void, attend: (stop: Stop) => void, turn: (stop: Stop) => void,
 *   on: () => void, mediumAt: (place: string, number: number) => string,
 *   played: (place: string, seconds: number) => void}} Setting  attend: to what has the focus; turn: to what is to get it
 * @typedef {{before: HTMLElement[], after: HTMLElement[]}} Around
 * @typedef {import("./items.js").ItemView} ItemView
 */

/**
 * What builds the item of a protocol; in all others each translation is judged by itself.
 * @type {Map<string, (item: Server.ItemOut, setting: Setting, number: number, around: Around) => ItemView>}
 */
const BUILDERS = new Map(
  Object.entries({
    ranking: rankingItem,
    pairwise: pairItem,
    postedit: editItem,
  }),
);

/**
 * @param {Server.ScreenOut} screen
 * @param {Setting} setting
 * @returns {{element: HTMLElement, stops: Stop[], show: () => void}}
 */
export function screenView(screen, setting) {
  const build = BUILDERS.get(setting.campaign.protocol) ?? scoreItem;
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
  const items = screen.items.map((item, i) => take(build(item, setting, screen.items.length > 1 ? i + 1 : 0, around)));
  const whole = screen.whole.length ? [take(wholePage(screen, setting))] : [];
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
