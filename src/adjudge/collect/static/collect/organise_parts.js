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

/** @param {Server.PanelOut} table @returns {HTMLElement} */
export function panel(table) {
  const head = h("tr", {}, ...table.columns.map((/** @type {string} */ column) => h("th", {}, column)));
  const rows = table.rows.map((/** @type {string[]} */ row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))));
  const body = table.rows.length
    ? h("div.scroll", {}, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)))
    : null;
  return h("section.panel", {}, h("h2", {}, table.title), body, table.note ? h("p.hint", {}, table.note) : null);
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
