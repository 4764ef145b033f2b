"""Write `docs/evidence.md` from the results that the benches stored: `python -m bench evidence`.

Every number of the page is read from `bench/results`; what stands in `earlier.md` there was measured with benches that
store nothing, and is copied.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "evidence.md"
PICTURE = PAGE.parent / "images" / "equal-systems.svg"
Row = dict[str, Any]
PICTURED = {
    "12 people": "scores, 8 systems, 12 people",
    "20 people, 16 systems": "scores, 16 systems, 20 people",
    "5 people": "scores, 5 systems, 5 people",
    "3 people": "scores, 4 systems, 3 people",
    "8 people, 2 systems": "scores, 2 systems, 8 people",
    "one segment per page": "single segments, 6 systems, 10 people",
    "3 systems per screen": "3 systems on a screen, 12 people",
    "one of 8 does 60%": "one of 8 does 60%",
    "9 people, 50 accounts": "9 people behind 50 accounts",
    "2 of 12 careless": "2 of 12 people click at random",
}
"""What stands in the picture, and under which name: a choice of the rows of equal scores."""
INTRODUCTION = """\
# Evidence

How often is adjudge wrong? This page is written by `python -m bench evidence` from the results in `bench/results`,
and holds nothing that was not measured. What the model does is on [the mixed model](mixed.md) and in
[ranking](rank.md).

