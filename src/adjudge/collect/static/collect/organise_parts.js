// @ts-check
/** Parts of the organisers' page: progress, the hours of the last day, tables of statistics, decisions. */
import { h } from "./dom.js";
import { currentLanguage, t, timeOfDay } from "./texts.js";

/**
 * A time of today, or a day and time.
 * @param {Date} moment @returns {string}
 */
export function when(moment) {
  const today = moment.toDateString() === new Date().toDateString();
  return today ? timeOfDay(moment) : `${moment.toLocaleDateString(currentLanguage())} ${timeOfDay(moment)}`;
}

/** @param {Server.LinkStateOut} link @returns {string} */
export function linkState(link) {
  if (link.status !== "valid") return t(`link_${link.status}`);
  return `${t("link_valid")}, ${t(link.entered ? "link_entered" : "link_unused")}`;
}

/** @param {Server.ProgressOut} progress @returns {HTMLElement} */
export function figures(progress) {
  const figure = (
    /** @type {string} */ name,
    /** @type {number} */ done,
    /** @type {number} */ wanted,
    /** @type {string} */ more,
  ) => {
    const fill = h("div");
    fill.style.setProperty("width", `${wanted ? Math.min(100, (100 * done) / wanted) : 0}%`);
    return h(
      "div.figure",
      {},
      t(name),
      h("strong", {}, t("of_wanted", { done, wanted })),
      h("div.meter", {}, fill),
      h("span.hint", {}, more),
    );
  };
  return h(
    "div.figures",
    {},
    figure("judgments", progress.judgments, progress.judgments_wanted, ""),
    figure("tasks", progress.tasks_finished, progress.tasks_wanted, t("in_hand", { n: progress.tasks_in_hand })),
  );
}

/** @param {{hour: string, saves: number}[]} throughput @returns {HTMLElement} */
export function hours(throughput) {
  const most = Math.max(1, ...throughput.map((hour) => hour.saves));
  const bars = throughput.map((hour) => {
    const bar = h("div", { title: `${new Date(hour.hour).getHours()}:00 · ${hour.saves}` });
    bar.style.setProperty("height", `${(100 * hour.saves) / most}%`);
    return bar;
  });
  const total = throughput.reduce((sum, hour) => sum + hour.saves, 0);
  const label = `${t("last_day")}: ${total}`;
  return h("div", {}, h("p.hint", {}, label), h("div.hours", { role: "img", "aria-label": label }, ...bars));
}

const SVG = "http://www.w3.org/2000/svg";
const ROW = 26;
const PLOT = 400;

/**
 * @param {string} name @param {Record<string, string | number>} attributes @returns {SVGElement}
 */
function svg(name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  return element;
}

/**
 * Differences with their intervals, a line each: settled ones in full colour, and a line at no difference.
 * @param {Server.PanelIntervalOut[]} intervals @returns {HTMLElement}
 */
function picture(intervals) {
  const low = Math.min(0, ...intervals.map((interval) => interval.low));
  const high = Math.max(0, ...intervals.map((interval) => interval.high));
  const at = (/** @type {number} */ value) => 8 + ((value - low) / (high - low || 1)) * (PLOT - 16);
  const lines = intervals.map((interval) => {
    const drawing = svg("svg", { viewBox: `0 0 ${PLOT} ${ROW}`, width: PLOT, height: ROW, "aria-hidden": "true" });
    const middle = ROW / 2;
    drawing.append(
      svg("line", { class: "zero", x1: at(0), x2: at(0), y1: 0, y2: ROW }),
      svg("line", { class: "reach", x1: at(interval.low), x2: at(interval.high), y1: middle, y2: middle }),
      svg("circle", { cx: at(interval.estimate), cy: middle, r: 5 }),
    );
    const name = h("span.claim", {}, h("bdi", {}, interval.label));
    const row = h("div.interval", {}, name);
    row.classList.toggle("settled", interval.settled);
    row.append(drawing);
    return row;
  });
  return h("div.intervals", {}, ...lines);
}

/** @param {Server.PanelOut} table @returns {HTMLElement} */
export function panel(table) {
  const head = h("tr", {}, ...table.columns.map((/** @type {string} */ column) => h("th", {}, column)));
  const rows = table.rows.map((/** @type {string[]} */ row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))));
  const body = table.rows.length
    ? h("div.scroll", {}, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)))
    : null;
  return h(
    "section.panel",
    {},
    h("h2", {}, table.title),
    table.headline ? h("p.headline", {}, table.headline) : null,
    table.intervals.length ? picture(table.intervals) : null,
    body,
    table.note ? h("p.hint", {}, table.note) : null,
  );
}

/** @param {Server.OverviewOut} now @returns {HTMLElement[]} */
export function decisions(now) {
  if (!now.decisions.length) return [];
  const rows = now.decisions.map((decision) =>
    h(
      "tr",
      {},
      h("td", {}, new Date(decision.made).toLocaleString()),
      h("td", {}, h("bdi", {}, decision.annotator)),
      h("td", {}, t(decision.excluded ? "decided_excluded" : "decided_included")),
      h("td", {}, h("bdi", {}, decision.reason)),
      h("td", {}, decision.who),
    ),
  );
  return [h("h2", {}, t("decisions")), h("div.scroll", {}, h("table", {}, h("tbody", {}, ...rows)))];
}
