// @ts-check
/** Error spans: a segment in which errors are marked, with the list of them, and then a score or their categories. */
import { h, present } from "../shared/dom.js";
import { isOpen } from "../screen/judged.js";
import { Marking } from "./marking.js";
import { markingKey } from "./keys.js";
import { costOf, SEVERE } from "./marks.js";
import { commentBox, lesson, note, textBlock } from "../screen/item_parts.js";
import { scoreWidget } from "../screen/score.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {import("./marks.js").Span} Span
 * @typedef {import("../screen/screen.js").Setting} Setting
 * @typedef {import("../screen/screen.js").Stop} Stop
 * @typedef {import("../screen/items.js").ItemView} ItemView
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

/**
 * A segment whose errors are marked, and which then gets a score.
 * @param {Server.ItemOut} item @param {Setting} setting @param {number} number @returns {ItemView}
 */
export function scoredSpansItem(item, setting, number) {
  const output = item.outputs[0];
  const id = output.id;
  const value = () => setting.answers()[id]?.score ?? null;
  const article = articleOf(number);
  const attend = () => setting.attend(marks);
  const marking = new Marking(item, setting, { attend, changed: () => asking.show(), confirmed: false });
  const asking = askBack(id, setting, () => warningOf(value(), marking.spans, marking.rules));
  const comment = commentBox(id, setting);
  const said = h("p.lesson.said", { role: "status" });
  const widget = scoreWidget({
    scale: setting.campaign.scale,
    label: number ? t("score_of", { n: number }) : t("score"),
    value: value(),
    locked: setting.locked,
    change: (points) => {
      setting.change({ [id]: { score: points } });
      said.textContent = lesson(output, points);
      asking.show();
    },
    attend: () => setting.attend(score),
  });
  const isUnset = () => value() === null;
  const common = { outputs: [id], attended: [id], element: article, isOpen: isUnset, comment: comment.open };
  /** @type {Stop} */
  const marks = {
    ...common,
    takesShift: true,
    key: (event) => markingKey(marking, event) || asking.key(event) || (/^[0-9]$/.test(event.key) && widget.key(event)),
    focus: () => marking.target.focus(),
    show: () => {
      marking.show();
      asking.show();
    },
  };
  /** @type {Stop} */
  const score = {
    ...common,
    key: (event) => widget.key(event) || asking.key(event),
    focus: widget.focus,
    show: () => {
      widget.show(value());
      comment.show();
    },
  };
  const judged = h("div.judge", {}, widget.element, asking.element, comment.element, said);
  fill(article, [note(item), columnsOf(item, setting, marking), judged]);
  return { element: article, stops: [marks, score] };
}

/**
 * A segment whose errors are marked with their categories: they are the judgment.
 * @param {Server.ItemOut} item @param {Setting} setting @param {number} number @returns {ItemView}
 */
export function categorisedSpansItem(item, setting, number) {
  const output = item.outputs[0];
  const id = output.id;
  const open = () => isOpen(setting.campaign.protocol, setting.answers()[id]);
  const article = articleOf(number);
  const attend = () => setting.attend(stop);
  const marking = new Marking(item, setting, { attend, changed: () => teach(), confirmed: true });
  const comment = commentBox(id, setting);
  const said = h("p.lesson.said", { role: "status" });
  const teach = () => {
    const cost = open() ? null : costOf(marking.spans, marking.rules);
    said.textContent = lesson(output, cost, "cost");
  };
  /** @type {Stop} */
  const stop = {
    outputs: [id],
    attended: [id],
    element: article,
    isOpen: open,
    takesShift: true,
    key: (event) => markingKey(marking, event),
    focus: () => marking.target.focus(),
    comment: comment.open,
    show: () => {
      marking.show();
      comment.show();
    },
  };
  fill(article, [note(item), columnsOf(item, setting, marking), comment.element, said]);
  return { element: article, stops: [stop] };
}

/** @param {number} number @returns {HTMLElement} */
function articleOf(number) {
  const label = number ? t("segment_n", { n: number }) : t("segment");
  const shown = number ? h("span.place", { "aria-hidden": "true" }, number) : null;
  return h("article.item.marked", { "aria-label": label }, shown);
}

/** @param {HTMLElement} article @param {(HTMLElement | null)[]} parts */
function fill(article, parts) {
  article.append(...present(parts));
}

/**
 * Source and translation side by side, the errors under the translation.
 * @param {Server.ItemOut} item @param {Setting} setting @param {Marking} marking @returns {HTMLElement}
 */
function columnsOf(item, { campaign }, marking) {
  const left = [
    marking.source ? labelled(marking.source, t("source")) : textBlock(item.source, campaign.source, t("source")),
    textBlock(item.reference, campaign.target, t("reference"), ".reference"),
  ];
  const right = [labelled(marking.target, t("translation")), marking.element];
  return h("div.columns", {}, h("div", {}, ...left), h("div", {}, ...right));
}

/** @param {import("./word_selection.js").MarkText} text @param {string} label @returns {HTMLElement} */
function labelled(text, label) {
  return h("div.text", {}, h("span.label", {}, label), text.words);
}
