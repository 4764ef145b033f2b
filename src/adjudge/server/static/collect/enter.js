// @ts-check
/** Where personal links lead: the secret behind `#` becomes a session, and leaves the address bar at once. */
import { addressOf, call, secretIn } from "./shared/net.js";

// Names under which crowd platforms say whom they send.
const PERSON_PARAMETERS = ["PROLIFIC_PID", "workerId", "participant", "person"];
const MOMENT_MS = 700; // what takes longer is said to be under way
const AGAIN_MS = 2000;

/** @param {string} secret @param {string | null} person @param {string | null} signature */
async function enter(secret, person, signature) {
  const more = { ...(person ? { person } : {}), ...(signature ? { signature } : {}) };
  const answer = await call("POST", "/api/enter", { secret, ...more });
  location.replace(addressOf(answer.role === "organiser" ? "/organise" : "/work"));
}

/**
 * What shows something here, which most people never need; asked for until there is a connection.
 * @returns {Promise<typeof import("./enter/asking.js")>}
 */
function loadAsking() {
  const again = () => new Promise((done) => setTimeout(done, AGAIN_MS)).then(loadAsking);
  return import("./enter/asking.js").catch(again);
}

/** @returns {Promise<void>} */
async function begin() {
  const secret = secretIn(location.hash);
  const asked = new URLSearchParams(location.search);
  const signature = asked.get("signature");
  const person = PERSON_PARAMETERS.map((name) => asked.get(name)).find((value) => value) ?? null;
  history.replaceState(null, "", addressOf("/enter"));
  const again = (/** @type {string} */ link) => enter(link, person, signature);
  const show = async (/** @type {any} */ error) => (await loadAsking()).ask(error, secret, again);
  if (!secret) return show(null);
  let waiting = true;
  setTimeout(async () => waiting && (await loadAsking()).showMoment(() => waiting), MOMENT_MS);
  try {
    await again(secret);
  } catch (error) {
    waiting = false;
    await show(error);
  }
}

void begin();
// A second link opened in the same tab changes only the part behind `#`, which loads nothing by itself.
window.addEventListener("hashchange", () => void begin());
