// @ts-check
/** Where personal links lead: the secret behind `#` becomes a session, and leaves the address bar at once. */
import { h, logo } from "./shared/dom.js";
import { addressOf, call, secretIn } from "./shared/net.js";
import { applyPreferences } from "./shared/prefs.js";
import { hasText, loadTexts, t } from "./shared/interface_texts.js";

// Names under which crowd platforms say whom they send.
const PERSON_PARAMETERS = ["PROLIFIC_PID", "workerId", "participant", "person"];

/** @param {string} secret @param {string | null} person @param {string | null} [signature] */
async function enter(secret, person, signature = null) {
  const more = { ...(person ? { person } : {}), ...(signature ? { signature } : {}) };
  const answer = await call("POST", "/api/enter", { secret, ...more });
  location.replace(addressOf(answer.role === "organiser" ? "/organise" : "/work"));
}

/**
 * Ask for the link.
 * @param {string} [fault] why it is asked for @param {string} [former] the secret that was not answered
 * @param {(secret: string) => Promise<void>} [again] how to enter by it
 */
function ask(fault, former = "", again = (secret) => enter(secret, null)) {
  const field = /** @type {HTMLInputElement} */ (
    h("input", { type: "text", id: "link", autocomplete: "off", spellcheck: "false", autofocus: true })
  );
  field.value = former;
  const said = h("p.said", { role: "alert" }, fault);
  const attempt = async (/** @type {Event} */ event) => {
    event.preventDefault();
    await again(secretIn(field.value)).catch((error) => (said.textContent = reason(error)));
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

async function begin() {
  const secret = secretIn(location.hash);
  const asked = new URLSearchParams(location.search);
  const signature = asked.get("signature");
  const person = PERSON_PARAMETERS.map((name) => asked.get(name)).find((value) => value) ?? null;
  history.replaceState(null, "", addressOf("/enter"));
  applyPreferences();
  await loadTexts();
  if (!secret) return ask();
  document.body.replaceChildren(h("main.enter", {}, h("p", {}, t("entering"))));
  const again = (/** @type {string} */ link) => enter(link, person, signature);
  // Where nobody answered, one need not look for the link again: it has gone from the address bar.
  await again(secret).catch((error) => ask(reason(error), isUnreached(error) ? secret : "", again));
}

void begin();
// A second link opened in the same tab changes only the part behind `#`, which loads nothing by itself.
window.addEventListener("hashchange", () => void begin());
