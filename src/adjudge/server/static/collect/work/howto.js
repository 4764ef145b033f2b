// @ts-check
/** What is to be done, in general words, where the campaign brings none of its own: only of what this campaign has. */
import { hasText, t } from "../shared/interface_texts.js";

/** @typedef {Server.CampaignOut} Campaign */

/**
 * The paragraphs that say what to do.
 * @param {Campaign} campaign @returns {string[]}
 */
export function howTo(campaign) {
  const several = campaign.side_by_side > 1;
  const read = t(`howto_${several ? "several" : "one"}_${campaign.shows}`);
  const order = { free: "", "back-only": t("howto_back_only"), strict: t("howto_strict") }[campaign.navigation];
  return [`${read} ${sentences(task(campaign))}`, sentences([t("howto_saved"), order])].join("\n\n").split("\n\n");
}

/** @param {Campaign} campaign @returns {string[]} what is done with what was read */
function task(campaign) {
  const { protocol, scale, ties, spans } = campaign;
  const own = t(hasText(`howto_${protocol}`) ? `howto_${protocol}` : "howto_da", { low: scale.low, high: scale.high });
  if (spans) return protocol === "esa" ? [sentences(marks(spans)), `\n\n${own}`] : [...marks(spans), own];
  if (protocol === "sqm") return [own, scale.anchors.length ? t("howto_anchors") : ""];
  if (["ranking", "pairwise"].includes(protocol)) return [own, t(`howto_${protocol}_${ties ? "ties" : "once"}`)];
  return [own];
}

/** @param {Server.MarkRulesOut} rules @returns {string[]} how errors are marked */
function marks(rules) {
  const names = rules.severities.map((severity) => t(`howto_severity_${severity}`));
  return [
    t("howto_mark"),
    rules.categories.length ? t("howto_kind") : "",
    names.length > 1 ? t("howto_grave", { severities: names.join("; ") }) : "",
    rules.missing ? t("howto_missing") : "",
  ];
}

/** @param {string[]} parts @returns {string} those that are there, one after the other */
function sentences(parts) {
  return parts
    .filter((part) => part)
    .join(" ")
    .replaceAll(" \n", "\n");
}
