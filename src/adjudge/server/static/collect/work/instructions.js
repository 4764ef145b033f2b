// @ts-check
/** What is to be done, shown before the first task and whenever somebody asks. */
import { closing, dialog, h, shownText } from "../shared/dom.js";
import { t } from "../shared/interface_texts.js";

/** @param {Server.InstructionsOut} instructions @param {boolean} [first] */
export function showInstructions(instructions, first = false) {
  const shown = dialog(
    t("instructions"),
    [
      prose(instructions.body),
      first ? h("p.hint.keys-hint", {}, t("keys_hint")) : null,
      closing(t(first ? "begin" : "close"), () => shown.close()),
    ],
    { className: "wide", asks: false },
  );
}

/**
 * A text of the organisers, each part in the direction of its own words.
 * @param {import("../shared/dom.js").ShownText} text @returns {HTMLElement}
 */
export function prose(text) {
  const nodes = shownText(text);
  for (const node of nodes) if (node instanceof HTMLElement) node.dir = "auto";
  return h("div.prose", {}, ...nodes);
}
