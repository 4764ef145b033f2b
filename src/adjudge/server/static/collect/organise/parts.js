// @ts-check
/** Parts of the organisers' page: progress, cost, the hours of the last day, who needs attention. */
import { h } from "../shared/dom.js";
import { currentLocale, t, timeOfDay } from "../shared/interface_texts.js";

const MOST_NAMED = 10; // people named without being asked for

/**
 * A time of today, or a day and time.
 * @param {Date} moment @returns {string}
 */
export function shownTime(moment) {
  const today = moment.toDateString() === new Date().toDateString();
  return today ? timeOfDay(moment) : `${moment.toLocaleDateString(currentLocale())} ${timeOfDay(moment)}`;
}

/** @param {Server.LinkStateOut} link @returns {string} */
export function linkState(link) {
  if (link.status !== "valid") return t(`link_${link.status}`);
  return `${t("link_valid")}, ${t(link.entered ? "link_entered" : "link_unused")}`;
}

/**
 * Progress as meters, and time and pace beside them.
 * @param {Server.OverviewOut} now @returns {HTMLElement}
 */
export function figures({ progress, cost }) {
  const controls = progress.control_judgments ? t("controls_besides", { n: progress.control_judgments }) : "";
  const hoursOfWork = decimal(cost.active_seconds / 3600);
  const perHour = cost.judgments_per_hour === null ? "" : t("per_hour", { n: counted(Math.round(cost.judgments_per_hour)) });
  const perDay = cost.judgments_per_day === null ? "" : t("per_day", { n: counted(Math.round(cost.judgments_per_day)) });
  const end = cost.expected_end === null ? "–" : day(new Date(cost.expected_end));
  return h(
    "div.figures",
    {},
    meter("judgments", progress.judgments, progress.judgments_wanted, controls),
    meter("tasks", progress.tasks_finished, progress.tasks_wanted, t("in_hand", { n: progress.tasks_in_hand })),
    h("div.figure", {}, t("work_so_far"), h("strong", {}, t("hours_of_work", { n: hoursOfWork })), h("span.hint", {}, perHour)),
    h("div.figure", {}, t("expected_end"), h("strong", {}, end), h("span.hint", {}, perDay)),
  );
}

/**
 * @param {string} name @param {number} done @param {number} wanted @param {string} more
 * @returns {HTMLElement}
 */
function meter(name, done, wanted, more) {
  return h("div.figure", {}, t(name), meterOf(done, wanted), h("span.hint", {}, more));
}

/**
 * How much of what is wanted is done, in numbers and as a picture.
 * @param {number} done @param {number} wanted @returns {HTMLElement}
 */
export function meterOf(done, wanted) {
  const fill = h("div");
  fill.style.setProperty("width", `${wanted ? Math.min(100, (100 * done) / wanted) : 0}%`);
  return h("div", {}, h("strong", {}, t("of_wanted", { done: counted(done), wanted: counted(wanted) })), h("div.meter", {}, fill));
}

/** @param {Date} moment @returns {string} a day, without its time */
export function day(moment) {
  return moment.toLocaleDateString(currentLocale());
}

/** @param {number} count @returns {string} with separators, as people here write it */
export function counted(count) {
  return count.toLocaleString(currentLocale());
}

/**
 * A number with one decimal, as the reader's language writes it.
 * @param {number} value @returns {string}
 */
function decimal(value) {
  return value.toLocaleString(currentLocale(), { minimumFractionDigits: 1, maximumFractionDigits: 1 });
}

/**
 * The seconds that a person takes for an answer.
 * @param {Server.AnnotatorOut} person @returns {string}
 */
export function pace(person) {
  return answers(person) ? decimal(person.active_seconds / answers(person)) : "–";
}

/**
 * Who needs attention, and why; many are named when asked for, so that they do not push all else off the screen.
 * @param {Server.AnnotatorOut[]} annotators @param {boolean} [open]  whether their names were asked for
 * @returns {HTMLElement}
 */
export function attention(annotators, open = false) {
  const people = annotators.filter((person) => person.attention.length);
  if (!people.length) return h("p.hint", {}, t("attention_none"));
  const lines = people.map((person) => {
    const values = { pace: pace(person), right: person.controls_right, n: person.controls };
    const reasons = person.attention.map((reason) => t(`attention_${reason}`, values));
    return h("li", {}, h("bdi", {}, person.name), `: ${reasons.join("; ")}`);
  });
  const heading = t("attention", { n: people.length });
  const names = h("ul", {}, ...lines);
  if (people.length > MOST_NAMED) return h("details.attention", { open }, h("summary", {}, heading), names);
  return h("div.attention", {}, h("p", {}, heading), names);
}

/** @param {Server.AnnotatorOut} person @returns {number} everything answered, controls and examples too */
export function answers(person) {
  return person.judgments + person.control_judgments;
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
