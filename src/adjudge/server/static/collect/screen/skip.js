// @ts-check
/** Skipping: what cannot be judged is left open with a reason, where the campaign allows it, and can be judged after all. */
import { dialog, h } from "../shared/dom.js";
import { t } from "../shared/interface_texts.js";
import { reasonOf } from "./judged.js";

/**
 * @typedef {import("./screen.js").Setting} Setting
 * @typedef {{element: HTMLElement | null, open: () => void, show: () => void, skipped: () => boolean}} Skip
 */

/**
 * The button that skips, and the reason in its place.
 * @param {string[]} owners  the outputs or the page that are skipped together
 * @param {Setting} setting
 * @param {HTMLElement} place  gets the class `is-skipped`
 * @param {() => void} [changed]
 * @returns {Skip}
 */
export function skipBox(owners, setting, place, changed = () => undefined) {
  const reasons = setting.campaign.skip;
  if (reasons === null) return { element: null, open: () => undefined, show: () => undefined, skipped: () => false };
  const why = () => reasonOf(owners[0], setting.answers());
  const key = h("kbd", { "aria-hidden": "true" }, "X");
  const button = h("button.quiet", { type: "button", disabled: setting.locked, onclick: () => open() }, h("span", {}, t("skip")), key);
  const reason = h("bdi");
  const again = h("button.quiet", { type: "button", disabled: setting.locked, onclick: () => set(null) }, t("judge_after_all"));
  const said = h("p.skipped", { role: "status", tabindex: -1 }, `${t("skipped")} `, reason, " ", again);
  const element = h("div.skip", {}, button, said);

  /** @param {string | null} value */
  function set(value) {
    setting.change(Object.fromEntries(owners.map((id) => [id, { skipped: value }])));
    show();
    changed();
    // What had the focus may be hidden now. Not to the button: Enter goes on.
    if (value !== null) said.focus();
  }

  function open() {
    if (setting.locked) return;
    if (why() !== null) return set(null);
    const cancel = h("button", { type: "button", onclick: () => shown.close() }, t("cancel"));
    const shown = dialog(t("skip_title"), [reasons?.length ? offered(reasons) : inOwnWords(), cancel]);

    /** @param {string[]} all @returns {HTMLElement} */
    function offered(all) {
      const choose = (/** @type {string} */ text) => () => (shown.close(), set(text));
      return h("div.reasons", {}, ...all.map((text) => h("button", { type: "button", dir: "auto", onclick: choose(text) }, text)));
    }

    /** @returns {HTMLElement} */
    function inOwnWords() {
      const area = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: 2, maxlength: 500, dir: "auto", "aria-label": t("reason"), required: true }));
      const send = h("button.primary", { type: "submit" }, t("skip"));
      const form = h("form", { method: "dialog" }, area, send);
      form.addEventListener("submit", () => area.value.trim() && set(area.value.trim()));
      return form;
    }
  }

  function show() {
    const text = why();
    place.classList.toggle("is-skipped", text !== null);
    button.hidden = text !== null;
    said.hidden = text === null;
    reason.textContent = text;
  }
  show();
  return { element, open, show, skipped: () => why() !== null };
}
