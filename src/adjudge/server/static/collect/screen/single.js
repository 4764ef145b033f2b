// @ts-check
/** A segment with one translation, which is judged by itself. */
import { h, present } from "../shared/dom.js";
import { columns, given, note } from "./item_parts.js";
import { judgedOutput } from "./output.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {import("./screen.js").ItemView} ItemView
 * @typedef {import("./screen.js").Setting} Setting
 */

/**
 * One translation of a segment, judged by itself.
 * @param {Server.ItemOut} item @param {Setting} setting @param {number} number @returns {ItemView}
 */
export function scoreItem(item, setting, number) {
  const [output] = item.outputs;
  const element = articleOf(item, setting, number, "");
  const none = { letter: "", changed: () => undefined, others: () => [] };
  const { text, judge, stops, marking } = judgedOutput(item, output, setting, { ...none, number, element });
  const left = given(item, setting, marking?.source);
  element.append(...present([note(item), columns(left, [text]), judge]));
  return { element, stops };
}

const LONG = 900; // characters of a text beyond which what is judged stays in sight by itself

/** @param {Server.ItemOut} item @returns {boolean} */
export function isLong(item) {
  const texts = [item.source, item.reference, ...item.outputs.map((output) => output.text)];
  return texts.some((text) => JSON.stringify(text ?? "").length > LONG);
}

/** @param {Server.ItemOut} item @param {Setting} setting @param {number} number @param {string} kind @returns {HTMLElement} */
export function articleOf(item, setting, number, kind) {
  const marked = setting.campaign.spans ? ".marked" : "";
  const label = number ? t("segment_n", { n: number }) : t("segment");
  const shown = number ? h("span.place", { "aria-hidden": "true" }, number) : null;
  return h(`article.item${marked}${kind}${isLong(item) ? ".long" : ""}`, { "aria-label": label }, shown);
}
