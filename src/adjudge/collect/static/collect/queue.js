// @ts-check
/**
 * The queue of saves. A change is written to the browser's storage at once, sent within a second, and forgotten only
 * when the server has acknowledged it. A record that is being sent is sealed: later changes make a new record, so that
 * the same id always means the same content and a save sent twice counts once.
 */
import { call, CallError } from "./net.js";

/**
 * @typedef {{shown: number, visible: number, active: number, outputs: Record<string, number>}} Spent
 * @typedef {{
 *   id: string, annotator: number, task: string, screen: string, base: number, at: number, tab: string,
 *   sealed: boolean, changes: Record<string, Record<string, any>>, spent: Spent, events: any[],
 * }} Record_
 */

const WAIT_MS = 350; // after the last change
const LONGEST_WAIT_MS = 800; // after the first change
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const ABANDONED_MS = 90000; // an unsealed record this old has lost its tab
const TAB = newId();

/** @returns {string} a random UUID, also where the page is not on a secure address */
export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export class SaveQueue {
  /**
   * @param {string} owner  the campaign and the annotator: other people's records in this browser are left alone
   * @param {{
   *   takeTime: (screen: string) => {spent: Spent, events: any[]},
   *   saved: (answer: any, record: Record_) => void,
   *   trouble: (error: CallError, record: Record_) => void,
   *   changed: () => void,
   * }} listener
   */
  constructor(owner, listener) {
    this.prefix = `adjudge:save:${owner}:`;
    this.listener = listener;
    /** @type {Map<string, Record_>} */
    this.records = new Map();
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

  /** Take up records that an earlier page left behind. */
  adopt() {
    for (const record of storedRecords(this.prefix)) {
      if (record.sealed || Date.now() - record.at > ABANDONED_MS) {
        record.sealed = true;
        this.records.set(record.id, record);
      }
    }
    if (this.records.size) this.schedule(0);
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
    for (const record of this.records.values()) {
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
    try {
      localStorage.setItem(this.prefix + record.id, JSON.stringify(record));
    } catch {
      // Storage is full or forbidden: the record is still in memory, and sent as soon as may be.
    }
  }

  /** @param {Record_} record */
  forget(record) {
    this.records.delete(record.id);
    try {
      localStorage.removeItem(this.prefix + record.id);
    } catch {
      // As above.
    }
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
      // Asking again would change nothing. It stays in the browser's storage, under another name, and is reported.
      this.forget(record);
      try {
        localStorage.setItem(this.prefix.replace(":save:", ":refused:") + record.id, JSON.stringify(record));
      } catch {
        // As above.
      }
      this.listener.trouble(error, record);
      return true;
    }
    if (error.trouble === "entry") this.hold();
    this.listener.trouble(error, record);
    this.schedule(RETRY_MS[Math.min(this.failures, RETRY_MS.length - 1)] * (0.8 + Math.random() * 0.4));
    this.failures += 1;
    return false;
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
    age: Math.max(0, (Date.now() - record.at) / 1000),
    changes: Object.entries(record.changes).map(([output, fields]) => ({ output, ...fields })),
    spent: record.spent,
    events: record.events,
  };
}

/** @param {string} prefix @returns {Record_[]} what earlier pages left in the browser's storage, the oldest first */
function storedRecords(prefix) {
  /** @type {Record_[]} */
  const found = [];
  try {
    for (const key of Object.keys(localStorage).filter((one) => one.startsWith(prefix))) {
      found.push(JSON.parse(localStorage.getItem(key) || ""));
    }
  } catch {
    // Storage is forbidden, or was half-written by a browser that crashed: nothing there that can be sent.
  }
  return found.sort((one, other) => one.at - other.at);
}
