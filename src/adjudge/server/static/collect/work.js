// @ts-check
/** The annotator's page: one screen at a time, every change saved by itself, every action with a key. */
import { Clock } from "./work/clock.js";
import { clockTime, h, scrollToElement } from "./shared/dom.js";
import { Frame } from "./work/frame.js";
import { showInstructions } from "./work/instructions.js";
import { handleKey, step } from "./work/keys.js";
import { addressOf, call } from "./shared/net.js";
import { applyPreferences, changeSize, changeTheme, firstTime } from "./shared/prefs.js";
import { Saving } from "./saving/saving.js";
import { characters, screenView } from "./screen/screen.js";
import { backToEnd, openTask, takeNext } from "./work/taking.js";
import { TaskState } from "./work/task.js";
import { currentLanguage, later, loadTexts, t } from "./shared/interface_texts.js";
import { remember, undo } from "./work/undo.js";

/** @typedef {import("./screen/screen.js").Stop} Stop */

const NEWS_MS = 45_000; // how often the organisers are asked for news
const LATER_MS = 1500; // after the first screen
const LEAST_SECONDS = 0.3; // a glance that is not worth a save of its own

export class Work {
  /**
   * @param {import("./screen/screen.js").Kind} kind @param {Server.WorkOut} work
   * @param {Server.InstructionsOut | null} instructions
   */
  constructor(kind, work, instructions) {
    this.kind = kind;
    this.campaign = work.campaign;
    this.instructions = instructions;
    this.annotator = work.annotator;
    this.secondsSaved = work.active_seconds;
    /** @type {TaskState | null} */
    this.task = null;
    /** @type {Server.TaskSummaryOut[]} */
    this.tasks = [];
    /** @type {Stop[]} */
    this.stops = [];
    this.index = 0;
    this.using = false;
    /** @type {Server.CompletionOut | null} */
    this.completion = null;
    /** @type {import("./work/undo.js").Step[]} */
    this.history = [];
    /** @type {Element | undefined} a notice of what is missing */
    this.reminder = undefined;
    this.frame = new Frame(this.campaign, this.actions());
    this.frame.instruct(instructions?.short ?? "");
    this.clock = new Clock(this.campaign.idle_seconds, () => this.showTime());
    this.saving = new Saving(this);
    this.saving.show();
    document.addEventListener("keydown", (event) => handleKey(this, event));
    for (const name of ["focusin", "pointerdown"]) this.frame.main.addEventListener(name, (event) => this.turnTo(event));
    this.take(work);
    setInterval(() => void this.hear(), NEWS_MS);
  }

  /** Ask whether the organisers have something to say. Without a connection it is asked again later. */
  async hear() {
    if (document.visibilityState !== "visible") return;
    /** @type {Server.NewsOut | null} */
    const news = await call("GET", "/api/news").catch(() => null);
    if (news) this.tell(news);
  }

  /** @param {Server.NewsOut} news */
  tell({ state, messages }) {
    for (const message of messages)
      this.frame.message(message, `adjudge:message:${this.campaign.id}:${this.annotator.id}:${message.number}`);
    if (state === "closed" && this.task && !this.task.finished) this.frame.notice(`${t("closed")}. ${t("closed_text")}`, "warning");
  }

  /** @returns {Record<string, () => void>} what the buttons do */
  actions() {
    return {
      next: () => this.forward(),
      previous: () => this.go(this.index - 1),
      missing: () => this.goToMissing(),
      overview: () => this.overview(),
      keys: () => void this.use(import("./work/dialogs.js"), ({ showKeys }) => showKeys(this.campaign)),
      instructions: () => void this.instruct(),
      larger: () => changeSize(1),
      smaller: () => changeSize(-1),
      dark: changeTheme,
      refused: () => this.saving.offerRefused(),
      nextTask: () => void takeNext(this),
      end: () => void backToEnd(this),
      undo: () => undo(this),
    };
  }

  /**
   * Show what the server says there is to do.
   * @param {Server.WorkOut} work
   */
  take(work) {
    // The time on the former task is reported before another takes its place.
    if (this.task?.id !== work.task?.id) {
      this.saving.reportTime(0);
      this.clock.show(null);
    }
    this.tasks = work.tasks;
    this.tell(work.news);
    this.completion = work.completion;
    this.history = [];
    this.secondsSaved = work.active_seconds;
    this.task = work.task && new TaskState(work, work.task, this.saving.queue);
    if (!this.task) {
      this.clock.show(null);
      if (work.form) void this.use(import("./work/form.js"), ({ showForm }) => showForm(this));
      else if (work.completion) this.end(work);
      else void takeNext(this);
      return;
    }
    this.index = this.task.firstOpen;
    this.show();
    this.welcome();
    // Before the connection may be lost: what is loaded is there without one.
    setTimeout(() => void later(import("./work/ending.js")).catch(() => undefined), LATER_MS);
  }

