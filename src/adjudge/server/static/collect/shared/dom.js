// @ts-check
/** Building elements. Texts always become text nodes: nothing on these pages is ever parsed as markup. */

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 * @typedef {string | [string, string, ...any[]]} TextNodeTree  a text, or [tag, direction, ...children]
 * @typedef {string | TextNodeTree[] | null} ShownText  plain text, or a tree of harmless tags
 */

/**
 * Make an element. Attributes beginning with "on" are listeners; true sets an empty attribute, false or null none.
 * @param {string} tag  the element's name, with classes behind dots: "div.card.open"
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) setAttribute(element, key, value);
  element.append(
    ...children
      .flat()
      .filter((child) => child !== null && child !== undefined && child !== false)
      .map(asNode),
  );
  return element;
}

/**
 * The parts that are there.
 * @template Part @param {(Part | null)[]} parts @returns {Part[]}
 */
export function present(parts) {
  return /** @type {Part[]} */ (parts.filter((part) => part !== null));
}

/** @param {any} child @returns {Node} */
function asNode(child) {
  return child instanceof Node ? child : document.createTextNode(String(child));
}

/** @param {HTMLElement} element @param {string} key @param {any} value */
function setAttribute(element, key, value) {
  if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
  else if (value === true) element.setAttribute(key, "");
  else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, String(value));
}

const TAGS = new Set(
  // What texts may hold, and below it what organisers' own texts have besides.
  (
    "b bdi br code del em i ins li mark ol p pre q rp rt ruby s small span strong sub sup u ul " +
    "a blockquote h3 h4 hr table tbody td th thead tr"
  ).split(" "),
);

/**
 * A text as it is to be shown: plain, or a tree from the server of which only harmless tags are built. Links, which only
 * organisers' texts have, open beside the page.
 * @param {ShownText} text
 * @returns {Node[]}
 */
export function shownText(text) {
  if (text === null) return [];
  if (typeof text === "string") return [document.createTextNode(text)];
  return text.map((node) => {
    if (typeof node === "string") return document.createTextNode(node);
    const [tag, direction, ...children] = node;
    const element = document.createElement(TAGS.has(tag) ? tag : "span");
    if (["ltr", "rtl", "auto"].includes(direction)) element.dir = direction;
    if (tag === "a" && /^(https?:\/\/|mailto:)/.test(direction))
      for (const [name, value] of Object.entries({ href: direction, target: "_blank", rel: "noopener noreferrer" }))
        element.setAttribute(name, value);
    element.append(...shownText(/** @type {TextNodeTree[]} */ (children)));
    return element;
  });
}

/**
 * Whether a key is pressed together with one that makes it the browser's or the system's: then it is no key of the page.
 * @param {KeyboardEvent} event @returns {boolean}
 */
export function modified(event) {
  return event.ctrlKey || event.altKey || event.metaKey;
}

/**
 * Let one of several buttons be chosen. A click on the chosen one takes the choice back; by keys that is Delete: Space,
 * pressed to be sure, changes nothing.
 * @template T
 * @param {HTMLElement} element  what holds the buttons
 * @param {HTMLElement[]} buttons @param {T[]} values  what each of them stands for
 * @param {{value: T | null, locked: boolean, change: (value: T | null) => void}} options
 * @returns {{show: (value: T | null) => void, set: (value: T | null) => void, focus: () => void}}
 */
export function chooseOne(element, buttons, values, { value, locked, change }) {
  let current = value;
  const show = (/** @type {T | null} */ next) => {
    current = next;
    element.classList.toggle("unset", next === null);
    buttons.forEach((button, i) => {
      button.setAttribute("aria-checked", String(values[i] === next));
      button.tabIndex = values[i] === next || (next === null && i === 0) ? 0 : -1;
    });
  };
  const set = (/** @type {T | null} */ next) => {
    if (locked || next === current) return;
    show(next);
    change(next);
  };
  buttons.forEach((button, i) =>
    button.addEventListener("click", (event) => set(event.detail > 0 && current === values[i] ? null : values[i])),
  );
  const focus = () => buttons[Math.max(0, values.findIndex((one) => one === current))].focus({ preventScroll: true });
  show(value);
  return { show, set, focus };
}

// The key pressed last, as long as nothing was pointed at since: it may be what opens a dialog.
let lastKey = "";
if (typeof window !== "undefined") {
  window.addEventListener("keydown", (event) => (lastKey = event.key), { capture: true });
  window.addEventListener("pointerdown", () => (lastKey = ""), { capture: true });
}

/**
 * Keep the key that opened a dialog from answering it: pressed twice, or held, it would decide what nobody has read.
 * Any other key, or the pointer, shows that somebody has seen the dialog. What asks nothing is closed by the same key.
 * @param {HTMLDialogElement} box @param {boolean} asks
 */
