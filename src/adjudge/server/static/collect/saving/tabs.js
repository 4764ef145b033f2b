// @ts-check
/** The pages of one person in this browser: what they tell each other, and which of them are alive. */

export const TAB = newId(); // this page
const TAB_MS = 600; // a page that lives answers much sooner

export class Tabs {
  /** @param {string} owner @param {(said: any) => void} heard */
  constructor(owner, heard) {
    /** @type {Set<string>} */
    this.alive = new Set();
    this.channel = new BroadcastChannel(`adjudge:${owner}`);
    this.channel.addEventListener("message", ({ data }) => {
      if (data.roll) this.channel.postMessage({ here: TAB });
      else if (data.here) this.alive.add(data.here);
      else heard(data);
    });
  }

  /**
   * Tell the others.
   * @param {any} what
   */
  tell(what) {
    this.channel.postMessage(what);
  }

  /** @returns {Promise<Set<string>>} which pages live, this one among them */
  async roll() {
    this.alive = new Set([TAB]);
    this.channel.postMessage({ roll: true });
    await new Promise((done) => setTimeout(done, TAB_MS));
    return this.alive;
  }
}

/** @returns {string} a random UUID, also where the page is not on a secure address */
export function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}
