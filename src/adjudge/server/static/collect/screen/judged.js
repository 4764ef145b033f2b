// @ts-check
/** Which part of an answer is the judgment, and when it is there. The server goes by the same rule. */

/** @type {Record<string, string>} */
const JUDGED = { ranking: "rank", pairwise: "rank", mqm: "spans", postedit: "edit" };

/**
 * Whether an answer still lacks its judgment.
 * @param {string} protocol @param {Record<string, any> | undefined} answer @returns {boolean}
 */
export function isOpen(protocol, answer) {
  const value = answer?.[JUDGED[protocol] ?? "score"] ?? null;
  // An error without its category is a judgment that is not finished.
  return value === null || (Array.isArray(value) && value.some((span) => span.category === null));
}
