// @ts-check
/** Error spans: a segment in which errors are marked, with the list of them, and where the protocol has one its score. */
import { h } from "./dom.js";
import { describe, errorRow, nameOf } from "./errors.js";
import { nextSeverity, ordered, SEVERE, withMark, withMissing } from "./marks.js";
import { MarkText } from "./marktext.js";
import { commentBox, lesson, note, textBlock } from "./parts.js";
import { scoreWidget } from "./score.js";
import { t } from "./texts.js";

/**
 * @typedef {import("./marks.js").Span} Span
 * @typedef {import("./screen.js").Setting} Setting
 * @typedef {import("./screen.js").Stop} Stop
 */

/** The marks of a segment on the page: what is marked, shown and said. */
class Marking {
  /** @param {any} item @param {Setting} setting @param {() => void} attend @param {() => void} changed */
  constructor(item, setting, attend, changed) {
    this.output = item.outputs[0];
    this.setting = setting;
    this.changed = changed;
    this.rules = setting.campaign.spans;
    /** @type {Span | undefined} */
    this.current = undefined;
    this.target = this.textOf(this.output.text, "target", t("translation"), attend);
    this.source = this.rules.source && item.source !== null ? this.textOf(item.source, "source", t("source"), attend) : null;
    this.list = h("ol.errors", { "aria-label": t("errors_marked") });
    this.hint = h("p.hint.mark-hint", {}, t("mark_hint"));
    const missing = h(
      "button.quiet.add-missing",
      { type: "button", disabled: setting.locked, onclick: () => this.addMissing() },
      `+ ${t("add_missing")}`,
      h("kbd", { "aria-hidden": "true" }, "G"),
    );
    this.element = h("div.marking", {}, this.list, this.hint, this.rules.missing ? missing : null, this.target.said);
    this.shown = "";
    this.show();
  }

