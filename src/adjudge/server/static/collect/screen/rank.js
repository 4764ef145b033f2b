// @ts-check
/** Ranking: every translation keeps its place and gets a rank by key, by button, or by dragging its letter to a shelf. */
import { chooseOne, h, modified, present } from "../shared/dom.js";
import { commentBox, given, lesson, letter, mediaBlock, note, textBlock } from "./item_parts.js";
import { isOpen } from "./judged.js";
import { skipBox } from "./skip.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {import("./screen.js").Answers} Answers
 * @typedef {import("./screen.js").ItemView} ItemView
 * @typedef {import("./screen.js").Setting} Setting
 * @typedef {import("./screen.js").Stop} Stop
 */

/**
 * The buttons for one translation's rank.
 * @param {{count: number, labels: string[], label: string, value: number | null, locked: boolean,
 *   change: (rank: number | null) => void, attend: () => void}} options
 * @returns {Omit<import("./score.js").Widget, "showOthers">}
 */
function rankWidget({ count, labels, label, value, locked, change, attend }) {
  const buttons = Array.from({ length: count }, (_, i) =>
    h(
      "button.rank",
      { type: "button", role: "radio", "aria-label": rankName(i + 1, count, labels), onfocus: attend, disabled: locked },
      i + 1,
      labels.length ? h("bdi", {}, labels[i]) : null,
    ),
  );
  const element = h(`div.ranks${labels.length ? ".labelled" : ""}`, { role: "radiogroup", "aria-label": label }, ...buttons);
  const { show, set, focus } = chooseOne(element, buttons, [...buttons.keys()].map((i) => i + 1), { value, locked, change });

  /** @param {KeyboardEvent} event @returns {boolean} */
  function key(event) {
    if (modified(event)) return false;
    if (/^[1-9]$/.test(event.key) && Number(event.key) <= count) set(Number(event.key));
    else if (event.key === "Delete" || event.key === "Backspace" || event.key === "0") set(null);
    else return pass(event);
    // What is read out is the rank given, and Space does not give another one.
    focus();
    return true;
  }

  /**
   * Arrows go from rank to rank, and Space gives one: where single keys are switched off, all ranks are within reach.
   * @param {KeyboardEvent} event @returns {boolean}
   */
  function pass(event) {
    const forward = getComputedStyle(element).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    if (!["ArrowLeft", "ArrowRight"].includes(event.key)) return false;
    const from = buttons.findIndex((button) => button === document.activeElement);
    buttons[Math.min(count - 1, Math.max(0, from + (event.key === forward ? 1 : -1)))].focus({ preventScroll: true });
    return true;
  }
  return { element, show, key, focus };
}

/** @param {number} rank @param {number} count @param {string[]} labels @returns {string} */
function rankName(rank, count, labels) {
  if (labels.length) return labels[rank - 1];
  if (rank === 1) return t("rank_best", { rank });
  return rank === count ? t("rank_worst", { rank }) : String(rank);
}

/**
 * The shelves: one per rank, and a tray for what has none. Letters are dragged between them.
 * @param {{outputs: string[], labels: string[], ties: boolean, ranks: () => Record<string, number | null>, locked: boolean,
 *   change: (output: string, rank: number | null) => void}} options
 * @returns {{element: HTMLElement, show: () => void, drag: (handle: HTMLElement, output: string) => void}}
 */
function shelves({ outputs, labels, ties, ranks, locked, change }) {
  const places = Array.from({ length: labels.length || outputs.length }, (_, i) =>
    shelf(String(i + 1), rankName(i + 1, outputs.length, labels)),
  );
  const tray = shelf("0", t("not_ranked"));
  tray.classList.add("tray");
  const hint = h("p.hint", {}, t(ties ? "drag_hint" : "drag_hint_once"), h("span.keys-hint", {}, ` ${t("drag_hint_keys")}`));
  const element = h("div.shelves", { "aria-hidden": "true" }, hint, tray, ...places);
  const chips = outputs.map((output, i) => {
    const chip = h("span.chip", {}, letter(i));
    drag(chip, output);
    return chip;
  });

  function show() {
    const now = ranks();
    outputs.forEach((output, i) => {
      const rank = now[output] ?? null;
      const place = rank === null ? tray : places[rank - 1];
      const row = /** @type {HTMLElement} */ (place.lastElementChild);
      if (chips[i].parentElement !== row) row.append(chips[i]);
    });
  }

  /**
   * Let a handle be dragged to a shelf.
   * @param {HTMLElement} handle @param {string} output
   */
  function drag(handle, output) {
    if (locked) return;
    handle.classList.add("draggable");
    let from = { x: 0, y: 0 };
    handle.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.preventDefault();
      from = { x: event.clientX, y: event.clientY };
      handle.setPointerCapture(event.pointerId);
      handle.classList.add("dragged");
      element.classList.add("dragging");
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      handle.style.setProperty("transform", `translate(${event.clientX - from.x}px, ${event.clientY - from.y}px)`);
      mark(under(event));
    });
    const end = (/** @type {PointerEvent} */ event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const place = under(event);
      handle.releasePointerCapture(event.pointerId);
      handle.classList.remove("dragged");
      element.classList.remove("dragging");
      handle.style.removeProperty("transform");
      mark(null);
      if (event.type === "pointerup" && place) change(output, Number(place.dataset.rank) || null);
    };
    handle.addEventListener("pointerup", end);
    handle.addEventListener("pointercancel", end);
  }

  /** @param {PointerEvent} event @returns {HTMLElement | null} */
  function under(event) {
    return [tray, ...places].find((place) => within(place.getBoundingClientRect(), event)) ?? null;
  }

  /** @param {HTMLElement | null} place */
  function mark(place) {
    for (const other of [tray, ...places]) other.classList.toggle("target", other === place);
  }
  show();
  return { element, show, drag };
}

/** @param {string} rank @param {string} name @returns {HTMLElement} */
function shelf(rank, name) {
  return h("div.shelf", { "data-rank": rank }, h("span.shelf-name", {}, name), h("span.shelf-row"));
}

/** @param {DOMRect} box @param {PointerEvent} event @returns {boolean} */
function within(box, event) {
  return (
    event.clientX >= box.left && event.clientX <= box.right && event.clientY >= box.top && event.clientY <= box.bottom
  );
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
