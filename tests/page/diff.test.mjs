/** The difference of two versions of a text. */
import assert from "node:assert/strict";
import { test } from "node:test";

const { changedPercent, difference } = await import("../../src/adjudge/server/static/collect/screen/diff.js");

const side = (parts, left) => parts.filter(({ kind }) => kind !== left).map(({ text }) => text).join("");

test("both versions can be read back from their difference", () => {
  const texts = ["", "the cat sat", "the black cat sat down", "يغادر القطار اليوم", "سيغادر القطار غدا", "列車は発車", "👩‍🚀 e\u0301"];
  for (const snap of ["words", "characters"]) {
    for (const before of texts) {
      for (const after of texts) {
        const parts = difference(before, after, "en", snap);
        assert.equal(side(parts, "ins"), before);
        assert.equal(side(parts, "del"), after);
      }
    }
  }
});

test("what did not change is one part", () => {
  assert.deepEqual(difference("a b c", "a b c", "en", "words"), [{ kind: "same", text: "a b c" }]);
});

test("a word that was replaced is taken out and put in", () => {
  const parts = difference("the red car", "the blue car", "en", "words");
  assert.deepEqual(parts, [
    { kind: "same", text: "the " },
    { kind: "del", text: "red" },
    { kind: "ins", text: "blue" },
    { kind: "same", text: " car" },
  ]);
});

test("the share of changes is that of the server", () => {
  // 2 * 2 common words of 3 + 3: the same figures as in tests/collect/test_editing.py.
  assert.ok(Math.abs(changedPercent("the red car", "the blue car", "words") - 100 / 3) < 1e-9);
  assert.equal(changedPercent("a b", "a b", "words"), 0);
  assert.equal(changedPercent("", "", "words"), 0);
  assert.equal(changedPercent("a", "b", "words"), 100);
});