function guard(box, asks) {
  let opener = lastKey;
  const presses = (/** @type {KeyboardEvent} */ event) => {
    const acts = event.key === opener && ["Enter", " "].includes(event.key) && (asks || event.repeat);
    const types = /** @type {HTMLElement} */ (event.target).matches("input, textarea, select");
    if (acts && !types) event.preventDefault();
    else if (event.type === "keydown") opener = "";
  };
  box.addEventListener("keydown", presses, { capture: true });
  box.addEventListener("keyup", presses, { capture: true });
  box.addEventListener("pointerdown", () => (opener = ""), { capture: true });
}

/**
 * Give the focus back to what had it, or to what has taken its place since: the same button of a table made anew.
 * @param {Element | null} former
 */
export function giveBack(former) {
  const name = former?.getAttribute("data-focus");
  if (!name || former?.isConnected) return;
  const named = (/** @type {string} */ selector) => /** @type {HTMLElement | null} */ (document.querySelector(selector));
  // A button that is no longer there leaves it to its neighbour: who revoked a link stays in that row.
  const [kind, row] = name.split(":");
  (named(`[data-focus="${kind}:${row}"]`) ?? named(`[data-focus$=":${row}"]`))?.focus();
}

// Whether a button of the mouse, a finger or a key is down, and what waits until none is.
let held = false;
/** @type {(() => void)[]} */
let waiting = [];
if (typeof window !== "undefined") {
  const letGo = () => {
    held = false;
    // After the click that follows.
    setTimeout(() => held || waiting.splice(0).forEach((act) => act()));
  };
  window.addEventListener("pointerdown", (event) => (held = event.button === 0), { capture: true });
  window.addEventListener("keydown", () => (held = true), { capture: true });
  // What was let go outside of the window is noticed when the pointer comes back.
  window.addEventListener("pointermove", (event) => held && !event.buttons && letGo(), { capture: true });
  for (const kind of ["pointerup", "pointercancel", "keyup"]) window.addEventListener(kind, letGo, { capture: true });
  window.addEventListener("blur", letGo);
}

/**
 * Replace elements, but not while something is pressed: a button that is gone when it is let go gets no click.
 * @param {() => void} act
 */
export function whenLetGo(act) {
  if (held) waiting.push(act);
  else act();
}

/**
 * Scroll to an element: at once for people who have asked for less motion.
 * @param {Element} element @param {ScrollLogicalPosition} block
 */
export function scrollToElement(element, block) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  element.scrollIntoView({ block, behavior: still ? "auto" : "smooth" });
}

/**
 * Show other content in a place, but not while words in it are selected: somebody is about to copy them.
 * @param {HTMLElement} place @param {HTMLElement[]} content
 */
export function replaceUnselected(place, content) {
  const selection = getSelection();
  const selected = selection !== null && !selection.isCollapsed && place.contains(selection.anchorNode);
  if (!selected) place.replaceChildren(...content);
}

/**
 * A dialog that is shown at once and removed when closed.
 * @param {string} title
 * @param {Child[]} content
 * @param {{className?: string, closable?: () => boolean, asks?: boolean}} options
 *   closable: whether it may be closed without an answer now; asks: whether a key can decide something in it
 * @returns {HTMLDialogElement}
 */
export function dialog(title, content, { className = "", closable = () => true, asks = true } = {}) {
  const heading = h("h2", { id: "dialog-title" }, title);
  const box = /** @type {HTMLDialogElement} */ (
    h(`dialog${className ? "." + className : ""}`, { "aria-labelledby": "dialog-title" }, heading, ...content)
  );
  box.addEventListener("keydown", (event) => event.key === "Escape" && !closable() && event.preventDefault());
  box.addEventListener("cancel", (event) => closable() || event.preventDefault());
  box.addEventListener("click", (event) => event.target === box && closable() && box.close());
  const opener = document.activeElement;
  box.addEventListener("close", () => {
    box.remove();
    if (document.activeElement === document.body) giveBack(opener);
  });
  guard(box, asks);
  document.body.append(box);
  box.showModal();
  // Long ones begin at their beginning, wherever the focus is.
  box.scrollTop = 0;
  return box;
}

/**
 * The way out of a dialog that only tells something, in sight however long it is.
 * @param {string} name @param {() => void} close @returns {HTMLElement}
 */
export function closing(name, close) {
  return h("div.buttons.closing", {}, h("button.primary", { type: "button", autofocus: true, onclick: close }, name));
}

/** @returns {HTMLElement | null} the campaign's logo, which says nothing that is not in its name */
export function logo() {
  const source = document.documentElement.dataset.logo;
  return source ? h("img.logo", { src: source, alt: "" }) : null;
}

/** @param {number} seconds @returns {string} as 4:05 or 1:02:05 */
export function clockTime(seconds) {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] ? parts : parts.slice(1);
  return shown.map((part, i) => (i ? String(part).padStart(2, "0") : String(part))).join(":");
}
