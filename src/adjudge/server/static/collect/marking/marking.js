// @ts-check
/** The marks of a segment on the page: what is marked, how it is shown and said, and which keys do it. */
import { h } from "../shared/dom.js";
import { describe, errorRow, focusedControl, nameOf, refocus } from "./error_list.js";
import { askBack, warningOf } from "./ask_back.js";
import { markingKey } from "./keys.js";
import { costOf, identical, ordered, withMark, withMissing } from "./marks.js";
import { MarkText } from "./word_selection.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {import("./marks.js").Span} Span
 * @typedef {import("../screen/screen.js").Setting} Setting
 */

// What an example says where something was left out.
const OMITTED = "[missing]";

export class Marking {
  /**
   * @param {Server.ItemOut} item @param {Server.OutputOut} output @param {Setting} setting
   * @param {{label: string, attend: () => void, changed: () => void, confirmed: boolean}} options
   *   confirmed: that there is no error must be said, it is not what nobody said anything about
   */
  constructor(item, output, setting, { label, attend, changed, confirmed }) {
    this.confirmed = confirmed;
    this.output = output;
    this.setting = setting;
    this.changed = changed;
    this.rules = /** @type {Server.MarkRulesOut} */ (setting.campaign.spans);
    /** @type {Span | undefined} */
    this.current = undefined;
    this.target = this.textOf(String(this.output.text), "target", label, attend);
    const inSource = this.rules.source && item.source !== null;
    this.source = inSource ? this.textOf(String(item.source), "source", t("source"), attend) : null;
    this.list = h("ol.errors", { "aria-label": t("errors_marked") });
    const missing = h(
      "button.quiet.add-missing",
      { type: "button", disabled: setting.locked, onclick: () => this.addMissing() },
      `+ ${t("add_missing")}`,
      h("kbd", { "aria-hidden": "true" }, "G"),
    );
    this.clean = h(
      "button.quiet.no-error",
      { type: "button", disabled: setting.locked, onclick: () => this.confirm() },
      h("span", {}, t("no_error")),
      h("kbd", { "aria-hidden": "true" }, "F"),
    );
    const buttons = [this.rules.missing ? missing : null, confirmed ? this.clean : null];
    this.element = h("div.marking", {}, this.list, h("div.mark-buttons", {}, ...buttons), this.target.said);
    // Keys pressed on an error are for it, not for the score given before.
    this.element.addEventListener("focusin", attend);
    this.shown = "";
    this.show();
  }

  /** @param {string} text @param {"source" | "target"} side @param {string} label @param {() => void} attend */
  textOf(text, side, label, attend) {
    return new MarkText({
      text,
      language: this.setting.campaign[side],
      side,
      snap: this.setting.campaign.snap[side],
      label,
      locked: this.setting.locked,
      mark: (start, end) => this.add(side, start, end),
      touch: (start, end) => this.touch(side, start, end),
      attend,
    });
  }

  /**
   * What a key does here.
   * @param {KeyboardEvent} event @returns {boolean}
   */
  key(event) {
    return markingKey(this, event);
  }

  /**
   * What is asked back where the score does not fit the marks.
   * @param {() => number | null} score
   */
  askBack(score) {
    return askBack(this.output.id, this.setting, () => warningOf(score(), this.spans, this.rules));
  }

  /** @returns {number} the points that the marked errors are worth */
  get cost() {
    return costOf(this.spans, this.rules);
  }

  /** @returns {string | undefined} an error of an example that is not marked yet */
  get unmarked() {
    const missed = this.output.to_mark.find((phrase) => !this.holds(phrase));
    return missed === OMITTED ? t("something_missing") : missed;
  }

  /** @param {string} phrase  of an example @returns {boolean} whether something in it is marked */
  holds(phrase) {
    if (phrase === OMITTED) return this.spans.some((span) => span.side === "missing");
    const text = String(this.output.text);
    // Marks count code points.
    const start = [...text.slice(0, text.indexOf(phrase))].length;
    const end = start + [...phrase].length;
    return this.spans.some((span) => span.side === "target" && Number(span.start) < end && start < Number(span.end));
  }

  /** @returns {Span[]} the marks as they stand: the annotator's, or those that the translation came with */
  get spans() {
    return this.setting.answers()[this.output.id]?.spans ?? this.output.prefilled;
  }

  /** @returns {boolean} whether the annotator has said anything of the marks */
  get given() {
    return (this.setting.answers()[this.output.id]?.spans ?? null) !== null;
  }

  /** @param {Span[] | null} spans */
  set(spans) {
    if (this.setting.locked) return;
    this.setting.change({ [this.output.id]: { spans } });
    this.show();
    this.changed();
  }

  /** Say that the marks are all there are (nothing is wrong, where there are none). Said twice, it is taken back. */
  confirm() {
    const back = this.given && !this.spans.length && !this.output.prefilled.length;
    this.set(back ? null : [...this.spans]);
    this.target.focus();
    this.target.say(t(back ? "not_set" : this.spans.length ? "all_marked" : "no_error"));
  }

