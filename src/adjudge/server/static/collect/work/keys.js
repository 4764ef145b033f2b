// @ts-check
/** Keys of the annotator's page: first what is being judged takes them, then the page. `?` shows them all. */
import { modified } from "../shared/dom.js";
import { keysOn } from "../shared/prefs.js";
import { undo } from "./undo.js";

/** @typedef {import("../work.js").Work} Work */

// Where nothing has the focus, as after a click on a text to read it, these keys scroll: they must not answer.
const SCROLLING = [" ", "ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End"];

/** @param {Work} work @param {KeyboardEvent} event */
export function handleKey(work, event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (document.querySelector("dialog[open]")) return;
  if (target.matches("audio, video")) return;
  if (target.matches("input, textarea")) return leaveText(work, event);
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "z" && work.task) {
    if (!event.shiftKey) undo(work);
    return event.preventDefault();
  }
  if (modified(event) || !work.task || target.matches("select")) return;
  if ([document.body, work.frame.main].includes(target) && SCROLLING.includes(event.key)) return;
  if (onStop(work, event) || onPage(work, event)) event.preventDefault();
}

/**
 * Esc in a text gives the focus back to what the text is about, so that all keys act again.
 * @param {Work} work @param {KeyboardEvent} event
 */
function leaveText(work, event) {
  if (event.key === "Escape" && !event.isComposing && !modified(event)) work.current?.focus();
}

// The character that answered last: held a little too long, it must not answer again, or for the next translation.
let answered = "";

/** @param {Work} work @param {KeyboardEvent} event @returns {boolean} */
function onStop(work, event) {
  if (event.repeat && event.key === answered) return true;
  answered = "";
  const ranking = work.campaign.protocol === "ranking";
  const onButton = /** @type {HTMLElement} */ (event.target).matches("button:not([role=radio])");
  if (event.key === "Enter" && !onButton) {
    // Held, it would run past what is open.
    if (!event.repeat) step(work, event.shiftKey ? -1 : 1);
    return true;
  }
  if (event.shiftKey && /^Digit[1-9]$/.test(event.code)) return toSide(work, Number(event.code.slice(5)));
  if (ranking && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    neighbour(work, event.key === "ArrowDown" ? 1 : -1);
    return true;
  }
  const shifted = event.shiftKey && !work.current?.takesShift;
  if (!work.current || shifted || (!keysOn() && /^\S$/.test(event.key))) return false;
  if (!work.current.key(event)) return false;
  if (event.key.length === 1) answered = event.key;
  // On a small or enlarged screen it may lie below: who sets something sees what.
  document.activeElement?.scrollIntoView({ block: "nearest" });
  // A rank is said with one key: on to the next translation without one.
  if (ranking && /^[1-9]$/.test(event.key)) neighbour(work, 1, true);
  return true;
}

/**
 * To the next or previous stop; past the last, to the next screen.
 * @param {Work} work @param {number} by
 */
export function step(work, by) {
  let i = work.stops.indexOf(work.current ?? work.stops[0]) + by;
  // No key is needed for what is done already, as a score that was typed while errors were marked.
  while (by > 0 && work.stops[i]?.optional && !work.stops[i].isOpen()) i += 1;
  if (i >= 0 && i < work.stops.length && work.campaign.protocol !== "ranking") work.attend(work.stops[i], true);
  else if (by > 0 && work.stops.some((stop) => stop.isOpen())) work.goToMissing();
  else if (by > 0) work.forward();
  else work.go(work.index - 1);
}

/**
 * To the n-th of the translations that stand side by side.
 * @param {Work} work @param {number} n @returns {boolean} whether there is one
 */
function toSide(work, n) {
  const row = work.current?.element.closest(".sides");
  const side = row?.children[n - 1];
  const stop = side && work.stops.find(({ element }) => element === side);
  if (stop) work.attend(stop, true);
  return Boolean(row);
}

/** @param {Work} work @param {number} by @param {boolean} [open]  only to one without an answer */
function neighbour(work, by, open = false) {
  const i = work.stops.indexOf(work.current ?? work.stops[0]);
  const rest = by > 0 ? work.stops.slice(i + 1) : work.stops.slice(0, i).reverse();
  const next = open ? [...rest, ...work.stops].find((stop) => stop.isOpen()) : rest[0];
  if (next) work.attend(next, true);
}

/**
 * Play or stop the first sound or video beside what is judged, or on the screen.
 * @param {Work} work
 */
function play(work) {
  const players = /** @type {HTMLMediaElement[]} */ ([...work.frame.main.querySelectorAll("audio, video")]);
  const running = players.find((one) => !one.paused);
  const here = work.current?.element.closest("article, .item")?.querySelector("audio, video");
  const first = /** @type {HTMLMediaElement | undefined} */ (here ?? players[0]);
  if (running) running.pause();
  else void first?.play().catch(() => undefined);
}

/** @param {Work} work @param {KeyboardEvent} event @returns {boolean} */
function onPage(work, event) {
  if (!keysOn() && event.key !== "?") return false;
  const actions = work.actions();
  /** @type {Record<string, () => void>} */
  const keys = {
    n: actions.next,
    p: actions.previous,
    m: actions.missing,
    o: actions.overview,
    c: () => work.current?.comment(),
    x: () => work.current?.skip(),
    v: () => play(work),
    i: actions.instructions,
    d: actions.dark,
    "?": actions.keys,
    "+": actions.larger,
    "=": actions.larger,
    "-": actions.smaller,
  };
  const wanted = keys[event.key.toLowerCase()];
  if (!event.repeat) wanted?.();
  return wanted !== undefined;
}
