/** The marks of a translation as data. */
import assert from "node:assert/strict";
import { test } from "node:test";

const { costOf, identical, nextSeverity, ordered, sameMark, withMark, withMissing } = await import(
  "../../src/adjudge/server/static/collect/marking/marks.js"
);

const WEIGHTS = { minor: 1, punctuation: 0.1, major: 5, critical: 25, non_translation: 25 };
const CATEGORIES = [
  { name: "Accuracy/Omission", counts: "severity" },
  { name: "Fluency/Punctuation", counts: "punctuation" },
  { name: "Non-translation", counts: "non_translation" },
  { name: "Source error", counts: "nothing" },
];
const rules = (overlap = false) => ({
  severities: ["neutral", "minor", "major", "critical"],
  source: true,
  missing: true,
  overlap,
  categories: CATEGORIES,
  weights: WEIGHTS,
});
const quote = (start, end) => `${start}-${end}`;
const mark = (start, end, more = {}) => ({
  start,
  end,
  severity: "minor",
  category: null,
  side: "target",
  text: quote(start, end),
  of: null,
  ...more,
});

test("a new mark begins with the mildest error", () => {
  const { spans, span } = withMark([], rules(), { side: "target", start: 2, end: 5 }, quote);
  assert.deepEqual(spans, [mark(2, 5)]);
  assert.equal(span.severity, "minor");
});

test("where marks must not overlap, one that meets others becomes one with them and keeps the worst severity", () => {
  const before = [mark(0, 3), mark(5, 8, { severity: "major", of: 1 })];
  const { spans } = withMark(before, rules(), { side: "target", start: 2, end: 6 }, quote);
  assert.deepEqual(spans, [mark(0, 8, { severity: "major", of: 1 })]);
});

test("where marks may overlap, they stay apart", () => {
  const { spans } = withMark([mark(0, 3)], rules(true), { side: "target", start: 2, end: 6 }, quote);
  assert.deepEqual(spans, [mark(0, 3), mark(2, 6)]);
});

test("marks of the source do not meet those of the translation", () => {
  const { spans } = withMark([mark(0, 3)], rules(), { side: "source", start: 0, end: 3 }, quote);
  assert.equal(spans.length, 2);
  assert.equal(spans[0].side, "source");
});

test("what is missing comes last and is an omission", () => {
  const { spans, span } = withMissing([mark(0, 3)], rules());
  assert.equal(span.category, "Accuracy/Omission");
  assert.equal(spans.at(-1), span);
});

test("severities go round and round", () => {
  assert.equal(nextSeverity(rules(), "minor"), "major");
  assert.equal(nextSeverity(rules(), "critical"), "neutral");
});

test("errors cost what the server counts", () => {
  // The weights of Freitag et al. (2021), table 4: minor 1, minor punctuation 0.1, major 5, non-translation 25.
  const of = (severity, category) => costOf([mark(0, 1, { severity, category })], rules());
  assert.equal(of("minor", "Accuracy/Omission"), 1);
  assert.equal(of("minor", "Fluency/Punctuation"), 0.1);
  assert.equal(of("major", "Fluency/Punctuation"), 5);
  assert.equal(of("minor", "Non-translation"), 25);
  assert.equal(of("major", "Source error"), 0);
  assert.equal(of("neutral", "Accuracy/Omission"), 0);
});

test("the order is that of the texts, and marks are told apart", () => {
  assert.deepEqual(ordered([mark(5, 6), mark(0, 9), mark(0, 2)]), [mark(0, 2), mark(0, 9), mark(5, 6)]);
  assert.ok(sameMark(mark(0, 1), mark(0, 1, { of: 3 })));
  assert.ok(!identical(mark(0, 1), mark(0, 1, { of: 3 })));
});
