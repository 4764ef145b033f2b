// @ts-check
/**
 * The queue of saves. A change is written to the browser's storage at once, sent within a second, and forgotten only
 * when the server has acknowledged it. A record that is being sent is sealed: later changes make a new record, so that
 * the same id always means the same content and a save sent twice counts once.
 */
import { call, CallError } from "../shared/net.js";
import { drop, keep, kept, sent } from "./save_records.js";
import { newId, TAB } from "./tabs.js";

/**
 * @typedef {import("./save_records.js").SaveRecord} SaveRecord
 * @typedef {import("./save_records.js").Spent} Spent
 */

const WAIT_MS = 350; // after the last change
const LONGEST_WAIT_MS = 800; // after the first change
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const ANSWER_MS = 15000; // then it is said that there is no connection, and the save is sent again

export class SaveQueue {
  /**
   * @param {string} owner  the campaign and the annotator: other people's records in this browser are left alone
   * @param {{
   *   takeTime: (screen: string) => {spent: Spent, events: any[]},
   *   saved: (answer: any, record: SaveRecord) => void,
   *   trouble: (error: CallError, record: SaveRecord) => void,
   *   changed: () => void,
   *   adopted: () => void,
   *   livingTabs: () => Promise<Set<string>>,
   * }} listener
   */
  constructor(owner, listener) {
    this.prefix = `adjudge:save:${owner}:`;
    this.refusedPrefix = `adjudge:refused:${owner}:`;
    this.listener = listener;
    /** @type {Map<string, SaveRecord>} */
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
    this.begun = 0; // how many records this page has begun: the server goes by their order, not by when they arrive
    this.adopt();
    window.addEventListener("online", () => this.flush());
  }

  /** Take up what earlier pages left behind: what is sealed at once, the rest once its page is known to be gone. */
  adopt() {
    const left = kept(this.prefix);
    this.takeUp(left.filter((record) => record.sealed));
    if (left.some((record) => !record.sealed)) void this.adoptOpen();
  }

  async adoptOpen() {
    const living = await this.listener.livingTabs();
    this.takeUp(kept(this.prefix).filter((record) => !record.sealed && !living.has(record.tab)));
    this.listener.adopted();
  }

  /** @param {SaveRecord[]} left */
  takeUp(left) {
    for (const record of left) this.records.set(record.id, { ...record, sealed: true });
    if (left.length) this.schedule(0);
  }

  /** @returns {number} how many saves wait */
  get waiting() {
    return [...this.records.values()].filter((record) => Object.keys(record.changes).length).length;
  }

  /** @returns {number} active seconds in saves that wait */
  get seconds() {
    return [...this.records.values()].reduce((sum, record) => sum + record.spent.active, 0);
  }

  /**
   * Changes of a screen that the server has not acknowledged, the latest value of each field.
   * @param {string} task @param {string} screen
   * @returns {Record<string, Record<string, any>>}
   */
  pending(task, screen) {
    /** @type {Record<string, Record<string, any>>} */
    const merged = {};
    for (const record of [...this.records.values()].sort((first, second) => first.at - second.at)) {
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
   * @returns {SaveRecord}
   */
  open(place) {
    for (const record of this.records.values()) {
      if (!record.sealed && record.task === place.task && record.screen === place.screen) return record;
    }
    const spent = { shown: 0, visible: 0, active: 0, outputs: {} };
    this.begun += 1;
    const signed = { id: newId(), at: Date.now(), tab: TAB, number: this.begun };
    return { ...place, ...signed, sealed: false, changes: {}, spent, events: [] };
  }

  /** @param {SaveRecord} record */
  write(record) {
    this.records.set(record.id, record);
    // Where storage is full or forbidden, the record is still in memory, and sent as soon as may be.
    if (keep(this.prefix + record.id, record)) this.unkept.delete(record.id);
    else this.unkept.add(record.id);
  }

  /** @param {SaveRecord} record */
  forget(record) {
    this.records.delete(record.id);
    this.unkept.delete(record.id);
    drop(this.prefix + record.id);
  }

  /** @returns {boolean} whether closing the page now would lose something */
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

  /** @returns {Promise<void>} send everything, the oldest first; done when nothing waits any more, or sending failed */
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

  /** @returns {SaveRecord | undefined} */
  next() {
    return this.records.values().next().value;
  }

  /**
   * Close a record: with the time spent so far, never to be changed again.
   * @param {SaveRecord} record
   */
  seal(record) {
    if (record.sealed) return;
    const { spent, events } = this.listener.takeTime(record.screen);
    record.spent = spent;
    record.events = events;
    record.sealed = true;
    this.write(record);
  }

  /** @param {SaveRecord} record @returns {Promise<boolean>} whether to go on */
  async send(record) {
    try {
      const answer = await call("POST", "/api/saves", sent(record), { timeout: ANSWER_MS });
      this.failures = 0;
      this.forget(record);
      this.listener.saved(answer, record);
      return true;
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      return this.failed(error, record);
    }
  }

  /** @param {CallError} error @param {SaveRecord} record @returns {boolean} */
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

  /** @returns {SaveRecord[]} saves with answers that the server refused, the oldest first */
  get refused() {
    return kept(this.refusedPrefix).filter((record) => Object.keys(record.changes).length);
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
      void call("POST", "/api/saves", sent(record), { keepalive: true }).catch(() => undefined);
    }
  }
}
