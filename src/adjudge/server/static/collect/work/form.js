// @ts-check
/** Before the first task: what people agree to, questions about them, and a quiz. */
import { h } from "../shared/dom.js";
import { currentLanguage, t } from "../shared/interface_texts.js";
import { call } from "../shared/net.js";
import { showText } from "./ending.js";
import { prose } from "./instructions.js";

/** @typedef {import("../work.js").Work} Work */

const MOST_BUTTONS = 7; // longer lists of answers are opened to choose from

/**
 * Show the form in place of the first screen; once it is stored, the tasks follow.
 * @param {Work} page
 */
export async function showForm(page) {
  /** @type {Server.FormOut | null} */
  const form = await call("GET", `/api/form?language=${currentLanguage()}`).catch(() => null);
  const agree = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", id: "form-agree", required: true }));
  const fields = (form?.questions ?? []).map(field);
  const said = h("p.said", { role: "alert" }, form ? "" : t("no_answer"));
  const send = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const open = fields.find((one) => one.isOpen());
    for (const one of fields) one.say(one === open ? t("form_missing") : "");
    if (open) return open.focus();
    await sendForm(page, fields, said);
  };
  const decline = async () => {
    try {
      await call("POST", "/api/decline");
      showText(page, t("form_declined_title"), t("form_declined_text"));
    } catch (error) {
      page.saving.notDone(error);
    }
  };
  const consent = form?.consent
    ? [prose(form.consent), h("p.agree", {}, agree, " ", h("label", { for: agree.id }, t("form_agree")))]
    : [];
  const buttons = h(
    "div.buttons",
    {},
    form?.consent ? h("button", { type: "button", onclick: decline }, t("form_decline")) : null,
    form
      ? h("button.primary", { type: "submit" }, t("form_send"))
      : h("button.primary", { type: "button", onclick: () => location.reload() }, t("try_again")),
  );
  const heading = h("h2", { tabindex: -1 }, t("form_title"));
  const shown = h("form.before", { onsubmit: send }, heading, ...consent, ...fields.map((one) => one.element), said, buttons);
  page.frame.showEnd(h("section.end", {}, shown));
  heading.focus();
}

/**
 * @param {Work} page @param {Field[]} fields @param {HTMLElement} said  where it is said what failed
 */
async function sendForm(page, fields, said) {
  said.textContent = "";
  try {
    const answers = Object.fromEntries(fields.map((one) => [one.key, one.value()]));
    /** @type {Server.FilledInOut} */
    const { wrong } = await call("POST", "/api/form", { agreed: true, answers });
    if (!wrong.length) return page.take(await call("GET", "/api/work"));
    for (const one of fields) one.say(wrong.includes(one.key) ? t("form_wrong") : "");
    fields.find((one) => wrong.includes(one.key))?.focus();
  } catch (error) {
    const unreached = ["offline", "fault"].includes(/** @type {any} */ (error).trouble);
    said.textContent = unreached ? t("no_answer") : t("not_done", { reason: /** @type {any} */ (error).message });
  }
}

/** @typedef {{key: string, element: HTMLElement, value: () => string | string[], isOpen: () => boolean, say: (text: string) => void, focus: () => void}} Field */

/** @param {Server.FormQuestionOut} question @returns {Field} */
function field(question) {
  const id = `form-${question.key}`;
  const said = h("span.said", { role: "alert", id: `${id}-said` });
  const hints = [
    question.required ? null : h("span.hint", {}, t("form_optional")),
    question.personal ? h("span.hint", {}, t("form_personal")) : null,
  ];
  const [element, inputs] = control(question, id, hints, said);
  const value = () => {
    const texts = inputs.filter((input) => !["radio", "checkbox"].includes(input.type) || /** @type {HTMLInputElement} */ (input).checked).map((input) => input.value.trim());
    return question.several ? texts : (texts[0] ?? "");
  };
  return {
    key: question.key,
    element,
    value,
    isOpen: () => question.required && !value().length,
    say: (text) => {
      said.textContent = text;
      for (const input of inputs) input.setAttribute("aria-invalid", String(Boolean(text)));
    },
    focus: () => inputs[0].focus(),
  };
}

/** @typedef {HTMLInputElement | HTMLSelectElement} Input */

/**
 * What a question is answered with: a line to write on, buttons, or a list.
 * @param {Server.FormQuestionOut} question @param {string} id @param {(HTMLElement | null)[]} hints @param {HTMLElement} said
 * @returns {[HTMLElement, Input[]]}
 */
function control(question, id, hints, said) {
  const described = { "aria-describedby": said.id, "aria-required": question.required ? "true" : null };
  if (question.answers.length && (question.several || question.answers.length <= MOST_BUTTONS)) {
    const type = question.several ? "checkbox" : "radio";
    const inputs = question.answers.map(([value], i) =>
      /** @type {HTMLInputElement} */ (h("input", { type, name: id, id: `${id}-${i}`, value, "aria-describedby": said.id })),
    );
    const choices = question.answers.map(([, shown], i) => h("span.choice", {}, inputs[i], " ", h("label", { for: `${id}-${i}`, dir: "auto" }, shown)));
    return [h("fieldset", {}, h("legend", { dir: "auto" }, question.ask), ...hints, ...choices, said), inputs];
  }
  const input = /** @type {Input} */ (
    question.answers.length
      ? h("select", { id, ...described }, h("option", { value: "" }, t("form_choose")), ...question.answers.map(([value, shown]) => h("option", { value }, shown)))
      : h("input", { type: "text", id, maxlength: 2000, dir: "auto", ...described })
  );
  return [h("div.question", {}, h("label", { for: id, dir: "auto" }, question.ask), ...hints, input, said), [input]];
}
