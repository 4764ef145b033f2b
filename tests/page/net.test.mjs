/** Calls to the server always end: with its answer, or with the name of what went wrong. */
import assert from "node:assert/strict";
import { test } from "node:test";

import { freshBrowser } from "./browser.mjs";

freshBrowser(() => undefined);
const { call } = await import("../../src/adjudge/server/static/collect/shared/net.js");

/** How a call ends if the server answers so: what it gives, or under which name it fails. */
async function ending(answer) {
  globalThis.fetch = async (path, { signal }) => answer(signal);
  return call("GET", "/api/work").catch((error) => error.trouble);
}

const body = (status, json) => ({ ok: status < 400, status, json });

test("answers, refusals and faults are told apart", async () => {
  assert.deepEqual(await ending(() => body(200, async () => ({ task: 1 }))), { task: 1 });
  assert.equal(await ending(() => body(204, () => Promise.reject(new Error("no body")))), null);
  assert.equal(await ending(() => body(409, async () => ({ detail: "not now" }))), "refused");
  assert.equal(await ending(() => body(401, async () => ({ detail: "enter first" }))), "entry");
  assert.equal(await ending(() => body(502, () => Promise.reject(new Error("a page of a proxy")))), "fault");
  assert.equal(await ending(() => body(200, () => Promise.reject(new Error("a page of a hotel")))), "offline");
});

test("an answer that stops half-way is given up", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const stalled = (signal) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
  for (const [status, name] of [[200, "offline"], [500, "fault"]]) {
    let ended = "never";
    void ending((signal) => body(status, () => stalled(signal))).then((trouble) => (ended = trouble));
    await new Promise((done) => setImmediate(done));
    t.mock.timers.tick(60_000);
    await new Promise((done) => setImmediate(done));
    assert.equal(ended, name);
  }
});
