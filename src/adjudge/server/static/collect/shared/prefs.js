// @ts-check
/** What somebody prefers: size of the text, light or dark, single keys on or off. Kept in the browser. */

const SIZES = [0.9, 1, 1.125, 1.25, 1.4, 1.6, 1.85];
const KEY = "adjudge:preferences";
const darkByDefault = matchMedia("(prefers-color-scheme: dark)");

/** @type {{size: number, theme: string, keys: boolean}} */
const chosen = { size: 2, theme: "", keys: true, ...read() };

/** @returns {Record<string, any>} */
function read() {
  try {
    return JSON.parse(localStorage.getItem(KEY) || "{}");
  } catch {
    return {};
  }
}

function keepPreferences() {
  try {
    localStorage.setItem(KEY, JSON.stringify(chosen));
  } catch {
    // Preferences are not worth a message.
  }
}

/** Make the page look as preferred. */
export function applyPreferences() {
  document.documentElement.style.setProperty("--text-size", `${SIZES[chosen.size] ?? 1.125}rem`);
  document.documentElement.dataset.theme = theme();
}

/** @returns {string} the theme chosen, or the browser's own */
function theme() {
  return chosen.theme || (darkByDefault.matches ? "dark" : "light");
}

darkByDefault.addEventListener("change", applyPreferences);

/**
 * Larger (1) or smaller (-1) text.
 * @param {number} by
 */
export function changeSize(by) {
  chosen.size = Math.min(SIZES.length - 1, Math.max(0, chosen.size + by));
  keepPreferences();
  applyPreferences();
}

/** Dark where it was light, and the other way round. */
export function changeTheme() {
  chosen.theme = theme() === "dark" ? "light" : "dark";
  keepPreferences();
  applyPreferences();
}

/** @returns {boolean} whether single keys act; people who speak to their computer may want them off */
export function keysOn() {
  return chosen.keys;
}

/** @param {boolean} on */
export function switchKeys(on) {
  chosen.keys = on;
  keepPreferences();
}

/**
 * Whether something is done here for the first time; where storage is full, everything always is.
 * @param {string} key @returns {boolean}
 */
export function firstTime(key) {
  try {
    if (localStorage.getItem(key)) return false;
    localStorage.setItem(key, "1");
  } catch {
    // Once too often is no harm.
  }
  return true;
}
