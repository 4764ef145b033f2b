/** What is taken back as one change, and what by itself. */
import assert from "node:assert/strict";
import { test } from "node:test";

const { remember } = await import("../../src/adjudge/server/static/collect/work/undo.js");

/** The steps to be taken back after these changes of one screen, each made right after the one before. */
function stepsAfter(...changes) {
  const answers = {};
  const work = { history: [], task: { answers: () => answers } };
  Date.now = () => 1000; // also on a machine that is busy with other work
  for (const change of changes) {
    remember(work, { id: "s1" }, change);
    for (const [output, fields] of Object.entries(change)) answers[output] = { ...answers[output], ...fields };
  }
  return work.history.map(({ before }) => before);
}

const mark = (start, category = null) => ({ start, end: start + 1, category });

test("a number that is typed or a slider that is dragged is one change", () => {
  assert.deepEqual(stepsAfter({ a: { score: 7 } }, { a: { score: 72 } }), [{ a: { score: null } }]);
});

test("scores of two translations, ranks and choices are changes of their own", () => {
  assert.equal(stepsAfter({ a: { score: 7 } }, { b: { score: 7 } }).length, 2);
  assert.equal(stepsAfter({ a: { rank: 1 } }, { a: { rank: 2 } }).length, 2);
  assert.equal(stepsAfter({ a: { rank: 1 }, b: { rank: 2 } }, { a: { rank: 2 }, b: { rank: 1 } }).length, 2);
});

test("each mark is a change of its own, and the kind of an error is one however it is looked for", () => {
  const made = [{ a: { spans: [mark(0)] } }, { a: { spans: [mark(0), mark(4)] } }];
  const kinds = ["Accuracy", "Fluency", "Style"].map((kind) => ({ a: { spans: [mark(0, kind), mark(4)] } }));
  const before = [null, [mark(0)], [mark(0), mark(4)]];
  assert.deepEqual(stepsAfter(...made, ...kinds), before.map((spans) => ({ a: { spans } })));
});

test("texts have an undo of their own, and what changes nothing leaves nothing to take back", () => {
  assert.deepEqual(stepsAfter({ a: { comment: "x" } }, { a: { edit: "y" } }), []);
  assert.equal(stepsAfter({ a: { spans: [mark(0)] } }, { a: { spans: [mark(0)] } }).length, 1);
});
