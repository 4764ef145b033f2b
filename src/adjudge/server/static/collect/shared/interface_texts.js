// @ts-check
/** The interface's texts: one catalogue file per language in `texts/`. Adding a language is adding a file. */

/** @type {Record<string, any>} */
let catalogue = {};
/** @type {Record<string, any>} */
let english = {};
let language = "en";
const STORED = "adjudge:language";

/** @returns {Record<string, string>} the languages there is a catalogue for, each with its own name */
export function languages() {
  return JSON.parse(document.documentElement.dataset.languages || '{"en": "English"}');
}

/** @returns {string} the language in use */
export function currentLanguage() {
  return language;
}

/** @returns {string} the language in use with the country of the browser, for dates and numbers */
export function currentLocale() {
  return navigator.languages.find((wanted) => wanted.split("-")[0] === language) || language;
}

/**
 * Load the catalogue of the language chosen before, or of the browser's first language that there is.
 * @param {string} [more]  a folder with further texts, which only some pages need
 */
export async function loadTexts(more) {
  const known = languages();
  const wanted = [localStorage.getItem(STORED) || "", ...navigator.languages.map((preferred) => preferred.split("-")[0]), "en"];
  language = wanted.find((name) => name in known) || "en";
  english = await load("en", more);
  catalogue = language === "en" ? english : await load(language, more);
  document.documentElement.lang = language;
  document.documentElement.dir = catalogue.direction || "ltr";
}

/**
 * Use another language from now on. Without an answer of the server the page stays as it is: loaded anew, it would be
 * gone until the connection is back.
 * @param {string} wanted
 */
export async function chooseLanguage(wanted) {
  const answer = await fetch(location.href, { cache: "no-store" });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  localStorage.setItem(STORED, wanted);
  location.reload();
}

/** @param {string} name @param {string} [more] @returns {Promise<Record<string, any>>} */
async function load(name, more) {
  const files = [`texts/${name}.json`, ...(more ? [`texts/${more}/${name}.json`] : [])];
  const answers = await Promise.all(files.map((file) => fetch(`${document.documentElement.dataset.static}${file}`)));
  // Further texts may be missing in a language; the English ones stand in for them.
  const texts = await Promise.all(answers.map((answer) => (answer.ok ? answer.json() : {})));
  return Object.assign({}, ...texts);
}

/** @param {string} code @returns {string} the name of a language in the language of the page */
export function languageName(code) {
  try {
    return new Intl.DisplayNames([language], { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}

/**
 * A text of the interface. `{name}` stands for a value; where there are several forms, `n` chooses.
 * @param {string} key
 * @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function t(key, values = {}) {
  let text = catalogue[key] ?? english[key] ?? key;
  if (typeof text === "object") {
    const form = new Intl.PluralRules(language).select(Number(values.n));
    text = text[form] ?? text.other;
  }
  return text.replace(/\{(\w+)\}/g, (/** @type {string} */ whole, /** @type {string} */ name) =>
    name in values ? String(values[name]) : whole,
  );
}

/**
 * What a number on a scale means, in the language of the page where the words are a protocol's own. A campaign's own
 * words stay as they are.
 * @param {string} text @returns {string}
 */
export function meaning(text) {
  const key = Object.keys(english).find((name) => name.startsWith("anchor_") && english[name] === text);
  return key ? t(key) : text;
}

/**
 * Whether there is such a text.
 * @param {string} key @returns {boolean}
 */
export function hasText(key) {
  return key in english;
}

/**
 * A time of day as people here write it, with seconds.
 * @param {Date} when @returns {string}
 */
export function timeOfDay(when) {
  return when.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
}
