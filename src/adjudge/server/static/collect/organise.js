// @ts-check
/** The organisers' page: progress, people and decisions, fresh every few seconds. */
import { copyButton } from "./shared/copy.js";
import { clockTime, dialog, giveBack, h, logo, replaceUnselected, whenLetGo } from "./shared/dom.js";
import { addressOf, call } from "./shared/net.js";
import { actionLog, decide, erase, reassign, steering, warnings, write } from "./organise/actions.js";
import { showPanels } from "./organise/panels.js";
import { attention, figures, hours, linkState, pace, shownTime } from "./organise/parts.js";
import { applyPreferences } from "./shared/prefs.js";
import { languageName, loadTexts, t, timeOfDay } from "./shared/interface_texts.js";

const FRESH_MS = 4000;
const PANELS_MS = 20000;
// While they are computed, statistics are asked for more often.
const WAITING_MS = 1500;
// A longer table scrolls by itself, so that what stands below it is not pages away.
const MANY_PEOPLE = 30;

export class Organising {
  constructor() {
    this.updated = h("span.updated");
    // Spoken are actions under way and missing answers only: nobody wants to hear the time every few seconds.
    this.spoken = h("span.visually-hidden", { role: "status" });
    // Apart from it, because the next figures must not wipe away that something has failed.
    this.failed = h("p.said.failed", { role: "alert" });
    this.acting = false;
    this.title = h("h1", {}, t("organise"));
    this.steering = h("div");
    this.warnings = h("div");
    this.state = h("div.panels.state");
    this.progress = h("section.panel");
    // What is typed, and how far a wide table is scrolled, stays while figures come in.
    this.attention = h("div");
    this.table = h("div.scroll");
    this.people = h("section.panel", {}, h("h2", {}, t("annotators")), this.attention, this.table, this.adding());
    this.panels = h("div.panels");
    this.decisions = h("section.panel");
    this.answers = h(
      "a.button",
      { href: addressOf("/api/organiser/people?what=answers"), download: "answers.csv", hidden: true },
      t("form_answers"),
    );
    const head = h(
      "div.page-head",
      {},
      logo(),
      document.documentElement.dataset.home ? h("a", { href: document.documentElement.dataset.home }, t("all_campaigns")) : null,
      this.title,
      this.updated,
      this.spoken,
      h("a.button", { href: addressOf("/api/organiser/export"), download: "judgments.csv" }, t("export")),
      h("a.button", { href: addressOf("/api/organiser/export?format=parquet"), download: "judgments.parquet" }, t("export_parquet")),
      h("a.button", { href: addressOf("/api/organiser/people?what=pay"), download: "pay.csv" }, t("pay_list")),
      this.answers,
    );
    document.body.replaceChildren(h("main", {}, head, this.failed, this.steering, this.warnings, this.state, this.progress, this.people, this.panels, this.decisions));
    this.lastTime = "";
    void this.refresh();
    void this.follow("/api/organiser/state", this.state);
    void this.follow("/api/organiser/panels", this.panels);
    setInterval(() => document.visibilityState === "visible" && this.refresh(), FRESH_MS);
  }

  async refresh() {
    try {
      const now = await call("GET", "/api/organiser/overview");
      this.lastTime = timeOfDay(new Date());
      this.say(t("updated", { time: this.lastTime }), false);
      whenLetGo(() => this.show(now));
    } catch (error) {
      if (/** @type {any} */ (error).trouble === "entry") location.replace(addressOf("/enter"));
      this.say(t("no_update", { time: this.lastTime }), true);
    }
  }

  /** @param {string} text @param {boolean} aloud  whether it is read out, too */
  say(text, aloud) {
    this.updated.textContent = text;
    const spoken = aloud ? text : "";
    if (this.spoken.textContent !== spoken) this.spoken.textContent = spoken;
  }

