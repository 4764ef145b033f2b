// @ts-check
/** From one task to another: taking the next one, and going back to tasks that were given before. */
import { call } from "../shared/net.js";
import { t } from "../shared/interface_texts.js";

/** @typedef {import("../work.js").Work} Work */

const SLOW_MS = 700; // what takes longer is said to be under way
let fetching = false;

/**
 * No task is on the page any more: report its time, and let keys do nothing.
 * @param {Work} page
 */
export function leave(page) {
  page.saving.reportTime(0);
  page.clock.show(null);
  page.task = null;
  page.stops = [];
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
  const show = (/** @type {Server.WorkOut} */ work) => (work.task || work.completion || work.form ? page.take(work) : page.end(work));
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
    page.end(work);
  };
  return fetchAlone(page, () => page.saving.queue.flush().then(() => call("GET", "/api/work")), show);
}
