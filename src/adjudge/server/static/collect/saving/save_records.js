// @ts-check
/** Saves as they wait in the browser's storage, one entry each, and as they are sent. */

import { present } from "../shared/dom.js";

/**
 * @typedef {{shown: number, visible: number, active: number, outputs: Record<string, number>}} Spent
 * @typedef {{
 *   id: string, annotator: number, task: string, screen: string, base: number, at: number, tab: string,
 *   number: number, sealed: boolean, changes: Record<string, Record<string, any>>, spent: Spent, events: any[],
 *   reason?: string,
 * }} SaveRecord
 */

const MOST_EVENTS = 1000; // as many as the server takes
const MOST_SECONDS = 2678400; // a month: the server believes no longer times

/**
 * Keep a record.
 * @param {string} key @param {SaveRecord} record @returns {boolean} whether it is kept
 */
export function keep(key, record) {
  try {
    localStorage.setItem(key, JSON.stringify(record));
    return true;
  } catch {
    return false; // storage is full or forbidden
  }
}

/** @param {string} key */
export function drop(key) {
  try {
    localStorage.removeItem(key);
  } catch {
    // Storage is forbidden: nothing is there.
  }
}

/**
 * What is kept under a prefix, the oldest first.
 * @param {string} prefix @returns {SaveRecord[]}
 */
export function kept(prefix) {
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
    const records = present(keys.map((key) => parsed(localStorage.getItem(key))));
    return records.sort((first, second) => first.at - second.at);
  } catch {
    return []; // storage is forbidden
  }
}

/** @param {string | null} text @returns {SaveRecord | null}  null where a browser that crashed wrote only half of it */
function parsed(text) {
  try {
    return JSON.parse(text || "");
  } catch {
    return null;
  }
}

/** @param {SaveRecord} record @returns {Server.SaveIn} what is sent of a record */
export function sent(record) {
  return {
    id: record.id,
    annotator: record.annotator,
    task: record.task,
    screen: record.screen,
    base: record.base,
    tab: record.tab,
    number: record.number ?? 0,
    age: believable((Date.now() - record.at) / 1000),
    changes: Object.entries(record.changes).map(([output, fields]) => ({ output, ...fields })),
    spent: {
      shown: believable(record.spent.shown),
      visible: believable(record.spent.visible),
      active: believable(record.spent.active),
      outputs: Object.fromEntries(Object.entries(record.spent.outputs).map(([id, seconds]) => [id, believable(seconds)])),
    },
    events: record.events.slice(0, MOST_EVENTS),
  };
}

/**
 * Seconds that the server takes, whatever was done to the clock of this computer.
 * @param {number} seconds
 */
function believable(seconds) {
  return Math.min(MOST_SECONDS, Math.max(0, seconds || 0));
}
