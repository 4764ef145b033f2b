// @ts-check
/** Handing in a task, the pause before the next one, and the last page. */
import { clockTime, h } from "../shared/dom.js";
import { showHandIn } from "./dialogs.js";
import { call } from "../shared/net.js";
import { t } from "../shared/interface_texts.js";

/** @typedef {import("../work.js").Work} Work */

/**
 * Between two tasks: what is done, what is left, and as long a pause as wanted.
 * @param {Work} page @param {Server.WorkOut} work
 */
function pause(page, work) {
  page.saving.reportTime(0);
  page.clock.show(null);
  page.task = null;
  page.stops = [];
  page.tasks = work.tasks;
  const done = work.tasks.filter((task) => task.finished).length;
  page.frame.showPause(done, work.tasks_planned, clockTime(work.active_seconds), () => page.take(work));
}

/**
 * Back to the last page, with the code, after answers were looked at again.
 * @param {Work} page
 */
export async function backToEnd(page) {
  await page.saving.queue.flush();
  try {
    const work = await call("GET", "/api/work");
    page.saving.reportTime(0);
    page.clock.show(null);
    page.task = null;
    page.stops = [];
    showEnd(page, work);
  } catch (error) {
    page.saving.notDone(error);
  }
}

/** @param {Work} page @param {Server.WorkOut} work */
export function showEnd(page, work) {
  const free = page.campaign.navigation === "free" ? work.tasks : [];
  const review = free.map((task) =>
    h(
      "button.quiet",
      { type: "button", onclick: () => void page.openTask(task.id) },
      t("task_finished", { n: task.number }),
    ),
  );
  page.frame.showEnd(work.completion, clockTime(work.active_seconds), review);
}

/** @param {Work} page */
export function handIn(page) {
  const task = page.task;
  if (!task) return;
  const finish = async () => {
    page.saving.reportTime(0);
    await page.saving.queue.flush();
    if (page.saving.queue.waiting) return page.frame.notice(t("hand_in_waits"), "warning");
    try {
      const answer = await call("POST", `/api/tasks/${encodeURIComponent(task.id)}/finish`);
      if (!answer.finished) await page.saving.reload();
      const work = await call("GET", "/api/work");
      // Short tasks of a pool that follow each other need no pause in between.
      const flowing = work.tasks_planned === null && task.kind === "work";
      if (answer.finished && !work.completion && !flowing) pause(page, work);
      else page.take(work);
    } catch (error) {
      page.saving.notDone(error);
    }
  };
  showHandIn({ judged: task.size, time: clockTime(page.secondsSpent), finish });
}
