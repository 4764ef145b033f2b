"""What a later round does to the comparison of a new system with the former ones.

    .venv/bin/python -m bench.bench_extend [CAMPAIGNS]

All systems are equally good. Four are judged first; a fifth joins in a second round, in which everybody scores lower
(`drift`). Printed: the mean difference between the new system and the former ones (the bias), how often single tests of
these four differences find none, and how often the campaign claims any, with outputs of the former systems beside the
new ones (`--beside`) and without. Standard deviations are those of released judgments (docs/mixed.md).
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.campaigns.test_extend import NEW, OLD, campaign_of, texts

import adjudge
from adjudge.campaigns.campaign_file import Campaign
from adjudge.campaigns.design import design
from adjudge.campaigns.extension import extend_tasks
from adjudge.campaigns.tasks import TaskSet
from adjudge.table.rng import generator

SD = {"annotator": 10.9, "task": 5.8, "document": 2.0, "segment": 6.2, "residual": 18.5, "taste": 3.0}
DOCUMENTS = 24


def scores(tasks: TaskSet, before: int, drift: float, rng: np.random.Generator) -> pl.DataFrame:
    """Judge all tasks; those after the first `before` of them on later days."""
    offsets: dict[tuple[str, ...], float] = {}

    def offset(what: str, *names: str) -> float:
        return offsets.setdefault((what, *names), float(rng.normal(0, SD[what])))

    rows: list[dict[str, Any]] = []
    for number, task in enumerate(tasks.tasks):
        for annotator in task.annotators:
            for screen, item, output in task.outputs():
                if output.kind != "system":
                    continue
                score = 70 + offset("annotator", annotator) + offset("task", annotator, task.id)
                score += offset("document", screen.document) + offset("segment", item.segment)
                score += offset("taste", annotator, output.systems[0]) + float(rng.normal(0, SD["residual"]))
                score -= drift if number >= before else 0
                rows.append(
                    {
                        "annotator": annotator,
                        "task": task.id,
                        "screen": screen.id,
                        "document": screen.document,
                        "segment": item.segment,
                        "system": output.systems[0],
                        "score": min(100.0, max(0.0, score)),
                        "source_lang": "en",
                        "target_lang": "de",
                        "protocol": "da",
                    }
                )
    return pl.DataFrame(rows)


def one(
    campaign: Campaign, drift: float, beside: float, rng: np.random.Generator
) -> tuple[list[float], list[bool], bool]:
    """Differences of the new system, whether single tests find none, and whether one is claimed."""
    before = design(campaign, texts(DOCUMENTS, OLD))
    after = extend_tasks(campaign, before, beside=beside, testset=texts(DOCUMENTS, NEW)).tasks
    ranking = adjudge.rank(scores(after, len(before.tasks), drift, rng))
    pairs = [pair for pair in ranking.comparisons if "e" in (pair.better, pair.worse)]
    signs = [1 if pair.better == "e" else -1 for pair in pairs]
    held = [pair.p is None or pair.p >= 0.05 for pair in pairs]
    claimed = any(pair.p_holm is not None and pair.p_holm < 0.05 for pair in pairs)
    return [sign * (pair.difference or 0.0) for sign, pair in zip(signs, pairs, strict=True)], held, claimed


def main() -> None:
    """Print a line per drift and share of former outputs."""
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    with tempfile.TemporaryDirectory(prefix="adjudge-bench-") as folder:
        plain = campaign_of(Path(folder), structure="mixed", task_size=50, annotators=6)
        for drift in (0.0, 5.0):
            for beside in (0.0, 0.25, 0.5, 1.0, 2.0):
                differences, held, claims = [], [], 0
                for number in range(campaigns):
                    campaign = plain.model_copy(update={"seed": number})
                    found, inside, claimed = one(campaign, drift, beside, generator(1, number, round(drift)))
                    differences.append(float(np.mean(found)))
                    held += inside
                    claims += claimed
                error = np.std(differences) / np.sqrt(campaigns)
                share = np.mean(held)
                print(
                    f"drift {drift:g}, beside {beside:4.2f}: bias {np.mean(differences):6.2f} ± {error:.2f} points, "
                    f"p >= .05 in {share:.1%} ± {np.sqrt(share * (1 - share) / campaigns):.1%}, "
                    f"any claim about the new system {claims / campaigns:.1%} of {campaigns}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