Campaigns are drawn with a known truth, by a simulator that shares no line with the models
(`bench/campaign_cells.py`). Its people are strict or generous, stretch the scale, have tastes, tasks on which they
are tired, and views of a document; outputs are shared; scores are whole numbers that end at 0 and 100. Unless a row
says otherwise, standard deviations in points are: strictness 7, taste 2.5, task 2, document 3, segment 3.5, a
system in a document 3, page 2.5, residual 10, and the stretch differs by 20%; in log-odds: taste 0.5, a system on a
segment 1. Every campaign goes through `adjudge.rank` and `adjudge.audit` like any table. The number after ± is one
Monte-Carlo standard error. The last column has the commit that was measured, since not every row is measured again
after every change.
"""
EQUAL_TEXT = """\
All systems are equally good, so every decision is an error. "Any pair decided" should happen in at most 5% of the
campaigns; the customary test is Wilcoxon's on z-scores with Holm's correction. The true difference, 0, should lie
in 95% of the 95% intervals. "Times best" is the half-width of intervals over 1.96 times the real error of the
estimates: 1 is as short as honest intervals can be. The last column has the share of campaigns in which some false
claim is said to hold."""
FAILING_TEXT = """\
One of four systems fails now and then: its typical score and its mean say different things, or it is equal but for
its disasters. Twelve people judge 40 pages each and agree well (strictness 4, taste 1.5, residual 6). The second
column has the failing system's mean beside that of the others. A decision against the order of the means is an error;
"its own pairs" are those of the failing system."""
OTHERS_TEXT = """\
Eight equal systems judged by ten people, 200 campaigns (`python -m bench recipes`; 2,000 of votes by adjudge): scores
of 160 segments in documents, or 2,000 votes about two outputs, with tastes of half a logit. Each pair is tested by
itself at .05, as these tools do. Leaderboards call two systems different where the intervals of their strengths, by
bootstrapped votes, do not meet."""
VOTES = "votes, adjudge"
OTHERS = {
    "scores, paired t-test of segments": "paired t-test",
    "scores, paired bootstrap of segments": "paired bootstrap",
    "votes, intervals of a leaderboard": "bootstrapped votes",
    "scores, adjudge": "adjudge, scores",
    VOTES: "adjudge, votes",
}
UNEQUAL_TEXT = """\
Systems of different quality, at even distances (standard deviation 3 points, or 0.4 log-odds), or on two levels 3
points apart. How many of the true differences are decided, how many of the true claims hold, and are decisions
found again by other people on other documents as often as the audit says? Strong claims have |t| of at least 4.
Strengths of rankings have no value that all models of ties share, so that coverage is shown for scores alone."""
UNFRIENDLY_TEXT = """\
Designs that nobody should choose, and somebody does. Systems are equal unless the row says otherwise; what is said
above of equal systems should hold here too."""
ORACLE_TEXT = """\
The same formula fitted to the same scores by lme4, with levels made from the table without a line of the package's
code: the largest disagreement over all pairs of systems and all components. Differences are in standard errors,
standard errors in parts of themselves, components in residual standard deviations; seconds are CPU seconds here and
those of lme4, which include the start of R."""
RELEASED_TEXT = """\
Released judgments, where no truth is known: pairs of systems that are decided, claims that hold, and Kendall's tau
between the orders by two halves of the annotators, nobody in both (25 divisions), by the default model and by other
ways to rank. A higher tau means an order that other people would sooner find again. Four people can be divided in
three ways only: for MQM of talks the three taus are .21, .52 and .23 by points, which decide there because penalties
are sums, and .28, .63 and .28 by normal scores, which decided before. So few say nothing of which is better."""
CHANGE_TEXT = """\
The same kinds of campaigns, drawn from the same seeds, by an earlier version: what changed in the errors and in the
width of intervals. `before` is commit {before}, `now` is {now}."""


def run() -> None:
    """Write the page and the picture."""
    PAGE.write_text(page(), encoding="utf-8")
    PICTURE.write_text(picture(), encoding="utf-8")
    print(f"wrote {PAGE} and {PICTURE}")


def picture() -> str:
    """How often the customary test and adjudge call some of several equal systems different, as an SVG."""
    from adjudge.reports.charts import draw_row_bars
    from adjudge.reports.drawing import MUTED, WARN, Numbers, paint

    by_cell = {row["cell"]: row for row in stored("verdicts") if row["group"] == "equal"}
    values = {
        label: {
            "customary test": 100 * by_cell[cell]["customary"][0],
            "adjudge": 100 * by_cell[cell]["any_false"][0],
        }
        for label, cell in PICTURED.items()
    }
    scale = Numbers(0.0, 100.0, "% of campaigns of equal systems in which some are called different")
    drawn = draw_row_bars(values, scale, number=".0f", colours=(WARN, MUTED))
    says = "; ".join(f"{cell}: {' '.join(f'{name} {value:.0f}%' for name, value in bars.items())}"
                     for cell, bars in values.items())  # fmt: skip
    return paint(drawn, "Equal systems that are called different", says) + "\n"


def stored(name: str) -> list[Row]:
    """Rows of a stored result; none where it was never measured."""
    file = RESULTS / f"{name}.json"
    return list(json.loads(file.read_text(encoding="utf-8"))["rows"]) if file.exists() else []


def page() -> str:
    """The whole page."""
    rows, before = stored("verdicts"), stored("verdicts-before")
    parts = [INTRODUCTION]
    for group, title, text, columns in SECTIONS:
        chosen = [row for row in rows if row["group"] == group]
        if chosen:
            parts.append(f"## {title}\n\n{text}\n\n{table(columns, chosen)}\n{misses(chosen)}")
    parts.append(other_tools())
    if before:
        parts.append(changes(rows, before))
    if found := stored("released"):
        parts.append(released(found, {row["set"]: row for row in stored("released-before")}))
    if fits := stored("oracle"):
        parts.append(f"## Beside lme4\n\n{ORACLE_TEXT}\n\n{table(ORACLE, fits)}")
    parts.append((RESULTS / "earlier.md").read_text(encoding="utf-8"))
    parts.append(f"## How to measure again\n\n{origin(rows)}")
    return "\n".join(parts)


def other_tools() -> str:
    """How often other tools and rules call some of eight equal systems different."""
    stored_rates = json.loads((RESULTS / "recipes.json").read_text(encoding="utf-8"))
    others, once = stored_rates["others"], stored_rates["once"]
    workshops = {f"scores, the rule {name} of the workshops": rates["any"] for name, rates in once.items()}
    rates = {what: others[name] for what, name in OTHERS.items()} | workshops

    def drawn(what: str) -> str:
        return "votes" if what == VOTES else "campaigns"

    lines = [
        f"| {what} | {rate:.1f} ± {(rate * (100 - rate) / stored_rates[drawn(what)]) ** 0.5:.1f} |"
        for what, rate in sorted(rates.items(), key=lambda item: -item[1])
    ]
    head = "| what is done | some pair is called different, % |\n|---|---|"
    return "\n\n".join(["## Other tools on equal systems", OTHERS_TEXT, "\n".join([head, *lines]), ""])


def percent(key: str) -> Callable[[Row], str]:
    """A share as a percentage with its error."""

    def shown(row: Row) -> str:
        return f"{100 * row[key][0]:.1f} ± {100 * row[key][1]:.1f}" if key in row else ""

    return shown


def half(row: Row) -> str:
    return f"{row['half_width'][0]:.2f}"


def times_best(row: Row) -> str:
    return f"{row['half_width'][0] / (1.96 * row['error']):.2f}" if row.get("error") else ""


def strong(row: Row) -> str:
    held = percent("strong_hold")(row)
    return f"{held} (of {row['strong_claims']:.0f})" if held else ""


def share(key: str) -> Callable[[Row], str]:
    """A probability with its error."""

    def shown(row: Row) -> str:
        return f"{row[key][0]:.2f} ± {row[key][1]:.2f}".replace("0.", ".") if key in row else ""

    return shown


Columns = dict[str, Callable[[Row], str]]
CELL: Columns = {"campaign": lambda row: row["cell"]}
NUMBER: Columns = {"campaigns": lambda row: f"{row['campaigns']}", "commit": lambda row: f"`{row['commit']}`"}
ERRORS: Columns = {
    "any pair decided, %": percent("any_false"), "customary test, %": percent("customary"),
    "intervals cover, %": percent("covered"), "its own pairs, %": percent("covered_special"), "half-width": half,
    "times best": times_best, "a false claim holds, %": percent("false_holds"),
}  # fmt: skip
FAILING: Columns = {
    "its mean": lambda row: f"{row['special_difference']:.1f}" if "special_difference" in row else "",
    "decided against the means, %": percent("any_false"), "true pairs decided, %": percent("true_decided"),
    "intervals cover, %": percent("covered"), "its own pairs, %": percent("covered_special"),
    "a false claim holds, %": percent("false_holds"),
}  # fmt: skip
FOUND: Columns = {
    "true pairs decided, %": percent("true_decided"), "any decided wrongly, %": percent("any_false"),
    "intervals cover, %": percent("covered"), "true decisions that hold, %": percent("decided_hold"),
    "strong claims that hold, %": strong, "decided again: said": share("said_again"), "found": share("found_again"),
}  # fmt: skip
SECTIONS = (
    ("equal", "Equal systems", EQUAL_TEXT, CELL | ERRORS | NUMBER),
    ("failures", "A system that fails now and then", FAILING_TEXT, CELL | FAILING | NUMBER),
    ("unequal", "Unequal systems", UNEQUAL_TEXT, CELL | FOUND | NUMBER),
    ("unfriendly", "Unfriendly designs", UNFRIENDLY_TEXT, CELL | ERRORS | NUMBER),
)
ORACLE: Columns = {
    "set": lambda row: row["set"], "model": lambda row: f"`{row['method']}`",
    "scores": lambda row: f"{row['scores']:,}", "effects": lambda row: f"{len(row['effects'])}",
    "differences": lambda row: f"{row['difference']:.5f}", "standard errors": lambda row: f"{row['se']:.5f}",
    "components": lambda row: f"{row['component']:.5f}",
    "seconds": lambda row: f"{row['seconds'][0]:.1f}, {row['seconds'][1]:.1f}",
}  # fmt: skip


def table(columns: Columns, rows: Iterable[Row]) -> str:
    """A Markdown table without the columns that are empty throughout."""
    cells = {name: [shown(row) for row in rows] for name, shown in columns.items()}
    kept = [name for name in cells if any(cells[name])]
    lines = [f"| {' | '.join(kept)} |", "|" + "---|" * len(kept)]
    lines += [f"| {' | '.join(line)} |" for line in zip(*(cells[name] for name in kept), strict=True)]
    return "\n".join(lines) + "\n"


def misses(rows: list[Row]) -> str:
    """A sentence about what lies outside of the promise by more than chance: two Monte-Carlo errors."""
    said = []
    for key, low, high, what in (
        ("any_false", 0.0, 0.05, "errors in more than 5%"),
        ("covered", 0.95, 1.0, "coverage below 95%"),
        ("covered_special", 0.95, 1.0, "coverage of the unlike system's own pairs below 95%"),
        ("false_holds", 0.0, 0.015, "false claims that hold in more than 1.5%"),
    ):
        found = [row["cell"] for row in rows if key in row and outside(row[key], low, high)]
        if found:
            said.append(f"{what}: {'; '.join(found)}")
    if not said:
        return "No row errs more often than promised by more than two Monte-Carlo errors.\n"
    return "Beyond two Monte-Carlo errors of what is promised there are " + ", and ".join(said) + ".\n"


def outside(measured: list[float], low: float, high: float) -> bool:
    mean, error = measured
    return mean - 2 * error > high or mean + 2 * error < low


def changes(rows: list[Row], before: list[Row]) -> str:
    """What an earlier version did with the same campaigns."""
    old = {(row["group"], row["cell"]): row for row in before}
    pairs = [(old[key], row) for row in rows if (key := (row["group"], row["cell"])) in old]
    lines = [
        "| campaign | wrong decisions before, % | now, % | cover before, % | now, % | half-width before | now |",
        "|---|---|---|---|---|---|---|",
    ]
    for was, row in pairs:
        cells = [value for key in ("any_false", "covered") for value in (percent(key)(was), percent(key)(row))]
        lines.append(f"| {row['cell']} | {' | '.join(cells)} | {half(was)} | {half(row)} |")
    text = CHANGE_TEXT.format(before=commits(before), now=commits(rows))
    return f"## Before and now\n\n{text}\n\n" + "\n".join(lines) + "\n"


def commits(rows: list[Row]) -> str:
    return ", ".join(sorted({f"`{row['commit']}`" for row in rows}))


def released(rows: list[Row], before: dict[str, Row]) -> str:
    """Tables of released scores and rankings, with their sums."""
    parts = [f"## Released judgments\n\n{RELEASED_TEXT}\n"]
    for kind, taus in (("scores", ("mixed", "zscore", "raw")), ("relative", ("bradley-terry", "expected-wins"))):
        chosen = [row for row in rows if row["kind"] == kind]
        if not chosen:
            continue
        old = [before.get(row["set"], {}) for row in chosen]
        columns: Columns = {
            "set": lambda row: row["set"], "people": lambda row: f"{row['people']:,}",
            "systems": lambda row: f"{row['systems']}", "pairs": lambda row: f"{row['pairs']}",
            "decided before": lambda row: f"{before.get(row['set'], {}).get('decided', '')}",
            "decided": lambda row: f"{row['decided']}", "hold": lambda row: f"{row.get('hold', '')}",
        }  # fmt: skip
        for name in taus:
            columns[f"tau, {name}"] = lambda row, name=name: f"{row[name]:.2f}" if name in row else ""  # type: ignore[misc]
        text = table(columns, chosen)
        total = sum(row["pairs"] for row in chosen), sum(row["decided"] for row in chosen)
        text += f"\nOf {total[0]:,} pairs {total[1]:,} are decided"
        if all(old):
            text += f" ({sum(row['decided'] for row in old):,} before)"
        means = [f"{name} {mean_tau(chosen, name):.3f}" for name in taus]
        parts.append(f"{text}; the mean tau is {', '.join(means)}.\n")
    return "\n".join(parts)


def mean_tau(rows: list[Row], name: str) -> float:
    values = [float(row[name]) for row in rows if name in row]
    return sum(values) / len(values)


def origin(rows: list[Row]) -> str:
    """Commands, versions and seeds."""
    seeds = ", ".join(sorted({str(row["seed"]) for row in rows}))
    dates = sorted({row["date"] for row in rows})
    span = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    versions = ", ".join(sorted({row["version"] for row in rows}))
    return (
        f"Campaigns were drawn with seed {seeds} on {span}, by version {versions}"
        f" (commit {commits(rows)}).\n\n"
        "```\n"
        "python -m bench.bench_verdicts 200            # all cells, 200 campaigns each\n"
        "python -m bench.bench_verdicts 200 polarises  # those whose name has this word\n"
        "python -m bench released                      # released judgments, in the folder ADJUDGE_DATA\n"
        "python -m bench oracle                        # lme4, by Rscript\n"
        "python -m bench evidence                      # this page\n"
        "```\n"
    )


if __name__ == "__main__":
    run()
