// @ts-check
/** The front page of a server with several campaigns: links lead to their campaign, organisers see all of theirs. */
import { h, replaceUnselected, whenLetGo } from "./shared/dom.js";
import { addressOf, call, callBelow, secretIn, tokenOf } from "./shared/net.js";
import { showForm } from "./enter/asking.js";
import { counted, day, meterOf, shownTime } from "./organise/parts.js";
import { applyPreferences } from "./shared/prefs.js";
import { languageName, loadTexts, t, timeOfDay } from "./shared/interface_texts.js";

const FRESH_MS = 15000;
const KEPT = "adjudge:campaigns";

/**
 * @typedef {{path: string, name: string, role: string}} Place
 * @typedef {{place: Place, now: Server.SummaryOut | null}} Row
 */

/**
 * Enter the campaign of a link; of a link for all campaigns, each of them.
 * @param {string} secret
 */
async function enter(secret) {
  /** @type {{campaigns: Place[]}} */
  const { campaigns } = await call("POST", "/api/campaigns", { secret });
  if (campaigns.length === 1) {
    location.replace(`${campaigns[0].path}/enter${location.search}#${secret}`);
    return;
  }
  for (const { path } of campaigns) await callBelow(path, "POST", "/api/enter", { secret }, await tokenOf(path));
  keep(campaigns);
  show(campaigns);
}

/** @param {Place[]} places */
function keep(places) {
  try {
    localStorage.setItem(KEPT, JSON.stringify(places));
  } catch {
    // Storage is forbidden: the link is needed again next time.
  }
}

/** @returns {Place[]} the campaigns that were entered in this browser */
function kept() {
  try {
    return JSON.parse(localStorage.getItem(KEPT) || "[]");
  } catch {
    return [];
  }
}

/** @param {Place[]} places */
function show(places) {
  const updated = h("span.updated");
  const campaigns = h("div.panels");
  const head = h("div.page-head", {}, h("h1", {}, t("all_campaigns")), updated);
  document.body.replaceChildren(h("main", {}, head, campaigns));
  const refresh = async () => {
    if (document.visibilityState !== "visible") return;
    const rows = await Promise.all(places.map(summarise));
    // Nobody is entered anywhere any more: the link is needed again.
    if (rows.every(({ now }) => now === null)) return showForm({ code: "reason" }, "", enter);
    updated.textContent = t("updated", { time: timeOfDay(new Date()) });
    whenLetGo(() => replaceUnselected(campaigns, [table(grouped(rows))]));
  };
  void refresh();
  setInterval(() => void refresh(), FRESH_MS);
}

/** @param {Place} place @returns {Promise<Row>} */
async function summarise(place) {
  const now = await callBelow(place.path, "GET", "/api/organiser/summary").catch(() => null);
  return { place, now };
}

/**
 * Campaigns of one shared task together: those in one folder, or of one name.
 * @param {Row[]} rows @returns {[string, Row[]][]}
 */
function grouped(rows) {
  /** @type {Map<string, Row[]>} */
  const groups = new Map();
  for (const row of rows) {
    const name = folder(row.place.path) || row.place.name;
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  return [...groups];
}

/** @param {string} path @returns {string} the folder that a campaign shares with others, if any */
function folder(path) {
  const parts = path.slice(addressOf("").length).split("/").filter(Boolean);
  return parts.slice(0, -1).join("/");
}

/** @param {[string, Row[]][]} groups @returns {HTMLElement} one table, so that its columns stand below each other */
function table(groups) {
  const titles = ["campaign", "judgments", "state", "attention_column", "last_save", "expected_end"];
  const head = h("tr", {}, ...titles.map((title) => h(title === "attention_column" ? "th.count" : "th", { scope: "col" }, t(title))));
  const bodies = groups.map(([name, rows]) => {
    const title = h("tr", {}, h("th.group", { scope: "rowgroup", colspan: titles.length }, h("bdi", {}, name)));
    return h("tbody", {}, title, ...rows.map((row) => line(row, name)));
  });
  return h("section.panel", {}, h("div.scroll", { tabindex: 0 }, h("table.overview", {}, h("thead", {}, head), ...bodies)));
}

/** @param {Row} row @param {string} group its name, which need not be said again @returns {HTMLElement} */
function line({ place, now }, group) {
  const link = (/** @type {string} */ text) => h("a", { href: `${place.path}/organise` }, text);
  const name = h("bdi", {}, place.name === group ? place.path : place.name);
  if (now === null) return h("tr", {}, h("th", { scope: "row" }, name), h("td", { colspan: 5 }, t("enter_reason")));
  const pair = `${languageName(now.source_lang)} → ${languageName(now.target_lang)}`;
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, link(pair), h("br"), h("span.hint", {}, name, ` · ${now.protocol}`)),
    h("td", {}, meterOf(now.progress.judgments, now.progress.judgments_wanted)),
    h("td", {}, state(now)),
    h("td.count", {}, now.attention ? counted(now.attention) : "–"),
    h("td", {}, now.last_save ? shownTime(new Date(now.last_save)) : "–"),
    h("td", {}, now.expected_end ? day(new Date(now.expected_end)) : "–"),
  );
}

/** @param {Server.SummaryOut} now @returns {HTMLElement} */
function state(now) {
  const about = now.verdict
    ? h("span.hint", { lang: "en", dir: "ltr" }, now.verdict.headline, ` (${t("as_of", { time: shownTime(new Date(now.verdict.computed)), judgments: counted(now.verdict.judgments) })})`)
    : null;
  return h("div", {}, t(`state_${now.state}`), about ? h("br") : null, about);
}

async function begin() {
  const secret = secretIn(location.hash);
  history.replaceState(null, "", addressOf("/enter") + location.search);
  applyPreferences();
  await loadTexts();
  if (secret) {
    document.body.replaceChildren(h("main.enter", {}, h("p", {}, t("entering"))));
    await enter(secret).catch((error) => showForm(error, secret, enter));
    return;
  }
  const places = kept();
  if (places.length) show(places);
  else showForm(null, "", enter);
}

void begin();
window.addEventListener("hashchange", () => void begin());
