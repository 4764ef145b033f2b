// @ts-check
/**
 * The queue of saves. A change is written to the browser's storage at once, sent within a second, and forgotten only
 * when the server has acknowledged it. A record that is being sent is sealed: later changes make a new record, so that
 * the same id always means the same content and a save sent twice counts once.
 */
import { call, CallError } from "./net.js";
import { drop, keep, kept } from "./storage.js";
import { newId, TAB } from "./tabs.js";

/**
 * @typedef {{shown: number, visible: number, active: number, outputs: Record<string, number>}} Spent
 * @typedef {{
 *   id: string, annotator: number, task: string, screen: string, base: number, at: number, tab: string,
 *   sealed: boolean, changes: Record<string, Record<string, any>>, spent: Spent, events: any[], reason?: string,
 * }} Record_
 */

const WAIT_MS = 350; // after the last change
const LONGEST_WAIT_MS = 800; // after the first change
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const MOST_SECONDS = 2678400; // a month: the server believes no longer times

export class SaveQueue {
  /**
   * @param {string} owner  the campaign and the annotator: other people's records in this browser are left alone
   * @param {{
   *   takeTime: (screen: string) => {spent: Spent, events: any[]},
   *   saved: (answer: any, record: Record_) => void,
   *   trouble: (error: CallError, record: Record_) => void,
   *   changed: () => void,
   *   adopted: () => void,
   *   livingTabs: () => Promise<Set<string>>,
   * }} listener
   */
  constructor(owner, listener) {
    this.prefix = `adjudge:save:${owner}:`;
    this.refusedPrefix = `adjudge:refused:${owner}:`;
    this.listener = listener;
    /** @type {Map<string, Record_>} */
    this.records = new Map();
    /** @type {Set<string>} */
    this.unkept = new Set();
    /** @type {Promise<void> | undefined} */
    this.sending = undefined;
    this.held = false;
    this.failures = 0;
    /** @type {number | undefined} */
    this.timer = undefined;
    this.firstChange = 0;
    this.adopt();
    window.addEventListener("online", () => this.flush());
  }

  /** Take up what earlier pages left behind: what is sealed at once, the rest once its page is known to be gone. */
  adopt() {
    const left = kept(this.prefix);
    this.takeUp(left.filter((one) => one.sealed));
    if (left.some((one) => !one.sealed)) void this.adoptOpen();
  }

  async adoptOpen() {
    const living = await this.listener.livingTabs();
    this.takeUp(kept(this.prefix).filter((one) => !one.sealed && !living.has(one.tab)));
    this.listener.adopted();
  }

  /** @param {Record_[]} left */
  takeUp(left) {
    for (const record of left) this.records.set(record.id, { ...record, sealed: true });
    if (left.length) this.schedule(0);
  }

  /** How many saves wait. @returns {number} */
  get waiting() {
    return [...this.records.values()].filter((one) => Object.keys(one.changes).length).length;
  }

  /** Active seconds in saves that wait. @returns {number} */
  get seconds() {
    return [...this.records.values()].reduce((sum, one) => sum + one.spent.active, 0);
  }

  /**
   * Changes of a screen that the server has not acknowledged, the latest value of each field.
   * @param {string} task @param {string} screen
   * @returns {Record<string, Record<string, any>>}
   */
  pending(task, screen) {
    /** @type {Record<string, Record<string, any>>} */
    const merged = {};
    for (const record of [...this.records.values()].sort((one, other) => one.at - other.at)) {
      if (record.task !== task || record.screen !== screen) continue;
      for (const [output, fields] of Object.entries(record.changes)) merged[output] = { ...merged[output], ...fields };
    }
    return merged;
  }

  /**
   * Add changes (or, with none, only the time spent).
   * @param {{annotator: number, task: string, screen: string, base: number}} place
   * @param {Record<string, Record<string, any>>} changes
   */
  add(place, changes) {
    const record = this.open(place);
    for (const [output, fields] of Object.entries(changes)) {
      record.changes[output] = { ...record.changes[output], ...fields };
    }
    record.at = Date.now();
    this.write(record);
    if (!this.firstChange) this.firstChange = Date.now();
    const left = LONGEST_WAIT_MS - (Date.now() - this.firstChange);
    this.schedule(Math.max(0, Math.min(WAIT_MS, left)));
    this.listener.changed();
  }

  /**
   * The record of a screen that is not yet sealed, or a new one.
   * @param {{annotator: number, task: string, screen: string, base: number}} place
   * @returns {Record_}
   */
  open(place) {
    for (const record of this.records.values()) {
      if (!record.sealed && record.task === place.task && record.screen === place.screen) return record;
    }
    const spent = { shown: 0, visible: 0, active: 0, outputs: {} };
    return { ...place, id: newId(), at: Date.now(), tab: TAB, sealed: false, changes: {}, spent, events: [] };
  }