  /** @param {string} text @param {"source" | "target"} side @param {string} label @param {() => void} attend */
  textOf(text, side, label, attend) {
    return new MarkText({
      text,
      language: this.setting.campaign[side],
      side,
      snap: this.rules.snap[side],
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

  /** @param {Span[]} spans */
  set(spans) {
    if (this.setting.locked) return;
    this.setting.change({ [this.output.id]: { spans } });
    this.show();
    this.changed();
  }

  /** Where a mark stands among all; of several that say the same, the first. @param {Span} span @returns {number} */
  indexOf(span) {
    return this.spans.findIndex((one) => same(one, span));
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

  /** @param {Span} span */
  remove(span) {
    this.current = undefined;
    this.set(this.spans.toSpliced(this.indexOf(span), 1));
    this.sideOf(span.side).focus();
    this.target.say(t("deleted", { text: nameOf(span) }));
  }

  /** The cursor or the pointer has come to a place. @param {string} side @param {number} start @param {number} end */
  touch(side, start, end) {
    const text = this.sideOf(side);
    const found = text.marksAt(start, end);
    const again = found.find((one) => this.current && same(one, this.current)) ?? found[0];
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
    if (this.rules.missing) keys.g = () => this.addMissing();
    if (this.source) keys.s = () => (text === this.target ? this.source : this.target)?.focus();
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return false;
    if (!this.setting.locked || event.key === "Escape" || event.key === "s") act();
    return true;
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
    const chosen = here.find((one) => this.current && same(one, this.current)) ?? here[0];
    if (alone) this.update(chosen, { severity: nextSeverity(this.rules, chosen.severity) });
    else this.add(text === this.source ? "source" : "target", place.start, place.end);
    text.pick(null);
  }

  /** Take away the mark under the cursor, or the one of something missing that was just dealt with. @param {MarkText} text */
  drop(text) {
    const place = text.place;
    const here = place ? text.marksAt(place.start, place.end) : [];
    const chosen = here.find((one) => this.current && same(one, this.current)) ?? here[0];
    const missing = this.current?.side === "missing" ? this.current : undefined;
    if (missing ?? chosen) this.remove(/** @type {Span} */ (missing ?? chosen));
  }

  show() {
    const spans = ordered(this.spans);
    const current = spans.find((one) => this.current && same(one, this.current));
    const now = JSON.stringify([spans, current]);
    if (now === this.shown) return;
    this.shown = now;
    const focused = this.focusedIn();
    this.target.show(spans.filter((one) => one.side === "target"), current);
    this.source?.show(spans.filter((one) => one.side === "source"), current);
    const { source, target } = this.setting.campaign;
    const rows = spans.map((span) =>
      errorRow(span, span === current, { source, target }, {
        rules: this.rules,
        locked: this.setting.locked,
        prefilled: this.output.prefilled,
        goTo: (one) => this.goTo(one),
        change: (one, values) => this.update(one, values),
        remove: (one) => this.remove(one),
      }),
    );
    this.list.replaceChildren(...rows);
    this.list.hidden = !rows.length;
    this.hint.hidden = rows.length > 0;
    this.refocus(focused, rows);
  }

  /** Which button of the list has the focus. @returns {string | null} */
  focusedIn() {
    const active = /** @type {HTMLElement | null} */ (document.activeElement);
    return active && this.list.contains(active) ? (active.dataset.severity ?? "") : null;
  }

  /** Give the focus back to the same button of the mark dealt with. @param {string | null} severity @param {HTMLElement[]} rows */
  refocus(severity, rows) {
    if (severity === null) return;
    const row = rows.find((one) => one.classList.contains("current"));
    const button = row?.querySelector(`[data-severity="${severity}"]`);
    if (button) /** @type {HTMLElement} */ (button).focus();
    else this.target.focus();
  }
}

/** @param {Span} one @param {Span} other @returns {boolean} whether both are the same mark */
function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What is asked back about an answer: nothing, or the name of the rule. @param {number | null} score @param {Span[]} spans @param {any} rules */
export function warningOf(score, spans, rules) {
  if (score === null) return null;
  if (score < rules.warn_below && !spans.length) return "low-without-error";
  const severe = spans.some((one) => SEVERE.includes(one.severity));
  return score > rules.warn_above && severe ? "high-with-major" : null;
}

/**
 * What the page asks back about, with a way to keep it. It blocks nothing.
 * @param {string} output @param {Setting} setting @param {() => string | null} warning
 */
function askBack(output, setting, warning) {
  const text = h("span");
  const keep = h("button.quiet", { type: "button", disabled: setting.locked }, t("keep_it"));
  const element = h("p.ask-back", { role: "status" }, text, keep);
  keep.addEventListener("click", () => {
    setting.change({ [output]: { kept: warning() } });
    show();
  });
  function show() {
    const asked = warning();
    const kept = setting.answers()[output]?.kept ?? null;
    element.hidden = asked === null || asked === kept;
    if (asked) text.textContent = t(asked === "low-without-error" ? "ask_low" : "ask_high");
  }
  show();
  return { element, show };
}

/** @param {any} item @param {Setting} setting @param {number} place @returns {import("./items.js").ItemView} */
export function spansItem(item, setting, place) {
  const output = item.outputs[0];
  const id = output.id;
  const value = () => setting.answers()[id]?.score ?? null;
  const article = h("article.item.marked", { "aria-label": place ? t("segment_n", { n: place }) : t("segment") });
  const marking = new Marking(item, setting, () => setting.attend(marks), () => asking.show());
  const asking = askBack(id, setting, () => warningOf(value(), marking.spans, setting.campaign.spans));
  const comment = commentBox(id, setting);
  const said = h("p.lesson.said", { role: "status" });
  const widget = scoreWidget({
    scale: setting.campaign.scale,
    label: place ? t("score_of", { n: place }) : t("score"),
    value: value(),
    locked: setting.locked,
    change: (score) => {
      setting.change({ [id]: { score } });
      said.textContent = lesson(output, score);
      asking.show();
    },
    attend: () => setting.attend(score),
  });
  const common = { outputs: [id], attended: [id], element: article, isOpen: () => value() === null, comment: comment.open };
  /** @type {Stop} */
  const marks = {
    ...common,
    takesShift: true,
    key: (event) => marking.key(event) || (/^[0-9]$/.test(event.key) && !event.shiftKey && widget.key(event)),
    focus: () => marking.target.focus(),
    show: () => {
      marking.show();
      asking.show();
    },
  };
  /** @type {Stop} */
  const score = {
    ...common,
    key: widget.key,
    focus: widget.focus,
    show: () => {
      widget.show(value());
      comment.show();
    },
  };
  if (place) article.append(h("span.place", { "aria-hidden": "true" }, place));
  const { campaign } = setting;
  const left = [
    marking.source ? labelled(marking.source, t("source")) : textBlock(item.source, campaign.source, t("source")),
    textBlock(item.reference, campaign.target, t("reference"), ".reference"),
  ];
  const right = [labelled(marking.target, t("translation")), marking.element];
  const columns = h("div.columns", {}, h("div", {}, ...left), h("div", {}, ...right));
  const judged = h("div.judge", {}, widget.element, asking.element, comment.element, said);
  article.append(...[note(item), columns, judged].filter((one) => one !== null));
  return { element: article, stops: [marks, score] };
}

/** @param {MarkText} text @param {string} label @returns {HTMLElement} */
function labelled(text, label) {
  return h("div.text", {}, h("span.label", {}, label), text.words);
}
