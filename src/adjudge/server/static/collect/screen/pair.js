// @ts-check
/** Two translations side by side: one is better, or they are equally good. */
import { chooseOne, h, modified, present } from "../shared/dom.js";
import { commentBox, given, lesson, letter, mediaBlock, note, textBlock } from "./item_parts.js";
import { isOpen } from "./judged.js";
import { skipBox } from "./skip.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {import("./screen.js").ItemView} ItemView
 * @typedef {import("./screen.js").Setting} Setting
 * @typedef {import("./screen.js").Stop} Stop
 */

/** @typedef {"first" | "second" | "tie" | "good" | "bad" | null} Choice  both good, or both bad, where that is asked */

/** @param {(number | null | undefined)[]} ranks @param {string | null} [both] @returns {Choice} */
function choiceOf([first, second], both) {
  if (first === null || first === undefined || second === null || second === undefined) return null;
  return first < second ? "first" : first > second ? "second" : /** @type {Choice} */ (both ?? "tie");
}

/** @type {Record<string, [number | null, number | null]>} */
const RANKS = { first: [1, 2], second: [2, 1], tie: [1, 1], none: [null, null] };

/**
 * @param {{ties: boolean, apart: boolean, locked: boolean, value: Choice, change: (choice: Choice) => void, attend: () => void}} options
 * @returns {{element: HTMLElement, show: (value: Choice) => void, key: (event: KeyboardEvent) => boolean,
 *   focus: () => void}}
 */
function pairWidget({ ties, apart, locked, value, change, attend }) {
  const equal = apart
    ? [
        ["good", t("both_fine"), "↑"],
        ["bad", t("both_wrong"), "↓"],
      ]
    : [["tie", t("tie"), "↓"]];
  const choices = /** @type {[string, string, string][]} */ ([
    ["first", t("first_better"), "←"],
    ...(ties ? equal : []),
    ["second", t("second_better"), "→"],
  ]);
  const buttons = choices.map(([choice, name, hint]) =>
    h(
      "button.choice",
      { type: "button", role: "radio", "data-choice": choice, onfocus: attend, disabled: locked },
      h("span", {}, name),
      h("kbd", { "aria-hidden": "true" }, hint),
    ),
  );
  // Left is left on every screen, whatever the direction of the text: the arrows point at the translations.
  const element = h("div.choices", { role: "radiogroup", "aria-label": t("which_better"), dir: "ltr" }, ...buttons);
  const values = choices.map(([choice]) => /** @type {NonNullable<Choice>} */ (choice));
  const { show, set, focus } = chooseOne(element, buttons, values, { value, locked, change });

  /** @param {KeyboardEvent} event @returns {boolean} */
  function key(event) {
    if (modified(event)) return false;
    /** @type {Record<string, Choice>} */
    const keys = { ArrowLeft: "first", 1: "first", ArrowRight: "second", 2: "second", Delete: null, Backspace: null };
    if (apart) Object.assign(keys, { ArrowUp: "good", 3: "good", ArrowDown: "bad", 0: "bad" });
    else if (ties) Object.assign(keys, { ArrowDown: "tie", "=": "tie", 0: "tie" });
    if (!(event.key in keys)) return false;
    set(keys[event.key]);
    // What is read out is the choice made, and Space does not make another one.
    focus();
    return true;
  }
  return { element, show, key, focus };
}

/** @param {Server.ItemOut} item @param {Setting} setting @param {number} number @returns {ItemView} */
export function pairItem(item, setting, number) {
  const ids = item.outputs.map((output) => output.id);
  const choice = () =>
    choiceOf(
      ids.map((/** @type {string} */ id) => setting.answers()[id]?.rank),
      setting.answers()[ids[0]]?.both,
    );
  const comment = commentBox(ids[0], setting);
  const said = h("p.lesson.said", { role: "status" });
  const cards = item.outputs.map((output, i) =>
    h(
      "article.card",
      { "data-side": i ? "second" : "first" },
      textBlock(output.text, setting.campaign.target, t("translation_n", { letter: letter(i) })),
      mediaBlock(output.media, setting, t("translation_n", { letter: letter(i) })),
    ),
  );
  const widget = pairWidget({
    ties: setting.campaign.ties,
    apart: setting.campaign.ties_apart,
    locked: setting.locked,
    value: choice(),
    change: (next) => {
      const ranks = RANKS[next ?? "none"] ?? RANKS.tie;
      const both = setting.campaign.ties_apart ? { both: ranks === RANKS.tie ? next : null } : {};
      setting.change({ [ids[0]]: { rank: ranks[0], ...both }, [ids[1]]: { rank: ranks[1], ...both } });
      stop.show();
    },
    attend: () => setting.attend(stop),
  });
  const name = number ? t("segment_n", { n: number }) : t("segment");
  const element = h("div.item.paired", { role: "group", "aria-label": name });
  const skip = skipBox(ids, setting, element);
  const above = [note(item), h("div.given", {}, ...given(item, setting)), h("div.pair", { dir: "ltr" }, ...cards)];
  element.append(...present([...above, widget.element, comment.element, skip.element, said]));
  /** @type {Stop} */
  const stop = {
    outputs: ids,
    attended: ids,
    element,
    isOpen: () => isOpen({ id: ids[0], owner: ids[0], asks: item.asks }, setting.answers()),
    key: (event) => !skip.skipped() && widget.key(event),
    focus: widget.focus,
    comment: comment.open,
    skip: skip.open,
    show: () => {
      widget.show(choice());
      comment.show();
      skip.show();
      cards.forEach((/** @type {HTMLElement} */ card) => {
        card.classList.toggle("chosen", ["tie", "good", card.dataset.side].includes(choice() ?? ""));
      });
      said.textContent = lesson(item.outputs[0], setting.answers()[ids[0]]?.rank ?? null);
    },
  };
  stop.show();
  return { element, stops: [stop] };
}
