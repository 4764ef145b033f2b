// @ts-check
/** How the page saves: changes and time go to the queue, answers come back, and troubles are told and mended. */
import { call, renewToken } from "../shared/net.js";
import { SaveQueue } from "./queue.js";
import { Tabs } from "./tabs.js";
import { later, t, timeOfDay } from "../shared/interface_texts.js";

const REPORT_TIME_MS = 30000; // time on a screen without changes is reported this often

export class Saving {
  /** @param {import("../work.js").Work} work */
  constructor(work) {
    this.work = work;
    const owner = `${work.campaign.id}:${work.annotator.id}`;
    this.tabs = new Tabs(owner, (said) => this.heard(said));
    this.queue = new SaveQueue(owner, {
      takeTime: (screen) => work.clock.take(screen),
      saved: (answer, record) => this.saved(answer, record),
      trouble: (error, record) => this.trouble(error, record),
      changed: () => this.show(),
      adopted: () => this.adopted(),
      livingTabs: () => this.tabs.roll(),
    });
    this.entering = false;
    this.tokenRenewed = false;
    this.lastTrouble = "offline";
    window.addEventListener("pagehide", () => this.queue.farewell());
    window.addEventListener("beforeunload", (event) => this.queue.atRisk && event.preventDefault());
    document.addEventListener("visibilitychange", () => this.seen());
    setInterval(() => this.reportTime(1), REPORT_TIME_MS);
  }

  /** @param {Record<string, Record<string, any>>} changes  of the screen shown */
  change(changes) {
    const { task, clock, screen } = this.work;
    if (!task) return;
    for (const [output, fields] of Object.entries(changes)) {
      for (const [field, value] of Object.entries(fields)) {
        clock.note("set", output, ["comment", "edit", "spans"].includes(field) ? field : value);
      }
    }
    this.queue.add(task.placeOf(screen.id), changes);
    this.work.showProgress();
  }

  /**
   * Report the time of every screen on which at least so much was spent since its last save.
   * @param {number} least
   */
  reportTime(least) {
    const { task, clock } = this.work;
    if (!task) return;
    clock.tick();
    for (const [screen, { spent }] of [...clock.taken]) {
      // What is left of a task that was handed in belongs to nobody any more.
      if (!task.has(screen)) clock.taken.delete(screen);
      else if (spent.active > least) this.queue.add(task.placeOf(screen), {});
    }
  }

  /** @param {Server.SavedOut} answer @param {import("./save_records.js").SaveRecord} record */
  saved(answer, record) {
    this.tokenRenewed = false;
    this.work.frame.savedAt(timeOfDay(new Date(answer.saved)));
    this.accept(record.task, record.screen, answer.state, answer.met.length > 0);
    this.tabs.tell({ task: record.task, screen: record.screen, state: answer.state });
    if (answer.released) this.work.frame.notice(t("released"), "warning");
  }

  /** What an earlier page left behind has come to light. */
  adopted() {
    this.work.view?.show();
    if (this.work.task) this.work.showProgress();
    this.show();
  }

  /**
   * Another tab has saved something.
   * @param {any} said
   */
  heard(said) {
    const { task, screen } = this.work;
    const known = task?.states.get(said.screen)?.revision ?? 0;
    if (said.task === task?.id && said.state.revision > known) {
      this.accept(said.task, said.screen, said.state, said.screen === screen.id);
    }
  }

  /**
   * Take over how a screen stands on the server.
   * @param {string} taskId @param {string} screenId @param {Server.StateOut} state @param {boolean} conflict whether another tab had changed the same output
   */
  accept(taskId, screenId, state, conflict) {
    const { task, screen } = this.work;
    if (!task || taskId !== task.id) return;
    this.work.secondsSaved += task.accept(screenId, state);
    if (screenId === screen.id) this.work.view?.show();
    if (conflict) this.work.frame.notice(t("other_tab"), "info");
    this.work.showProgress();
  }

  /** @param {any} error @param {any} [record] */
  trouble(error, record) {
    if (error.trouble === "entry") void this.enterAgain(error);
    else if (error.trouble === "refused") {
      this.work.frame.notice(t("refused", { reason: error.message }), "warning");
      if (record) void this.reload().catch(() => undefined);
    }
    if (error.trouble) this.lastTrouble = error.trouble;
    this.show();
  }

  /**
   * What somebody asked for could not be done: unlike a save it is not tried again by itself, so it is said.
   * @param {any} error
   */
  notDone(error) {
    if (error.trouble === "offline" || error.trouble === "fault") this.work.frame.notice(t("no_answer"), "warning");
    this.trouble(error);
  }

  /** @param {any} error */
  async enterAgain(error) {
    if (error.code === "csrf" && !this.tokenRenewed) {
      this.tokenRenewed = true;
      await renewToken().catch(() => undefined);
      this.queue.release();
      return;
    }
    if (this.entering) return;
    this.entering = true;
    const { annotator } = this.work;
    const reason = t(error.message.includes("somebody else") ? "enter_other_reason" : "enter_reason");
    const entered = async () => {
      const work = await call("GET", "/api/work");
      if (work.annotator.id !== annotator.id) return false;
      this.entering = false;
      this.queue.release();
      return true;
    };
    try {
      const { showReentry } = await later(import("../work/dialogs.js"));
      showReentry(annotator.name, `${reason} ${t("nothing_lost")}`, entered);
    } catch {
      // Asked again with the next attempt to save.
      this.entering = false;
    }
  }

  /** Fetch the task again, after something was refused or when the page comes back into sight. */
  async reload() {
    const { task, annotator } = this.work;
    if (!task) return;
    const work = await call("GET", `/api/work?task=${encodeURIComponent(task.id)}`);
    if (work.annotator.id !== annotator.id || work.task?.id !== task.id) return;
    this.work.secondsSaved = Math.max(this.work.secondsSaved, work.active_seconds);
    for (const [screen, state] of Object.entries(work.task.states)) task.accept(screen, state);
    this.work.view?.show();
    this.work.showProgress();
  }

  /** Show what the server refused, to be sent again, copied or given up. */
  offerRefused() {
    const { queue, work } = this;
    const place = (/** @type {any} */ record) => {
      const i = record.task === work.task?.id ? work.screens.findIndex((screen) => screen.id === record.screen) : -1;
      return i < 0 ? "" : t("screen_of", { n: i + 1, count: work.screens.length });
    };
    const actions = { again: () => void queue.sendRefused().then(() => this.show()), drop: () => queue.dropRefused() };
    void work.use(import("../work/dialogs.js"), ({ showRefused }) => showRefused(queue.refused, place, actions));
  }

  /** The page has come into sight, or has gone out of it. */
  seen() {
    if (document.visibilityState === "hidden") void this.queue.flush();
    else if (this.work.task) void this.reload().catch((error) => this.trouble(error));
  }

  show() {
    const troubled = this.queue.failures > 0 || this.queue.held;
    this.work.frame.saving(this.queue.waiting, troubled ? this.lastTrouble : "");
    this.work.frame.refused(this.queue.refused.length);
  }
}
