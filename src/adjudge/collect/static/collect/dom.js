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
      .filter((one) => one !== null && one !== undefined && one !== false)
      .map(asNode),
  );
  return element;
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
  "b bdi br code del em i ins li mark ol p pre q rp rt ruby s small span strong sub sup u ul".split(" "),
);

/**
 * A text as it is to be shown: plain, or a tree from the server of which only harmless tags are built.
 * @param {ShownText} text
 * @returns {Node[]}
 */
export function shownText(text) {
  if (text === null) return [];
  if (typeof text === "string") return [document.createTextNode(text)];
  return text.map((one) => {
    if (typeof one === "string") return document.createTextNode(one);
    const [tag, direction, ...children] = one;
    const element = document.createElement(TAGS.has(tag) ? tag : "span");
    if (["ltr", "rtl", "auto"].includes(direction)) element.dir = direction;
    element.append(...shownText(/** @type {TextNodeTree[]} */ (children)));
    return element;
  });
}

/**
 * A dialog that is shown at once and removed when closed.
 * @param {string} title
 * @param {Child[]} content
 * @param {{className?: string, closable?: boolean, onclose?: () => void}} [options]
 * @returns {HTMLDialogElement}
 */
export function dialog(title, content, { className = "", closable = true, onclose } = {}) {
  const heading = h("h2", { id: "dialog-title" }, title);
  const box = /** @type {HTMLDialogElement} */ (
    h(`dialog${className ? "." + className : ""}`, { "aria-labelledby": "dialog-title" }, heading, ...content)
  );
  if (!closable) box.addEventListener("cancel", (event) => event.preventDefault());
  else box.addEventListener("click", (event) => event.target === box && box.close());
  box.addEventListener("close", () => {
    box.remove();
    onclose?.();
  });
  document.body.append(box);
  box.showModal();
  // Long ones begin at their beginning, wherever the focus is.
  box.scrollTop = 0;
  return box;
}

/** @param {number} seconds @returns {string} as 4:05 or 1:02:05 */
export function clockTime(seconds) {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] ? parts : parts.slice(1);
  return shown.map((part, i) => (i ? String(part).padStart(2, "0") : String(part))).join(":");
}
