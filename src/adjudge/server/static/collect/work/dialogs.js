// @ts-check
/** Dialogs that nobody needs on the first screen: the keys, the overview of screens, entering again, and handing in. */
import { copyButton } from "../shared/copy.js";
import { closing, dialog, h, modified } from "../shared/dom.js";
import { call, renewToken, secretIn } from "../shared/net.js";
import { keysOn, switchKeys } from "../shared/prefs.js";
import { currentLanguage, t } from "../shared/interface_texts.js";

/**
 * Every key and what it does, by protocol.
 * @param {Server.CampaignOut} campaign @returns {[string[], string][]}
 */
function keyList(campaign) {
  /** @type {[string[], string][]} */
  const both = [
    [["↑", "3"], t("both_fine")],
    [["↓", "0"], t("both_wrong")],
  ];
  /** @type {[string[], string][]} */
  const equal = campaign.ties_apart ? both : campaign.ties ? [[["↓", "=", "0"], t("tie")]] : [];
  /** @type {Record<string, [string[], string][]>} */
  const own = {
    ranking: [
      [["1", "…", "9"], t("key_rank")],
      [["←", "→", "Space"], t("key_choose_rank")],
      [["↑", "↓"], t("key_stop")],
      [["Delete"], t("key_unset")],
    ],
    pairwise: [
      [["←", "1"], t("first_better")],
      [["→", "2"], t("second_better")],
      ...equal,
      [["Delete"], t("key_unset")],
    ],
    postedit: [
      [["E"], t("key_edit")],
      [["F"], t("nothing_to_change")],
      [["Delete"], t("key_unset")],
      [["Esc"], t("key_leave")],
    ],
    score: [
      [["0", "…", "9"], t("key_digits")],
      [["←", "→"], t("key_step")],
      [["Page ↑", "Page ↓"], t("key_big_step")],
      [["Home", "End"], t("key_ends")],
      [["Delete"], t("key_unset")],
    ],
  };
  const errors = campaign.spans ? markKeys(campaign.spans) : [];
  return [
    ...errors,
    ...(own[campaign.protocol] || (campaign.criteria.length ? own.score : [])),
    ...(campaign.side_by_side > 1 && !own[campaign.protocol]
      ? /** @type {[string[], string][]} */ ([[["Shift", "1", "…", String(campaign.side_by_side)], t("key_side_n")]])
      : []),
    [["Enter"], t("key_on")],
    [["Shift", "Enter"], t("key_back")],
    [["Ctrl", "Z"], t("key_undo")],
    [["N"], t("key_next")],
    [["P"], t("key_previous")],
    [["M"], t("key_missing")],
    [["O"], t("key_overview")],
    ...(campaign.comments ? /** @type {[string[], string][]} */ ([[["C"], t("key_comment")]]) : []),
    ...(document.querySelector("main :is(audio, video)") ? /** @type {[string[], string][]} */ ([[["V"], t("key_play")]]) : []),
    ...(campaign.skip ? /** @type {[string[], string][]} */ ([[["X"], t("skip_key")]]) : []),
    [["I"], t("key_instructions")],
    [["+", "−"], t("key_size")],
    [["D"], t("key_dark")],
    [["?"], t("key_keys")],
  ];
}

/**
 * The keys with which errors are marked.
 * @param {Server.MarkRulesOut} rules @returns {[string[], string][]}
 */
function markKeys(rules) {
  return [
    [["←", "→", "↑", "↓"], t("key_words")],
    [["Shift", "→"], t("key_pick")],
    [["Space"], t("key_mark")],
    [["Delete"], t("key_unmark")],
    ...(rules.missing ? /** @type {[string[], string][]} */ ([[["G"], t("add_missing")]]) : []),
    ...(rules.source ? /** @type {[string[], string][]} */ ([[["S"], t("key_side")]]) : []),
    .../** @type {[string[], string][]} */ (
      rules.categories.length
        ? [
            [["T"], t("key_category")],
            [["F"], t("no_error")],
          ]
        : [[["K"], t("key_keep")]]
    ),
  ];
}

/** @param {Server.CampaignOut} campaign */
export function showKeys(campaign) {
  const rows = keyList(campaign).map(([keys, does]) =>
    h("tr", {}, h("td", {}, ...keys.flatMap((key, i) => [i ? " " : "", h("kbd", {}, key)])), h("td", {}, does)),
  );
  const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", id: "keys-on" }));
  box.checked = keysOn();
  box.addEventListener("change", () => switchKeys(box.checked));
  const shown = dialog(t("keys"), [
    h("table.keys", {}, h("tbody", {}, ...rows)),
    h("p", {}, box, " ", h("label", { for: "keys-on" }, t("keys_on"))),
    closing(t("close"), () => shown.close()),
  ]);
}

/**
 * All screens as numbers, with what is done.
 * @param {{done: boolean, begun: boolean, open: boolean}[]} screens @param {number} current @param {(i: number) => void} go
 * @param {Server.TaskSummaryOut[]} tasks @param {string} currentTask @param {(id: string) => void} openTask
 */
