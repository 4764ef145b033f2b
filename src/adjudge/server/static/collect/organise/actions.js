// @ts-check
/** What organisers do with the whole campaign or one person, warnings that call for it, and the log of what was done. */
import { dialog, h } from "../shared/dom.js";
import { addressOf, call } from "../shared/net.js";
import { currentLocale, t } from "../shared/interface_texts.js";

/** @typedef {import("../organise.js").Organising} Organising */
/** @typedef {{name: string, label: string, field: HTMLInputElement | HTMLTextAreaElement, send: () => Promise<any>, more?: HTMLElement}} Question */

/**
 * The state of the campaign and the buttons that change it.
 * @param {Organising} page @param {Server.OverviewOut} now @returns {HTMLElement}
 */
export function steering(page, { campaign }) {
  const change = (/** @type {string} */ name, /** @type {string} */ key, /** @type {string} */ state) =>
    h(
      "button",
      {
        type: "button",
        "data-focus": `state:${state}`,
        onclick: () => page.ask(t(name), t(`${key}_question`), () => call("POST", "/api/organiser/state", { state })),
      },
      t(name),
    );
  const running = campaign.state === "running";
  return h(
    "div.steering",
    { role: "group", "aria-label": t("state") },
    h(`strong.state-${campaign.state}`, {}, t(`state_${campaign.state}`)),
    running ? change("pause", "pause", "paused") : change("resume", "resume", "running"),
    campaign.state === "closed" ? null : change("close_campaign", "close", "closed"),
    h("button", { type: "button", "data-focus": "message:all", onclick: () => write(page, null) }, t("message_all")),
    h("button", { type: "button", "data-focus": "extend", onclick: () => extend(page) }, t("extend")),
    h("a.button", { href: addressOf("/api/organiser/report"), target: "_blank", "data-focus": "report" }, t("report")),
  );
}

/** @param {string} name  of a button, whose dots promise a question @returns {string} */
function dotless(name) {
  return name.replace(/\s*…$/, "");
}

/**
 * Ask for something to be typed, and send it; what was typed stays if it fails.
 * @param {Organising} page @param {string} title @param {string} hint @param {Question} question
 */
function fill(page, title, hint, { name, label, field, send, more }) {
  const said = h("p.said", { role: "alert" });
  let sending = false;
  const act = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (sending) return;
    sending = true;
    try {
      await send();
      box.close();
      void page.refresh();
    } catch (error) {
      said.textContent = t("not_done", { reason: /** @type {any} */ (error).message });
      sending = false;
    }
  };
  const buttons = h(
    "div.buttons",
    {},
    h("button", { type: "button", onclick: () => box.close() }, t("cancel")),
    h("button.primary", { type: "submit" }, dotless(name)),
  );
  const box = dialog(dotless(title), [
    h("p", {}, hint),
    h("form", { onsubmit: act }, h("label", { for: field.id }, label), field, more ?? null, said, buttons),
  ]);
}

/** @param {Organising} page @param {Server.AnnotatorOut | null} person */
export function write(page, person) {
  const field = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { id: "message", rows: 4, required: true, maxlength: 2000, dir: "auto" })
  );
  const send = () => call("POST", "/api/organiser/messages", { text: field.value, annotator: person?.id ?? null });
  const title = person ? t("message_to", { name: person.name }) : t("message_all");
  fill(page, title, t("message_hint"), { name: t("send"), label: t("action_message"), field, send });
}

/** @param {Organising} page */
function extend(page) {
  const field = /** @type {HTMLInputElement} */ (
    h("input", { id: "more", type: "number", min: 1, max: 1_000_000, value: 100, required: true })
  );
  const send = () => call("POST", "/api/organiser/extend", { judgments: Number(field.value) });
  fill(page, t("extend"), t("extend_question"), { name: t("extend"), label: t("action_extend"), field, send });
}

/** @param {Organising} page @param {Server.AnnotatorOut} person */
export function reassign(page, person) {
  const back = person.reassigned;
  page.ask(t(back ? "take_back" : "reassign"), t(back ? "take_back_question" : "reassign_question", { name: person.name }), () =>
    call("POST", `/api/organiser/annotators/${person.id}/reassign`, { back }),
  );
}

/**
 * Exclude a person, or take the person back in, and say why.
 * @param {Organising} page @param {Server.AnnotatorOut} person
 */
export function decide(page, person) {
  const field = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { id: "reason", rows: 3, required: true, minlength: 3, dir: "auto" })
  );
  const decision = () => ({ excluded: !person.excluded, reason: field.value });
  const send = () => call("POST", `/api/organiser/annotators/${person.id}/decision`, decision());
  const title = t("decision_title", { name: person.name });
  fill(page, title, t("decision_text"), { name: t("record"), label: t("reason"), field, send });
}

/**
 * Erase a person, once the name has been written out; what is left to be done by hand is said.
 * @param {Organising} page @param {Server.AnnotatorOut} person
 */
export function erase(page, person) {
  const field = /** @type {HTMLInputElement} */ (
    h("input", { type: "text", id: "erase-name", autocomplete: "off", required: true, dir: "auto" })
  );
  const all = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", id: "erase-all" }));
  const send = async () => {
    const body = { name: field.value, judgments: all.checked };
    const { notes } = await call("POST", `/api/organiser/annotators/${person.id}/erase`, body);
    if (notes.length) page.failed.replaceChildren(...notes.map((/** @type {string} */ note) => h("span.note", { lang: "en", dir: "auto" }, note)));
  };
  const more = h("p.agree", {}, all, " ", h("label", { for: all.id }, t("erase_judgments")));
  fill(page, t("erase"), t("erase_question", { name: person.name }), { name: t("erase"), label: t("name_label"), field, send, more });
}

/**
 * What will go wrong unless somebody acts.
 * @param {Server.WarningOut[]} expected @returns {HTMLElement[]}
 */
export function warnings(expected) {
  return expected.map(({ kind, few, many, names }) => {
    const values = { few, many, names: names.join(", "), least: names[0] ?? "", most: names[1] ?? "" };
    return h("p.attention", {}, t(`warn_${kind}`, values));
  });
}

/** @param {Server.ActionOut[]} actions @returns {HTMLElement[]} */
export function actionLog(actions) {
  if (!actions.length) return [];
  const rows = actions.map(({ action, who, about, text, made }) =>
    h(
      "tr",
      {},
      h("td", {}, new Date(made).toLocaleString(currentLocale())),
      h("td", {}, t(`action_${action}`)),
      h("td", {}, h("bdi", {}, about)),
      h("td", {}, h("bdi", {}, action === "state" ? t(`state_${text}`) : text)),
      h("td", {}, who),
    ),
  );
  const titles = ["column_when", "column_what", "column_about", "column_detail", "column_who"];
  const head = h("thead", {}, h("tr", {}, ...titles.map((title) => h("th", { scope: "col" }, t(title)))));
  return [h("h2", {}, t("actions")), h("div.scroll", {}, h("table", {}, head, h("tbody", {}, ...rows)))];
}
