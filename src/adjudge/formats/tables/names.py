"""Under which names the columns of a judgment table stand in other people's tables.

This table is the only place for synonyms; `docs/formats.md` shows it. The first name that a file has is taken. Names
are compared without regard to case, and blanks, underscores and hyphens are the same: `Model_Name` is `model name`.
"""

from __future__ import annotations

# column of the judgment table: names it has elsewhere, the likeliest first
SYNONYMS: dict[str, tuple[str, ...]] = {
    "system": (
        "system", "model", "system_name", "system_id", "model_name", "model_id", "mt_system", "sys", "engine",
        "candidate",
        "submission",
    ),
    "score": (
        "score", "rating", "raw_score", "da_score", "esa_score", "da", "points", "grade", "mark", "value",
        "overall", "quality",
    ),
    "rank": ("rank", "ranking", "position"),
    "annotator": (
        "annotator", "rater", "worker", "user", "judge", "evaluator", "assessor", "annotator_id", "rater_id",
        "worker_id",
        "workerid", "user_id", "userid", "judge_id", "username", "annotator_name", "participant", "participant_id",
        "performer", "reviewer", "completed_by",
    ),
    "segment": (
        "segment", "item", "segment_id", "seg_id", "item_id", "seg", "sentence_id", "sentence", "sent_id",
        "question_id",
        "example_id", "example", "prompt_id", "line_id", "srcindex",
    ),
    "document": ("document", "doc", "document_id", "doc_id", "docid", "article_id", "article"),
    "task": ("task", "task_id", "hit", "hit_id", "hitid", "batch", "batch_id", "assignment_id"),
    "screen": ("screen", "screen_id", "page", "page_id"),
    "campaign": ("campaign", "campaign_id", "project"),
    "protocol": ("protocol",),
    "source_lang": ("source_lang", "src_lang", "srclang", "source_language", "sourcelanguage"),
    "target_lang": ("target_lang", "tgt_lang", "trg_lang", "tgtlang", "trglang", "target_language", "targetlanguage"),
    "kind": ("kind",),
    "human": ("human", "is_human"),
    "spans": ("spans", "error_spans"),
    "text": ("text", "comment", "comments", "post_edit", "postedit"),
    "started": ("started", "start_time", "started_at", "accept_time", "accepttime"),
    "ended": (
        "ended", "end_time", "ended_at", "submit_time", "submittime", "submitted_at", "created_at", "timestamp",
        "tstamp",
    ),
    "active_seconds": ("active_seconds", "seconds", "duration", "time_spent", "lead_time", "work_time_in_seconds"),
    "revision": ("revision",),
    # Not a column of the judgment table: `en-cs`, taken apart into the two languages.
    "pair": ("pair", "language_pair", "lang_pair", "langpair", "lp", "langs"),
}  # fmt: skip

# A comparison of two systems: who stood left, who right, who won.
SIDES: dict[str, tuple[str, ...]] = {
    "left": (
        "left", "model_a", "system_a", "sysa", "sys_a", "a", "x", "system1", "system_1", "sys1", "model1",
        "model_1", "first",
        "left_system", "left_model",
    ),
    "right": (
        "right", "model_b", "system_b", "sysb", "sys_b", "b", "y", "system2", "system_2", "sys2", "model2", "model_2",
        "second", "right_system", "right_model",
    ),
    "winner": ("winner", "preference", "outcome", "choice", "label", "better", "winner_model", "result", "verdict"),
}  # fmt: skip

# What files write for a winner besides the systems' names; compared like column names.
WINNERS: dict[str, tuple[str, ...]] = {
    "left": SIDES["left"],
    "right": SIDES["right"],
    "tie": ("tie", "draw", "equal", "both", "same", "="),
    "both-good": ("both good", "tie (bothgood)", "tie (both good)", "bothgood"),
    "both-bad": ("both bad", "tie (bothbad)", "tie (both bad)", "bothbad", "neither"),
    "none": (),
}


def plain(name: str) -> str:
    """A name as it is compared: without case, with one blank for underscores, hyphens and blanks."""
    return " ".join(name.replace("_", " ").replace("-", " ").casefold().split())
