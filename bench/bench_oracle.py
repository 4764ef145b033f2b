"""The mixed model beside R's lme4: differences, their standard errors and the components of variance.

    python -m bench oracle            # needs Rscript with lme4, and for released judgments the folder in ADJUDGE_DATA

adjudge says which effects it kept, and lme4 fits the same formula to the same scores. Levels of the effects are made
here from the columns of the judgment table, as `docs/mixed.md` describes them, without a line of the package's model.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import polars as pl
from scipy.special import ndtri
from scipy.stats import rankdata

import adjudge
from bench.bench_released import score_sets
from bench.bench_verdicts import RESULTS, commit, drawn
from bench.campaign_cells import EQUAL, UNEQUAL, Floats

FILE = RESULTS / "oracle.json"
METHODS = ("mixed-points", "mixed-rank")
TASTE = "annotator:system"
LARGEST = 8_000
"""Scores of a set that lme4 fits within minutes."""
COLUMNS = {
    "annotator": ("annotator",),
    TASTE: ("annotator", "system"),
    "task": ("annotator", "task"),
    "document": ("document",),
    "segment": ("document", "segment"),
    "system:document": ("system", "document"),
    "system:segment": ("system", "document", "segment"),
    "annotator:document": ("annotator", "document"),
    "annotator:segment": ("annotator", "document", "segment"),
    "page": ("annotator", "task", "system", "document", "screen"),
}
SINGLE_SCREENS = ("annotator", "task", "system", "document")
"""What a page is where every screen holds a single segment."""
# Each of the two optimisers stops short of the maximum on some sets.
SCRIPT = """
suppressMessages(library(lme4))
d <- read.csv(commandArgs(TRUE)[1], stringsAsFactors = TRUE)
fit <- function(optimizer, options) suppressMessages(lmer(as.formula(commandArgs(TRUE)[2]), d, control = lmerControl(
  optimizer, calc.derivs = FALSE, check.nobs.vs.nlev = "ignore", check.nobs.vs.nRE = "ignore",
  check.nlev.gtr.1 = "ignore", optCtrl = options)))
