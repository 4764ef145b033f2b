// @ts-check
/** The slider for a score. Nothing is set until somebody sets it: unset is not 0, and looks and reads different. */
import { chooseOne, h, modified } from "../shared/dom.js";
import { hasText, t } from "../shared/interface_texts.js";

/**
 * @typedef {Server.ScaleOut} Scale
 * @typedef {{element: HTMLElement, show: (value: number | null) => void, key: (event: KeyboardEvent) => boolean,
 *   focus: () => void, showOthers: (others: {letter: string, value: number | null}[]) => void}} Widget
 */

const TYPING_MS = 1500; // digits pressed within this time belong together: 7, then 2, is 72
const FEW_STEPS = 10; // up to here every step has its number on the scale
const ANCHOR_WIDTH = 24; // hundredths of the scale that the text of an anchor may take at most
const BIG_STEPS = 10; // page up and page down move by this part of the scale

/**
 * @typedef {{scale: Scale, label: string, value: number | null, locked: boolean,
 *   change: (value: number | null) => void, attend: () => void}} Options
 */

/** @param {Options} options @returns {Widget} */
export function scoreWidget(options) {
  const { low, high, step } = options.scale;
  return high - low === step ? verdict(options) : sliderFor(options);
}

/**
 * Two buttons, where there is only yes and no: the better one first.
 * @param {Options} options @returns {Widget}
 */
function verdict({ scale, label, value, locked, change, attend }) {
  const points = [scale.high, scale.low];
  const meaningOf = (/** @type {number} */ at) => scale.anchors.find((anchor) => anchor.at === at)?.text;
  const buttons = points.map((at) =>
    h(
      "button.choice",
      { type: "button", role: "radio", disabled: locked, onfocus: attend },
      h("span", {}, meaning(meaningOf(at) ?? String(at))),
      h("kbd", { "aria-hidden": "true" }, at),
    ),
  );
  const beside = h("p.hint", { "aria-hidden": "true" });
  const element = h("div.score.verdict", {}, h("div.choices", { role: "radiogroup", "aria-label": label }, ...buttons), beside);
  const { show, set, focus } = chooseOne(element, buttons, points, { value, locked, change });

  /** @param {KeyboardEvent} event @returns {boolean} */
  function key(event) {
    if (modified(event)) return false;
    /** @type {Record<string, number | null>} */
    const keys = { [scale.high]: scale.high, [scale.low]: scale.low, Delete: null, Backspace: null };
    if (["ArrowLeft", "ArrowRight"].includes(event.key)) {
      const at = buttons.findIndex((button) => button === document.activeElement);
      buttons[at === 0 ? 1 : 0].focus({ preventScroll: true });
      return true;
    }
    if (!(event.key in keys)) return false;
    set(keys[event.key]);
    focus();
    return true;
  }
  const showOthers = (/** @type {{letter: string, value: number | null}[]} */ others) => {
    const given = others.filter(({ value: other }) => other !== null);
    beside.textContent = given.map(({ letter, value: other }) => `${letter}: ${meaning(meaningOf(Number(other)) ?? "")}`).join(", ");
  };
  return { element, show, key, focus, showOthers };
}