  /**
   * Do something with what is loaded after the first screen. Where it has not come, the page says so.
   * @template Loaded
   * @param {Promise<Loaded>} loading @param {(loaded: Loaded) => unknown} act
   * @returns {Promise<void>}
   */
  async use(loading, act) {
    // Pressed once more while it loads, a key is not meant twice.
    if (this.using) return void loading.catch(() => undefined);
    this.using = true;
    try {
      act(await later(loading));
    } catch (error) {
      this.frame.notice(t("no_answer"), "warning");
      console.warn(error);
    } finally {
      this.using = false;
    }
  }

  /**
   * No task is to be done: the last page.
   * @param {Server.WorkOut} work
   */
  end(work) {
    void this.use(import("./work/ending.js"), ({ showEnd }) => showEnd(this, work));
  }

  welcome() {
    if (!firstTime(`adjudge:welcome:${this.campaign.id}:${this.annotator.id}`)) return;
    // Closed, it gives the focus back to what is judged first. Nothing else may move it then: somebody may be typing.
    void this.instruct(true);
  }

  /** @param {boolean} [first]  whether they are shown before the first task */
  async instruct(first = false) {
    this.instructions ??= await askInstructions();
    if (this.instructions) showInstructions(this.instructions, first);
    else this.frame.notice(t("no_answer"), "warning");
  }

  // --- going about

  /** @returns {any[]} the screens of the task in hand */
  get screens() {
    return this.task?.screens ?? [];
  }

  get screen() {
    return this.screens[this.index];
  }

  /**
   * Whether a screen may be gone to.
   * @param {number} i @returns {boolean}
   */
  mayGo(i) {
    if (i < 0 || i >= this.screens.length) return false;
    if (this.campaign.navigation === "free") return true;
    const before = this.screens.slice(0, i).every((screen) => this.task?.isDone(screen));
    return before && (this.campaign.navigation === "back-only" || i >= this.index);
  }

  get locked() {
    return Boolean(this.task?.finished) && this.campaign.navigation !== "free";
  }

  /** @param {number} i */
  go(i) {
    if (!this.mayGo(i)) return;
    // What was played so far is told with the time on this screen.
    for (const player of this.frame.main.querySelectorAll("audio, video")) player.dispatchEvent(new Event("pause"));
    this.saving.reportTime(LEAST_SECONDS);
    void this.saving.queue.flush();
    this.index = i;
    this.show();
  }

  /** On to the next screen; after the last, hand in; where something is missing that must not be, there. */
  forward() {
    const last = this.index === this.screens.length - 1;
    if (!last && this.mayGo(this.index + 1)) this.go(this.index + 1);
    else if (this.task?.left) this.goToMissing(true);
    else if (last && !this.task?.finished) void this.use(import("./work/ending.js"), ({ handIn }) => handIn(this));
    else if (last && this.completion) void backToEnd(this);
  }

  /**
   * To the next thing that is missing, here or on a later screen, then from the start.
   * @param {boolean} [explain]
   */
  goToMissing(explain = false) {
    const left = this.task?.left ?? 0;
    if (!left) return;
    const unanswered = this.screens.some((screen) => this.task && this.task.missingOn(screen).length > this.task.wrongOn(screen).length);
    if (explain || !unanswered)
      this.reminder = this.frame.notice(unanswered ? t("left_explained", { n: left }) : t("lesson_first"), "info");
    const from = this.stops.indexOf(this.current ?? this.stops[0]);
    const order = [...this.stops.keys()].map((i) => this.stops[(from + 1 + i) % this.stops.length]);
    const here = order.find((stop) => stop.isOpen());
    if (here) {
      this.attend(here, true, false);
      return this.frame.reveal(document.activeElement);
    }
    const count = this.screens.length;
    for (let away = 1; away < count; away += 1) {
      const i = (this.index + away) % count;
      if (!this.task?.isDone(this.screens[i]) && this.mayGo(i)) return this.go(i);
    }
    // An example on this screen that is answered, but not rightly.
    if (this.stops.length) this.attend(this.stops[0], true);
  }

