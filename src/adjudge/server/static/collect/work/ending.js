// @ts-check
/** From one task to another: handing in, the pause before the next one, tasks given before, and the last page. */
import { clockTime, h } from "../shared/dom.js";
import { showHandIn } from "./dialogs.js";
import { call } from "../shared/net.js";
import { t } from "../shared/interface_texts.js";

/** @typedef {import("../work.js").Work} Work */

const SLOW_MS = 700; // what takes longer is said to be under way
let fetching = false;

/**
 * No task is on the page any more: report its time, and let keys do nothing.
 * @param {Work} page
 */
function leave(page) {
  page.saving.reportTime(0);
  page.clock.show(null);
  page.task = null;
  page.stops = [];
}

/**
 * Between two tasks: what is done, what is left, and as long a pause as wanted.
 * @param {Work} page @param {Server.WorkOut} work
 */
function pause(page, work) {
  leave(page);
  page.tasks = work.tasks;
  const done = work.tasks.filter((task) => task.finished).length;
  page.frame.showPause(done, work.tasks_planned, clockTime(work.active_seconds), () => page.take(work));
}

/**
 * Ask the server for what is to be shown next. One at a time: pressed again, the second answer would come while somebody
 * judges already, and show another screen. Where it takes long, the page says that something is under way.
 * @param {Work} page @param {() => Promise<Server.WorkOut>} ask @param {(work: Server.WorkOut) => void} show
 */
async function fetchAlone(page, ask, show) {
  if (fetching) return;
  fetching = true;
  /** @type {Element | undefined} */
  let told;
  const timer = setTimeout(() => (told = page.frame.notice(t("entering"), "info")), SLOW_MS);
  try {
    const work = await ask();
    fetching = false;
    show(work);
  } catch (error) {
    page.saving.notDone(error);
  } finally {
    clearTimeout(timer);
    told?.remove();
    fetching = false;
  }
}

/**
 * Take the next task.
 * @param {Work} page
 */
export function takeNext(page) {
  const show = (/** @type {Server.WorkOut} */ work) => (work.task || work.completion || work.form ? page.take(work) : showEnd(page, work));
  return fetchAlone(page, () => call("POST", "/api/tasks/next"), show);
}

/**
 * Go to a task that was given before.
 * @param {Work} page @param {string} id
 */
export function openTask(page, id) {
  const ask = () => page.saving.queue.flush().then(() => call("GET", `/api/work?task=${encodeURIComponent(id)}`));
  return fetchAlone(page, ask, (work) => page.take(work));
}

/**
 * Back to the last page, with the code, after answers were looked at again.
 * @param {Work} page
 */
export function backToEnd(page) {
  const show = (/** @type {Server.WorkOut} */ work) => {
    leave(page);
    showEnd(page, work);
  };
  return fetchAlone(page, () => page.saving.queue.flush().then(() => call("GET", "/api/work")), show);
}

/** @param {Work} page @param {Server.WorkOut} work */
export function showEnd(page, work) {
  const free = page.campaign.navigation === "free" ? work.tasks : [];
  const review = free.map((task) =>
    h(
      "button.quiet",
      { type: "button", onclick: () => void openTask(page, task.id) },
      t("task_finished", { n: task.number }),
    ),
  );
  page.frame.showEnd(work.completion, clockTime(work.active_seconds), review, work.news.state);
}

// A task is handed in once, also where the dialog that waits for it was closed by a gesture that no page can hold up.
let underWay = false;

/** @param {Work} page */
export function handIn(page) {
  const task = page.task;
  if (!task) return;
  if (underWay) {
    page.frame.notice(t("handing_in"), "info");
    return;
  }
  const finish = async () => {
    underWay = true;
    try {
      return await finished(page, task);
    } catch (error) {
      return () => page.saving.notDone(error);
    } finally {
      underWay = false;
    }
  };
  showHandIn({ judged: task.size, time: clockTime(page.secondsSpent), finish });
}

/**
 * Hand in.
 * @param {Work} page @param {import("./task.js").TaskState} task @returns {Promise<() => void>} what is to be shown then
 */
async function finished(page, task) {
  page.saving.reportTime(0);
  await page.saving.queue.flush();
  if (page.saving.queue.waiting) return () => page.frame.notice(t("hand_in_waits"), "warning");
  const answer = await call("POST", `/api/tasks/${encodeURIComponent(task.id)}/finish`);
  if (!answer.finished) await page.saving.reload();
  const work = await call("GET", "/api/work");
  // Short tasks of a pool that follow each other need no pause in between.
  const flowing = work.tasks_planned === null && task.kind === "work";
  return () => (answer.finished && !work.completion && !flowing ? pause(page, work) : page.take(work));
}
