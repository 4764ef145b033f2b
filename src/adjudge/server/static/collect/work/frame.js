// @ts-check
/** The frame around a screen: progress, saving, time and buttons. */
import { h, logo, present, scrollToElement } from "../shared/dom.js";
import { chooseLanguage, currentLanguage, languages, t } from "../shared/interface_texts.js";

const NOTICE_MS = 8000;

export class Frame {
  /** @param {Server.CampaignOut} campaign @param {Record<string, () => void>} actions */
  constructor(campaign, actions) {
    this.actions = actions;
    this.bar = h("div.bar-done");
    this.place = h("button.place-button", { type: "button", onclick: actions.overview, title: t("key_overview") });
    this.savedText = h("span.saved", { title: t("saved_help") });
    this.refusedButton = h("button.quiet.refused", { type: "button", hidden: true, onclick: actions.refused });
    this.end = h("button.to-end", { type: "button", hidden: true, onclick: actions.end }, t("back_to_end"));
    this.status = h("span.visually-hidden", { role: "status" });
    this.clockText = h("span.time", { title: t("time_help") });
    this.main = h("main", { tabindex: -1 });
    this.notices = h("div.notices", { "aria-live": "polite" });
    this.left = h("button.left", { type: "button", onclick: actions.missing });
    this.back = h("button.back", { type: "button", onclick: actions.previous }, h("span", {}, t("back")), key("P"));
    this.next = h("button.next.primary", { type: "button", onclick: actions.next });
    this.short = h("button.short", { type: "button", hidden: true, dir: "auto", onclick: actions.instructions });
    this.header = h(
      "header.top",
      {},
      h("div.bar", { "aria-hidden": "true" }, this.bar),
      h(
        "div.top-row",
        {},
        logo(),
        h("h1", { dir: "auto" }, campaign.name),
        this.place,
        this.end,
        this.short,
        h("div.facts", {}, this.refusedButton, this.savedText, this.clockText),
        this.tools(actions),
      ),
      this.status,
    );
    this.footer = h("footer.bottom", {}, this.back, this.left, this.next);
    document.body.replaceChildren(this.header, this.notices, this.main, this.footer);
  }

  /** @param {Record<string, () => void>} actions @returns {HTMLElement} */
  tools(actions) {
    // Who speaks to the computer says what is seen: the sign is part of the name.
    const tool = (
      /** @type {string} */ sign,
      /** @type {string} */ name,
      /** @type {() => void} */ act,
      /** @type {string} */ kind = "",
    ) =>
      h(
        `button.tool${kind}`,
        { type: "button", "aria-label": `${sign}: ${t(name)}`, title: t(name), onclick: act, dir: "ltr" },
        sign,
      );
    const known = Object.entries(languages());
    const choice = /** @type {HTMLSelectElement} */ (
      h(
        "select.language",
        { "aria-label": t("language") },
        ...known.map(([code, name]) => h("option", { value: code, lang: code, selected: code === currentLanguage() }, name)),
      )
    );
    const notChosen = () => {
      choice.value = currentLanguage();
      this.notice(t("no_answer"), "warning");
    };
    choice.addEventListener("change", () => void chooseLanguage(choice.value).catch(notChosen));
    return h(
      "div.tools",
      { role: "toolbar", "aria-label": t("tools") },
      h("span.sizes", {}, tool("A−", "key_smaller", actions.smaller), tool("A+", "key_larger", actions.larger)),
      tool("◐", "key_dark", actions.dark),
      tool("i", "key_instructions", actions.instructions),
      tool("?", "key_keys", actions.keys, ".keys-tool"),
      known.length > 1 ? choice : null,
    );
  }

  /**
   * Keep in sight what is to be done; it opens the whole instructions.
   * @param {string} short
   */
  instruct(short) {
    this.short.textContent = short;
    this.short.title = short;
    this.short.hidden = !short;
  }

  /** @param {HTMLElement} screen @param {string} kind */
  showScreen(screen, kind) {
    const banner = kind === "work" ? null : h("p.kind", {}, t(`kind_${kind}`));
    this.main.replaceChildren(...present([banner, screen]));
    document.body.classList.remove("ended");
  }

