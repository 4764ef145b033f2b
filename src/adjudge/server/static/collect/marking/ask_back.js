// @ts-check
/** Questions back where a score and the marks do not fit. They block nothing. */
import { h } from "../shared/dom.js";
import { SEVERE } from "./marks.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {import("./marks.js").Span} Span
 * @typedef {import("../screen/screen.js").Setting} Setting
 */

/**
 * What is asked back about an answer: nothing, or the name of the rule.
 * @param {number | null} score @param {Span[]} spans @param {Server.MarkRulesOut} rules
 */
export function warningOf(score, spans, rules) {
  if (score === null) return null;
  if (score < rules.warn_below && !spans.length) return "low-without-error";
  const severe = spans.some((span) => SEVERE.includes(span.severity));
  return score > rules.warn_above && severe ? "high-with-major" : null;
}

/**
 * What the page asks to confirm, with a way to keep it. It blocks nothing.
 * @param {string} output @param {Setting} setting @param {() => string | null} warning
 */
export function askBack(output, setting, warning) {
  const text = h("span");
  const hint = h("kbd", { "aria-hidden": "true" }, "K");
  const button = { type: "button", disabled: setting.locked, onclick: () => keep() };
  const element = h("p.ask-back", { role: "status" }, text, h("button.quiet", button, t("keep_it"), hint));

  function keep() {
    setting.change({ [output]: { kept: warning() } });
    show();
  }

  /** @param {KeyboardEvent} event @returns {boolean} */
  function key(event) {
    if (event.key.toLowerCase() !== "k" || element.hidden || setting.locked) return false;
    keep();
    return true;
  }

  function show() {
    const asked = warning();
    const kept = setting.answers()[output]?.kept ?? null;
    element.hidden = asked === null || asked === kept;
    if (asked) text.textContent = t(asked === "low-without-error" ? "ask_low" : "ask_high");
  }
  show();
  return { element, show, key };
}
