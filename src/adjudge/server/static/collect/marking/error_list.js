// @ts-check
/** The list of a segment's errors beside the text: each with its severity, its place in the text, and a way out. */
import { h, modified } from "../shared/dom.js";
import { sameMark } from "./marks.js";
import { letterOf } from "./word_selection.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {import("./marks.js").Span} Span
 * @typedef {{rules: any, locked: boolean, prefilled: Span[], goTo: (span: Span) => void,
 *   change: (span: Span, values: Partial<Span>) => void, choose: (span: Span, category: string) => Span,
 *   remove: (span: Span) => void}} Handling
 * @typedef {{span: Span}} Holder  the mark of a row, which changes while its row stays when a category is chosen
 */

/** @param {Span} span @returns {string} what a mark is called */
export function nameOf(span) {
  return span.side === "missing" ? t("something_missing") : `“${span.text}”`;
}

/**
 * The severity in words, with the category where there is one.
 * @param {Span} span @returns {string}
 */
export function describe(span) {
  return [nameOf(span), t(`severity_${span.severity}`), span.category].filter(Boolean).join(", ");
}

/**
 * @param {Span} span @param {{source: any, target: any}} languages @param {Handling} handling
 * @returns {HTMLElement}
 */
export function errorRow(span, languages, handling) {
  const holder = { span };
  const language = span.side === "source" ? languages.source : languages.target;
  const quoted =
    span.side === "missing"
      ? h("span", {}, t("something_missing"))
      : h("bdi", { lang: language.lang.split("_")[0], dir: language.dir }, span.text);
  const place = h(
    "button.quiet.error-text",
    { type: "button", title: t("go_to_error"), onclick: () => handling.goTo(holder.span) },
    quoted,
  );
  return h(
    `li.error.${span.severity}`,
    { "aria-label": describe(span), "data-side": span.side },
    h("span.error-letter", { "aria-hidden": "true" }, letterOf(span.severity)),
    place,
    span.side === "source" ? h("span.hint", {}, t("in_source")) : null,
    originOf(span, handling),
    handling.rules.categories.length ? categories(holder, handling) : null,
    severities(holder, handling),
    h(
      "button.tool.error-delete",
      {
        type: "button",
        disabled: handling.locked,
        "aria-label": t("delete_error", { text: nameOf(span) }),
        title: t("delete_error", { text: nameOf(span) }),
        onclick: () => handling.remove(holder.span),
      },
      "×",
    ),
  );
}

/**
 * Whether a mark was there before, and is as it was.
 * @param {Span} span @param {Handling} handling
 */
function originOf(span, { prefilled }) {
  if (span.of === null) return null;
  const kept = sameMark(span, prefilled[span.of]);
  return h("span.hint", {}, t(kept ? "origin_prefilled" : "origin_changed"));
}

/**
 * The choice of a category, by groups. It stays while one types, so that several letters find a name.
 * @param {Holder} holder @param {Handling} handling
 * @returns {HTMLElement}
 */
function categories(holder, { rules, locked, choose, goTo }) {
  const { span } = holder;
  /** @type {Map<string, HTMLElement[]>} */
  const groups = new Map();
  for (const { name } of rules.categories) {
    const [group, member] = name.split("/");
    const option = h("option", { value: name, selected: name === span.category }, member ?? group);
    groups.set(group, [...(groups.get(group) ?? []), option]);
  }
  const alone = (/** @type {string} */ group, /** @type {HTMLElement[]} */ options) =>
    options.length === 1 && options[0].getAttribute("value") === group;
  const parts = [...groups].map(([group, options]) =>
    alone(group, options) ? options[0] : h("optgroup", { label: group }, ...options),
  );
  const choice = /** @type {HTMLSelectElement} */ (
    h(
      "select.category",
      { disabled: locked, "data-control": "category", "aria-label": t("category_of", { text: nameOf(span) }) },
      span.category === null ? h("option", { value: "", selected: true }, t("choose_category")) : null,
      ...parts,
    )
  );
  choice.classList.toggle("unset", span.category === null);
  choice.addEventListener("change", () => {
    if (!choice.value) return;
    holder.span = choose(holder.span, choice.value);
    choice.classList.remove("unset");
    choice.closest("li")?.setAttribute("aria-label", describe(holder.span));
  });
  choice.addEventListener("keydown", (event) => {
    if (modified(event) || (event.key !== "Escape" && event.key !== "Enter")) return;
    event.preventDefault();
    goTo(holder.span);
  });
  return choice;
}

/** @param {Holder} holder @param {Handling} handling @returns {HTMLElement} */
function severities(holder, { rules, locked, change }) {
  const { span } = holder;
  const buttons = rules.severities.map((/** @type {string} */ severity) =>
    h(
      `button.severity.${severity}`,
      {
        type: "button",
        disabled: locked,
        "data-control": severity,
        "aria-pressed": String(severity === span.severity),
        onclick: () => change(holder.span, { severity }),
      },
      h("span.error-letter", { "aria-hidden": "true" }, letterOf(severity)),
      t(`severity_${severity}`),
    ),
  );
  return h("span.severities", { role: "group", "aria-label": t("severity_of", { text: nameOf(span) }) }, ...buttons);
}

/**
 * Which control of the list has the focus, by its name.
 * @param {HTMLElement} list @returns {string | null}
 */
export function focusedControl(list) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  return active && list.contains(active) ? (active.dataset.control ?? "") : null;
}

/**
 * Give the focus back to the same control of the mark dealt with.
 * @param {HTMLElement} list @param {string} control @returns {boolean} whether there is one
 */
export function refocus(list, control) {
  const button = control && list.querySelector(`.current [data-control="${control}"]`);
  if (button) /** @type {HTMLElement} */ (button).focus();
  return Boolean(button);
}