  overview() {
    const task = this.task;
    if (!task) return;
    const screens = this.screens.map((screen, i) => ({
      done: task.isDone(screen),
      begun: Object.keys(task.answers(screen)).length > 0,
      open: i === this.index || this.mayGo(i),
    }));
    const [go, open] = [(/** @type {number} */ i) => this.go(i), (/** @type {string} */ id) => void openTask(this, id)];
    void this.use(import("./work/dialogs.js"), ({ showOverview }) => showOverview(screens, this.index, go, this.tasks, task.id, open));
  }

  // --- showing

  show() {
    const task = this.task;
    if (!task) return;
    const screen = this.screen;
    this.clock.show(screen.id, characters(screen));
    this.view = screenView(screen, {
      kind: this.kind,
      campaign: this.campaign,
      answers: () => task.answers(screen),
      locked: this.locked,
      tutorial: task.kind === "tutorial",
      change: (changes) => {
        remember(this, screen, changes);
        this.saving.change(changes);
      },
      attend: (stop) => this.attend(stop),
      turn: (stop) => this.attend(stop, true),
      on: () => step(this, 1),
      mediumAt: (place, number) => addressOf(`/api/media/${[task.id, place, number].map(encodeURIComponent).join("/")}`),
      played: (place, seconds) => this.clock.noteOn(screen.id, "played", place, seconds),
    });
    this.stops = this.view.stops;
    this.current = undefined;
    this.frame.showScreen(this.view.element, task.kind);
    window.scrollTo({ top: 0 });
    this.attend(this.stops.find((stop) => stop.isOpen()) ?? this.stops[0], true, false);
    this.showProgress();
  }

  /**
   * Turn to a stop: mark it, count the time for it, and where asked bring it into sight with the focus.
   * @param {Stop} stop @param {boolean} [focus] @param {boolean} [scroll]
   */
  attend(stop, focus = false, scroll = true) {
    this.current = stop;
    this.clock.attend(stop.attended);
    for (const { element } of this.stops) element.classList.toggle("current", element === stop.element);
    if (!focus) return;
    stop.focus();
    if (scroll) scrollToElement(stop.element, "nearest");
  }

  /**
   * Keys go to what somebody has turned to, be it by a button of its list of errors or by its comment.
   * @param {Event} event
   */
  turnTo(event) {
    const holds = (/** @type {Stop | undefined} */ one) => one?.element.contains(/** @type {Node} */ (event.target));
    const stop = this.stops.find(holds);
    if (stop && !holds(this.current)) this.attend(stop);
  }

  showProgress() {
    const task = this.task;
    if (!task) return;
    const done = this.screens.filter((screen) => task.isDone(screen)).length;
    const last = this.index === this.screens.length - 1;
    if (!task.left) this.reminder?.remove();
    this.frame.showProgress({
      index: this.index,
      count: this.screens.length,
      done,
      left: task.left,
      leftHere: task.leftOn(this.screen),
      last,
      mayGoBack: this.mayGo(this.index - 1),
      finished: task.finished,
      ended: task.finished && Boolean(this.completion),
    });
  }

  /** @returns {number} working time: what the server has counted, what waits to be sent, and what is being spent */
  get secondsSpent() {
    return this.secondsSaved + (this.saving?.queue.seconds ?? 0) + this.clock.untaken;
  }

  showTime() {
    this.frame.time(clockTime(this.secondsSpent), this.clock.idle);
  }
}

/** @returns {Promise<Server.InstructionsOut | null>} what is to be done, which the page then keeps */
function askInstructions() {
  return call("GET", `/api/instructions?language=${currentLanguage()}`).catch(() => null);
}

/**
 * Show the page.
 * @param {import("./screen/screen.js").Kind} kind  what builds the screens of this campaign
 */
export async function begin(kind) {
  applyPreferences();
  await loadTexts();
  try {
    const [work, instructions] = await Promise.all([call("GET", "/api/work"), askInstructions()]);
    new Work(kind, work, instructions);
  } catch (error) {
    const offline = /** @type {any} */ (error).trouble === "offline";
    document.body.replaceChildren(
      h(
        "main.sorry",
        {},
        h("p", {}, t(offline ? "no_answer" : "cannot_begin")),
        h("button.primary", { onclick: () => location.reload() }, t("try_again")),
      ),
    );
    if (/** @type {any} */ (error).trouble === "entry") location.replace(addressOf("/enter"));
  }
}
