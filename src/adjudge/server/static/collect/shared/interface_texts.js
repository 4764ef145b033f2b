// @ts-check
/**
 * The interface's texts: one catalogue file per language in `texts/`. Adding a language is adding a file. The server sends
 * a page the texts that it shows, those that are needed after the first screen apart, and English where a text is missing.
 */

/** @type {Record<string, any>} */
const catalogue = {};
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
 * Load the texts of a page, in the language chosen before, or the browser's first that there is.
 * @param {string} [part]  what is loaded: `.later` is what the first screen does not need
 */
export async function loadTexts(part = "") {
  const root = document.documentElement;
  const known = languages();
  const wanted = [localStorage.getItem(STORED) || "", ...navigator.languages.map((preferred) => preferred.split("-")[0]), "en"];
  language = wanted.find((name) => name in known) || "en";
  const answer = await fetch(`${root.dataset.static}texts/${root.dataset.page}${part}.${language}.json`);
  if (answer.ok) Object.assign(catalogue, await answer.json());
  root.lang = language;
  root.dir = catalogue.direction || "ltr";
}

/** @type {Promise<void> | null} */
let loadingLater = null;

/**
 * A module that is loaded after the first screen, with its texts.
 * @template Loaded
 * @param {Promise<Loaded>} loading @returns {Promise<Loaded>}
 */
export async function later(loading) {
  loadingLater ??= loadTexts(".later");
  const [loaded] = await Promise.all([
    loading,
    loadingLater.catch((fault) => {
      loadingLater = null;
      throw fault;
    }),
  ]);
  return loaded;
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

/** @param {string} code @returns {string} the name of a language in the language of the page */
export function languageName(code) {
  try {
    return new Intl.DisplayNames([language], { type: "language" }).of(code.replace("_", "-")) ?? code;
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
  let text = catalogue[key];
  if (text === undefined) {
    reportError(new Error(`there is no text ${key}`));
    return key;
  }
  if (typeof text === "object") {
    const form = new Intl.PluralRules(language).select(Number(values.n));
    text = text[form] ?? text.other;
  }
  return text.replace(/\{(\w+)\}/g, (/** @type {string} */ whole, /** @type {string} */ name) =>
    name in values ? String(values[name]) : whole,
  );
}

/**
 * What there is of a campaign's own words in the language of the page; else for all languages, in English, or at all.
 * @param {Record<string, string> | null} texts @returns {string}
 */
export function inLanguage(texts) {
  return texts ? (texts[language] ?? texts[""] ?? texts.en ?? Object.values(texts)[0]) : "";
}

/**
 * Whether there is such a text.
 * @param {string} key @returns {boolean}
 */
export function hasText(key) {
  return key in catalogue;
}

/**
 * A time of day as people here write it, with seconds.
 * @param {Date} when @returns {string}
 */
export function timeOfDay(when) {
  return when.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
}
