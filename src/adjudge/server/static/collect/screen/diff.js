// @ts-check
/** The difference of two versions of a text: what both have, what was taken out, and what was put in. */
import { h } from "../shared/dom.js";
import { cut } from "../marking/units.js";

/** @typedef {{kind: "same" | "del" | "ins", text: string}} Part */

const MOST_CELLS = 4_000_000; // beyond, only beginnings and ends are compared

/** @param {string} before @param {string} after @param {string} lang @param {string} snap @returns {Part[]} */
export function difference(before, after, lang, snap) {
  const [old, fresh] = [pieces(before, lang, snap), pieces(after, lang, snap)];
  let head = 0;
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, fresh.length) - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  const middle = compare(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail));
  const same = (/** @type {string[]} */ texts) => texts.map((text) => /** @type {Part} */ ({ kind: "same", text }));
  return joined([...same(old.slice(0, head)), ...middle, ...same(tail ? old.slice(-tail) : [])]);
}

/**
 * Words or characters, and what is between them.
 * @param {string} text @param {string} lang @param {string} snap
 */
function pieces(text, lang, snap) {
  const { points, units } = cut(text, lang, snap);
  const borders = [...new Set([0, points.length, ...units.flatMap((unit) => [unit.start, unit.end])])];
  borders.sort((first, second) => first - second);
  return borders.slice(1).map((end, i) => points.slice(borders[i], end).join(""));
}

/**
 * By the longest common subsequence.
 * @param {string[]} old @param {string[]} fresh @returns {Part[]}
 */
function compare(old, fresh) {
  const [rows, columns] = [old.length, fresh.length];
  if (rows * columns > MOST_CELLS || !rows || !columns) {
    return [...old.map((text) => part("del", text)), ...fresh.map((text) => part("ins", text))];
  }
  const length = Array.from({ length: rows + 1 }, () => new Uint32Array(columns + 1));
  for (let row = rows - 1; row >= 0; row -= 1) {
    const [here, below] = [length[row], length[row + 1]];
    for (let column = columns - 1; column >= 0; column -= 1) {
      here[column] =
        old[row] === fresh[column] ? below[column + 1] + 1 : Math.max(below[column], here[column + 1]);
    }
  }
  /** @type {Part[]} */
  const parts = [];
  let [i, j] = [0, 0];
  while (i < rows || j < columns) {
    if (i < rows && j < columns && old[i] === fresh[j]) {
      parts.push(part("same", old[i]));
      i += 1;
      j += 1;
    } else if (j >= columns || (i < rows && length[i + 1][j] >= length[i][j + 1])) {
      parts.push(part("del", old[i]));
      i += 1;
    } else {
      parts.push(part("ins", fresh[j]));
      j += 1;
    }
  }
  return parts;
}

/** @param {"same" | "del" | "ins"} kind @param {string} text @returns {Part} */
function part(kind, text) {
  return { kind, text };
}

/**
 * Neighbours of one kind as one.
 * @param {Part[]} parts @returns {Part[]}
 */
function joined(parts) {
  /** @type {Part[]} */
  const merged = [];
  for (const next of parts) {
    const last = merged.at(-1);
    if (last?.kind === next.kind) last.text += next.text;
    else merged.push({ ...next });
  }
  return merged;
}

/**
 * The difference as it is shown.
 * @param {Part[]} parts @returns {Node[]}
 */
export function shownDifference(parts) {
  return parts.flatMap(({ kind, text }, i) => {
    if (kind === "same") return [document.createTextNode(text)];
    // Letters of scripts that are written joined, as Arabic, must not join what was taken out with what was put in.
    const apart = i > 0 && parts[i - 1].kind !== "same" ? [document.createTextNode("\u200c")] : [];
    return [...apart, h(kind, {}, text)];
  });
}

/**
 * How much was changed, in percent of the words (or characters) of both; the server counts in the same way.
 * @param {string} before @param {string} after @param {string} snap @returns {number}
 */
export function changedPercent(before, after, snap) {
  const split = (/** @type {string} */ text) =>
    snap === "words" ? (text.match(/\S+/g) ?? []) : [...text.replace(/\s/g, "")];
  const [old, fresh] = [split(before), split(after)];
  const total = old.length + fresh.length;
  const common = compare(old, fresh).filter(({ kind }) => kind === "same").length;
  return total ? 100 * (1 - (2 * common) / total) : 0;
}