/** @param {Options} options @returns {Widget} */
function sliderFor({ scale, label, value, locked, change, attend }) {
  const steps = Math.round((scale.high - scale.low) / scale.step);
  const fill = h("div.fill");
  const beside = h("div.others", { "aria-hidden": "true" });
  const thumb = h("div.thumb", {}, h("span.bubble"));
  const track = h("div.track", {}, ...ticks(scale, steps), fill, beside, thumb);
  const slider = h(
    `div.slider${steps <= FEW_STEPS ? ".numbered" : ""}`,
    {
      role: "slider",
      tabindex: 0,
      "aria-label": label,
      "aria-valuemin": scale.low,
      "aria-valuemax": scale.high,
      "aria-disabled": locked ? "true" : null,
      onfocus: attend,
    },
    track,
  );
  const number = h("output.number", { "aria-hidden": "true" });
  const element = h("div.score", {}, h("div.scale", {}, slider, anchors(scale, steps)), number);
  let current = value;
  let typed = "";
  let typedAt = 0;

  /** @param {number | null} next */
  function show(next) {
    current = next;
    slider.classList.toggle("unset", next === null);
    element.classList.toggle("unset", next === null);
    number.textContent = next === null ? "–" : String(next);
    thumb.firstElementChild?.replaceChildren(next === null ? "" : String(next));
    slider.setAttribute("aria-valuetext", next === null ? t("not_set") : anchorText(scale, next));
    if (next === null) slider.removeAttribute("aria-valuenow");
    else slider.setAttribute("aria-valuenow", String(next));
    const share = next === null ? 0 : (next - scale.low) / (scale.high - scale.low);
    element.style.setProperty("--share", String(share));
  }

  /** @param {number | null} next */
  function set(next) {
    if (locked) return;
    const rounded = next === null ? null : round(clamp(next, scale), scale);
    if (rounded === current) return;
    show(rounded);
    change(rounded);
  }

  /** @param {KeyboardEvent} event @returns {boolean} */
  function key(event) {
    if (modified(event)) return false;
    if (/^[0-9]$/.test(event.key)) {
      type(event);
      return true;
    }
    const forward = getComputedStyle(slider).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    const back = forward === "ArrowLeft" ? "ArrowRight" : "ArrowLeft";
    const big = Math.max(scale.step, round((scale.high - scale.low) / BIG_STEPS + scale.low, scale) - scale.low);
    /** @type {Record<string, () => void>} */
    const moves = {
      [forward]: () => set((current ?? middle(scale) - scale.step) + scale.step),
      ArrowUp: () => set((current ?? middle(scale) - scale.step) + scale.step),
      [back]: () => set((current ?? middle(scale) + scale.step) - scale.step),
      ArrowDown: () => set((current ?? middle(scale) + scale.step) - scale.step),
      PageUp: () => set((current ?? middle(scale) - big) + big),
      PageDown: () => set((current ?? middle(scale) + big) - big),
      Home: () => set(scale.low),
      End: () => set(scale.high),
      Delete: () => set(null),
      Backspace: () => set(null),
    };
    if (!(event.key in moves)) return false;
    typed = "";
    moves[event.key]();
    return true;
  }

  /** @param {KeyboardEvent} event */
  function type({ key: digit, timeStamp }) {
    // When it was pressed: a busy machine may come to it much later.
    const together = timeStamp - typedAt < TYPING_MS ? typed + digit : digit;
    typed = Number(together) <= scale.high ? together : digit;
    typedAt = timeStamp;
    if (Number(typed) <= scale.high && Number(typed) >= scale.low) set(Number(typed));
  }

  /** @param {PointerEvent} event */
  function follow(event) {
    const box = track.getBoundingClientRect();
    const share = (event.clientX - box.left) / box.width;
    const along = getComputedStyle(slider).direction === "rtl" ? 1 - share : share;
    set(scale.low + along * (scale.high - scale.low));
  }
  slider.addEventListener("pointerdown", (event) => {
    if (locked || event.button !== 0) return;
    slider.setPointerCapture(event.pointerId);
    follow(event);
  });
  slider.addEventListener("pointermove", (event) => slider.hasPointerCapture(event.pointerId) && follow(event));
  show(value);
  return {
    element,
    show: (next) => {
      // Digits do not join those of a number that was taken back, or changed in another tab.
      if (next !== current) typed = "";
      show(next);
    },
    key,
    showOthers: (others) => {
      const given = others.filter(({ value: points }) => points !== null);
      // Letters of one score share a mark: one on top of the other, none could be read.
      const places = [...new Set(given.map(({ value: points }) => Number(points)))];
      beside.replaceChildren(
        ...places.map((place) => {
          const letters = given.filter(({ value: points }) => points === place).map(({ letter }) => letter);
          const mark = h("span.other", {}, letters.join(""));
          mark.style.setProperty("--at", String((place - scale.low) / (scale.high - scale.low)));
          return mark;
        }),
      );
      slider.setAttribute("aria-description", given.map(({ letter, value: points }) => `${letter} ${points}`).join(", "));
    },
    focus: () => {
      // Nor those typed before somebody went elsewhere and came back.
      typed = "";
      slider.focus({ preventScroll: true });
    },
  };
}

