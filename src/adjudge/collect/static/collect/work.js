// @ts-check
/** The annotator's page: one screen at a time, every change saved by itself, every action with a key. */
import { Clock } from "./clock.js";
import { clockTime, h } from "./dom.js";
import { Frame } from "./frame.js";
import { showHandIn, showInstructions, showKeys, showOverview, showReentry } from "./help.js";
import { call, renewToken } from "./net.js";
import { applyPreferences, changeSize, changeTheme, keysOn } from "./prefs.js";
import { SaveQueue } from "./queue.js";
import { characters, screenView } from "./screen.js";
import { loadTexts, t, timeOfDay } from "./texts.js";

/** @typedef {import("./screen.js").Stop} Stop */

const REPORT_TIME_MS = 30000; // time on a screen without changes is reported this often

class Work {
  /** @param {any} work */
  constructor(work) {
    this.campaign = work.campaign;
    this.annotator = work.annotator;
    this.secondsSaved = work.active_seconds;
    /** @type {Map<string, number>} what the server has counted of each screen */
    this.seconds = new Map();
    this.frame = new Frame(this.campaign, this.actions());
    this.clock = new Clock(this.campaign.idle_seconds, () => this.showTime());
    this.queue = new SaveQueue(`${this.campaign.id}:${this.annotator.id}`, {
      takeTime: (screen) => this.clock.take(screen),
      saved: (answer, record) => this.saved(answer, record),
      trouble: (error, record) => this.trouble(error, record),
      changed: () => this.showSaving(),
    });
    this.entering = false;
    this.tabs = new BroadcastChannel(`adjudge:${this.campaign.id}:${this.annotator.id}`);
    this.tabs.addEventListener("message", (event) => this.heard(event.data));
    document.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("pagehide", () => this.queue.farewell());
    document.addEventListener("visibilitychange", () => this.seen());
    setInterval(() => this.reportTime(), REPORT_TIME_MS);
    this.take(work);
  }

  /** What the buttons do. @returns {Record<string, () => void>} */
  actions() {
    return {
      next: () => this.forward(),
      previous: () => this.go(this.index - 1),
      missing: () => this.goToMissing(),
      overview: () => this.overview(),
      keys: () => showKeys(this.campaign),
      instructions: () => showInstructions(this.campaign),
      larger: () => changeSize(1),
      smaller: () => changeSize(-1),
      dark: changeTheme,
      nextTask: () => void this.takeNext(),
    };
  }

  /** Show what the server says there is to do. @param {any} work */
  take(work) {
    this.tasks = work.tasks;
    this.task = work.task;
    this.completion = work.completion;
    if (!this.task) {
      this.clock.show(null);
      if (work.completion) this.frame.showEnd(work.completion, clockTime(work.active_seconds));
      else void this.takeNext();
      return;
    }
    this.screens = this.task.screens;
    /** @type {Map<string, any>} */
    this.states = new Map(Object.entries(this.task.states));
    this.secondsSaved = work.active_seconds;
    this.seconds = secondsOf(this.states);
    this.index = this.firstOpen();
    this.show();
    this.welcome();
  }

  async takeNext() {
    try {
      const work = await call("POST", "/api/tasks/next");
      if (work.task || work.completion) this.take(work);
      else this.frame.showEnd(null, clockTime(work.active_seconds));
    } catch (error) {
      this.trouble(/** @type {any} */ (error));
    }
  }

  welcome() {
    const key = `adjudge:welcome:${this.campaign.id}:${this.annotator.id}`;
    if (localStorage.getItem(key)) return;
    showInstructions(this.campaign, () => this.stops[0]?.focus(), true);
    localStorage.setItem(key, "1");
  }

  // --- answers

  /** The answers of a screen: what the server has, and over it what is still to be sent. @param {any} screen */
  answers(screen) {
    const saved = this.states?.get(screen.id)?.answers ?? {};
    const pending = this.queue.pending(this.task.id, screen.id);
    /** @type {Record<string, any>} */
    const merged = { ...saved };
    for (const [output, fields] of Object.entries(pending)) merged[output] = { ...merged[output], ...fields };
    return merged;
  }

