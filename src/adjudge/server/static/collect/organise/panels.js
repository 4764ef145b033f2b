// @ts-check
/** Statistics on the organisers' page: a sentence, a picture, and the figures behind it, which open on demand. */
import { h } from "../shared/dom.js";
import { t, timeOfDay } from "../shared/interface_texts.js";

const SVG = "http://www.w3.org/2000/svg";
const ROW = 26;
const PLOT = 400;
const MIDDLE = ROW / 2;
// What statistics say is English, whatever the language of the page.
const ENGLISH = { dir: "auto", lang: "en" };

/**
 * @param {string} name @param {Record<string, string | number>} attributes @returns {SVGElement}
 */
function svg(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/** @param {SVGElement[]} parts @returns {SVGElement} a drawing as wide as the others */
function drawing(parts) {
  const whole = svg("svg", { viewBox: `0 0 ${PLOT} ${ROW}`, width: PLOT, height: ROW, "aria-hidden": "true" });
  whole.append(...parts);
  return whole;
}

/**
 * A line of a picture: what it is about, the drawing, and what it says in words.
 * @param {string} label @param {SVGElement[]} parts @param {string} said @param {string} className
 * @returns {HTMLElement}
 */
function line(label, parts, said, className) {
  const row = h("div.drawn", {}, h("span.claim", {}, h("bdi", {}, label)));
  if (className) row.classList.add(className);
  row.append(drawing(parts), h("span.said", { dir: "ltr" }, said));
  return row;
}

/** @param {number} value @returns {string} */
function short(value) {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}

/**
 * Differences with their intervals, a line each: settled ones in full colour, and a line at no difference.
 * @param {Server.PanelIntervalOut[]} intervals @returns {HTMLElement}
 */
function intervalPicture(intervals) {
  const low = Math.min(0, ...intervals.map((interval) => interval.low));
  const high = Math.max(0, ...intervals.map((interval) => interval.high));
  const at = (/** @type {number} */ value) => 8 + ((value - low) / (high - low || 1)) * (PLOT - 16);
  const lines = intervals.map((interval) => {
    const parts = [
      svg("line", { class: "zero", x1: at(0), x2: at(0), y1: 0, y2: ROW }),
      svg("line", { class: "reach", x1: at(interval.low), x2: at(interval.high), y1: MIDDLE, y2: MIDDLE }),
      svg("circle", { cx: at(interval.estimate), cy: MIDDLE, r: 5 }),
    ];
    const said = `${short(interval.estimate)} (${short(interval.low)} … ${short(interval.high)})`;
    return line(interval.label, parts, said, interval.settled ? "settled" : "");
  });
  return h("div.picture.intervals", {}, ...lines);
}

/**
 * Systems with the ranks they may have: a cell per rank, those that are possible filled.
 * @param {Server.PanelRanksOut[]} ranks @returns {HTMLElement}
 */
function rankPicture(ranks) {
  const lines = ranks.map((system) => {
    const width = PLOT / system.of;
    const cells = Array.from({ length: system.of }, (_, place) => {
      const possible = place + 1 >= system.best && place + 1 <= system.worst;
      const box = { x: place * width + 1, y: 3, width: Math.max(1, width - 2), height: ROW - 6, rx: 3 };
      return svg("rect", { class: possible ? "possible" : "excluded-rank", ...box });
    });
    const said = system.best === system.worst ? `${system.best}` : `${system.best}–${system.worst}`;
    return line(system.label, cells, said, system.best === system.worst ? "settled" : "");
  });
  return h("div.picture.ranks", {}, ...lines);
}

/** @param {Server.PanelBarOut[]} bars @returns {HTMLElement} */
function barPicture(bars) {
  const low = Math.min(0, ...bars.map((bar) => bar.value));
  const high = Math.max(0, ...bars.map((bar) => bar.value));
  const at = (/** @type {number} */ value) => ((value - low) / (high - low || 1)) * PLOT;
  const lines = bars.map((bar) => {
    const from = Math.min(at(0), at(bar.value));
    const box = { x: from, y: 5, width: Math.max(1, Math.abs(at(bar.value) - at(0))), height: ROW - 10, rx: 2 };
    return line(bar.label, [svg("rect", { class: "bar", ...box })], bar.shown, bar.flagged ? "flagged" : "");
  });
  return h("div.picture.bars", {}, ...lines);
}

/**
 * The table of a panel, closed at first.
 * @param {Server.PanelOut} table @param {string} title @returns {HTMLElement | null}
 */
function figuresBehind(table, title) {
  if (!table.rows.length) return null;
  const head = h("tr", {}, ...table.columns.map((/** @type {string} */ column) => h("th", {}, column)));
  const rows = table.rows.map((/** @type {string[]} */ row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))));
  const body = h("div.scroll", {}, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)));
  return h("details", { "data-panel": table.title }, h("summary", { dir: "auto" }, title), body);
}

/** @param {Server.PanelOut} table @returns {HTMLElement} */
export function panel(table) {
  const drawn = table.headline || table.ranks.length || table.intervals.length || table.bars.length;
  // What has nothing but figures is one line until somebody opens it.
  if (!drawn && table.rows.length)
    return h("section.panel.plain", {}, figuresBehind(table, table.title), table.note ? h("p.hint", ENGLISH, table.note) : null);
  return h(
    "section.panel",
    {},
    h("h2", ENGLISH, table.title),
    table.headline ? h("p.headline", ENGLISH, table.headline) : null,
    table.ranks.length ? rankPicture(table.ranks) : null,
    table.intervals.length ? intervalPicture(table.intervals) : null,
    table.bars.length ? barPicture(table.bars) : null,
    figuresBehind(table, t("figures_behind")),
    table.note ? h("p.hint", ENGLISH, table.note) : null,
  );
}

/** What is shown at each place, so that figures that have not changed stay as they are. @type {WeakMap<HTMLElement, string>} */
const shown = new WeakMap();

/**
 * Show panels in place of the former ones. What was opened stays open and what had the focus keeps it; without a
 * change nothing is replaced, so that nobody's click is lost.
 * @param {HTMLElement} where @param {Server.StatisticsOut} statistics
 */
export function showPanels(where, statistics) {
  const waiting = statistics.computing && !statistics.panels.length;
  const content = JSON.stringify([statistics.panels, statistics.computed, waiting]);
  if (shown.get(where) === content) return;
  shown.set(where, content);
  const nameOf = (/** @type {Element | null} */ details) => details?.getAttribute("data-panel") ?? null;
  const opened = new Set([...where.querySelectorAll("details[open]")].map(nameOf));
  const focused = where.contains(document.activeElement) ? nameOf(document.activeElement?.closest("details") ?? null) : null;
  const waits = waiting ? [h("p.hint", { role: "status" }, t("computing"))] : [];
  // Statistics take longer than figures: they say themselves of when they are.
  const of = { time: timeOfDay(new Date(statistics.computed ?? 0)), judgments: statistics.judgments ?? 0 };
  const age = statistics.computed && statistics.panels.length ? [h("p.hint.as-of", {}, t("as_of", of))] : [];
  where.replaceChildren(...age, ...statistics.panels.map(panel), ...waits);
  for (const details of where.querySelectorAll("details")) {
    if (opened.has(nameOf(details))) details.open = true;
    if (focused !== null && nameOf(details) === focused) details.querySelector("summary")?.focus();
  }
}
