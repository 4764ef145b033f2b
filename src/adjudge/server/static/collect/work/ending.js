// @ts-check
/** Handing in, the pause before the next task, and the last page. */
import { copyButton } from "../shared/copy.js";
import { clockTime, h } from "../shared/dom.js";
import { showHandIn } from "./dialogs.js";
import { leave, openTask } from "./taking.js";
import { call } from "../shared/net.js";
import { t } from "../shared/interface_texts.js";

/** @typedef {import("../work.js").Work} Work */

/**
 * Between two tasks: what is done, what is left, and as long a pause as wanted.
 * @param {Work} page @param {Server.WorkOut} work
 */
function pause(page, work) {
  leave(page);
  page.tasks = work.tasks;
  const [n, count] = [work.tasks.filter((task) => task.finished).length, work.tasks_planned];
  const left = count === null ? "" : `${t("tasks_left", { n: count - n })} `;
  const heading = h("h2", {}, count === null ? t("task_done", { n }) : t("task_done_of", { n, count }));
  const text = h("p", {}, left + t("pause_text", { time: clockTime(work.active_seconds) }));
  const next = h("button.primary", { type: "button", onclick: () => page.take(work) }, t("next_task"));
  page.frame.showEnd(h("section.end.pause", {}, heading, text, next));
  next.focus();
}

/**
 * A text in the place of a screen.
 * @param {Work} page @param {string} title @param {...(HTMLElement | string | null)} content
 */
export function showText(page, title, ...content) {
  const parts = content.map((part) => (typeof part === "string" ? h("p", {}, part) : part));
  page.frame.showEnd(h("section.end", {}, h("h2", {}, title), ...parts));
  page.frame.main.focus();
}

/** @typedef {"running" | "paused" | "closed"} State */

/**
 * The last page.
 * @param {Work} page @param {Server.WorkOut} work
 */
export function showEnd(page, work) {
  const { completion } = work;
  const state = /** @type {State} */ (work.news.state);
  if (!completion) {
    if (state === "running") return showText(page, t("nothing_to_do"), t("nothing_to_do_text"));
    return showText(page, t(state), t(`${state}_text`));
  }
  const free = page.campaign.navigation === "free" ? work.tasks : [];
  const open = (/** @type {string} */ id) => () => void openTask(page, id);
  const review = free.map((task) =>
    h("button.quiet", { type: "button", onclick: open(task.id) }, t("task_finished", { n: task.number })),
  );
  const { code, url } = completion;
  showText(
    page,
    t("thank_you"),
    t("thank_you_text", { time: clockTime(work.active_seconds) }),
    state === "running" ? null : `${t(state)}. ${t(`${state}_text`)}`,
    code ? h("p", {}, t("code"), " ", h("code.code", {}, code), " ", copyButton(code)) : null,
    url ? h("p", {}, h("a.button.primary", { href: url, rel: "noreferrer" }, t("return"))) : null,
    completion.more ? h("button.more", { type: "button", onclick: page.actions().nextTask }, t("another_task")) : null,
    review.length ? h("div.tasks", {}, h("p.hint", {}, t("review")), ...review) : null,
  );
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
