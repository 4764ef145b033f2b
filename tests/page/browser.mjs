/** The few parts of a browser that the modules under test ask for, without one. */
import { webcrypto } from "node:crypto";

/** A store of texts, as `localStorage` is one; `full` refuses new entries. */
class Store {
  full = false;

  setItem(key, value) {
    if (this.full) throw new Error("storage is full");
    this[key] = value;
  }

  getItem(key) {
    return Object.hasOwn(this, key) ? this[key] : null;
  }

  removeItem(key) {
    delete this[key];
  }
}

/** Put a fresh browser in place: an empty store, and a server that answers as the test says. */
export function freshBrowser(answer) {
  const store = new Store();
  Object.defineProperty(store, "full", { enumerable: false, writable: true, value: false });
  const requests = [];
  const define = (name, value) => Object.defineProperty(globalThis, name, { configurable: true, writable: true, value });
  define("crypto", webcrypto);
  define("localStorage", store);
  define("window", { addEventListener: () => undefined, setTimeout });
  define("document", { querySelector: () => ({ content: "token" }) });
  define("fetch", async (path, options) => {
    const request = { path, body: JSON.parse(options.body) };
    requests.push(request);
    const { status, json } = await answer(request);
    return { ok: status < 400, status, json: async () => json };
  });
  return { store, requests };
}