  /** @param {{index: number, count: number, done: number, left: number, leftHere: number, last: boolean, mayGoBack: boolean, finished: boolean, ended: boolean}} now */
  showProgress({ index, count, done, left, leftHere, last, mayGoBack, finished, ended }) {
    this.bar.style.setProperty("width", `${(100 * done) / count}%`);
    this.place.textContent = t("screen_of", { n: index + 1, count });
    const here = leftHere && left > leftHere ? "left_here" : "left";
    this.left.textContent = left ? t(here, { n: leftHere || left }) : t("all_judged");
    this.left.title = left ? t("key_missing") : "";
    this.left.classList.toggle("complete", !left);
    /** @type {HTMLButtonElement} */ (this.left).disabled = !left;
    /** @type {HTMLButtonElement} */ (this.back).disabled = !mayGoBack;
    const name = last && !left && !finished ? "hand_in" : "next";
    this.next.replaceChildren(h("span", {}, t(name)), key(leftHere ? "N" : "Enter"));
    this.next.classList.toggle("ready", !leftHere);
    /** @type {HTMLButtonElement} */ (this.next).disabled = last && !left && finished;
    this.end.hidden = !ended;
  }

  /** @param {string} time */
  savedAt(time) {
    this.lastSaved = t("saved_at", { time });
  }

  /**
   * How saving goes.
   * @param {number} waiting @param {string} trouble
   */
  saving(waiting, trouble) {
    const bad = waiting > 0 && trouble !== "";
    this.savedText.className = `saved ${bad ? "trouble" : waiting ? "busy" : "good"}`;
    const kept = trouble === "offline" ? "kept_here" : "kept_waiting";
    const text = bad ? t(kept, { n: waiting }) : waiting ? t("saving") : (this.lastSaved ?? t("nothing_to_save"));
    this.savedText.textContent = text;
    // Spoken only when it matters: a reader of the screen need not hear every save.
    const spoken = bad && trouble === "offline" ? t("offline_help", { n: waiting }) : "";
    if (this.status.textContent !== spoken) this.status.textContent = spoken;
    this.header.classList.toggle("offline", bad);
  }

  /**
   * How many saves the server refused.
   * @param {number} count
   */
  refused(count) {
    this.refusedButton.hidden = count === 0;
    this.refusedButton.textContent = t("refused_kept", { n: count });
  }

  /** @param {string} time @param {boolean} idle */
  time(time, idle) {
    this.clockText.textContent = idle ? t("time_paused", { time }) : t("time", { time });
    this.clockText.classList.toggle("idle", idle);
  }

  /**
   * Say something that goes away by itself.
   * @param {string} text @param {"info" | "warning"} kind @returns {Element} what says it
   */
  notice(text, kind) {
    const said = [...this.notices.children].find((child) => child.firstChild?.textContent === text);
    if (said) return said;
    const close = h("button.tool", { type: "button", "aria-label": t("close"), onclick: () => box.remove() }, "×");
    const box = h(`p.notice.${kind}`, {}, text, close);
    this.notices.append(box);
    setTimeout(() => box.remove(), NOTICE_MS);
    return box;
  }

  /**
   * Show a message of the organisers until it is put away, once in every browser.
   * @param {Server.MessageOut} message @param {string} stored  where it is kept that it was read
   */
  message({ number, text }, stored) {
    if (localStorage.getItem(stored) || this.notices.querySelector(`[data-message="${number}"]`)) return;
    const read = () => (box.remove(), localStorage.setItem(stored, "1"));
    const close = h("button.tool", { type: "button", "aria-label": t("close"), onclick: read }, "×");
    const box = h("p.notice.info", { "data-message": number }, h("strong", {}, t("message_from")), " ", h("bdi", {}, text), close);
    this.notices.append(box);
  }

  /**
   * Bring an element into sight: the place for an answer may lie far from the beginning of a long text, or under a notice.
   * @param {Element | null} element
   */
  reveal(element) {
    if (!element) return;
    const box = element.getBoundingClientRect();
    const top = this.header.getBoundingClientRect().bottom;
    const bottom = Math.min(...[...this.notices.children, this.footer].map((one) => one.getBoundingClientRect().top));
    if (box.top >= top && box.bottom <= bottom) return;
    scrollToElement(element, box.height < (bottom - top) / 2 ? "center" : "start");
  }

  /**
   * Something that stands in the place of a screen: a pause, a form, the last page.
   * @param {HTMLElement} content
   */
  showEnd(content) {
    document.body.classList.add("ended");
    this.end.hidden = true;
    this.main.replaceChildren(content);
  }
}

/** @param {string} name @returns {HTMLElement} */
function key(name) {
  return h("kbd", { "aria-hidden": "true" }, name);
}
