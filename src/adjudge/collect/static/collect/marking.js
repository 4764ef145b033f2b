// @ts-check
/** The marks of a segment on the page: what is marked, how it is shown and said, and which keys do it. */
import { h } from "./dom.js";
import { describe, errorRow, focusedControl, nameOf, refocus } from "./errors.js";
import { identical, nextSeverity, ordered, withMark, withMissing } from "./marks.js";
import { MarkText } from "./marktext.js";
import { t } from "./texts.js";

/**
 * @typedef {import("./marks.js").Span} Span
 * @typedef {import("./screen.js").Setting} Setting
 */

export class Marking {
  /**
   * @param {any} item @param {Setting} setting
   * @param {{attend: () => void, changed: () => void, confirmed: boolean}} options
   *   confirmed: that there is no error must be said, it is not what nobody said anything about
   */
  constructor(item, setting, { attend, changed, confirmed }) {
    this.confirmed = confirmed;
    this.output = item.outputs[0];
    this.setting = setting;
    this.changed = changed;
    this.rules = setting.campaign.spans;
    /** @type {Span | undefined} */
    this.current = undefined;
    this.target = this.textOf(this.output.text, "target", t("translation"), attend);
    const inSource = this.rules.source && item.source !== null;
    this.source = inSource ? this.textOf(item.source, "source", t("source"), attend) : null;
    this.list = h("ol.errors", { "aria-label": t("errors_marked") });
    this.hint = h("p.hint.mark-hint", {}, t("mark_hint"));
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
    this.element = h("div.marking", {}, this.list, this.hint, h("div.mark-buttons", {}, ...buttons), this.target.said);
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

  /** The marks as they stand: the annotator's, or those that the translation came with. @returns {Span[]} */
  get spans() {
    return this.setting.answers()[this.output.id]?.spans ?? this.output.prefilled;
  }

  /** Whether the annotator has said anything of the marks. @returns {boolean} */
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

  /** Where a mark stands among all; of several that say the same, the first. @param {Span} span @returns {number} */
  indexOf(span) {
    return this.spans.findIndex((one) => identical(one, span));
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
    this.set(ordered(this.spans.with(this.indexOf(span), next)));
    this.target.say(describe(next));
  }

  /**
   * Give a mark its category; the list stays as it is, because somebody is choosing in it.
   * @param {Span} span @param {string} category @returns {Span}
   */
  choose(span, category) {
    const next = { ...span, category };
    const spans = this.spans.with(this.indexOf(span), next);
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
    const rest = this.spans.toSpliced(this.indexOf(span), 1);
    // Where it must be said that nothing is wrong, taking a mark back does not say it.
    this.set(rest.length || !this.confirmed || this.output.prefilled.length ? rest : null);
    this.sideOf(span.side).focus();
    this.target.say(t("deleted", { text: nameOf(span) }));
  }

  /** The cursor or the pointer has come to a place. @param {string} side @param {number} start @param {number} end */
  touch(side, start, end) {
    const text = this.sideOf(side);
    const found = text.marksAt(start, end);
    const again = found.find((one) => this.current && identical(one, this.current)) ?? found[0];
    this.current = again;
    this.show();
    this.target.say([text.quote(start, end), ...found.map((one) => t(`severity_${one.severity}`))].join(", "));
  }

  /** @param {Span} span */
  goTo(span) {
    this.current = span;
    const text = this.sideOf(span.side);
    if (span.side !== "missing") text.goTo(span);
    this.show();
    text.focus();
  }

  /** @param {KeyboardEvent} event @returns {boolean} */
  key(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const text = this.source?.words.contains(target) ? this.source : this.target;
    if (target.closest("button")) return this.buttonKey(event, target);
    if (text.move(event)) return true;
    if (event.shiftKey) return false;
    /** @type {Record<string, () => void>} */
    const keys = {
      " ": () => this.toggle(text),
      Delete: () => this.drop(text),
      Backspace: () => this.drop(text),
      Escape: () => text.pick(null),
    };
    if (this.confirmed) {
      keys.f = () => this.confirm();
      keys.t = () => this.chooseCategory();
    }
    if (this.rules.missing) keys.g = () => this.addMissing();
    if (this.source) keys.s = () => (text === this.target ? this.source : this.target)?.focus();
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return false;
    if (!this.setting.locked || event.key === "Escape" || event.key === "s") act();
    return true;
  }

  /** To the category of the mark dealt with, or of the first that has none. */
  chooseCategory() {
    const rows = [...this.list.children];
    const open = rows.find((row) => row.querySelector("select.unset"));
    const row = rows.find((one) => one.classList.contains("current")) ?? open ?? rows[0];
    row?.querySelector("select")?.focus();
  }

  /** Keys while a button of the list has the focus. @param {KeyboardEvent} event @param {HTMLElement} target */
  buttonKey(event, target) {
    const row = target.closest("li.error");
    if (!row || !["Delete", "Backspace"].includes(event.key) || this.setting.locked) return false;
    this.remove(ordered(this.spans)[[...this.list.children].indexOf(row)]);
    return true;
  }

  /** Mark what is picked; a mark alone under the cursor gets the next severity. @param {MarkText} text */
  toggle(text) {
    const place = text.place;
    if (!place) return;
    const here = text.marksAt(place.start, place.end);
    const alone = text.anchor === null && here.length > 0;
    const chosen = here.find((one) => this.current && identical(one, this.current)) ?? here[0];
    if (alone) this.update(chosen, { severity: nextSeverity(this.rules, chosen.severity) });
    else this.add(text === this.source ? "source" : "target", place.start, place.end);
    text.pick(null);
  }

  /** Take away the mark under the cursor, or that of something missing just dealt with. @param {MarkText} text */
  drop(text) {
    const place = text.place;
    const here = place ? text.marksAt(place.start, place.end) : [];
    const chosen = here.find((one) => this.current && identical(one, this.current)) ?? here[0];
    const missing = this.current?.side === "missing" ? this.current : undefined;
    if (missing ?? chosen) this.remove(/** @type {Span} */ (missing ?? chosen));
  }

  /** All that is shown, as a text to compare. @returns {string} */
  standing() {
    return JSON.stringify([this.spans, this.given]);
  }

  showTexts() {
    const spans = ordered(this.spans);
    this.target.show(spans.filter((one) => one.side === "target"));
    this.source?.show(spans.filter((one) => one.side === "source"));
    this.showCurrent();
    return spans;
  }

  /** Show which mark is dealt with, in the text and in the list. */
  showCurrent() {
    const { current } = this;
    const isCurrent = (/** @type {Span} */ one) => current !== undefined && identical(one, current);
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
        goTo: (one) => this.goTo(one),
        change: (one, values) => this.update(one, values),
        choose: (one, category) => this.choose(one, category),
        remove: (one) => this.remove(one),
      }),
    );
    this.list.replaceChildren(...rows);
    this.showCurrent();
    this.list.hidden = !rows.length;
    this.hint.hidden = rows.length > 0 || (this.confirmed && this.given);
    this.showClean(spans);
    if (focused !== null && !refocus(this.list, focused)) this.target.focus();
  }

  /** What the button for "nothing is wrong" says. @param {Span[]} spans */
  showClean(spans) {
    this.clean.hidden = this.given && spans.length > 0;
    this.clean.setAttribute("aria-pressed", String(this.given && !spans.length));
    this.clean.firstElementChild?.replaceChildren(t(spans.length ? "all_marked" : "no_error"));
  }
}