/**
 * Where marks stand on a long scale: at its quarters, unless meanings stand elsewhere.
 * @param {Scale} scale
 */
function quartersOrMeanings(scale) {
  const quarters = [0, 0.25, 0.5, 0.75, 1].map((share) => scale.low + share * (scale.high - scale.low));
  const meanings = scale.anchors.map((anchor) => anchor.at);
  if (meanings.every((at) => quarters.includes(at))) return quarters;
  return [...new Set([scale.low, ...meanings, scale.high])];
}

/** @param {Scale} scale @param {number} steps @returns {HTMLElement[]} */
function ticks(scale, steps) {
  const places =
    steps <= FEW_STEPS
      ? Array.from({ length: steps + 1 }, (_, i) => scale.low + i * scale.step)
      : quartersOrMeanings(scale);
  return places.map((at) => {
    const tick = h("span.tick", {}, steps <= FEW_STEPS ? h("span.tick-number", {}, at) : null);
    tick.style.setProperty("--at", String((at - scale.low) / (scale.high - scale.low)));
    return tick;
  });
}

/**
 * The meanings under the scale. A long scale without any has the numbers of its ends, so that people see how far it goes.
 * @param {Scale} scale @param {number} steps @returns {HTMLElement}
 */
function anchors(scale, steps) {
  const ends = steps <= FEW_STEPS ? [] : [scale.low, scale.high].map((at) => ({ at, text: String(at) }));
  const shown = scale.anchors.length > 0 ? scale.anchors : ends;
  // The scale has a hundred columns, so that the row is as high as its longest text.
  const places = shown.map(({ at }) => Math.round((100 * (at - scale.low)) / (scale.high - scale.low)));
  const width = anchorWidth(places);
  const marks = shown.map(({ text }, i) => {
    const mark = h(`span.anchor${i === 0 ? ".first" : i === shown.length - 1 ? ".last" : ""}`, {}, h("bdi", {}, meaning(text)));
    const from = Math.min(Math.max(1, Number(places[i]) + 1 - Math.floor(width / 2)), 101 - width);
    mark.style.setProperty("grid-column", `${from} / span ${width}`);
    return mark;
  });
  return h("div.anchors", { "aria-hidden": "true" }, ...marks);
}

/**
 * How many columns each meaning gets, so that none reaches into its neighbour's. Those at the ends stand wholly on one
 * side of their mark, and take half a width more from the neighbour than one in the middle does.
 * @param {number[]} places @returns {number}
 */
function anchorWidth(places) {
  const widths = places.slice(1).map((at, i) => {
    const before = Number(places[i]);
    const sides = (before === 0 ? 1 : 0.5) + (at === 100 ? 1 : 0.5);
    return Math.floor((at - before) / sides);
  });
  return Math.max(1, Math.min(ANCHOR_WIDTH, ...widths));
}

/**
 * A score in words: the number, and the anchor that stands at it.
 * @param {Scale} scale @param {number} value
 */
function anchorText(scale, value) {
  const anchor = scale.anchors.find(({ at }) => at === value);
  return anchor && anchor.text !== `${value}%` ? `${value}: ${meaning(anchor.text)}` : String(value);
}

/** @param {Scale} scale @returns {number} */
function middle(scale) {
  return round((scale.low + scale.high) / 2, scale);
}

/** @param {number} value @param {Scale} scale @returns {number} */
function clamp(value, scale) {
  return Math.min(scale.high, Math.max(scale.low, value));
}

/**
 * To the nearest step, without digits that floating point adds.
 * @param {number} value @param {Scale} scale
 */
function round(value, scale) {
  const stepped = scale.low + Math.round((value - scale.low) / scale.step) * scale.step;
  return Number(clamp(stepped, scale).toFixed(6));
}

/**
 * What a number on a scale means, in the language of the page where the words are a protocol's own. A campaign's own
 * words stay as they are.
 * @param {string} text @returns {string}
 */
function meaning(text) {
  return hasText(`=${text}`) ? t(`=${text}`) : text;
}
