// @ts-check
/** Which part of an answer is the judgment, and when it is there. The server goes by the same rule. */

/** Whether an answer still lacks its judgment. @param {string} protocol @param {Record<string, any> | undefined} answer @returns {boolean} */
export function isOpen(protocol, answer) {
  const field = ["ranking", "pairwise"].includes(protocol) ? "rank" : "score";
  return (answer?.[field] ?? null) === null;
}
