"""What is decided, what holds and what is covered, in campaigns of known truth: every rate that adjudge promises.

    python -m bench.bench_verdicts [campaigns of a cell] [part of a cell's name, or a group: "unequal:"] [file]

The cells are those of `campaign_cells`. A campaign goes through the public door alone, `adjudge.rank` and
`adjudge.audit`, and what they say of every pair is compared with the truth. A second campaign of the same kind, with
other people and other documents, says whether a decision is found again. The rows are stored in `bench/results`, those
of a cell that is run again in the place of the old ones, and `python -m bench evidence` makes `docs/evidence.md` of
them. Campaign number n of a cell is `drawn(name, cell, n)`, whatever else is run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Any
from zlib import crc32

import numpy as np
import polars as pl
from scipy.special import stdtrit

import adjudge
from bench.campaign_cells import GROUPS, Cell, Floats

SEED = 28
LEVEL = 0.05
EQUAL_WITHIN = 0.05
"""Points: a polarising system loses as much at the ends of the scale."""
STRONG = 4.0
RESULTS = Path(__file__).parent / "results"
FILE = RESULTS / "verdicts.json"


@dataclass(frozen=True)
class Pairs:
    """What one campaign says of every pair, the better one named first."""

    better: list[int]
    worse: list[int]
    difference: Floats
    low: Floats
    high: Floats
    strength: Floats
    """The size of t."""
    decided: list[bool]
    holds: list[bool]
    again: list[float | None]
    """The probability with which other people would decide it again, as far as it is said."""


def drawn(name: str, cell: Cell, number: int, turn: int = 1) -> pl.DataFrame:
    """The campaign of this number; `turn` 2 is its repetition by other people."""
    return cell.draw(np.random.default_rng((SEED, crc32(name.encode()), number, turn)))


def said(table: pl.DataFrame) -> Pairs:
    """The answer of the public functions."""
    ranking = adjudge.rank(table).to_dict()["comparisons"]
    claims = {
        tuple(claim["systems"]): claim
        for claim in adjudge.audit(table, only="claims").to_dict()["claims"]
        if claim["kind"] == "better"
    }
    found = [claims.get((pair["better"], pair["worse"]), {}) for pair in ranking]
    column = {key: np.array([pair[key] for pair in ranking]) for key in ("difference", "p", "se", "df")}
    # Of relative judgments the table of pairs has no intervals, but what they are made of.
    half = stdtrit(column["df"], 0.975) * column["se"]
    ends = [(column["difference"] + side * half).tolist() for side in (-1, 1)]
    return Pairs(
        better=[int(pair["better"][1:]) for pair in ranking],
        worse=[int(pair["worse"][1:]) for pair in ranking],
        difference=column["difference"],
        low=np.array([pair.get("low", end) for pair, end in zip(ranking, ends[0], strict=True)]),
        high=np.array([pair.get("high", end) for pair, end in zip(ranking, ends[1], strict=True)]),
        # The p is that of typical scores: where these go against the means, it says nothing for the one called better.
        strength=stdtrit(column["df"], 1 - column["p"] / 2) * [pair.get("typical", 1.0) > 0 for pair in ranking],
        decided=[bool(pair["decided"]) for pair in ranking],
        holds=[claim.get("verdict") == "holds" for claim in found],
        again=[claim.get("replication") for claim in found],
    )


@dataclass
class Counts:
    """Lists with one entry for each campaign; shares are of (numerator, denominator)."""

    any_false: list[float] = field(default_factory=list)
    customary: list[float] = field(default_factory=list)
    """The same by the customary test of scores: Wilcoxon's on z-scores, with Holm's correction."""
    false_holds: list[float] = field(default_factory=list)
    covered: list[tuple[float, float]] = field(default_factory=list)
    covered_special: list[tuple[float, float]] = field(default_factory=list)
    """Intervals of the pairs of the system that is unlike the others."""
    half_width: list[float] = field(default_factory=list)
    squared_error: list[float] = field(default_factory=list)
    true_decided: list[tuple[float, float]] = field(default_factory=list)
    strong_hold: list[tuple[float, float]] = field(default_factory=list)
    """Of the true claims with |t| of at least 4."""
    decided_hold: list[tuple[float, float]] = field(default_factory=list)
    said_again: list[tuple[float, float]] = field(default_factory=list)
    found_again: list[tuple[float, float]] = field(default_factory=list)
    refused: int = 0
    seconds: float = 0.0

    def add(self, cell: Cell, pairs: Pairs, second: Pairs | None) -> None:
        """Count one campaign."""
        better, worse = np.array(pairs.better), np.array(pairs.worse)
        decided, holds = np.array(pairs.decided), np.array(pairs.holds)
        order = np.array(cell.qualities) if cell.truth is None else cell.truth
        ahead = order[better] - order[worse]
        true = ahead > EQUAL_WITHIN
        self.any_false.append(float((decided & ~true).any()))
        self.false_holds.append(float((holds & ~true).any()))
        self.true_decided.append((float((decided & true).sum()), float((np.abs(ahead) > EQUAL_WITHIN).sum())))
        strong = true & (pairs.strength >= STRONG)
        self.strong_hold.append((float((holds & strong).sum()), float(strong.sum())))
        self.decided_hold.append((float((holds & decided & true).sum()), float((decided & true).sum())))
        if cell.truth is not None:
            inside = (pairs.low <= ahead) & (ahead <= pairs.high)
            special = (better == 0) | (worse == 0)
            self.covered.append((float(inside.sum()), float(len(inside))))
            if cell.special:
                self.covered_special.append((float(inside[special].sum()), float(special.sum())))
            self.squared_error.append(float(np.mean((pairs.difference - ahead) ** 2)))
        self.half_width.append(float(np.mean(pairs.high - pairs.low) / 2))
        if second is not None:
            self._compare(pairs, second)

    def _compare(self, pairs: Pairs, second: Pairs) -> None:
        kept = zip(second.better, second.worse, second.decided, strict=True)
        later = {(better, worse) for better, worse, decided in kept if decided}
        asked = [n for n, decided in enumerate(pairs.decided) if decided]
        found = sum((pairs.better[n], pairs.worse[n]) in later for n in asked)
        self.found_again.append((float(found), float(len(asked))))
        expected = [again for n in asked if (again := pairs.again[n]) is not None]
        self.said_again.append((sum(expected), float(len(expected))))

    def row(self, group: str, name: str) -> dict[str, Any]:
        """Means with Monte-Carlo standard errors, both rounded to what they can bear."""
        row: dict[str, Any] = {"group": group, "cell": name, "campaigns": len(self.any_false), "refused": self.refused}
        for key in ("any_false", "customary", "false_holds", "half_width"):
            row[key] = mean_of(getattr(self, key))
        for key in ("covered", "covered_special", "true_decided", "strong_hold", "decided_hold"):
            row[key] = share_of(getattr(self, key))
        row["said_again"], row["found_again"] = share_of(self.said_again), share_of(self.found_again)
        row["true_pairs"] = self.true_decided[0][1] if self.true_decided else 0.0
        row["strong_claims"] = sum(total for _, total in self.strong_hold)
        row["error"] = round(float(np.sqrt(np.mean(self.squared_error))), 4) if self.squared_error else None
        row["seconds"] = round(self.seconds / max(1, len(self.any_false)), 3)
        return {key: value for key, value in row.items() if value is not None}


def mean_of(values: list[float]) -> list[float] | None:
    """The mean and its standard error over campaigns."""
    if len(values) < 2:
        return None
    return [round(float(np.mean(values)), 4), round(float(np.std(values, ddof=1) / np.sqrt(len(values))), 4)]


def share_of(values: list[tuple[float, float]]) -> list[float] | None:
    """A share of all pairs of all campaigns, with the standard error of a ratio: pairs of a campaign go together."""
    count, total = np.array(values).T if values else (np.zeros(0), np.zeros(0))
    if total.sum() == 0 or len(total) < 2:
        return None
    share = count.sum() / total.sum()
    error = np.sqrt(np.sum((count - share * total) ** 2) * len(total) / (len(total) - 1)) / total.sum()
    return [round(float(share), 4), round(float(error), 4)]


def measure(name: str, cell: Cell, campaigns: int, group: str) -> dict[str, Any]:
    """The row of one cell. Campaigns that are refused with a message are counted, and say nothing."""
    counts = Counts()
    for number in range(campaigns):
        table, start = drawn(name, cell, number), process_time()
        try:
            pairs = said(table)
            counts.seconds += process_time() - start
            second = said(drawn(name, cell, number, 2)) if group == "unequal" else None
        except adjudge.AdjudgeError as fault:
            print(f"{name}, campaign {number}: {fault}", flush=True)
            counts.refused += 1
            continue
        counts.add(cell, pairs, second)
        if group == "equal" and cell.kind == "scores":
            plain = adjudge.rank(table, method="zscore").to_dict()["comparisons"]
            counts.customary.append(float(any(pair["p_holm"] < LEVEL for pair in plain)))
    row = counts.row(group, name)
    if cell.special and cell.truth is not None:
        row["special_difference"] = round(float(cell.truth[0] - cell.truth[1]), 2)
    return row


def main(campaigns: int = 100, part: str = "", file: Path = FILE) -> None:
    """Measure every cell, and store its row as soon as it is done."""
    for group, cells in GROUPS.items():
        for name, cell in cells.items():
            if part in name or f"{group}: {name}".startswith(part):
                row = measure(name, cell, campaigns, group)
                store(row, file)
                print(shown(row), flush=True)


def store(row: dict[str, Any], file: Path) -> None:
    """Put a row into the file, in the order of the cells."""
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"] if file.exists() else []
    row |= {"version": adjudge.__version__, "commit": commit(), "date": f"{datetime.now(UTC):%Y-%m-%d}", "seed": SEED}
    place = [(group, name) for group, cells in GROUPS.items() for name in cells]
    kept = {(old["group"], old["cell"]): old for old in rows} | {(row["group"], row["cell"]): row}
    ordered = [kept[key] for key in place if key in kept]
    lines = ",\n".join(json.dumps(one) for one in ordered)
    file.parent.mkdir(exist_ok=True)
    file.write_text(f'{{"rows": [\n{lines}\n]}}\n', encoding="utf-8")


def commit() -> str:
    """The commit that was measured; empty where there is no repository."""
    call = ["git", "-C", str(Path(adjudge.__file__).parent), "log", "-1", "--format=%h", "--", "."]
    return subprocess.run(call, capture_output=True, text=True, check=False).stdout.strip()


def shown(row: dict[str, Any]) -> str:
    """A row for the terminal, in percent."""
    text = f"{row['group']:11}{row['cell'][:60]:62}"
    for key in ("any_false", "covered", "covered_special", "false_holds", "true_decided", "strong_hold"):
        if key in row:
            mean, error = row[key]
            text += f"{key} {100 * mean:5.1f} ±{100 * error:3.1f}  "
    again = [f"{row[key][0]:.2f}" for key in ("said_again", "found_again") if key in row]
    ratio = row["half_width"][0] / (1.96 * row["error"]) if row.get("error") else np.nan
    return text + f"half {row['half_width'][0]:.2f} ({ratio:.2f}) again {'/'.join(again)} {row['seconds']:.2f} s"


if __name__ == "__main__":
    given = sys.argv[1:]
    main(
        int(given[0]) if given else 100,
        given[1] if len(given) > 1 else "",
        Path(given[2]) if len(given) > 2 else FILE,
    )
