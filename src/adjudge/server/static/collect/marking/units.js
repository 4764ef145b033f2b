// @ts-check
/**
 * A text as code points, cut into the units that marks end at: words, or characters where a script writes no spaces.
 * No unit ever ends within what readers see as one character (a letter with its accents, an emoji of several parts).
 */

/** @typedef {{start: number, end: number}} Unit  half-open, in code points */

const BLANK = /^[\s\p{Cf}]*$/u;
// For browsers without a segmenter: a character is what no mark, joiner or half of a sequence belongs to.
const CHARACTER = /\P{M}[\p{M}\u200c]*(?:\u200d\P{M}[\p{M}\u200c]*)*/gu;

/**
 * @param {string} text @param {string} lang @param {string} snap  "words" or "characters"
 * @returns {{points: string[], units: Unit[]}}
 */
export function cut(text, lang, snap) {
  const points = [...text];
  const cuts = places(text, lang, "grapheme");
  if (snap === "words") {
    const words = places(text, lang, "word");
    for (const place of cuts) if (!words.has(place)) cuts.delete(place);
  }
  const borders = [...cuts].sort((first, second) => first - second);
  const units = borders
    .map((start, i) => ({ start, end: borders[i + 1] ?? points.length }))
    .filter(({ start, end }) => !BLANK.test(points.slice(start, end).join("")));
  return { points, units };
}

/**
 * Where segments begin, in code points.
 * @param {string} text @param {string} lang @param {"grapheme" | "word"} granularity
 * @returns {Set<number>}
 */
function places(text, lang, granularity) {
  const begins = new Set(beginnings(text, lang, granularity));
  /** @type {Set<number>} */
  const starts = new Set();
  let unit = 0;
  let number = 0;
  for (const point of text) {
    if (begins.has(unit)) starts.add(number);
    unit += point.length;
    number += 1;
  }
  return starts;
}

/** @param {string} text @param {string} lang @param {"grapheme" | "word"} granularity @returns {number[]} */
function beginnings(text, lang, granularity) {
  if (typeof Intl.Segmenter === "function") {
    const segmenter = new Intl.Segmenter(known(lang), { granularity });
    return [...segmenter.segment(text)].map((segment) => segment.index);
  }
  const pattern = granularity === "word" ? /\s+|[^\s\p{P}]+|\p{P}/gu : CHARACTER;
  return [0, ...[...text.matchAll(pattern)].map((match) => match.index ?? 0)];
}

/** @param {string} lang @returns {string | undefined} */
function known(lang) {
  try {
    return new Intl.Locale(lang.replace("_", "-")).toString();
  } catch {
    return undefined;
  }
}
