// @ts-check
/**
 * A text in which errors are marked: by dragging over words, by touching them, or by a cursor that goes from word to
 * word. Marks are plain inline elements without a direction of their own, so that no word changes its place when it is
 * marked; their letters hang above the line and take part in nothing.
 */
import { h } from "../shared/dom.js";
import { t } from "../shared/interface_texts.js";
import { cut } from "./units.js";

/** @typedef {import("./marks.js").Span} Span */

export class MarkText {
  /**
   * @param {{text: string, language: {lang: string, dir: string}, side: string, snap: string, label: string,
   *   locked: boolean, mark: (start: number, end: number) => void, touch: (start: number, end: number) => void,
   *   attend: () => void}} options
   */
  constructor(options) {
    this.options = options;
    const lang = options.language.lang.split("_")[0];
    const { points, units } = cut(options.text, options.language.lang, options.snap);
    this.points = points;
    this.units = units;
    // Which unit a code point belongs to, so that long texts are shown as quickly as short ones.
    this.unitOf = new Int32Array(points.length).fill(-1);
    units.forEach(({ start, end }, i) => this.unitOf.fill(i, start, end));
    this.cursor = 0;
    /** @type {number | null} */
    this.anchor = null;
    /** @type {HTMLElement[][]} */
    this.cells = [];
    /** @type {{element: HTMLElement, over: Span[]}[]} */
    this.marks = [];
    /** @type {Span[]} */
    this.spans = [];
    this.said = h("span.visually-hidden", { role: "status" });
    this.words = h("div.words.markable", {
      lang,
      dir: options.language.dir,
      role: "application",
      tabindex: 0,
      "aria-label": `${options.label}. ${options.text}`,
      "aria-roledescription": t("markable"),
      onfocus: options.attend,
    });
    this.words.addEventListener("blur", () => this.pick(null));
    this.listen();
    this.show([]);
  }

  /** @param {number} start @param {number} end @returns {string} */
  quote(start, end) {
    return this.points.slice(start, end).join("");
  }

  /**
   * Show the text with these marks.
   * @param {Span[]} spans
   */
  show(spans) {
    this.spans = spans;
    this.cells = this.units.map(() => []);
    this.marks = [];
    const borders = new Set([0, this.points.length, ...spans.flatMap((span) => [placed(span).start, placed(span).end])]);
    const places = [...borders].sort((first, second) => first - second);
    /** @type {Node[]} */
    const shown = [];
    // Between two borders, all of the text is under the same marks.
    for (let i = 0; i + 1 < places.length; i += 1) {
      const [start, end] = [places[i], places[i + 1]];
      const over = spans.filter((span) => placed(span).start <= start && placed(span).end >= end);
      const pieces = this.pieces(start, end);
      if (!over.length) shown.push(...pieces);
      else shown.push(this.mark(over, start, pieces));
    }
    // A system may have said nothing: that is judged, too.
    this.words.replaceChildren(...(this.points.length ? shown : [h("span.hint", {}, t("no_text"))]));
    this.showCursor();
  }

  /** @param {Span[]} over @param {number} start @param {Node[]} pieces @returns {HTMLElement} */
  mark(over, start, pieces) {
    const element = markElement(over, this.spans, start);
    element.append(...pieces);
    this.marks.push({ element, over });
    return element;
  }

  /**
   * Show which mark is dealt with.
   * @param {(span: Span) => boolean} isCurrent
   */
  showCurrent(isCurrent) {
    for (const { element, over } of this.marks) element.classList.toggle("current", over.some(isCurrent));
  }

  /**
   * A stretch of text: units and what is between them.
   * @param {number} start @param {number} end @returns {Node[]}
   */
  pieces(start, end) {
    /** @type {Node[]} */
    const nodes = [];
    for (let from = start, to = start; from < end; from = to) {
      const number = this.unitOf[from];
      while (to < end && this.unitOf[to] === number) to += 1;
      const text = document.createTextNode(this.quote(from, to));
      nodes.push(number < 0 ? text : this.cell(number, text));
    }
    return nodes;
  }

  /** @param {number} number @param {Text} text @returns {HTMLElement} */
  cell(number, text) {
    const cell = document.createElement("span");
    cell.className = "unit";
    cell.dataset.unit = String(number);
    cell.append(text);
    this.cells[number].push(cell);
    return cell;
  }

  /** @returns {[number, number]} the units picked, from and to */
  get picked() {
    const other = this.anchor ?? this.cursor;
    return [Math.min(other, this.cursor), Math.max(other, this.cursor)];
  }

  showCursor() {
    const [from, to] = this.picked;
    this.cells.forEach((cells, i) => {
      for (const cell of cells) {
        cell.classList.toggle("picked", i >= from && i <= to && this.anchor !== null);
        cell.classList.toggle("cursor", i === this.cursor);
      }
    });
  }

  /**
   * Begin, go on with, or (null) leave off picking.
   * @param {number | null} anchor @param {number} [cursor]
   */
  pick(anchor, cursor = this.cursor) {
    this.anchor = anchor;
    this.cursor = Math.max(0, Math.min(this.units.length - 1, cursor));
    this.showCursor();
  }

  /** @returns {{start: number, end: number} | null} what is picked, as offsets */
  get place() {
    if (!this.units.length) return null;
    const [from, to] = this.picked;
    return { start: this.units[from].start, end: this.units[to].end };
  }

  /**
   * Put the cursor on a mark.
   * @param {Span} span
   */
  goTo(span) {
    const at = this.units.findIndex((unit) => unit.end > Number(span.start));
    this.pick(null, Math.max(0, at));
  }

