// @ts-check
/**
 * One translation as it is judged: its text, in which errors may be marked, and under it what the item asks for. All
 * protocols in which each translation is judged by itself are made of this, one translation at a time or side by side.
 */
import { h, present } from "../shared/dom.js";
import { isOpen, questionsOf, scoresOf } from "./judged.js";
import { commentBox, lesson, mediaBlock, textBlock } from "./item_parts.js";
import { scoreWidget } from "./score.js";
import { skipBox } from "./skip.js";
import { inLanguage, t } from "../shared/interface_texts.js";

/**
 * @typedef {import("./screen.js").Marking} Marking
 * @typedef {import("./screen.js").Setting} Setting
 * @typedef {import("./screen.js").Stop} Stop
 * @typedef {{text: HTMLElement | null, judge: HTMLElement, stops: Stop[], marking: Marking | null,
 *   showOthers: () => void}} OutputView
 */

/**
 * @typedef {{number: number, letter: string, element: HTMLElement, changed: () => void,
 *   others: (score: number) => {letter: string, value: number | null}[]}} Place
 *   letter: its name beside others, or nothing; others: what those beside it have of the n-th score
 * @typedef {{stop: Stop, element: HTMLElement, key: (event: KeyboardEvent) => boolean, show: () => void,
 *   showOthers: () => void}} ScoreView
 */

/**
 * The sliders for the scores of an output or of a page, each a stop of its own.
 * @param {import("./judged.js").Score[]} scores @param {Setting} setting @param {Place} place
 * @param {{label: string, owner: string, optional: boolean, skip: import("./skip.js").Skip, comment: () => void,
 *   changed: () => void, key: (event: KeyboardEvent) => boolean, show: () => void}} own
 * @returns {ScoreView[]}
 */
export function scoreViews(scores, setting, place, own) {
  return scores.map(({ id, criterion }, i) => {
    const value = () => setting.answers()[id]?.score ?? null;
    const widget = scoreWidget({
      scale: criterion.scale,
      label: criterion.name ? `${own.label}: ${criterion.name}` : own.label,
      value: value(),
      locked: setting.locked,
      change: (points) => {
        setting.change({ [id]: { score: points } });
        own.changed();
      },
      attend: () => setting.attend(stop),
    });
    /** @type {Stop} */
    const stop = {
      outputs: [id],
      attended: [id],
      element: place.element,
      isOpen: () => isOpen({ id, owner: own.owner, asks: ["score"] }, setting.answers()),
      comment: own.comment,
      skip: own.skip.open,
      // Reached by Enter only as long as the score is missing: digits give it from the text, too.
      optional: own.optional,
      key: (event) => !own.skip.skipped() && (widget.key(event) || own.key(event)),
      focus: () => widget.focus(),
      show: () => {
        widget.show(value());
        own.show();
      },
    };
    const title = h("p.criterion-name", { dir: "auto" }, h("b", {}, criterion.name), " ", inLanguage(criterion.question));
    const element = criterion.name ? h("div.criterion", {}, title, widget.element) : widget.element;
    const showOthers = () => widget.showOthers(place.others(i));
    return { stop, element, key: widget.key, show: () => widget.show(value()), showOthers };
  });
}

/**
 * @param {Server.ItemOut} item @param {Server.OutputOut} output @param {Setting} setting @param {Place} place
 * @returns {OutputView}
 */
export function judgedOutput(item, output, setting, place) {
  const id = output.id;
  const { number, letter } = place;
  const answer = () => setting.answers()[id];
  const name = letter ? t("translation_n", { letter }) : t("translation");
  const scores = scoresOf(item, output, setting.campaign);
  const scored = item.asks.includes("score");
  const [question] = questionsOf(item, output);
  const open = () => isOpen(question, setting.answers());
  const comment = commentBox(id, setting);
  const judge = h("div.judge");
  const skip = skipBox([id], setting, judge, place.changed);
  const said = h("p.lesson.said", { role: "status" });
  const changed = () => {
    asking?.show();
    teach();
    place.changed();
  };
  /** @type {Marking | null} */
  const marking =
    (setting.campaign.spans &&
      setting.kind.mark?.(item, output, setting, {
        label: name,
        attend: () => setting.attend(marks),
        changed,
        confirmed: item.asks.includes("spans"),
      })) ||
    null;
  const value = () => answer()?.score ?? null;
  const asking = marking && scored ? marking.askBack(value) : null;
  const of = letter ? t("score_of_output", { letter }) : number ? t("score_of", { n: number }) : t("score");

  function teach() {
    const unmarked = marking?.unmarked;
    if (unmarked !== undefined && !open()) {
      said.textContent = t("lesson_unmarked", { text: unmarked });
      return;
    }
    const cost = marking && !scored && !open() ? marking.cost : null;
    said.textContent = scored ? lesson(output, value()) : lesson(output, cost, "cost");
  }

  // Who comes back to an example sees what it still lacks.
  if (output.expected && answer()) teach();

  const remarks = () => {
    comment.show();
    skip.show();
  };
  const sliders = scoreViews(scores, setting, place, {
    label: letter && number ? `${of}, ${t("segment_n", { n: number })}` : of,
    owner: id,
    optional: marking !== null,
    skip,
    comment: comment.open,
    changed,
    key: (event) => Boolean(asking?.key(event)),
    show: remarks,
  });
  // Digits that are typed in the text give the score that comes first.
  const [first] = sliders;
  /** @type {Stop} */
  const marks = {
    outputs: [id],
    attended: [id],
    element: place.element,
    isOpen: open,
    comment: comment.open,
    skip: skip.open,
    takesShift: true,
    key: (event) =>
      !skip.skipped() &&
      ((marking !== null && marking.key(event)) ||
        Boolean(asking?.key(event)) ||
        (first !== undefined && /^[0-9]$/.test(event.key) && first.key(event))),
    focus: () => marking?.target.focus(),
    show: () => {
      marking?.show();
      asking?.show();
      remarks();
    },
  };
  const parts = [marking?.element ?? null, asking?.element ?? null, comment.element, skip.element, said];
  judge.append(...sliders.map(({ element }) => element), ...present(parts));
  const words = marking
    ? h("div.text", {}, h("span.label", {}, name), marking.target.words)
    : textBlock(output.text, setting.campaign.target, name);
  const media = mediaBlock(output.media, setting, name);
  return {
    text: media ? h("div", {}, words, media) : words,
    judge,
    stops: [...(marking ? [marks] : []), ...sliders.map(({ stop }) => stop)],
    marking,
    showOthers: () => sliders.forEach((slider) => slider.showOthers()),
  };
}
