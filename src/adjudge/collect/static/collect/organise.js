// @ts-check
/** The organisers' page: progress, people and decisions, fresh every few seconds. */
import { copyButton } from "./copy.js";
import { clockTime, dialog, h } from "./dom.js";
import { call } from "./net.js";
import { applyPreferences } from "./prefs.js";
import { loadTexts, t, timeOfDay } from "./texts.js";

const FRESH_MS = 4000;
const PANELS_MS = 20000;

class Organising {
  constructor() {
    this.updated = h("span.updated", { role: "status" });
    this.title = h("h1", {}, t("organise"));
    this.progress = h("section.panel");
    this.people = h("section.panel");
    this.panels = h("div.panels");
    this.decisions = h("section.panel");
    const head = h(
      "div.page-head",
      {},
      this.title,
      this.updated,
      h("a.button", { href: "/api/organiser/export", download: "judgments.csv" }, t("export")),
    );
    document.body.replaceChildren(h("main", {}, head, this.progress, this.people, this.panels, this.decisions));
    this.lastTime = "";
    void this.refresh();
    void this.refreshPanels();
    setInterval(() => document.visibilityState === "visible" && this.refresh(), FRESH_MS);
    setInterval(() => document.visibilityState === "visible" && this.refreshPanels(), PANELS_MS);
  }

  async refresh() {
    try {
      const now = await call("GET", "/api/organiser/overview");
      this.lastTime = timeOfDay(new Date());
      this.updated.textContent = t("updated", { time: this.lastTime });
      this.show(now);
    } catch (error) {
      if (/** @type {any} */ (error).trouble === "entry") location.replace("/enter");
      this.updated.textContent = t("no_update", { time: this.lastTime });
    }
  }

  async refreshPanels() {
    const tables = await call("GET", "/api/organiser/panels").catch(() => []);
    this.panels.replaceChildren(...tables.map(panel));
  }

  /** @param {any} now */
  show(now) {
    // Whoever is typing or has a button in focus keeps it.
    const focused = document.activeElement?.getAttribute("data-focus");
    this.title.textContent = now.campaign.name;
    this.progress.replaceChildren(h("h2", {}, t("progress")), figures(now.progress), hours(now.throughput));
    if (!this.people.contains(document.activeElement) || !(document.activeElement instanceof HTMLInputElement)) {
      this.people.replaceChildren(h("h2", {}, t("annotators")), this.table(now.annotators), this.adding());
    }
    this.decisions.replaceChildren(...decisions(now), ...this.links(now.links));
    if (focused)
      /** @type {HTMLElement | null} */ (document.querySelector(`[data-focus="${CSS.escape(focused)}"]`))?.focus();
  }

  /** @param {any[]} annotators @returns {HTMLElement} */
  table(annotators) {
    const titles = ["annotator", "judgments", "tasks", "working_time", "pace", "controls", "last_save", "link"];
    const numeric = new Set(["judgments", "tasks", "working_time", "pace", "controls"]);
    const head = h("tr", {}, ...titles.map((one) => h(numeric.has(one) ? "th.count" : "th", {}, t(one))), h("td"));
    return h(
      "div.scroll",
      {},
      h("table", {}, h("thead", {}, head), h("tbody", {}, ...annotators.map((one) => this.row(one)))),
    );
  }

  /** @param {any} one @returns {HTMLElement} */
  row(one) {
    const pace = one.judgments ? (one.active_seconds / one.judgments).toFixed(1) : "–";
    const controls = one.controls ? `${one.controls_right} / ${one.controls}` : "–";
    const button = (/** @type {string} */ name, /** @type {() => void} */ act) =>
      h("button.quiet", { type: "button", "data-focus": `${name}:${one.id}`, onclick: act }, t(name));
    return h(
      one.excluded ? "tr.excluded" : "tr",
      {},
      h("td", {}, h("bdi", {}, one.name), one.excluded ? ` (${t("excluded")})` : ""),
      h("td.count", {}, one.judgments),
      h("td.count", {}, one.tasks_finished),
      h("td.count", {}, clockTime(one.active_seconds)),
      h("td.count", {}, pace),
      h("td.count", {}, controls),
      h("td", {}, one.last_save ? timeOfDay(new Date(one.last_save)) : "–"),
      h("td", {}, linkState(one.link)),
      h(
        "td",
        {},
        button("renew", () => this.renew(one)),
        one.link.status === "valid" ? button("revoke", () => this.revoke(one)) : null,
        button(one.excluded ? "include" : "exclude", () => this.decide(one)),
      ),
    );
  }

  /** @param {any} one */
  async renew(one) {
    this.showLink(await call("POST", `/api/organiser/annotators/${one.id}/renew`));
    void this.refresh();
  }

  /** @param {any} one */
  revoke(one) {
    const box = dialog(t("revoke"), [
      h("p", {}, t("revoke_question", { name: one.name })),
      h(
        "div.buttons",
        {},
        h("button", { type: "button", onclick: () => box.close() }, t("cancel")),
        h("button.primary", { type: "button", onclick: act }, t("revoke")),
      ),
    ]);
    const self = this;
    async function act() {
      await call("POST", `/api/organiser/annotators/${one.id}/revoke`);
      box.close();
      void self.refresh();
    }
  }

