// @ts-check
/**
 * Time on a screen: shown (it was the current screen), visible (the page was in sight) and active (somebody was at it).
 *
 * Reading counts as being at it: one is taken to be active until the idle limit has passed since the last key, click,
 * touch, scroll or movement, and the limit grows with the text. Raw events are kept too, for other rules later.
 */

/**
 * @typedef {import("../saving/save_records.js").Spent} Spent
 * @typedef {{spent: Spent, events: any[]}} Taken
 */

const TICK_MS = 1000;
const LONGEST_TICK_S = 5; // a longer gap between ticks: the machine slept
const PULSE_MS = 5000; // activity is noted in the raw events at most this often
const READING_S_PER_CHARACTER = 0.06; // about 170 words a minute
const MOST_COUNTED = 800;

export class Clock {
  /** @param {number} idleSeconds @param {() => void} ticked */
  constructor(idleSeconds, ticked) {
    this.idleSeconds = idleSeconds;
    this.limit = idleSeconds;
    this.ticked = ticked;
    /** @type {string | null} */
    this.screen = null;
    /** @type {string[]} */
    this.outputs = [];
    /** @type {Map<string, Taken>} */
    this.taken = new Map();
    this.last = performance.now();
    this.lastAct = performance.now();
    this.lastPulse = 0;
    this.idle = false;
    for (const kind of ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "touchmove"]) {
      window.addEventListener(kind, () => this.act(), { passive: true, capture: true });
    }
    document.addEventListener("visibilitychange", () => {
      this.tick();
      this.note(document.visibilityState);
      if (document.visibilityState === "visible") this.act();
    });
    setInterval(() => this.tick(), TICK_MS);
  }

  /**
   * Another screen is shown now (null: none).
   * @param {string | null} screen
   * @param {number} characters  how much there is to read
   */
  show(screen, characters = 0) {
    this.tick();
    if (this.screen && this.screen !== screen) this.note("left");
    this.screen = screen;
    this.outputs = [];
    this.limit = Math.max(this.idleSeconds, characters * READING_S_PER_CHARACTER);
    if (screen) this.note("shown");
    this.act();
  }

  /**
   * What is being looked at on the screen: the seconds go to these outputs.
   * @param {string[]} outputs
   */
  attend(outputs) {
    this.tick();
    if (outputs.join() !== this.outputs.join()) this.note("attended", outputs[0]);
    // What passed before anything was turned to, while the screen was being built, goes to the first.
    if (!this.outputs.length && this.screen) this.credit(this.of(this.screen).spent, outputs);
    this.outputs = outputs;
  }

  /** Somebody did something. */
  act() {
    const now = performance.now();
    if (this.idle) this.tick();
    this.lastAct = now;
    if (this.idle) {
      this.idle = false;
      this.note("back");
      this.ticked();
    } else if (now - this.lastPulse > PULSE_MS) {
      this.note("act");
      this.lastPulse = now;
    }
  }

  /** Add what has passed since the last tick. */
  tick() {
    const now = performance.now();
    const seconds = (now - this.last) / 1000;
    this.last = now;
    if (!this.screen) return;
    const { spent } = this.of(this.screen);
    spent.shown += seconds;
    if (document.visibilityState === "visible" && seconds < LONGEST_TICK_S) {
      spent.visible += seconds;
      if ((now - this.lastAct) / 1000 < this.limit) {
        spent.active += seconds;
        this.credit(spent, this.outputs);
      } else if (!this.idle) {
        this.idle = true;
        this.note("idle");
      }
    }
    this.ticked();
  }

  /**
   * Share what no output has yet of the active seconds among these.
   * @param {Spent} spent @param {string[]} outputs
   */
  credit(spent, outputs) {
    const given = Object.values(spent.outputs).reduce((sum, seconds) => sum + seconds, 0);
    const share = Math.max(0, spent.active - given) / outputs.length;
    for (const output of outputs) spent.outputs[output] = (spent.outputs[output] || 0) + share;
  }

  /**
   * Record a raw event of the screen shown.
   * @param {string} kind @param {...(string | number | null)} more
   */
  note(kind, ...more) {
    if (this.screen) this.noteOn(this.screen, kind, ...more);
  }

  /**
   * Record a raw event of any screen, as of one that was just left.
   * @param {string} screen @param {string} kind @param {...(string | number | null)} more
   */
  noteOn(screen, kind, ...more) {
    const { events } = this.of(screen);
    if (events.length < MOST_COUNTED) events.push([Date.now(), kind, ...more]);
  }

  /** @param {string} screen @returns {Taken} */
  of(screen) {
    let taken = this.taken.get(screen);
    if (!taken) {
      taken = { spent: { shown: 0, visible: 0, active: 0, outputs: {} }, events: [] };
      this.taken.set(screen, taken);
    }
    return taken;
  }

  /**
   * The seconds and events of a screen since they were last taken.
   * @param {string} screen @returns {Taken}
   */
  take(screen) {
    this.tick();
    const taken = this.of(screen);
    this.taken.delete(screen);
    return taken;
  }

  /** @returns {number} active seconds that no save has taken yet */
  get untaken() {
    return [...this.taken.values()].reduce((sum, taken) => sum + taken.spent.active, 0);
  }
}
