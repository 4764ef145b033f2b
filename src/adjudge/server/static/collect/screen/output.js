// @ts-check
/**
 * One translation as it is judged: its text, in which errors may be marked, and under it what the item asks for. All
 * protocols in which each translation is judged by itself are made of this, one translation at a time or side by side.
 */
import { h } from "../shared/dom.js";
import { isOpen } from "./judged.js";
import { commentBox, lesson, textBlock } from "./item_parts.js";
import { scoreWidget } from "./score.js";
import { Marking } from "../marking/marking.js";
import { markingKey } from "../marking/keys.js";
import { costOf, SEVERE } from "../marking/marks.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {import("../marking/marks.js").Span} Span
 * @typedef {import("./screen.js").Setting} Setting
 * @typedef {import("./screen.js").Stop} Stop
 * @typedef {{text: HTMLElement | null, judge: HTMLElement, stops: Stop[], marking: Marking | null,
 *   showOthers: () => void}} OutputView
 */

/**
 * @param {Server.ItemOut} item @param {Server.OutputOut} output @param {Setting} setting
 * @param {{number: number, letter: string, element: HTMLElement, changed: () => void,
 *   others: () => {letter: string, value: number | null}[]}} place
 *   letter: its name beside others, or nothing; others: the scores of those beside it
 * @returns {OutputView}
 */
export function judgedOutput(item, output, setting, place) {
  const id = output.id;
  const { number, letter } = place;
  const answer = () => setting.answers()[id];
  const name = letter ? t("translation_n", { letter }) : t("translation");
  const scored = item.asks.includes("score");
  const comment = commentBox(id, setting);
  const said = h("p.lesson.said", { role: "status" });
  /** @type {Marking | null} */
  const marking = setting.campaign.spans
    ? new Marking(item, output, setting, {
        label: name,
        attend: () => setting.attend(marks),
        changed: () => (asking?.show(), teach(), place.changed()),
        confirmed: item.asks.includes("spans"),
      })
    : null;
  const value = () => answer()?.score ?? null;
  /** @type {ReturnType<typeof askBack> | null} */
  const asking = marking && scored ? askBack(id, setting, () => warningOf(value(), marking.spans, marking.rules)) : null;
  const of = letter ? t("score_of_output", { letter }) : number ? t("score_of", { n: number }) : t("score");
  const slider = scored
    ? scoreWidget({
        scale: setting.campaign.scale,
        label: letter && number ? `${of}, ${t("segment_n", { n: number })}` : of,
        value: value(),
        locked: setting.locked,
        change: (points) => {
          setting.change({ [id]: { score: points } });
          asking?.show();
          teach();
          place.changed();
        },
        attend: () => setting.attend(score),
      })
    : null;

  function teach() {
    const unmarked = marking ? output.to_mark.find((phrase) => !isMarked(phrase, marking)) : undefined;
    if (unmarked !== undefined && !isOpen(item.asks, answer())) {
      said.textContent = t("lesson_unmarked", { text: unmarked });
      return;
    }
    const cost = marking && !scored && !isOpen(item.asks, answer()) ? costOf(marking.spans, marking.rules) : null;
    said.textContent = scored ? lesson(output, value()) : lesson(output, cost, "cost");
  }

  const common = {
    outputs: [id],
    attended: [id],
    element: place.element,
    isOpen: () => isOpen(item.asks, answer()),
    comment: comment.open,
  };
  /** @type {Stop} */
  const marks = {
    ...common,
    takesShift: true,
    key: (event) =>
      (marking !== null && markingKey(marking, event)) ||
      Boolean(asking?.key(event)) ||
      (slider !== null && /^[0-9]$/.test(event.key) && slider.key(event)),
    focus: () => marking?.target.focus(),
    show: () => {
      marking?.show();
      asking?.show();
      comment.show();
    },
  };
  /** @type {Stop} */
  const score = {
    ...common,
    // Reached by Enter only as long as the score is missing: digits give it from the text, too.
    optional: marking !== null,
    key: (event) => Boolean(slider?.key(event)) || Boolean(asking?.key(event)),
    focus: () => slider?.focus(),
    show: () => {
      slider?.show(value());
      comment.show();
    },
  };
  const judge = h(
    "div.judge",
    {},
    slider?.element ?? null,
    marking?.element ?? null,
    asking?.element ?? null,
    comment.element,
    said,
  );
  const words = marking ? h("div.text", {}, h("span.label", {}, name), marking.target.words) : null;
  return {
    text: words ?? textBlock(output.text, setting.campaign.target, name),
    judge,
    stops: [...(marking ? [marks] : []), ...(slider ? [score] : [])],
    marking,
    showOthers: () => slider?.showOthers(place.others()),
  };
}

/**
 * Whether some error is marked within a phrase that has one.
 * @param {string} phrase @param {Marking} marking @returns {boolean}
 */
function isMarked(phrase, marking) {
  const text = String(marking.output.text);
  // Marks count code points.
  const start = [...text.slice(0, text.indexOf(phrase))].length;
  const end = start + [...phrase].length;
  return marking.spans.some((span) => span.side === "target" && Number(span.start) < end && start < Number(span.end));
}

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
function askBack(output, setting, warning) {
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
