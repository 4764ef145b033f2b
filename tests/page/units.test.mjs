/** A text as code points, cut into the units that marks end at. */
import assert from "node:assert/strict";
import { test } from "node:test";

const { cut } = await import("../../src/adjudge/server/static/collect/marking/units.js");

const texts = ({ points, units }) => units.map(({ start, end }) => points.slice(start, end).join(""));

test("words are units, and what is between them is none", () => {
  assert.deepEqual(texts(cut("The train, today.", "en", "words")), ["The", "train", ",", "today", "."]);
});

test("characters are units where a script writes no spaces", () => {
  assert.deepEqual(texts(cut("列車は", "ja", "characters")), ["列", "車", "は"]);
});

test("no unit ends within what readers see as one character", () => {
  assert.deepEqual(texts(cut("👩‍🚀e\u0301", "en", "characters")), ["👩‍🚀", "e\u0301"]);
});

test("offsets count code points, as the server does", () => {
  const { points, units } = cut("👍 ok", "en", "words");
  assert.equal(points.length, 4);
  assert.deepEqual(units.at(-1), { start: 2, end: 4 });
});

test("nothing to cut, and a language that does not exist", () => {
  assert.deepEqual(cut("", "en", "words"), { points: [], units: [] });
  assert.deepEqual(texts(cut("a b", "no such language", "words")), ["a", "b"]);
});

test("without a segmenter the same words come out", () => {
  const kept = Intl.Segmenter;
  try {
    Intl.Segmenter = undefined;
    assert.deepEqual(texts(cut("The train, today.", "en", "words")), ["The", "train", ",", "today", "."]);
  } finally {
    Intl.Segmenter = kept;
  }
});