  /** The outputs of a screen that are not judged yet. @param {any} screen @returns {string[]} */
  missingOn(screen) {
    const answers = this.answers(screen);
    const field = ["ranking", "pairwise"].includes(this.campaign.protocol) ? "rank" : "score";
    const outputs = screen.items.flatMap((/** @type {any} */ item) => item.outputs);
    return outputs.map((/** @type {any} */ one) => one.id).filter((/** @type {string} */ id) => (answers[id]?.[field] ?? null) === null);
  }

  /** How many decisions of a screen are open: pairs are one decision, ranks and scores one each. @param {any} screen */
  leftOn(screen) {
    const left = this.missingOn(screen).length;
    return this.campaign.protocol === "pairwise" ? Math.ceil(left / 2) : left;
  }

  /** @param {Record<string, Record<string, any>>} changes */
  change(changes) {
    const screen = this.screen;
    for (const [output, fields] of Object.entries(changes)) {
      for (const [field, value] of Object.entries(fields)) {
        this.clock.note("set", output, field === "comment" ? "comment" : value);
      }
    }
    this.queue.add(this.placeOf(screen.id), changes);
    this.showProgress();
  }

  /** @param {string} screen */
  placeOf(screen) {
    const base = this.states?.get(screen)?.revision ?? 0;
    return { annotator: this.annotator.id, task: this.task.id, screen, base };
  }

  reportTime() {
    if (this.task && this.clock.untaken > 1) this.queue.add(this.placeOf(this.screen.id), {});
  }

  /** @param {any} answer @param {any} record */
  saved(answer, record) {
    this.secondsSaved += Math.max(0, answer.state.active_seconds - (this.seconds.get(record.screen) ?? 0));
    this.seconds.set(record.screen, answer.state.active_seconds);
    this.frame.savedAt(timeOfDay(new Date(answer.saved)));
    this.accept(record.task, record.screen, answer.state, answer.met.length > 0);
    this.tabs.postMessage({ task: record.task, screen: record.screen, state: answer.state });
    if (answer.released) this.frame.notice(t("released"), "warning");
  }

  /** @param {any} said */
  heard(said) {
    const known = this.states?.get(said.screen)?.revision ?? 0;
    if (said.task === this.task?.id && said.state.revision > known) {
      this.accept(said.task, said.screen, said.state, said.screen === this.screen.id);
    }
  }

  /** Take over how a screen stands on the server. @param {string} task @param {string} screen @param {any} state @param {boolean} met */
  accept(task, screen, state, met) {
    if (task !== this.task?.id) return;
    this.states?.set(screen, state);
    if (screen === this.screen.id) this.view?.show();
    if (met) this.frame.notice(t("other_tab"), "info");
    this.showProgress();
  }

  /** @param {any} error @param {any} [record] */
  trouble(error, record) {
    if (error.trouble === "entry") this.enterAgain(error);
    else if (error.trouble === "refused") {
      this.frame.notice(t("refused", { reason: error.message }), "warning");
      if (record) void this.reload();
    }
    this.showSaving(error.trouble);
  }

  /** @param {any} error */
  async enterAgain(error) {
    if (error.code === "csrf") await renewToken();
    if (this.entering) return;
    this.entering = true;
    const reason = t(error.message.includes("somebody else") ? "enter_other_reason" : "enter_reason");
    showReentry(this.annotator.name, `${reason} ${t("nothing_lost")}`, async () => {
      const work = await call("GET", "/api/work");
      if (work.annotator.id !== this.annotator.id) return false;
      this.entering = false;
      this.queue.release();
      return true;
    });
  }

  /** Fetch the task again, after something was refused or when the page comes back into sight. */
  async reload() {
    if (!this.task) return;
    const work = await call("GET", `/api/work?task=${encodeURIComponent(this.task.id)}`);
    if (work.annotator.id !== this.annotator.id || work.task?.id !== this.task.id) return;
    this.secondsSaved = work.active_seconds;
    for (const [screen, state] of Object.entries(work.task.states)) this.states?.set(screen, state);
    this.seconds = secondsOf(this.states);
    this.view?.show();
    this.showProgress();
  }

  seen() {
    if (document.visibilityState === "hidden") void this.queue.flush();
    else if (this.task) void this.reload().catch((error) => this.trouble(error));
  }

  // --- going about

  get screen() {
    return this.screens[this.index];
  }

  firstOpen() {
    const open = this.screens.findIndex((/** @type {any} */ one) => this.missingOn(one).length > 0);
    return open < 0 ? this.screens.length - 1 : open;
  }

