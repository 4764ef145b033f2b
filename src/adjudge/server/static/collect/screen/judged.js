// @ts-check
/** What is asked on a screen, and whether an answer gives it. The server goes by the same rule. */

/**
 * @typedef {{id: string, owner: string, asks: string[]}} Question  owner: the first question about the same output or page
 * @typedef {{id: string, criterion: Server.CriterionOut}} Score  a score that is asked for, and what for
 */

/** @param {Server.ItemOut} item @param {Server.OutputOut} output @returns {Question[]} what is asked about an output */
export function questionsOf(item, output) {
  const more = output.more.map(({ id }) => ({ id, owner: output.id, asks: ["score"] }));
  return [{ id: output.id, owner: output.id, asks: item.asks }, ...more];
}

/** @param {Server.QuestionOut[]} column @returns {Question[]} what is asked about a page as a whole */
export function questionsOfPage(column) {
  return column.map(({ id }) => ({ id, owner: column[0].id, asks: ["score"] }));
}

/** @param {Server.ScreenOut} screen @returns {Question[]} all that is asked on a screen, in order */
export function questionsOn(screen) {
  const about = screen.items.flatMap((item) => item.outputs.flatMap((output) => questionsOf(item, output)));
  return [...about, ...screen.whole.flatMap(questionsOfPage)];
}

/**
 * The scores that are asked for an output, by criterion.
 * @param {Server.ItemOut} item @param {Server.OutputOut} output @param {Server.CampaignOut} campaign @returns {Score[]}
 */
export function scoresOf(item, output, { criteria }) {
  const first = item.asks.includes("score") ? [{ id: output.id, criterion: criteria[0] }] : [];
  return [...first, ...scoresOfPage(output.more, criteria)];
}

/** @param {Server.QuestionOut[]} column @param {Server.CriterionOut[]} criteria @returns {Score[]} */
export function scoresOfPage(column, criteria) {
  return column.map(({ id, criterion }) => ({ id, criterion: criteria[criterion] }));
}

/**
 * Whether an answer still lacks something that is asked for, and nobody said why it cannot be given.
 * @param {Question} question @param {Record<string, any>} answers @returns {boolean}
 */
export function isOpen({ id, owner, asks }, answers) {
  if (reasonOf(owner, answers)) return false;
  return asks.some((field) => {
    const value = answers[id]?.[field] ?? null;
    // An error without its category is a judgment that is not finished.
    return value === null || (Array.isArray(value) && value.some((span) => span.category === null));
  });
}

/** @param {string} owner @param {Record<string, any>} answers @returns {string | null} why something was skipped */
export function reasonOf(owner, answers) {
  return answers[owner]?.skipped ?? null;
}
