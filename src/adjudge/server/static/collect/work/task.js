// @ts-check
/** The task in hand: its screens, how they stand on the server, and over that what is still to be sent. */

import { isOpen, questionsOn } from "../screen/judged.js";

/** @typedef {import("../screen/screen.js").Answers} Answers */

export class TaskState {
  /** @param {Server.WorkOut} work @param {Server.TaskOut} task @param {import("../saving/queue.js").SaveQueue} queue */
  constructor(work, task, queue) {
    this.queue = queue;
    this.annotator = work.annotator.id;
    this.protocol = work.campaign.protocol;
    this.id = task.id;
    this.kind = task.kind;
    this.finished = task.finished;
    /** @type {Server.ScreenOut[]} */
    this.screens = task.screens;
    /** @type {Map<string, Server.StateOut>} */
    this.states = new Map(Object.entries(task.states));
  }

  /** @param {string} id @returns {boolean} whether a screen belongs to this task */
  has(id) {
    return this.screens.some((screen) => screen.id === id);
  }

  /**
   * The answers of a screen.
   * @param {Server.ScreenOut} screen @returns {Answers}
   */
  answers(screen) {
    /** @type {Answers} */
    const merged = { ...(this.states.get(screen.id)?.answers ?? {}) };
    for (const [output, fields] of Object.entries(this.queue.pending(this.id, screen.id))) {
      merged[output] = { ...merged[output], ...fields };
    }
    return merged;
  }

  /**
   * What is asked on a screen and is not answered yet.
   * @param {Server.ScreenOut} screen @returns {string[]}
   */
  missingOn(screen) {
    const answers = this.answers(screen);
    const wrong = new Set(this.wrongOn(screen));
    const lacks = (/** @type {import("../screen/judged.js").Question} */ one) => isOpen(one, answers) || wrong.has(one.id);
    return questionsOn(screen).flatMap((question) => (lacks(question) ? [question.id] : []));
  }

  /**
   * The answers to examples that must be right first; one that has just been changed is judged by the server anew.
   * @param {Server.ScreenOut} screen @returns {string[]}
   */
  wrongOn(screen) {
    const waiting = this.queue.pending(this.id, screen.id);
    return (this.states.get(screen.id)?.wrong ?? []).filter((id) => !(id in waiting));
  }

  /** @param {Server.ScreenOut} screen @returns {boolean} */
  isDone(screen) {
    return this.missingOn(screen).length === 0;
  }

  /**
   * How many decisions of a screen are open: a pair is one, ranks and scores are one each.
   * @param {Server.ScreenOut} screen
   */
  leftOn(screen) {
    const left = this.missingOn(screen).length;
    return this.protocol === "pairwise" ? Math.ceil(left / 2) : left;
  }

  /** @returns {number} */
  get left() {
    return this.screens.reduce((sum, screen) => sum + this.leftOn(screen), 0);
  }

  /** @returns {number} how many translations there are to judge */
  get size() {
    return this.screens.reduce((sum, screen) => sum + outputsOf(screen).length, 0);
  }

  /** @returns {number} the first screen where something is open, or the last one */
  get firstOpen() {
    const open = this.screens.findIndex((screen) => !this.isDone(screen));
    return open < 0 ? this.screens.length - 1 : open;
  }

  /**
   * Where a save of a screen belongs.
   * @param {string} screen
   */
  placeOf(screen) {
    return { annotator: this.annotator, task: this.id, screen, base: this.states.get(screen)?.revision ?? 0 };
  }

  /**
   * Take over how a screen stands on the server; returns how many active seconds it counts more. Answers may come in
   * another order than they were given: what is older than what is known changes nothing.
   * @param {string} screen @param {Server.StateOut} state
   */
  accept(screen, state) {
    const known = this.states.get(screen);
    if (known && state.revision < known.revision) return 0;
    this.states.set(screen, state);
    return Math.max(0, state.active_seconds - (known?.active_seconds ?? 0));
  }
}

/** @param {Server.ScreenOut} screen @returns {string[]} */
function outputsOf(screen) {
  return screen.items.flatMap((item) => item.outputs.map((output) => output.id));
}
