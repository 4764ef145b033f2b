// @ts-check
/** Several translations of a segment side by side, and scores of a document as a whole. */
import { h, present } from "../shared/dom.js";
import { commentBox, given, lesson, letter, note } from "./item_parts.js";
import { isOpen, questionsOf, questionsOfPage, scoresOf, scoresOfPage } from "./judged.js";
import { judgedOutput, scoreViews } from "./output.js";
import { articleOf, isLong, scoreItem } from "./single.js";
import { skipBox } from "./skip.js";
import { t } from "../shared/interface_texts.js";

/**
 * @typedef {import("./screen.js").ItemView} ItemView
 * @typedef {import("./screen.js").Setting} Setting
 */

/**
 * Several translations side by side, below or beside the source, which stays in view.
 * @param {Server.ItemOut} item @param {Setting} setting @param {number} number @returns {ItemView}
 */
export function comparedItem(item, setting, number) {
  if (item.outputs.length === 1) return scoreItem(item, setting, number);
  const element = articleOf(item, setting, number, ".compared");
  const values = item.outputs.map((output) =>
    scoresOf(item, output, setting.campaign).map(({ id }) => () => setting.answers()[id]?.score ?? null),
  );
  const sides = item.outputs.map((output, i) => {
    const side = h("div.side", { role: "group", "aria-label": t("translation_n", { letter: letter(i) }) });
    const others = (/** @type {number} */ score) =>
      values.flatMap((of, j) => (j === i ? [] : [{ letter: letter(j), value: of[score]() }]));
    const place = { number, letter: letter(i), element: side, changed: () => refresh(), others };
    const view = judgedOutput(item, output, setting, place);
    side.append(...present([h("span.badge", { "aria-hidden": "true" }, letter(i)), view.text, view.judge]));
    return { ...view, side };
  });
  const stops = sides.flatMap((side) => side.stops);
  // On a phone one translation stands below the other: buttons go from one to the next, and show what each has.
  const jumps = item.outputs.map((_, i) =>
    h("button.jump-side", { type: "button", onclick: () => setting.turn(sides[i].stops[0]) }, h("b", {}, letter(i)), h("span")),
  );
  const sources = sides.map((side) => side.marking?.source ?? null);
  const texts = given(item, setting, sources[0], ...sources.slice(1));
  element.classList.toggle("alone", !present(texts).length);
  const source = h("div.given", { role: "group", "aria-label": t("source"), tabindex: isLong(item) ? 0 : null }, ...texts);
  const row = h("div.sides", {}, ...sides.map(({ side }) => side));
  row.style.setProperty("--sides", String(sides.length));
  const switcher = h("div.jump-sides", { role: "group", "aria-label": t("go_to_translation") }, ...jumps);
  element.append(...present([note(item), h("div.compare", {}, h("div.above", {}, source, switcher), row)]));
  element.classList.toggle("many", sides.length > 3);

  function refresh() {
    sides.forEach((side, i) => {
      side.showOthers();
      const open = questionsOf(item, item.outputs[i]).some((question) => isOpen(question, setting.answers()));
      const points = values[i].length === 1 ? values[i][0]() : null;
      jumps[i].lastElementChild?.replaceChildren(points === null ? (open ? "–" : "✓") : String(points));
      jumps[i].classList.toggle("open", open);
    });
  }
  // Where the source is marked, each translation has marks of its own in it: those of the one in hand are shown.
  sides.forEach((side, i) =>
    side.side.addEventListener("focusin", () =>
      sources.forEach((one, j) => one && one.words.classList.toggle("away", i !== j)),
    ),
  );
  sources.forEach((one, j) => one && one.words.classList.toggle("away", j > 0));
  refresh();
  return { element, stops, show: refresh };
}

/**
 * The page as a whole: a score for each column of outputs, by each criterion that is of documents.
 * @param {Server.ScreenOut} screen @param {Setting} setting @returns {ItemView}
 */
export function wholePage(screen, setting) {
  const { criteria } = setting.campaign;
  const several = screen.whole.length > 1;
  const kind = several ? ".compared" : "";
  const element = h(`article.item.whole${kind}`, { "aria-label": t("whole_document") }, h("h2", {}, t("whole_document")));
  const value = (/** @type {number} */ j, /** @type {number} */ score) =>
    setting.answers()[screen.whole[j][score].id]?.score ?? null;
  const sides = screen.whole.map((column, i) => {
    const name = several ? t("translation_n", { letter: letter(i) }) : t("whole_document");
    const side = several ? h("div.side", { role: "group", "aria-label": name }, h("span.badge", { "aria-hidden": "true" }, letter(i))) : element;
    const judge = h("div.judge");
    const [{ owner }] = questionsOfPage(column);
    const [comment, skip] = [commentBox(owner, setting), skipBox([owner], setting, judge, () => refresh())];
    const said = h("p.lesson.said", { role: "status" });
    const [taught] = screen.items[0].asks.length ? [] : [screen.items[0].outputs[i]];
    const teach = () => (said.textContent = taught ? lesson(taught, value(i, 0)) : "");
    const others = (/** @type {number} */ score) =>
      screen.whole.flatMap((_, j) => (j === i ? [] : [{ letter: letter(j), value: value(j, score) }]));
    const place = { number: 0, letter: several ? letter(i) : "", element: side, changed: () => refresh(), others };
    const sliders = scoreViews(scoresOfPage(column, criteria), setting, place, {
      label: several ? `${t("whole_document")}, ${name}` : t("score_of_document"),
      owner,
      optional: false,
      skip,
      comment: comment.open,
      changed: () => (teach(), refresh()),
      key: () => false,
      show: () => (comment.show(), skip.show()),
    });
    judge.append(...sliders.map((slider) => slider.element), ...present([comment.element, skip.element, said]));
    side.append(judge);
    return { side, sliders };
  });
  const refresh = () => sides.forEach(({ sliders }) => sliders.forEach((slider) => slider.showOthers()));
  if (several) {
    const row = h("div.sides", {}, ...sides.map(({ side }) => side));
    row.style.setProperty("--sides", String(sides.length));
    element.append(row);
  }
  refresh();
  return { element, stops: sides.flatMap(({ sliders }) => sliders.map(({ stop }) => stop)), show: refresh };
}