  /** @param {Record_} record */
  write(record) {
    this.records.set(record.id, record);
    // Where storage is full or forbidden, the record is still in memory, and sent as soon as may be.
    if (keep(this.prefix + record.id, record)) this.unkept.delete(record.id);
    else this.unkept.add(record.id);
  }

  /** @param {Record_} record */
  forget(record) {
    this.records.delete(record.id);
    this.unkept.delete(record.id);
    drop(this.prefix + record.id);
  }

  /** Whether closing the page now would lose something. @returns {boolean} */
  get atRisk() {
    return [...this.unkept].some((id) => Object.keys(this.records.get(id)?.changes ?? {}).length);
  }

  /** @param {number} milliseconds */
  schedule(milliseconds) {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.flush(), milliseconds);
  }

  /** Stop sending until `release`: the session has ended, or somebody else uses this browser. */
  hold() {
    this.held = true;
  }

  release() {
    this.held = false;
    this.failures = 0;
    this.flush();
  }

  /** Send everything, the oldest first; done when nothing waits any more, or sending failed. @returns {Promise<void>} */
  flush() {
    clearTimeout(this.timer);
    this.firstChange = 0;
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined;
      this.listener.changed();
    });
    return this.sending;
  }

  async sendAll() {
    for (let record = this.next(); record && !this.held; record = this.next()) {
      this.seal(record);
      if (!(await this.send(record))) break;
    }
  }

  /** @returns {Record_ | undefined} */
  next() {
    return this.records.values().next().value;
  }

  /** Close a record: with the time spent so far, never to be changed again. @param {Record_} record */
  seal(record) {
    if (record.sealed) return;
    const { spent, events } = this.listener.takeTime(record.screen);
    record.spent = spent;
    record.events = events;
    record.sealed = true;
    this.write(record);
  }

  /** @param {Record_} record @param {{keepalive?: boolean}} [options] @returns {Promise<boolean>} whether to go on */
  async send(record, options) {
    try {
      const answer = await call("POST", "/api/saves", body(record), options);
      this.failures = 0;
      this.forget(record);
      this.listener.saved(answer, record);
      return true;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      return this.failed(error, record);
    }
  }

  /** @param {CallError} error @param {Record_} record @returns {boolean} */
  failed(error, record) {
    if (error.trouble === "refused" && error.code === "id-used") {
      this.forget(record);
      this.write({ ...record, id: newId() });
      return true;
    }
    if (error.trouble === "refused") {
      // Asking again would change nothing by itself. It is kept under another name, and the page offers it.
      this.forget(record);
      keep(this.refusedPrefix + record.id, { ...record, reason: error.message });
      this.listener.trouble(error, record);
      return true;
    }
    if (error.trouble === "fault") {
      // One save that the server cannot digest must not hold up the others: it goes to the end of the row.
      this.records.delete(record.id);
      this.records.set(record.id, record);
    }
    if (error.trouble === "entry") this.hold();
    this.listener.trouble(error, record);
    this.schedule(RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)] * (0.8 + Math.random() * 0.4));
    this.failures += 1;
    return false;
  }

  /** Saves with answers that the server refused, the oldest first. @returns {Record_[]} */
  get refused() {
    return kept(this.refusedPrefix).filter((one) => Object.keys(one.changes).length);
  }

  /** Send what was refused once more, as saves of their own. */
  sendRefused() {
    for (const { reason, ...record } of this.refused) {
      drop(this.refusedPrefix + record.id);
      this.write({ ...record, id: newId(), sealed: true });
    }
    return this.flush();
  }

  /** Forget what was refused. */
  dropRefused() {
    for (const record of kept(this.refusedPrefix)) drop(this.refusedPrefix + record.id);
    this.listener.changed();
  }

  /** The page is going: send what waits without waiting for the answer. It stays stored, and a repeat is harmless. */
  farewell() {
    if (this.held) return;
    for (const record of this.records.values()) {
      this.seal(record);
      void call("POST", "/api/saves", body(record), { keepalive: true }).catch(() => undefined);
    }
  }
}

/** @param {Record_} record @returns {any} what is sent of a record */
function body(record) {
  return {
    id: record.id,
    annotator: record.annotator,
    task: record.task,
    screen: record.screen,
    base: record.base,
    tab: record.tab,
    age: believable((Date.now() - record.at) / 1000),
    changes: Object.entries(record.changes).map(([output, fields]) => ({ output, ...fields })),
    spent: {
      shown: believable(record.spent.shown),
      visible: believable(record.spent.visible),
      active: believable(record.spent.active),
      outputs: Object.fromEntries(Object.entries(record.spent.outputs).map(([id, one]) => [id, believable(one)])),
    },
    events: record.events,
  };
}

/** Seconds that the server takes, whatever was done to the clock of this computer. @param {number} seconds */
function believable(seconds) {
  return Math.min(MOST_SECONDS, Math.max(0, seconds || 0));
}