  /**
   * Show statistics, and go on asking for them.
   * @param {string} path @param {HTMLElement} where
   */
  async follow(path, where) {
    let wait = PANELS_MS;
    if (document.visibilityState === "visible") {
      /** @type {Server.StatisticsOut | null} */
      const statistics = await call("GET", path).catch(() => null);
      if (statistics) whenLetGo(() => showPanels(where, statistics));
      if (statistics?.computing) wait = WAITING_MS;
    }
    setTimeout(() => void this.follow(path, where), wait);
  }

  /** @param {Server.OverviewOut} now */
  show(now) {
    // Whoever has a button in focus keeps it.
    const focused = document.activeElement;
    const { name, source_lang: source, target_lang: target } = now.campaign;
    this.title.replaceChildren(h("bdi", {}, name), " ", h("span.pair-of", {}, `${languageName(source)} → ${languageName(target)}`));
    this.answers.hidden = !now.campaign.asks;
    replaceUnselected(this.steering, [steering(this, now)]);
    replaceUnselected(this.warnings, warnings(now.warnings));
    replaceUnselected(this.progress, [h("h2", {}, t("progress")), figures(now), hours(now.throughput)]);
    replaceUnselected(this.attention, [attention(now.annotators, this.attention.querySelector("details")?.open)]);
    replaceUnselected(this.table, [this.tableOf(now.annotators)]);
    this.table.classList.toggle("long", now.annotators.length > MANY_PEOPLE);
    replaceUnselected(this.decisions, [...this.links(now.links), ...actionLog(now.actions)]);
    giveBack(focused);
  }

  /** @param {Server.AnnotatorOut[]} annotators @returns {HTMLElement} */
  tableOf(annotators) {
    const titles = ["annotator", "judgments_column", "tasks", "working_time", "pace", "controls", "last_save", "link"];
    const numeric = new Set(["judgments_column", "tasks", "working_time", "pace", "controls"]);
    const head = h("tr", {}, ...titles.map((title) => h(numeric.has(title) ? "th.count" : "th", {}, t(title))), h("td"));
    return h("table", {}, h("thead", {}, head), h("tbody", {}, ...annotators.map((person) => this.row(person))));
  }

  /** @param {Server.AnnotatorOut} person @returns {HTMLElement} */
  row(person) {
    const flagged = (/** @type {"pace" | "controls"} */ fault) =>
      person.faults.includes(fault) ? "td.count.flagged" : "td.count";
    const controls = person.controls ? h("bdi", { dir: "ltr" }, `${person.controls_right} / ${person.controls}`) : "–";
    const button = (/** @type {string} */ kind, /** @type {() => void} */ act, name = kind) =>
      h(
        "button.quiet",
        // Of hundreds with the same words on them, each is read out with the name of the person.
        { type: "button", "data-focus": `${kind}:person-${person.id}`, "aria-label": `${t(name)} ${person.name}`, onclick: act },
        t(name),
      );
    const standing = person.excluded ? "excluded" : person.reassigned ? "reassigned" : null;
    return h(
      person.excluded ? "tr.excluded" : "tr",
      {},
      h("td.name", {}, h("bdi", {}, person.name), standing ? h("span.note.hint", {}, t(standing)) : null),
      h("td.count", {}, person.judgments, h("span.hint", {}, person.control_judgments ? ` + ${person.control_judgments}` : "")),
      h("td.count", {}, person.tasks_finished),
      h("td.count", {}, clockTime(person.active_seconds)),
      h(flagged("pace"), {}, pace(person), person.faults.includes("pace") ? ` ${t("too_fast")}` : ""),
      h(flagged("controls"), {}, controls, person.faults.includes("controls") ? ` ${t("missed")}` : ""),
      h("td", {}, person.last_save ? shownTime(new Date(person.last_save)) : "–"),
      h("td.link-state", {}, linkState(person.link)),
      h(
        "td.actions",
        {},
        button("renew", () => this.renew(person)),
        person.link.status === "valid" ? button("revoke", () => this.revoke(person)) : null,
        button("message", () => write(this, person)),
        person.excluded ? null : button("reassign", () => reassign(this, person), person.reassigned ? "take_back" : "reassign"),
        button("decide", () => decide(this, person), person.excluded ? "include" : "exclude"),
        person.erased ? null : button("erase", () => erase(this, person)),
      ),
    );
  }

