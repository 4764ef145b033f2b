// @ts-check
/** What an item asks for, and whether an answer gives it. The server goes by the same rule. */

/**
 * Whether an answer still lacks something that is asked for.
 * @param {string[]} asks @param {Record<string, any> | undefined} answer @returns {boolean}
 */
export function isOpen(asks, answer) {
  return asks.some((field) => {
    const value = answer?.[field] ?? null;
    // An error without its category is a judgment that is not finished.
    return value === null || (Array.isArray(value) && value.some((span) => span.category === null));
  });
}
