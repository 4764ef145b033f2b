// @ts-check
/** A button that copies a text, also where the page is not on a secure address. It says so only if it did. */
import { h } from "./dom.js";
import { t } from "./interface_texts.js";

/** @param {string} text @param {string} [tag] @param {Record<string, any>} [attributes] @returns {HTMLElement} */
export function copyButton(text, tag = "button.quiet", attributes = {}) {
  const button = h(tag, { type: "button", ...attributes }, t("copy"));
  button.addEventListener("click", async () => {
    if (await copy(text, button)) button.textContent = t("copied");
  });
  return button;
}

/** @param {string} text @param {HTMLElement} near @returns {Promise<boolean>} */
async function copy(text, near) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No clipboard on plain addresses, or not allowed: the old way, beside the button so that a dialog lets it.
    const area = /** @type {HTMLTextAreaElement} */ (h("textarea.visually-hidden", { "aria-hidden": "true" }));
    area.value = text;
    near.after(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    near.focus();
    return done;
  }
}
