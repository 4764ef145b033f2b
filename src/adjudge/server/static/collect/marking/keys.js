// @ts-check
/** The keys with which errors are marked, taken back and given a category. */
import { identical, nextSeverity, ordered } from "./marks.js";

/**
 * @typedef {import("./marking.js").Marking} Marking
 * @typedef {import("./marks.js").Span} Span
 * @typedef {import("./word_selection.js").MarkText} MarkText
 */

/** @param {Marking} marking @param {KeyboardEvent} event @returns {boolean} */
export function markingKey(marking, event) {
  const target = /** @type {HTMLElement} */ (event.target);
  const text = marking.source?.words.contains(target) ? marking.source : marking.target;
  if (target.closest("button")) return buttonKey(marking, event, target);
  if (text.move(event)) return true;
  if (event.shiftKey) return false;
  /** @type {Record<string, () => void>} */
  const keys = {
    " ": () => toggle(marking, text),
    Delete: () => dropMark(marking, text),
    Backspace: () => dropMark(marking, text),
    Escape: () => text.pick(null),
  };
  if (marking.confirmed) {
    keys.f = () => marking.confirm();
    keys.t = () => chooseCategory(marking);
  }
  if (marking.rules.missing) keys.g = () => marking.addMissing();
  if (marking.source) keys.s = () => (text === marking.target ? marking.source : marking.target)?.focus();
  const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return false;
  if (!marking.setting.locked || event.key === "Escape" || event.key === "s") act();
  return true;
}

/**
 * To the category of the mark dealt with, or of the first that has none.
 * @param {Marking} marking
 */
function chooseCategory(marking) {
  const rows = [...marking.list.children];
  const open = rows.find((one) => one.querySelector("select.unset"));
  const row = rows.find((one) => one.classList.contains("current")) ?? open ?? rows[0];
  row?.querySelector("select")?.focus();
}

/**
 * Keys while a button of the list has the focus.
 * @param {Marking} marking @param {KeyboardEvent} event @param {HTMLElement} target
 */
function buttonKey(marking, event, target) {
  const row = target.closest("li.error");
  if (!row || !["Delete", "Backspace"].includes(event.key) || marking.setting.locked) return false;
  marking.remove(ordered(marking.spans)[[...marking.list.children].indexOf(row)]);
  return true;
}

/**
 * Mark what is picked; a mark alone under the cursor gets the next severity.
 * @param {Marking} marking @param {MarkText} text
 */
function toggle(marking, text) {
  const place = text.place;
  if (!place) return;
  const here = text.marksAt(place.start, place.end);
  const alone = text.anchor === null && here.length > 0;
  const chosen = here.find((mark) => marking.current && identical(mark, marking.current)) ?? here[0];
  if (alone) marking.update(chosen, { severity: nextSeverity(marking.rules, chosen.severity) });
  else marking.add(text === marking.source ? "source" : "target", place.start, place.end);
  text.pick(null);
}

/**
 * Take away the mark under the cursor, or that of something missing just dealt with.
 * @param {Marking} marking @param {MarkText} text
 */
function dropMark(marking, text) {
  const place = text.place;
  const here = place ? text.marksAt(place.start, place.end) : [];
  const chosen = here.find((mark) => marking.current && identical(mark, marking.current)) ?? here[0];
  const missing = marking.current?.side === "missing" ? marking.current : undefined;
  if (missing ?? chosen) marking.remove(/** @type {Span} */ (missing ?? chosen));
}