  /**
   * Where a mark stands among all; of several that say the same, the first.
   * @param {Span} span @returns {number}
   */
  indexOf(span) {
    return this.spans.findIndex((mark) => identical(mark, span));
  }

  /** @param {Span} span @param {Span} next @returns {Span[]} */
  replaced(span, next) {
    const at = this.indexOf(span);
    return this.spans.map((mark, i) => (i === at ? next : mark));
  }

  /** @param {string} side @returns {MarkText} */
  sideOf(side) {
    return side === "source" && this.source ? this.source : this.target;
  }

  /** @param {"source" | "target"} side @param {number} start @param {number} end */
  add(side, start, end) {
    const text = this.sideOf(side);
    const { spans, span } = withMark(this.spans, this.rules, { side, start, end }, (from, to) => text.quote(from, to));
    this.current = span;
    this.set(spans);
    this.target.say(t("marked", { what: describe(span) }));
  }

  addMissing() {
    const { spans, span } = withMissing(this.spans, this.rules);
    this.current = span;
    this.set(spans);
    this.target.focus();
    this.target.say(t("marked", { what: describe(span) }));
  }

  /** @param {Span} span @param {Partial<Span>} values */
  update(span, values) {
    const next = { ...span, ...values };
    this.current = next;
    this.set(ordered(this.replaced(span, next)));
    this.target.say(describe(next));
  }

  /**
   * Give a mark its category; the list stays as it is, because somebody is choosing in it.
   * @param {Span} span @param {string} category @returns {Span}
   */
  choose(span, category) {
    const next = { ...span, category };
    const spans = this.replaced(span, next);
    this.current = next;
    this.setting.change({ [this.output.id]: { spans } });
    this.shown = this.standing();
    this.showTexts();
    this.changed();
    return next;
  }

  /** @param {Span} span */
  remove(span) {
    this.current = undefined;
    const at = this.indexOf(span);
    const rest = this.spans.filter((_, i) => i !== at);
    // Where it must be said that nothing is wrong, taking a mark back does not say it.
    this.set(rest.length || !this.confirmed || this.output.prefilled.length ? rest : null);
    this.sideOf(span.side).focus();
    this.target.say(t("deleted", { text: nameOf(span) }));
  }

  /**
   * The cursor or the pointer has come to a place.
   * @param {string} side @param {number} start @param {number} end
   */
  touch(side, start, end) {
    const text = this.sideOf(side);
    const marks = text.marksAt(start, end);
    const again = marks.find((mark) => this.current && identical(mark, this.current)) ?? marks[0];
    this.current = again;
    this.show();
    this.target.say([text.quote(start, end), ...marks.map((mark) => t(`severity_${mark.severity}`))].join(", "));
  }

  /** @param {Span} span */
  goTo(span) {
    this.current = span;
    const text = this.sideOf(span.side);
    if (span.side !== "missing") text.goTo(span);
    this.show();
    text.focus();
  }

  /** @returns {string} all that is shown, as a text to compare */
  standing() {
    return JSON.stringify([this.spans, this.given]);
  }

  showTexts() {
    const spans = ordered(this.spans);
    this.target.show(spans.filter((span) => span.side === "target"));
    this.source?.show(spans.filter((span) => span.side === "source"));
    this.showCurrent();
    return spans;
  }

  /** Show which mark is dealt with, in the text and in the list. */
  showCurrent() {
    const { current } = this;
    const isCurrent = (/** @type {Span} */ span) => current !== undefined && identical(span, current);
    for (const text of [this.target, this.source]) text?.showCurrent(isCurrent);
    const at = ordered(this.spans).findIndex(isCurrent);
    [...this.list.children].forEach((row, i) => row.classList.toggle("current", i === at));
  }

  show() {
    const now = this.standing();
    if (now === this.shown) return this.showCurrent();
    this.shown = now;
    const focused = focusedControl(this.list);
    const spans = this.showTexts();
    const rows = spans.map((span) =>
      errorRow(span, this.setting.campaign, {
        rules: this.rules,
        locked: this.setting.locked,
        prefilled: this.output.prefilled,
        goTo: (mark) => this.goTo(mark),
        change: (mark, values) => this.update(mark, values),
        choose: (mark, category) => this.choose(mark, category),
        remove: (mark) => this.remove(mark),
      }),
    );
    this.list.replaceChildren(...rows);
    this.showCurrent();
    this.list.hidden = !rows.length;
    this.showClean(spans);
    if (focused !== null && !refocus(this.list, focused)) this.target.focus();
  }

  /**
   * What the button for "nothing is wrong" says.
   * @param {Span[]} spans
   */
  showClean(spans) {
    this.clean.hidden = this.given && spans.length > 0;
    this.clean.setAttribute("aria-pressed", String(this.given && !spans.length));
    this.clean.firstElementChild?.replaceChildren(t(spans.length ? "all_marked" : "no_error"));
  }
}
