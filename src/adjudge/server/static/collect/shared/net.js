// @ts-check
/** Talking to the server: JSON in, JSON out, and every failure under a name that the pages act upon. */

/**
 * @typedef {"offline" | "entry" | "refused" | "fault"} Trouble
 *   offline: no answer, try again later; entry: not (or no longer) entered; refused: will never be accepted as it is;
 *   fault: the server's own, try again later.
 */

export class CallError extends Error {
  /** @param {Trouble} trouble @param {string} detail @param {string} [code] */
  constructor(trouble, detail, code = "") {
    super(detail);
    this.trouble = trouble;
    this.code = code;
  }
}

/**
 * The address of a page or call of this campaign: a server may have several, each below a path of its own.
 * @param {string} path @returns {string}
 */
export function addressOf(path) {
  return (document.documentElement?.dataset.base ?? "") + path;
}

const TIMEOUT_MS = 60000; // long: what was asked for may be done though its answer is late, as a new link

/**
 * Call the server.
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 * @param {{keepalive?: boolean, timeout?: number}} options
 * @returns {Promise<any>}
 */
export async function call(method, path, body, options = {}) {
  return callBelow(addressOf(""), method, path, body, csrf(), options);
}

/**
 * Call one of the campaigns of the server.
 * @param {string} base  where its pages lie
 * @param {string} method
 * @param {string} path
 * @param {any} [body]
 * @param {string} [token]  against forged requests
 * @param {{keepalive?: boolean, timeout?: number}} options
 * @returns {Promise<any>}
 */
export async function callBelow(base, method, path, body, token = "", { keepalive = false, timeout = TIMEOUT_MS } = {}) {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), timeout);
  /** @type {Response} */
  let answer;
  /** @type {any} */
  let said;
  try {
    answer = await fetch(base + path, {
      method,
      headers: { "Content-Type": "application/json", "X-CSRFToken": token },
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      signal: stop.signal,
      keepalive,
    });
    // Within the same time: an answer that stops half-way must not be waited for for ever.
    if (answer.status !== 204) said = await answer.json().catch(() => undefined);
  } catch {
    throw new CallError("offline", "no answer");
  } finally {
    clearTimeout(timer);
  }
  if (!answer.ok) throw failure(answer, said ?? {});
  if (answer.status === 204) return null;
  // A page of the network's own, as hotels and trains have: the server has not been reached.
  if (said === undefined) throw new CallError("offline", "no answer");
  return said;
}

/** @param {Response} answer @param {any} said @returns {CallError} */
function failure(answer, said) {
  // Only the server itself refuses for good. What a proxy says in its stead decides nothing, and is tried again.
  if (said.detail === undefined || answer.status >= 500 || (answer.status === 429 && !said.code)) {
    return new CallError("fault", `the server answered ${answer.status}`);
  }
  const detail = typeof said.detail === "string" ? said.detail : `the server answered ${answer.status}`;
  if (answer.status === 403 && detail.startsWith("CSRF")) return new CallError("entry", detail, "csrf");
  if (answer.status === 401 || answer.status === 403) return new CallError("entry", detail, said.code);
  return new CallError("refused", detail, said.code);
}

/** @returns {string} */
function csrf() {
  return /** @type {HTMLMetaElement | null} */ (document.querySelector("meta[name=csrf]"))?.content || "";
}

/** Fetch a fresh page for its token against forged requests, where the old one no longer fits. */
export async function renewToken() {
  const token = await tokenOf(addressOf(""));
  const meta = /** @type {HTMLMetaElement | null} */ (document.querySelector("meta[name=csrf]"));
  if (token && meta) meta.content = token;
}

/**
 * A token of a campaign against forged requests.
 * @param {string} base  where its pages lie
 * @returns {Promise<string>}
 */
export async function tokenOf(base) {
  const answer = await fetch(`${base}/enter`, { credentials: "same-origin", cache: "no-store" });
  return /name="csrf" content="([^"]+)"/.exec(await answer.text())?.[1] ?? "";
}

/**
 * The secret in what somebody pasted: a whole link, or only the part behind `#`.
 * @param {string} pasted
 */
export function secretIn(pasted) {
  const text = pasted.trim();
  return text.slice(text.lastIndexOf("#") + 1);
}