  /**
   * Move the cursor.
   * @param {KeyboardEvent} event @returns {boolean}
   */
  move(event) {
    const rtl = getComputedStyle(this.words).direction === "rtl";
    /** @type {Record<string, () => number>} */
    const moves = {
      [rtl ? "ArrowLeft" : "ArrowRight"]: () => this.cursor + 1,
      [rtl ? "ArrowRight" : "ArrowLeft"]: () => this.cursor - 1,
      ArrowDown: () => this.lineAway(1),
      ArrowUp: () => this.lineAway(-1),
      Home: () => 0,
      End: () => this.units.length - 1,
    };
    if (!(event.key in moves) || !this.units.length) return false;
    const anchor = event.shiftKey ? (this.anchor ?? this.cursor) : null;
    this.pick(anchor, moves[event.key]());
    const place = /** @type {{start: number, end: number}} */ (this.place);
    this.options.touch(place.start, place.end);
    this.cells[this.cursor][0]?.scrollIntoView({ block: "nearest" });
    return true;
  }

  /**
   * The unit above (-1) or below (1) the cursor.
   * @param {number} by @returns {number}
   */
  lineAway(by) {
    const boxes = this.cells.map((cells) => cells[0].getBoundingClientRect());
    const here = boxes[this.cursor];
    const middle = (/** @type {DOMRect} */ box) => (box.left + box.right) / 2;
    const beyond = boxes.filter((box) => by * (box.top - here.top) > here.height / 2);
    if (!beyond.length) return by < 0 ? 0 : this.units.length - 1;
    const line = by < 0 ? Math.max(...beyond.map((box) => box.top)) : Math.min(...beyond.map((box) => box.top));
    const there = beyond.filter((box) => Math.abs(box.top - line) < here.height / 2);
    const away = (/** @type {DOMRect} */ box) => Math.abs(middle(box) - middle(here));
    return boxes.indexOf(there.reduce((best, box) => (away(box) < away(best) ? box : best)));
  }

  listen() {
    const { words, options } = this;
    let down = -1;
    words.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !this.units.length) return;
      down = this.unitAt(event);
      words.setPointerCapture(event.pointerId);
      this.pick(null, down);
    });
    words.addEventListener("pointermove", (event) => {
      if (down >= 0 && words.hasPointerCapture(event.pointerId)) this.pick(down, this.unitAt(event));
    });
    words.addEventListener("pointerup", (event) => {
      if (down < 0) return;
      const from = down;
      down = -1;
      words.focus({ preventScroll: true });
      this.pick(from, this.unitAt(event));
      const place = this.place;
      const onMark = from === this.cursor && place && this.marksAt(place.start, place.end).length > 0;
      this.pick(null, this.cursor);
      if (place && onMark) options.touch(place.start, place.end);
      else if (place && !options.locked) options.mark(place.start, place.end);
    });
    words.addEventListener("pointercancel", () => {
      down = -1;
      this.pick(null);
    });
  }

  /** @param {number} start @param {number} end @returns {Span[]} */
  marksAt(start, end) {
    return this.spans.filter((span) => placed(span).start < end && start < placed(span).end);
  }

  /**
   * The unit under the pointer, or the nearest one.
   * @param {PointerEvent} event @returns {number}
   */
  unitAt(event) {
    const hit = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-unit]");
    if (hit && this.words.contains(hit)) return Number(/** @type {HTMLElement} */ (hit).dataset.unit);
    let [best, least] = [0, Infinity];
    this.cells.forEach((cells, i) => {
      for (const box of cells.flatMap((cell) => [...cell.getClientRects()])) {
        const x = Math.max(box.left - event.clientX, 0, event.clientX - box.right);
        const y = Math.max(box.top - event.clientY, 0, event.clientY - box.bottom);
        const away = x + 4 * y; // the same line before the one below
        if (away < least) [best, least] = [i, away];
      }
    });
    return best;
  }

  /**
   * Say something to those who listen.
   * @param {string} text
   */
  say(text) {
    this.said.textContent = text;
  }

  focus() {
    this.words.focus({ preventScroll: true });
  }
}

/** @param {Span} span @returns {{start: number, end: number}} */
function placed(span) {
  return { start: Number(span.start), end: Number(span.end) };
}

/**
 * The element of a stretch of text under the same marks: the worst of them gives the looks.
 * @param {Span[]} over @param {Span[]} all @param {number} start @returns {HTMLElement}
 */
function markElement(over, all, start) {
  const order = ["neutral", "minor", "major", "critical"];
  const gravity = (/** @type {Span} */ span) => order.indexOf(span.severity);
  const worst = over.reduce((mark, other) => (gravity(other) > gravity(mark) ? other : mark));
  const begins = over.filter((mark) => mark.start === start).map((mark) => letterOf(mark.severity));
  return h(`mark.error-mark.${worst.severity}${over.length > 1 ? ".several" : ""}`, {
    "data-letter": begins.length ? begins.join("") : null,
    "data-errors": over.map((mark) => all.indexOf(mark) + 1).join(" "),
    title: over.map((mark) => t(`severity_${mark.severity}`) + (mark.category ? `, ${mark.category}` : "")).join("; "),
  });
}

/**
 * The letter of a severity: a cue besides the colour.
 * @param {string} severity @returns {string}
 */
export function letterOf(severity) {
  return { neutral: "n", minor: "m", major: "M", critical: "C" }[severity] ?? "?";
}
