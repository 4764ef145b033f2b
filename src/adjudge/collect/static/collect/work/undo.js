// @ts-check
/** Taking back: what an answer was before each change of the task in hand. A text being typed has an undo of its own. */
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {{screen: string, before: import("../screen/screen.js").Answers, at: number}} Step
 * @typedef {import("../work.js").Work} Work
 */

const MOST_STEPS = 200;
const TOGETHER_MS = 700; // a slider that is dragged, or a number that is typed, is taken back as one change
const TYPED = ["comment", "edit"];

/**
 * Keep what is about to be changed.
 * @param {Work} work @param {Server.ScreenOut} screen @param {import("../screen/screen.js").Answers} changes
 */
export function remember(work, screen, changes) {
  const now = work.task?.answers(screen) ?? {};
  /** @type {import("../screen/screen.js").Answers} */
  const before = {};
  for (const [output, fields] of Object.entries(changes)) {
    const names = /** @type {(keyof Server.AnswerOut)[]} */ (Object.keys(fields).filter((name) => !TYPED.includes(name)));
    if (names.length) before[output] = Object.fromEntries(names.map((name) => [name, now[output]?.[name] ?? null]));
  }
  if (!Object.keys(before).length) return;
  const last = work.history.at(-1);
  const at = Date.now();
  if (last && last.screen === screen.id && shape(last.before) === shape(before) && at - last.at < TOGETHER_MS) {
    last.at = at;
    return;
  }
  work.history.push({ screen: screen.id, before, at });
  if (work.history.length > MOST_STEPS) work.history.shift();
}

/** @param {import("../screen/screen.js").Answers} answers @returns {string} which fields of which outputs */
function shape(answers) {
  return JSON.stringify(Object.entries(answers).map(([output, fields]) => [output, Object.keys(fields)]));
}

/**
 * Take the last change back, on the screen where it was made.
 * @param {Work} work
 */
export function undo(work) {
  if (work.locked) return;
  const step = work.history.pop();
  if (!step) return work.frame.notice(t("nothing_to_undo"), "info");
  const index = work.screens.findIndex((screen) => screen.id === step.screen);
  if (index !== work.index) {
    if (!work.mayGo(index)) return;
    work.go(index);
  }
  work.saving.change(step.before);
  work.view?.show();
  const stop = work.stops.find(({ outputs }) => outputs.some((output) => output in step.before));
  if (stop) work.attend(stop, true);
  work.frame.notice(t("undone"), "info");
}