export function showOverview(screens, current, go, tasks, currentTask, openTask) {
  const state = (/** @type {{done: boolean, begun: boolean}} */ screen) => (screen.done ? "done" : screen.begun ? "begun" : "open");
  const buttons = screens.map((screen, i) =>
    h(
      `button.jump.${state(screen)}${i === current ? ".current" : ""}`,
      {
        type: "button",
        disabled: !screen.open,
        autofocus: i === current,
        "aria-label": t(`screen_${state(screen)}`, { n: i + 1 }),
        "aria-current": i === current ? "step" : null,
        onclick: () => {
          shown.close();
          go(i);
        },
      },
      i + 1,
    ),
  );
  const others = tasks.map((task) =>
    h(
      "button.quiet",
      { type: "button", disabled: task.id === currentTask, onclick: () => (shown.close(), openTask(task.id)) },
      t(task.finished ? "task_finished" : "task_open", { n: task.number }),
    ),
  );
  const shown = dialog(t("overview"), [
    h("div.jumps", {}, ...buttons),
    tasks.length > 1 ? h("div.tasks", {}, h("h3", {}, t("my_tasks")), ...others) : null,
    h("button", { type: "button", onclick: () => shown.close() }, t("close")),
  ]);
}

/**
 * Enter again without leaving the page: everything unsaved stays where it is.
 * @param {string} name  whose work this is
 * @param {string} reason
 * @param {() => Promise<boolean>} entered  whether the right person has entered
 */
export function showReentry(name, reason, entered) {
  const field = h("input", { type: "text", id: "link", autocomplete: "off", spellcheck: "false", autofocus: true });
  const said = h("p.said", { role: "alert" });
  const attempt = async () => {
    try {
      await renewToken();
      const secret = secretIn(/** @type {HTMLInputElement} */ (field).value);
      if (secret) await call("POST", "/api/enter", { secret });
      if (await entered()) finish();
      else said.textContent = t("enter_other", { name });
    } catch (error) {
      const unreached = ["offline", "fault"].includes(/** @type {any} */ (error).trouble);
      said.textContent = t(unreached ? "enter_offline" : "enter_wrong");
    }
  };
  const look = setInterval(async () => {
    if (document.visibilityState === "visible" && (await entered().catch(() => false))) finish();
  }, 4000);
  const finish = () => {
    clearInterval(look);
    box.close();
  };
  const form = h(
    "form",
    { onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), attempt()) },
    h("p", {}, reason),
    h("label", { for: "link" }, t("enter_again_label")),
    field,
    said,
    h("button.primary", { type: "submit" }, t("go_on")),
  );
  const box = dialog(t("enter_again"), [form], { closable: () => false, className: "wide" });
}

/**
 * What the server refused: nothing of it is lost before the annotator says so.
 * @param {import("../saving/save_records.js").SaveRecord[]} records
 * @param {(record: import("../saving/save_records.js").SaveRecord) => string} place  where in the task it belongs
 * @param {{again: () => void, drop: () => void}} actions
 */
export function showRefused(records, place, { again, drop }) {
  const lines = records.map((record) => {
    const answers = Object.values(record.changes).map((fields) => Object.values(fields).map(inWords));
    const when = new Date(record.at).toLocaleString(currentLanguage());
    return [when, place(record), answers.map((fields) => fields.join(", ")).join("; "), record.reason ?? ""];
  });
  const text = lines.map((parts) => parts.filter((part) => part).join(" · ")).join("\n");
  const button = (/** @type {string} */ name, /** @type {() => void} */ act) =>
    h("button", { type: "button", onclick: () => (box.close(), act()) }, t(name));
  const box = dialog(
    t("refused_title"),
    [
      h("p", {}, t("refused_text")),
      h("pre.refused-list", { dir: "auto", tabindex: 0 }, text),
      h(
        "div.buttons",
        {},
        button("refused_drop", drop),
        button("close", () => undefined),
        copyButton(text, "button"),
        h("button.primary", { type: "button", autofocus: true, onclick: () => (box.close(), again()) }, t("try_again")),
      ),
    ],
    { className: "wide" },
  );
}

/**
 * An answer as a text to be copied.
 * @param {any} value @returns {string}
 */
function inWords(value) {
  const spans = Array.isArray(value) ? value : null;
  return spans ? spans.map((span) => `${span.severity} “${span.text ?? "…"}”`).join(" ") || "[]" : (value ?? "–");
}

/**
 * Ask whether to hand in. The dialog stays until that is done, so that no key does anything else meanwhile.
 * @param {{judged: number, time: string, finish: () => Promise<() => void>}} summary  finish: gives what is to be shown then
 */
export function showHandIn({ judged, time, finish }) {
  const said = h("p", { role: "status" }, t("hand_in_question"));
  const buttons = h(
    "div.buttons",
    {},
    h("button", { type: "button", onclick: () => box.close() }, t("look_again")),
    h("button.primary", { type: "button", onclick: () => void handIn() }, h("span", {}, t("hand_in")), h("kbd", {}, "H")),
  );
  let underWay = false;
  const handIn = async () => {
    if (underWay) return;
    underWay = true;
    said.textContent = t("handing_in");
    buttons.replaceChildren();
    box.focus();
    const show = await finish();
    box.close();
    show();
  };
  const summary = h("p", {}, t("hand_in_summary", { n: judged, time }));
  const box = dialog(t("hand_in"), [summary, said, buttons], { closable: () => !underWay });
  // Nothing is chosen beforehand: Enter, which opens this from the last screen, must not hand in by itself.
  box.tabIndex = -1;
  box.focus();
  box.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() === "h" && !event.repeat && !modified(event)) void handIn();
  });
}
