// @ts-check
/** Post-editing: a translation to be corrected, with what was changed shown as it is written. */
import { changedPercent, difference, shownDifference } from "./diff.js";
import { h, modified, present } from "../shared/dom.js";
import { columns, commentBox, given, lesson, mediaBlock, note } from "./item_parts.js";
import { isOpen } from "./judged.js";
import { skipBox } from "./skip.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {import("./screen.js").Setting} Setting
 * @typedef {import("./screen.js").Stop} Stop
 */

/** @param {Server.ItemOut} item @param {Setting} setting @param {number} number @returns {import("./screen.js").ItemView} */
export function editItem(item, setting, number) {
  const output = item.outputs[0];
  const id = output.id;
  // Where texts are edited, the campaign allows no markup: they come as plain text.
  const translation = String(output.text);
  const { target, snap } = setting.campaign;
  const lang = target.lang.split("_")[0];
  const edit = () => setting.answers()[id]?.edit ?? null;
  const article = h("article.item.edited", { "aria-label": number ? t("segment_n", { n: number }) : t("segment") });
  const comment = commentBox(id, setting);
  const skip = skipBox([id], setting, article);
  const said = h("p.lesson.said", { role: "status" });
  const label = number ? t("edit_of", { n: number }) : t("edit");
  const area = /** @type {HTMLTextAreaElement} */ (
    h("textarea.words.edition", { lang, dir: target.dir, rows: 1, "aria-label": label, spellcheck: "true" })
  );
  area.readOnly = setting.locked;
  const edition = h("div.text", {}, h("span.label", {}, t("edit")), area);
  const original = h("div.words.original", { lang, dir: target.dir });
  const fine = h(
    "button.quiet.no-error",
    { type: "button", disabled: setting.locked, onclick: () => confirm() },
    h("span", {}, t("nothing_to_change")),
    h("kbd", { "aria-hidden": "true" }, "F"),
  );
  const begin = { type: "button", disabled: setting.locked, onclick: () => reset() };
  const again = h("button.quiet", begin, t("start_again"));
  const name = `${t("original")}: ${translation}`;
  const box = h(
    "div.edit-box",
    { role: "group", tabindex: 0, "aria-label": name, onfocus: () => setting.attend(stop) },
    h("div.text", {}, h("span.label", {}, t("original")), original),
  );

  /** @param {string | null} value */
  function set(value) {
    if (setting.locked) return;
    setting.change({ [id]: { edit: value } });
    show();
  }

  /** Say that nothing is to be changed; said twice, it is taken back. */
  function confirm() {
    set(edit() === translation ? null : translation);
    box.focus();
  }

  /** Take back that nothing is to be changed; what was written is given up by its button only. */
  function takeBack() {
    if (edit() === translation) set(null);
  }

  /** Put the translation back as somebody would who types it, so that the browser can take it back (Ctrl+Z). */
  function reset() {
    area.focus();
    area.select();
    if (!document.execCommand("insertText", false, translation)) area.value = translation;
    set(null);
  }

  area.addEventListener("input", () => {
    // What is as it was before is not judged yet: that it is right as it is must be said.
    set(area.value.trim() === "" || area.value === translation ? null : area.value);
    grow();
  });
  area.addEventListener("focus", () => setting.attend(stop));
  area.addEventListener("blur", () => show());
  area.addEventListener("keydown", (event) => {
    const enter = event.key === "Enter" && !event.shiftKey;
    if (event.isComposing || modified(event) || (event.key !== "Escape" && !enter)) return;
    event.preventDefault();
    box.focus();
    if (enter && !event.repeat) setting.on();
  });

  /** As high as the text. What is around keeps its height while it is measured: else the page would scroll by itself. */
  function grow() {
    edition.style.setProperty("min-height", `${edition.offsetHeight}px`);
    area.style.setProperty("height", "auto");
    area.style.setProperty("height", `${area.scrollHeight + 2}px`);
    edition.style.removeProperty("min-height");
  }

  function show() {
    const value = edit();
    const text = value ?? translation;
    if (document.activeElement !== area) area.value = text;
    original.replaceChildren(...shownDifference(difference(translation, text, target.lang, snap.target)));
    original.classList.toggle("unset", value === null);
    fine.setAttribute("aria-pressed", String(value === translation));
    fine.hidden = value !== null && value !== translation;
    again.hidden = !fine.hidden;
    const changed = value === null ? null : changedPercent(translation, value, snap.target);
    said.textContent = lesson(output, changed, "changed");
    comment.show();
    skip.show();
    grow();
  }
  /** @type {Stop} */
  const stop = {
    outputs: [id],
    attended: [id],
    element: article,
    isOpen: () => isOpen({ id, owner: id, asks: item.asks }, setting.answers()),
    key: (event) => {
      if (skip.skipped()) return false;
      /** @type {Record<string, () => void>} */
      const keys = { e: () => area.focus(), f: () => fine.hidden || confirm(), Delete: takeBack };
      const onButton = /** @type {HTMLElement} */ (event.target).closest("button");
      const act = onButton ? undefined : keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (act && !setting.locked) act();
      return act !== undefined;
    },
    focus: () => box.focus({ preventScroll: true }),
    comment: comment.open,
    skip: skip.open,
    show,
  };
  const hint = h("p.hint", {}, t("edit_hint"), h("span.keys-hint", {}, ` ${t("edit_hint_keys")}`));
  const right = [mediaBlock(output.media, setting, t("translation")), box, edition, h("div.mark-buttons", {}, fine, again), hint];
  if (number) article.append(h("span.place", { "aria-hidden": "true" }, number));
  article.append(...present([note(item), columns(given(item, setting), right), comment.element, skip.element, said]));
  show();
  requestAnimationFrame(grow);
  return { element: article, stops: [stop] };
}
