// @ts-check
/** The marks of one translation as data: adding, changing, taking away. What is shown of them is elsewhere. */

/**
 * @typedef {Server.SpanOut} Span
 * @typedef {Server.MarkRulesOut} Rules
 */

export const SEVERE = ["major", "critical"];

/**
 * In the order of the texts, what is missing last.
 * @param {Span[]} spans @returns {Span[]}
 */
export function ordered(spans) {
  const side = (/** @type {Span} */ span) => ["source", "target", "missing"].indexOf(span.side);
  return [...spans].sort(
    (first, second) =>
      side(first) - side(second) || (first.start ?? 0) - (second.start ?? 0) || (first.end ?? 0) - (second.end ?? 0),
  );
}

/**
 * With a mark more. Where marks must not overlap, it becomes one with those that it meets.
 * @param {Span[]} spans @param {Rules} rules @param {{side: string, start: number, end: number}} place
 * @param {(start: number, end: number) => string} quote
 * @returns {{spans: Span[], span: Span}}
 */
export function withMark(spans, rules, { side, start, end }, quote) {
  const met = spans.filter((mark) => mark.side === side && Number(mark.start) < end && start < Number(mark.end));
  const same = met.find((mark) => mark.start === start && mark.end === end);
  const around = met.find((mark) => Number(mark.start) <= start && Number(mark.end) >= end);
  if (!rules.overlap && around) return { spans, span: around };
  if (rules.overlap && same && !same.category) return { spans, span: same };
  if (rules.overlap || !met.length) {
    const added = { start, end, severity: mildest(rules), category: null, side, text: quote(start, end), of: null };
    return { spans: ordered([...spans, added]), span: added };
  }
  const from = Math.min(start, ...met.map((mark) => Number(mark.start)));
  const to = Math.max(end, ...met.map((mark) => Number(mark.end)));
  const worst = Math.max(...met.map((mark) => rules.severities.indexOf(mark.severity)));
  const severity = rules.severities[worst] ?? mildest(rules);
  const of = met.find((mark) => mark.of !== null)?.of ?? null;
  const span = { ...met[0], start: from, end: to, text: quote(from, to), severity, of };
  return { spans: ordered([...spans.filter((mark) => !met.includes(mark)), span]), span };
}

/**
 * With something missing.
 * @param {Span[]} spans @param {Rules} rules @returns {{spans: Span[], span: Span}}
 */
export function withMissing(spans, rules) {
  const span = {
    start: null,
    end: null,
    severity: mildest(rules),
    category: rules.categories.find(({ name }) => /(^|\/)omission$/i.test(name))?.name ?? null,
    side: "missing",
    text: null,
    of: null,
  };
  return { spans: ordered([...spans, span]), span };
}

/**
 * The severity that follows, round and round.
 * @param {Rules} rules @param {string} severity @returns {string}
 */
export function nextSeverity(rules, severity) {
  return rules.severities[(rules.severities.indexOf(severity) + 1) % rules.severities.length];
}

/**
 * What a new mark begins with: the mildest that is an error.
 * @param {Rules} rules @returns {string}
 */
function mildest(rules) {
  return rules.severities.find((severity) => severity !== "neutral") ?? rules.severities[0];
}

/**
 * What errors cost together, as the server counts it.
 * @param {Span[]} spans @param {Rules} rules @returns {number}
 */
export function costOf(spans, rules) {
  const costs = spans.map(({ severity, category }) => {
    const counts = rules.categories.find(({ name }) => name === category)?.counts;
    if (severity === "neutral" || counts === "nothing") return 0;
    if (counts === "non_translation") return rules.weights.non_translation;
    return rules.weights[counts === "punctuation" && severity === "minor" ? "punctuation" : severity];
  });
  return Number(costs.reduce((sum, cost) => sum + cost, 0).toFixed(6));
}

/**
 * Whether two marks say the same.
 * @param {Span} first @param {Span} second @returns {boolean}
 */
export function sameMark(first, second) {
  const names = /** @type {(keyof Span)[]} */ (["start", "end", "severity", "category", "side"]);
  return names.every((name) => first[name] === second[name]);
}

/**
 * Whether two are the same mark.
 * @param {Span} first @param {Span} second @returns {boolean}
 */
export function identical(first, second) {
  return JSON.stringify(first) === JSON.stringify(second);
}