  /** @param {any} one */
  decide(one) {
    const reason = /** @type {HTMLTextAreaElement} */ (
      h("textarea", { id: "reason", rows: 3, required: true, minlength: 3, dir: "auto" })
    );
    const act = async (/** @type {Event} */ event) => {
      event.preventDefault();
      await call("POST", `/api/organiser/annotators/${one.id}/decision`, {
        excluded: !one.excluded,
        reason: reason.value,
      });
      box.close();
      void this.refresh();
    };
    const box = dialog(t("decision_title", { name: one.name }), [
      h("p", {}, t("decision_text")),
      h(
        "form",
        { onsubmit: act },
        h("label", { for: "reason" }, t("reason")),
        reason,
        h(
          "div.buttons",
          {},
          h("button", { type: "button", onclick: () => box.close() }, t("cancel")),
          h("button.primary", { type: "submit" }, t("record")),
        ),
      ),
    ]);
  }

  /** @returns {HTMLElement} */
  adding() {
    const name = /** @type {HTMLInputElement} */ (
      h("input", { type: "text", id: "name", maxlength: 200, required: true, "data-focus": "name" })
    );
    const said = h("p.said", { role: "alert" });
    const act = async (/** @type {Event} */ event) => {
      event.preventDefault();
      try {
        this.showLink(await call("POST", "/api/organiser/annotators", { name: name.value }));
        name.value = "";
        name.blur();
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

  /** @param {any} made */
  showLink(made) {
    const link = location.origin + made.path;
    const copy = copyButton(link, "button.primary", { autofocus: true });
    const box = dialog(t("new_link_for", { name: made.name }), [
      h("p", {}, t("new_link_text", { name: made.name })),
      h("p.secret", {}, link),
      h("div.buttons", {}, h("button", { type: "button", onclick: () => box.close() }, t("close")), copy),
    ]);
  }

  /** @param {any[]} links @returns {HTMLElement[]} */
  links(links) {
    const rows = links.map((one) =>
      h(
        "tr",
        {},
        h("td", {}, one.label),
        h("td", {}, linkState(one)),
        h(
          "td",
          {},
          one.status === "valid"
            ? h(
                "button.quiet",
                {
                  type: "button",
                  "data-focus": `link:${one.id}`,
                  onclick: async () => {
                    await call("POST", `/api/organiser/links/${one.id}/revoke`);
                    void this.refresh();
                  },
                },
                t("revoke"),
              )
            : null,
        ),
      ),
    );
    return [h("h2", {}, t("other_links")), h("div.scroll", {}, h("table", {}, h("tbody", {}, ...rows)))];
  }
}

/** @param {any} link @returns {string} */
function linkState(link) {
  if (link.status !== "valid") return t(`link_${link.status}`);
  return `${t("link_valid")}, ${t(link.entered ? "link_entered" : "link_unused")}`;
}

/** @param {any} progress @returns {HTMLElement} */
function figures(progress) {
  const figure = (
    /** @type {string} */ name,
    /** @type {number} */ done,
    /** @type {number} */ wanted,
    /** @type {string} */ more,
  ) => {
    const fill = h("div");
    fill.style.setProperty("width", `${wanted ? Math.min(100, (100 * done) / wanted) : 0}%`);
    return h(
      "div.figure",
      {},
      t(name),
      h("strong", {}, t("of_wanted", { done, wanted })),
      h("div.meter", {}, fill),
      h("span.hint", {}, more),
    );
  };
  return h(
    "div.figures",
    {},
    figure("judgments", progress.judgments, progress.judgments_wanted, ""),
    figure("tasks", progress.tasks_finished, progress.tasks_wanted, t("in_hand", { n: progress.tasks_in_hand })),
  );
}

/** @param {{hour: string, saves: number}[]} throughput @returns {HTMLElement} */
function hours(throughput) {
  const most = Math.max(1, ...throughput.map((one) => one.saves));
  const bars = throughput.map((one) => {
    const bar = h("div", { title: `${new Date(one.hour).getHours()}:00 · ${one.saves}` });
    bar.style.setProperty("height", `${(100 * one.saves) / most}%`);
    return bar;
  });
  const total = throughput.reduce((sum, one) => sum + one.saves, 0);
  const label = `${t("last_day")}: ${total}`;
  return h("div", {}, h("p.hint", {}, label), h("div.hours", { role: "img", "aria-label": label }, ...bars));
}

/** @param {any} table @returns {HTMLElement} */
function panel(table) {
  const head = h("tr", {}, ...table.columns.map((/** @type {string} */ one) => h("th", {}, one)));
  const rows = table.rows.map((/** @type {string[]} */ row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))));
  const body = table.rows.length
    ? h("div.scroll", {}, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows)))
    : null;
  return h("section.panel", {}, h("h2", {}, table.title), body, table.note ? h("p.hint", {}, table.note) : null);
}

/** @param {any} now @returns {HTMLElement[]} */
function decisions(now) {
  if (!now.decisions.length) return [];
  const rows = now.decisions.map((/** @type {any} */ one) =>
    h(
      "tr",
      {},
      h("td", {}, new Date(one.made).toLocaleString()),
      h("td", {}, h("bdi", {}, one.annotator)),
      h("td", {}, t(one.excluded ? "decided_excluded" : "decided_included")),
      h("td", {}, h("bdi", {}, one.reason)),
      h("td", {}, one.who),
    ),
  );
  return [h("h2", {}, t("decisions")), h("div.scroll", {}, h("table", {}, h("tbody", {}, ...rows)))];
}

async function begin() {
  applyPreferences();
  await loadTexts();
  new Organising();
}

void begin();
