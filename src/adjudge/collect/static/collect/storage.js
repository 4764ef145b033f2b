// @ts-check
/** Saves in the browser's storage, one entry each, so that nothing depends on this page living on. */

/** @typedef {import("./queue.js").Record_} Record_ */

/** Keep a record. @param {string} key @param {Record_} record @returns {boolean} whether it is kept */
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

/** What is kept under a prefix, the oldest first. @param {string} prefix @returns {Record_[]} */
export function kept(prefix) {
  try {
    const keys = Object.keys(localStorage).filter((one) => one.startsWith(prefix));
    return keys
      .map((key) => parsed(localStorage.getItem(key)))
      .filter((one) => one !== null)
      .sort((one, other) => one.at - other.at);
  } catch {
    return []; // storage is forbidden
  }
}

/** @param {string | null} text @returns {Record_ | null}  null where a browser that crashed wrote only half of it */
function parsed(text) {
  try {
    return JSON.parse(text || "");
  } catch {
    return null;
  }
}
