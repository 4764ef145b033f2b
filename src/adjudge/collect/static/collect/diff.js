// @ts-check
/** The difference of two versions of a text: what both have, what was taken out, and what was put in. */
import { h } from "./dom.js";
import { cut } from "./units.js";

/** @typedef {{kind: "same" | "del" | "ins", text: string}} Part */

const MOST_CELLS = 4_000_000; // beyond, only beginnings and ends are compared

/** @param {string} before @param {string} after @param {string} lang @param {string} snap @returns {Part[]} */
export function difference(before, after, lang, snap) {
  const [one, other] = [pieces(before, lang, snap), pieces(after, lang, snap)];
  let head = 0;
  while (head < Math.min(one.length, other.length) && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(one.length, other.length) - head && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  const middle = compare(one.slice(head, one.length - tail), other.slice(head, other.length - tail));
  const same = (/** @type {string[]} */ texts) => texts.map((text) => /** @type {Part} */ ({ kind: "same", text }));
  return joined([...same(one.slice(0, head)), ...middle, ...same(tail ? one.slice(-tail) : [])]);
}

/** Words or characters, and what is between them. @param {string} text @param {string} lang @param {string} snap */
function pieces(text, lang, snap) {
  const { points, units } = cut(text, lang, snap);
  const borders = [...new Set([0, points.length, ...units.flatMap((one) => [one.start, one.end])])];
  borders.sort((one, other) => one - other);
  return borders.slice(1).map((end, i) => points.slice(borders[i], end).join(""));
}

/** By the longest common subsequence. @param {string[]} one @param {string[]} other @returns {Part[]} */
function compare(one, other) {
  const [rows, columns] = [one.length, other.length];
  if (rows * columns > MOST_CELLS || !rows || !columns) {
    return [...one.map((text) => part("del", text)), ...other.map((text) => part("ins", text))];
  }
  const length = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1));
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      length[i][j] =
        one[i] === other[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
    }
  }
  /** @type {Part[]} */
  const found = [];
  let [i, j] = [0, 0];
  while (i < rows || j < columns) {
    if (i < rows && j < columns && one[i] === other[j]) {
      found.push(part("same", one[i]));
      i += 1;
      j += 1;
    } else if (j >= columns || (i < rows && length[i + 1][j] >= length[i][j + 1])) {
      found.push(part("del", one[i]));
      i += 1;
    } else {
      found.push(part("ins", other[j]));
      j += 1;
    }
  }
  return found;
}

/** @param {"same" | "del" | "ins"} kind @param {string} text @returns {Part} */
function part(kind, text) {
  return { kind, text };
}

/** Neighbours of one kind as one. @param {Part[]} parts @returns {Part[]} */
function joined(parts) {
  /** @type {Part[]} */
  const found = [];
  for (const one of parts) {
    const last = found.at(-1);
    if (last?.kind === one.kind) last.text += one.text;
    else found.push({ ...one });
  }
  return found;
}

/** The difference as it is shown. @param {Part[]} parts @returns {Node[]} */
export function shownDifference(parts) {
  return parts.map(({ kind, text }) => (kind === "same" ? document.createTextNode(text) : h(kind, {}, text)));
}

/**
 * How much was changed, in percent of the words (or characters) of both; the server counts in the same way.
 * @param {string} before @param {string} after @param {string} snap @returns {number}
 */
export function changedPercent(before, after, snap) {
  const split = (/** @type {string} */ text) =>
    snap === "words" ? (text.match(/\S+/g) ?? []) : [...text.replace(/\s/g, "")];
  const [one, other] = [split(before), split(after)];
  const total = one.length + other.length;
  const common = compare(one, other).filter((part) => part.kind === "same").length;
  return total ? 100 * (1 - (2 * common) / total) : 0;
}
