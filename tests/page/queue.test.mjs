/** The queue of saves: nothing is forgotten before the server has acknowledged it. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { freshBrowser } from "./browser.mjs";

freshBrowser(() => undefined);
const { SaveQueue } = await import("../../src/adjudge/server/static/collect/saving/queue.js");

const SPENT = { shown: 2, visible: 2, active: 1, outputs: { o1: 1 } };
const place = { annotator: 1, task: "t1", screen: "s1", base: 0 };
const saved = { status: 200, json: { saved: "2020-01-01T00:00:00Z", met: [], released: false, state: {} } };
let heard;

const listener = () => ({
  takeTime: () => ({ spent: { ...SPENT }, events: [] }),
  saved: (answer, record) => heard.push(["saved", record.id]),
  trouble: (error) => heard.push(["trouble", error.trouble]),
  changed: () => undefined,
  adopted: () => undefined,
  livingTabs: async () => new Set(),
});

beforeEach(() => {
  heard = [];
});

function queueIn(answer) {
  const browser = freshBrowser(answer);
  const queue = new SaveQueue("campaign:1", listener());
  return { ...browser, queue, stop: () => clearTimeout(queue.timer) };
}

test("changes of one screen are sent together, and forgotten once acknowledged", async () => {
  const { queue, requests, store } = queueIn(() => saved);
  queue.add(place, { o1: { score: 10 } });
  queue.add(place, { o1: { score: 20 }, o2: { score: 5 } });
  assert.equal(queue.waiting, 1);
  assert.equal(Object.keys(store).length, 1);
  await queue.flush();
  assert.deepEqual(requests[0].body.changes, [
    { output: "o1", score: 20 },
    { output: "o2", score: 5 },
  ]);
  assert.equal(queue.waiting, 0);
  assert.deepEqual(Object.keys(store), []);
});

test("a save that fails is kept and sent again under the same id", async () => {
  let works = false;
  const { queue, requests, store, stop } = queueIn(() => (works ? saved : Promise.reject(new Error("no network"))));
  queue.add(place, { o1: { score: 10 } });
  await queue.flush();
  stop();
  assert.deepEqual(heard, [["trouble", "offline"]]);
  assert.equal(Object.keys(store).length, 1);
  works = true;
  await queue.flush();
  assert.equal(requests.length, 2);
  assert.equal(requests[0].body.id, requests[1].body.id);
  assert.equal(queue.waiting, 0);
});

test("what is changed while a save is under way makes a save of its own", async () => {
  let answered;
  const { queue, requests } = queueIn(() => new Promise((resolve) => (answered = () => resolve(saved))));
  queue.add(place, { o1: { score: 10 } });
  const sending = queue.flush();
  await new Promise((done) => setImmediate(done));
  queue.add(place, { o1: { score: 11 } });
  assert.deepEqual(queue.pending("t1", "s1"), { o1: { score: 11 } });
  answered();
  await new Promise((done) => setImmediate(done));
  answered();
  await sending;
  assert.equal(requests.length, 2);
  assert.notEqual(requests[0].body.id, requests[1].body.id);
});

test("what the server refuses is kept aside, and can be sent again", async () => {
  let answer = { status: 409, json: { detail: "not now", code: "refused" } };
  const { queue, requests } = queueIn(() => answer);
  queue.add(place, { o1: { score: 10 } });
  await queue.flush();
  assert.equal(queue.waiting, 0);
  assert.deepEqual(queue.refused.map(({ reason }) => reason), ["not now"]);
  answer = saved;
  await queue.sendRefused();
  assert.equal(queue.refused.length, 0);
  assert.equal(requests.length, 2);
});

test("a later page takes up what an earlier one left behind", async () => {
  const { queue, store, stop } = queueIn(() => Promise.reject(new Error("no network")));
  queue.add(place, { o1: { score: 10 } });
  await queue.flush();
  stop();
  const left = { ...store };
  const browser = freshBrowser(() => saved);
  Object.assign(browser.store, left);
  const later = new SaveQueue("campaign:1", listener());
  await later.flush();
  assert.deepEqual(browser.requests.map(({ body }) => body.changes), [[{ output: "o1", score: 10 }]]);
  assert.deepEqual(Object.keys(browser.store), []);
});

test("a full storage does not lose a change, and the page knows the risk", async () => {
  const { queue, store } = queueIn(() => saved);
  store.full = true;
  queue.add(place, { o1: { score: 10 } });
  assert.ok(queue.atRisk);
  await queue.flush();
  assert.ok(!queue.atRisk);
});

test("times that no server believes are cut", async () => {
  const { queue, requests } = queueIn(() => saved);
  queue.listener.takeTime = () => ({ spent: { shown: 1e12, visible: NaN, active: -3, outputs: { o1: 1e12 } }, events: [] });
  queue.add(place, { o1: { score: 10 } });
  await queue.flush();
  assert.deepEqual(requests[0].body.spent, { shown: 2678400, visible: 0, active: 0, outputs: { o1: 2678400 } });
});