m <- fit("bobyqa", list(maxfun = 20000))
n <- fit("nloptwrap", list(xtol_abs = 1e-9, ftol_abs = 1e-11, maxeval = 20000))
if (logLik(n) > logLik(m)) m <- n
v <- as.data.frame(VarCorr(m))
cat(paste(v$grp, v$var1, format(v$sdcor, digits = 12), sep = ";"), sep = "\\n"); cat("--\\n")
cat(paste(levels(d$system), format(fixef(m), digits = 12), sep = ";"), sep = "\\n"); cat("--\\n")
write.table(format(as.matrix(vcov(m)), digits = 12), col.names = FALSE, row.names = FALSE, quote = FALSE, sep = ";")
"""


@dataclass(frozen=True)
class Fit:
    """What lme4 says."""

    sd: dict[str, float]
    systems: list[str]
    effects: Floats
    covariance: Floats

    def difference(self, better: str, worse: str) -> tuple[float, float]:
        """Of two systems, with its standard error."""
        i, j = self.systems.index(better), self.systems.index(worse)
        v = self.covariance
        return float(self.effects[i] - self.effects[j]), float(np.sqrt(v[i, i] + v[j, j] - 2 * v[i, j]))


def used(table: pl.DataFrame) -> pl.DataFrame:
    """The rows that count: the last revisions of scored outputs and repeats, by people who did not fail a control."""
    if "revision" in table.columns:
        judgment = table.columns[: table.columns.index("kind") + 1]
        table = table.sort("revision", maintain_order=True).unique(judgment, keep="last", maintain_order=True)
    if "kind" in table.columns:
        table = table.filter(pl.col("kind").is_in(["system", "repeat"]))
    if "passed" in table.columns:
        table = table.filter(pl.col("passed").fill_null(value=True))
    return table.filter(pl.col("score").is_not_null())


def normal_scores(score: Floats) -> Floats:
    return np.asarray(ndtri((rankdata(score) - 0.5) / len(score)))


def coded(table: pl.DataFrame, names: tuple[str, ...]) -> pl.Series:
    """One level for each combination of these columns."""
    given = [name for name in names if name in table.columns]
    return table.select(pl.struct(given).rank("dense"))[given[0]].alias("level")


def level_columns(table: pl.DataFrame, effect: str) -> pl.Series:
    """The levels of an effect; of folded effects those of the finest."""
    if own_system(effect):
        return coded(table, COLUMNS[TASTE])
    parts = [coded(table, columns_of(table, part)) for part in effect.split(" + ")]
    return max(parts, key=lambda codes: codes.n_unique())


def own_system(effect: str) -> str:
    """The system of `annotator:system (X)`, of which tastes have a variance of their own; nothing for other effects."""
    return effect.removeprefix(TASTE + " (")[:-1] if effect.startswith(TASTE + " (") else ""


def columns_of(table: pl.DataFrame, part: str) -> tuple[str, ...]:
    columns = COLUMNS[part]
    if part == "page" and coded(table, columns).n_unique() >= 0.95 * table.height:
        return SINGLE_SCREENS
    return columns


def fit_lme4(table: pl.DataFrame, score: Floats, effects: list[str]) -> Fit:
    """Fit `score = system + effects` by REML. A taste of its own (`annotator:system (X)`) is one of that system."""
    columns: dict[str, Any] = {"y": score, "system": table["system"]}
    apart = [one for effect in effects if (one := own_system(effect))]
    terms = []
    for number, effect in enumerate(effects):
        part, one = effect, own_system(effect)
        columns[f"e{number}"] = level_columns(table, part).cast(pl.String).str.replace("^", "l")
        if part.startswith(TASTE) and apart:
            chosen = table["system"] == one if one else ~table["system"].is_in(apart)
            columns[f"w{number}"] = chosen.cast(pl.Int8)
            terms.append(f"(0 + w{number} | e{number})")
        else:
            terms.append(f"(1 | e{number})")
    formula = "y ~ 0 + system + " + " + ".join(terms)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores.csv"
        pl.DataFrame(columns).write_csv(file)
        call = ["Rscript", "--vanilla", "-e", SCRIPT, str(file), formula]
        printed = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    components, systems, covariance = (part.split("\n") for part in printed.strip().split("\n--\n"))
    return Fit(
        {named(line.split(";")[0], effects): float(line.split(";")[2]) for line in components},
        [line.split(";")[0] for line in systems],
        np.array([float(line.split(";")[1]) for line in systems]),
        np.array([[float(value) for value in line.split(";")] for line in covariance]),
    )


def named(group: str, effects: list[str]) -> str:
    return "residual" if group == "Residual" else effects[int(group.removeprefix("e").split(".")[0])]


def compared(name: str, source: Any, table: pl.DataFrame, method: str) -> dict[str, Any]:
    """Both fits of one set by one method, side by side."""
    start = process_time()
    # Errors that are widened because accounts may be fewer people are no matter of the model.
    ranking = adjudge.rank(source, method=method, accounts_are_people=True).to_dict()
    ours = process_time() - start
    rows = used(table)
    score = rows["score"].cast(pl.Float64).to_numpy()
    effects = [part["effect"] for part in ranking["components"] if part["effect"] != "residual"]
    start = perf_counter()
    other = fit_lme4(rows, normal_scores(score) if method == "mixed-rank" else score, effects)
    theirs = perf_counter() - start
    pairs = [(pair, *other.difference(pair["better"], pair["worse"])) for pair in ranking["comparisons"]]
    sd = {part["effect"]: part["sd"] for part in ranking["components"]}
    return {
        "set": name,
        "method": method,
        "scores": rows.height,
        "scores used by adjudge": sum(system["n"] for system in ranking["systems"]),
        "effects": effects,
        "difference": round(max(abs(pair["difference"] - value) / error for pair, value, error in pairs), 6),
        "se": round(max(abs(pair["se"] / error - 1) for pair, _, error in pairs), 6),
        "component": round(max(abs(sd[part] - value) for part, value in other.sd.items()) / other.sd["residual"], 6),
        "seconds": [round(ours, 2), round(theirs, 2)],
        "version": adjudge.__version__,
        "commit": commit(),
    }


def cases() -> Iterator[tuple[str, Any, pl.DataFrame]]:
    """Simulated campaigns, and the released sets at hand."""
    for name in ("scores, 8 systems, 12 people", "3 systems on a screen, 12 people, view 6 points"):
        table = drawn(name, UNEQUAL[name], 1)
        yield f"simulated: {name}", table, table
    for name in ("one of 8 does 60%", "one system polarises, 15 people"):
        table = drawn(name, EQUAL[name], 1)
        yield f"simulated: {name}", table, table
    for name, judgments in score_sets():
        yield name, judgments, judgments.table


def main(part: str = "", file: Path = FILE) -> None:
    """Compare all cases, print and store each."""
    rows = []
    for name, source, table in cases():
        if part not in name or used(table).height > LARGEST:
            continue
        for method in METHODS:
            try:
                rows.append(compared(name, source, table, method))
            except adjudge.AdjudgeError as fault:
                print(f"{name}: {fault}", flush=True)
                continue
            print(rows[-1], flush=True)
    lines = ",\n".join(json.dumps(row) for row in rows)
    file.write_text(f'{{"rows": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