  /** Whether a screen may be gone to. @param {number} i @returns {boolean} */
  mayGo(i) {
    if (i < 0 || i >= this.screens.length) return false;
    if (this.campaign.navigation === "free") return true;
    const before = this.screens.slice(0, i).every((/** @type {any} */ one) => this.missingOn(one).length === 0);
    return before && (this.campaign.navigation === "back-only" || i >= this.index);
  }

  get locked() {
    return this.task.finished && this.campaign.navigation !== "free";
  }

  /** @param {number} i */
  go(i) {
    if (!this.mayGo(i)) return;
    void this.queue.flush();
    this.reportTime();
    this.index = i;
    this.show();
  }

  /** On to the next screen; after the last, hand in; where something is missing that must not be, there. */
  forward() {
    const last = this.index === this.screens.length - 1;
    if (!last && this.mayGo(this.index + 1)) this.go(this.index + 1);
    else if (this.leftInAll() > 0) this.goToMissing(true);
    else if (last) this.handIn();
  }

  leftInAll() {
    return this.screens.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + this.leftOn(one), 0);
  }

  /** To the next thing that is missing, here or on a later screen, then from the start. @param {boolean} [explain] */
  goToMissing(explain = false) {
    const left = this.leftInAll();
    if (!left) return;
    if (explain) this.frame.notice(t("left_explained", { n: left }), "info");
    const from = this.stops.indexOf(this.current ?? this.stops[0]);
    const order = [...this.stops.keys()].map((i) => this.stops[(from + 1 + i) % this.stops.length]);
    const here = order.find((stop) => stop.isOpen());
    if (here) return this.attend(here, true);
    const count = this.screens.length;
    for (let step = 1; step < count; step += 1) {
      const i = (this.index + step) % count;
      if (this.missingOn(this.screens[i]).length && this.mayGo(i)) return this.go(i);
    }
  }

  overview() {
    if (!this.task) return;
    const screens = this.screens.map((/** @type {any} */ one, /** @type {number} */ i) => ({
      done: this.missingOn(one).length === 0,
      begun: Object.keys(this.answers(one)).length > 0,
      open: i === this.index || this.mayGo(i),
    }));
    const open = async (/** @type {string} */ id) => {
      await this.queue.flush();
      this.take(await call("GET", `/api/work?task=${encodeURIComponent(id)}`));
    };
    showOverview(screens, this.index, (i) => this.go(i), this.tasks, this.task.id, open);
  }

  handIn() {
    const judged = this.screens.flatMap((/** @type {any} */ one) => one.items.flatMap((/** @type {any} */ item) => item.outputs)).length;
    const finish = async () => {
      await this.queue.flush();
      if (this.queue.waiting) return this.frame.notice(t("hand_in_waits"), "warning");
      try {
        const answer = await call("POST", `/api/tasks/${encodeURIComponent(this.task.id)}/finish`);
        if (!answer.finished) await this.reload();
        this.take(await call("GET", "/api/work"));
      } catch (error) {
        this.trouble(error);
      }
    };
    showHandIn({ judged, time: clockTime(this.secondsSpent), finish });
  }

  // --- showing

  show() {
    const screen = this.screen;
    this.clock.show(screen.id, characters(screen));
    this.view = screenView(screen, {
      campaign: this.campaign,
      answers: () => this.answers(screen),
      locked: this.locked,
      tutorial: this.task.kind === "tutorial",
      change: (changes) => this.change(changes),
      attend: (stop) => this.attend(stop),
    });
    this.stops = this.view.stops;
    this.current = undefined;
    this.frame.showScreen(this.view.element, this.task.kind);
    window.scrollTo({ top: 0 });
    this.attend(this.stops.find((stop) => stop.isOpen()) ?? this.stops[0], true, false);
    this.showProgress();
  }

  /** Turn to a stop: mark it, count the time for it, and where asked bring it into sight with the focus. @param {Stop} stop @param {boolean} [focus] @param {boolean} [scroll] */
  attend(stop, focus = false, scroll = true) {
    this.current = stop;
    this.clock.attend(stop.attended);
    for (const one of this.stops) one.element.classList.toggle("current", one === stop);
    if (!focus) return;
    stop.focus();
    if (scroll) stop.element.scrollIntoView({ block: "nearest", behavior: "smooth" });
  }

  showProgress() {
    if (!this.task) return;
    const done = this.screens.filter((/** @type {any} */ one) => this.missingOn(one).length === 0).length;
    const last = this.index === this.screens.length - 1;
    this.frame.showProgress({
      index: this.index,
      count: this.screens.length,
      done,
      left: this.leftInAll(),
      leftHere: this.leftOn(this.screen),
      last,
      mayGoBack: this.mayGo(this.index - 1),
      finished: this.task.finished,
    });
  }

  /** Working time: what the server has counted, what waits to be sent, and what is being spent. @returns {number} */
  get secondsSpent() {
    return this.secondsSaved + (this.queue?.seconds ?? 0) + this.clock.untaken;
  }

  /** @param {string} [trouble] */
  showSaving(trouble) {
    this.frame.saving(this.queue.waiting, trouble ?? (this.queue.failures ? "offline" : ""));
  }

  showTime() {
    this.frame.time(clockTime(this.secondsSpent), this.clock.idle);
  }

  // --- keys

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    if (document.querySelector("dialog[open]") || target.matches("input, textarea, select")) return;
    if (event.ctrlKey || event.metaKey || event.altKey || !this.task) return;
    if (this.onStop(event) || this.onPage(event)) event.preventDefault();
  }

  /** @param {KeyboardEvent} event @returns {boolean} */
  onStop(event) {
    const stop = this.current;
    const onButton = /** @type {HTMLElement} */ (event.target).matches("button:not([role=radio])");
    if (event.key === "Enter" && !onButton) {
      this.step(event.shiftKey ? -1 : 1);
      return true;
    }
    if (this.campaign.protocol === "ranking" && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      this.neighbour(event.key === "ArrowDown" ? 1 : -1);
      return true;
    }
    if (!stop || event.shiftKey || (!keysOn() && event.key.length === 1) || !stop.key(event)) return false;
    // A rank is said with one key: on to the next translation without one.
    if (this.campaign.protocol === "ranking" && /^[1-9]$/.test(event.key)) this.neighbour(1, true);
    return true;
  }

  /** To the next or previous stop; past the last, to the next screen. @param {number} by */
  step(by) {
    const i = this.stops.indexOf(this.current ?? this.stops[0]) + by;
    if (i >= 0 && i < this.stops.length && this.campaign.protocol !== "ranking") this.attend(this.stops[i], true);
    else if (by > 0 && this.stops.some((stop) => stop.isOpen())) this.goToMissing();
    else if (by > 0) this.forward();
    else this.go(this.index - 1);
  }

  /** @param {number} by @param {boolean} [open] */
  neighbour(by, open = false) {
    const i = this.stops.indexOf(this.current ?? this.stops[0]);
    const rest = by > 0 ? this.stops.slice(i + 1) : this.stops.slice(0, i).reverse();
    const next = open ? [...rest, ...this.stops].find((stop) => stop.isOpen()) : rest[0];
    if (next) this.attend(next, true);
  }

  /** @param {KeyboardEvent} event @returns {boolean} */
  onPage(event) {
    if (!keysOn() && event.key !== "?") return false;
    const actions = this.actions();
    /** @type {Record<string, () => void>} */
    const keys = {
      n: actions.next,
      p: actions.previous,
      m: actions.missing,
      o: actions.overview,
      c: () => this.current?.comment(),
      i: actions.instructions,
      d: actions.dark,
      "?": actions.keys,
      "+": actions.larger,
      "=": actions.larger,
      "-": actions.smaller,
    };
    const wanted = keys[event.key.toLowerCase()];
    wanted?.();
    return wanted !== undefined;
  }
}

/** @param {Map<string, any>} states @returns {Map<string, number>} the active seconds of each screen */
function secondsOf(states) {
  return new Map([...states].map(([screen, state]) => [screen, state.active_seconds]));
}

async function begin() {
  applyPreferences();
  await loadTexts();
  try {
    new Work(await call("GET", "/api/work"));
  } catch (error) {
    const offline = /** @type {any} */ (error).trouble === "offline";
    document.body.replaceChildren(
      h("main.sorry", {}, h("p", {}, t(offline ? "no_answer" : "cannot_begin")), h("button.primary", { onclick: () => location.reload() }, t("try_again"))),
    );
    if (/** @type {any} */ (error).trouble === "entry") location.replace("/enter");
  }
}

void begin();
