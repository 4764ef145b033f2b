// @ts-check
/** Taking back: what an answer was before each change of the task in hand. A text being typed has an undo of its own. */
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {import("../screen/screen.js").Answers} Answers
 * @typedef {{screen: string, before: Answers, at: number, isPart: boolean}} Step
 * @typedef {import("../work.js").Work} Work
 */

const MOST_STEPS = 200;
const TOGETHER_MS = 700; // parts of a change that follow each other within this time are taken back as one
const TYPED = ["comment", "edit"];

/**
 * Keep what is about to be changed.
 * @param {Work} work @param {Server.ScreenOut} screen @param {Answers} changes
 */
export function remember(work, screen, changes) {
  const now = work.task?.answers(screen) ?? {};
  /** @type {Answers} */
  const before = {};
  /** @type {Answers} */
  const after = {};
  for (const [output, fields] of Object.entries(changes)) {
    const names = /** @type {(keyof Server.AnswerOut)[]} */ (Object.keys(fields).filter((name) => !TYPED.includes(name)));
    if (!names.length) continue;
    before[output] = Object.fromEntries(names.map((name) => [name, now[output]?.[name] ?? null]));
    after[output] = Object.fromEntries(names.map((name) => [name, fields[name] ?? null]));
  }
  // What changes nothing, as a word that is marked once more, leaves nothing to take back.
  if (JSON.stringify(before) === JSON.stringify(after)) return;
  const step = { screen: screen.id, before, at: Date.now(), isPart: isPart(before, after) };
  const last = work.history.at(-1);
  if (last && goesOn(last, step)) {
    last.at = step.at;
    return;
  }
  work.history.push(step);
  if (work.history.length > MOST_STEPS) work.history.shift();
}

/**
 * Whether a change may be part of one: a slider that is dragged, a number that is typed, the kind of an error that is
 * looked for by letters. A mark, a rank or a choice is a change by itself, however soon it follows another.
 * @param {Answers} before @param {Answers} after @returns {boolean}
 */
function isPart(before, after) {
  const withoutKinds = (/** @type {Server.AnswerOut} */ { spans }) =>
    JSON.stringify(spans?.map((span) => ({ ...span, category: null })));
  return Object.keys(before).every((output) => {
    const names = Object.keys(before[output]).join();
    return names === "score" || (names === "spans" && withoutKinds(before[output]) === withoutKinds(after[output]));
  });
}

/** @param {Step} last @param {Step} step @returns {boolean} whether both are parts of one change */
function goesOn(last, step) {
  const shape = (/** @type {Answers} */ answers) =>
    JSON.stringify(Object.entries(answers).map(([output, fields]) => [output, Object.keys(fields)]));
  const near = last.screen === step.screen && step.at - last.at < TOGETHER_MS;
  return near && last.isPart && step.isPart && shape(last.before) === shape(step.before);
}

/**
 * Take the last change back, on the screen where it was made.
 * @param {Work} work
 */
export function undo(work) {
  if (work.locked) return;
  const step = work.history.pop();
  const index = work.screens.findIndex((screen) => screen.id === step?.screen);
  if (!step || (index !== work.index && !work.mayGo(index))) {
    work.frame.notice(t("nothing_to_undo"), "info");
    return;
  }
  if (index !== work.index) work.go(index);
  // What comes next begins a change of its own.
  const last = work.history.at(-1);
  if (last) last.isPart = false;
  work.saving.change(step.before);
  work.view?.show();
  const stop = work.stops.find(({ outputs }) => outputs.some((output) => output in step.before));
  if (stop) work.attend(stop, true);
  work.frame.notice(t("undone"), "info");
}