  /**
   * Do something, show what has become of it, and say if it failed. One at a time: a second new link, asked for while
   * the first is on its way, would revoke it.
   * @param {() => Promise<void>} act
   */
  async attempt(act) {
    if (this.acting) return;
    this.acting = true;
    this.failed.textContent = "";
    this.say(t("entering"), true);
    try {
      await act();
    } catch (error) {
      this.failed.textContent = t("not_done", { reason: /** @type {any} */ (error).message });
    }
    this.acting = false;
    await this.refresh();
  }

  /** @param {Server.AnnotatorOut} person */
  renew(person) {
    const act = async () => this.showLink(await call("POST", `/api/organiser/annotators/${person.id}/renew`));
    // A link that somebody may be using is not taken away by a slip.
    if (person.link.status === "valid") this.ask(t("renew"), t("renew_question", { name: person.name }), act);
    else void this.attempt(act);
  }

  /** @param {Server.AnnotatorOut} person */
  revoke(person) {
    this.ask(t("revoke"), t("revoke_question", { name: person.name }), () =>
      call("POST", `/api/organiser/annotators/${person.id}/revoke`),
    );
  }

  /** @param {string} title @param {string} question @param {() => Promise<void>} act */
  ask(title, question, act) {
    const box = dialog(title, [
      h("p", {}, question),
      h(
        "div.buttons",
        {},
        h("button", { type: "button", onclick: () => box.close() }, t("cancel")),
        h("button.primary", { type: "button", onclick: () => (box.close(), this.attempt(act)) }, title),
      ),
    ]);
  }

  /** @returns {HTMLElement} */
  adding() {
    const name = /** @type {HTMLInputElement} */ (
      h("input", { type: "text", id: "name", maxlength: 200, required: true })
    );
    const said = h("p.said", { role: "alert" });
    const act = async (/** @type {Event} */ event) => {
      event.preventDefault();
      try {
        this.showLink(await call("POST", "/api/organiser/annotators", { name: name.value }));
        name.value = "";
        said.textContent = "";
        void this.refresh();
      } catch (error) {
        said.textContent = /** @type {any} */ (error).message;
      }
    };
    const label = h("label", {}, t("name_label"), name);
    return h(
      "form.inline",
      { "aria-label": t("add_annotator"), onsubmit: act },
      label,
      h("button", { type: "submit" }, t("add_annotator")),
      said,
    );
  }

  /** @param {Server.LinkOut} made */
  showLink(made) {
    const link = location.origin + addressOf(made.path);
    const copy = copyButton(link, "button.primary", { autofocus: true });
    const box = dialog(t("new_link_for", { name: made.name }), [
      h("p", {}, t("new_link_text", { name: made.name })),
      h("p.secret", {}, link),
      h("div.buttons", {}, h("button", { type: "button", onclick: () => box.close() }, t("close")), copy),
    ]);
  }

  /** @param {Server.OtherLinkOut} link */
  revokeOther(link) {
    const question = t(link.role === "crowd" ? "revoke_crowd_question" : "revoke_organiser_question", { name: link.label });
    this.ask(t("revoke"), question, () => call("POST", `/api/organiser/links/${link.id}/revoke`));
  }

  /** @param {Server.OtherLinkOut[]} links @returns {HTMLElement[]} */
  links(links) {
    const rows = links.map((link) => {
      const place = `link-${link.id}`;
      const button = { type: "button", "data-focus": `revoke:${place}`, onclick: () => this.revokeOther(link) };
      return h(
        "tr",
        // It takes the focus over from its button, which goes with the link.
        { tabindex: -1, "data-focus": `row:${place}` },
        h("td", {}, link.label),
        h("td", {}, linkState(link)),
        h("td", {}, link.status === "valid" ? h("button.quiet", button, t("revoke")) : null),
      );
    });
    return [h("h2", {}, t("other_links")), h("div.scroll", {}, h("table", {}, h("tbody", {}, ...rows)))];
  }
}

async function begin() {
  applyPreferences();
  await loadTexts();
  new Organising();
}

void begin();
