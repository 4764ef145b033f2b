// @ts-check
/** What is shown where a link does not open its page at once: that it takes a moment, or a field for another link. */
import { h, logo } from "../shared/dom.js";
import { secretIn } from "../shared/net.js";
import { applyPreferences } from "../shared/prefs.js";
import { hasText, loadTexts, t } from "../shared/interface_texts.js";

/** Load what most people never see: texts, and how they look. */
async function prepare() {
  applyPreferences();
  await loadTexts(".later");
  if (document.querySelector("link[rel=stylesheet]")) return;
  const sheet = h("link", { rel: "stylesheet", href: `${document.documentElement.dataset.static}enter.css` });
  document.head.append(sheet);
  await new Promise((done) => ["load", "error"].forEach((kind) => sheet.addEventListener(kind, done)));
}

/**
 * Say that the server is being asked.
 * @param {() => boolean} still  whether it is
 */
export async function showMoment(still) {
  await prepare();
  if (still()) document.body.replaceChildren(h("main.enter", {}, h("p", {}, t("entering"))));
}

/**
 * Ask for the link.
 * @param {any} error  why it is asked for, if a link was tried
 * @param {string} secret  of the link that was tried
 * @param {(secret: string) => Promise<unknown>} again  how to enter by it
 */
export async function ask(error, secret, again) {
  await prepare();
  showForm(error, secret, again);
}

/** @type {(error: any, secret: string, again: (secret: string) => Promise<unknown>) => void} as `ask`, on a whole page */
export function showForm(error, secret, again) {
  // Where nobody answered, one need not look for the link again: it has gone from the address bar.
  const former = error && isUnreached(error) ? secret : "";
  const fault = error ? reason(error) : "";
  const field = /** @type {HTMLInputElement} */ (
    h("input", { type: "text", id: "link", autocomplete: "off", spellcheck: "false" })
  );
  field.value = former;
  const said = h("p.said", { role: "alert" }, fault);
  const attempt = async (/** @type {Event} */ event) => {
    event.preventDefault();
    await again(secretIn(field.value)).catch((failure) => (said.textContent = reason(failure)));
  };
  const form = h(
    "form",
    { onsubmit: attempt },
    h("label", { for: "link" }, t("open_link")),
    field,
    said,
    h("button.primary", { type: "submit" }, t("enter")),
  );
  document.body.replaceChildren(h("main.enter", {}, logo(), h("h1", {}, t("welcome")), form));
  field.focus();
}

/** @param {any} error @returns {string} */
function reason(error) {
  const code = String(error.code || "").replace("-", "_");
  if (code && hasText(`enter_${code}`)) return t(`enter_${code}`);
  return t(isUnreached(error) ? "enter_offline" : "link_wrong");
}

/** @param {any} error @returns {boolean} */
function isUnreached(error) {
  return ["offline", "fault"].includes(error.trouble);
}
