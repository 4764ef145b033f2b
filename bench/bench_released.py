"""Released judgments: pairs decided, claims that hold, and how far the orders of two halves of the people agree.

    python -m bench released          # all sets in the folder ADJUDGE_DATA; some minutes

The sets are listed in `docs/datasets.md`. Results are stored in `bench/results`, from which `python -m bench evidence`
makes its page. CPU seconds are those of `adjudge.rank` alone, on the machine at hand.
"""

from __future__ import annotations

import json
import os
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from typing import Any

import adjudge
from adjudge.readers.options import ReadOptions
from adjudge.table.judgments import Judgments
from bench.bench_verdicts import RESULTS, commit

FILE = RESULTS / "released.json"
DATA = Path(os.environ.get("ADJUDGE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
FEWEST_PEOPLE = 4
"""Fewer cannot be divided into halves that mean something."""


def score_sets(folder: Path = DATA) -> Iterator[tuple[str, Judgments]]:
    """The sets of scores at hand, people instead of accounts where a map was released."""
    esa, study = folder / "wmt24esa", folder / "esa-study"
    people = study / "Annotators_mapping.csv"
    yield from by_pair("news 2021", folder / "wmt21" / "newstest2021-toen", "wmt-da")
    yield from by_pair("wikipedia 2021", folder / "wmt21" / "facebook-wikipedia-2021", "wmt-da")
    yield from by_pair("ESA 2024", esa / "esa_generalMT2024_wave3.csv", "appraise", esa / "annotator_mapping.json")
    yield from by_pair("ESA study, file ESA", study / "240520rc6ESA.scores.csv", "appraise", people)
    yield from by_pair("ESA study, file GEMBA", study / "240520rc6GEMBA.scores.csv", "appraise", people)
    livonian = folder / "wmt22sqm" / "WMT22.Appraise.SegLvlLivSrc.20221031.filtered.csv"
    yield from by_pair("Livonian 2022", livonian, "appraise")
    yield from by_pair("MQM of talks", folder / "mqm" / "mqm_ted_ende.tsv", "mqm")
    for archive in sorted(folder.glob("sxs-mqm/*.tar.gz")):
        with tempfile.TemporaryDirectory() as place, tarfile.open(archive) as packed:
            for member in packed.getmembers():
                if (inside := packed.extractfile(member)) is not None and member.name.endswith(".tsv"):
                    file = Path(place) / Path(member.name).name
                    file.write_bytes(inside.read())
                    yield from by_pair("MQM side by side", file, "mqm")


def ranking_sets(folder: Path = DATA) -> Iterator[tuple[str, Judgments]]:
    """The sets of relative rankings at hand."""
    yield from by_pair("rankings 2010", folder / "wmt10" / "data_RNK.csv", "wmt-ranking")
    for part in ("indivsystems", "combosystems"):
        file = folder / "wmt11" / f"wmt11-maneval-{part}.RNK_results.csv"
        yield from by_pair(f"rankings 2011, {part}", file, "wmt-ranking")


def by_pair(name: str, path: Path, reader: str, people: Path | None = None) -> Iterator[tuple[str, Judgments]]:
    """Each language pair of a file or folder; none where it is missing or cannot be read."""
    if not path.exists():
        return
    try:
        judgments = adjudge.read([path], format=reader, options=ReadOptions(annotators=people))
    except adjudge.AdjudgeError as fault:
        print(f"{name}: {fault}", flush=True)
        return
    for pair in judgments.pairs:
        yield f"{name} {pair}", judgments.for_pair(pair)


def measure(name: str, judgments: Judgments) -> dict[str, Any]:
    """The row of one set."""
    start = process_time()
    ranking = adjudge.rank(judgments).to_dict()
    seconds = process_time() - start
    pairs = ranking["comparisons"]
    people = judgments.table["annotator"].n_unique()
    row = {
        "set": name,
        "kind": ranking["kind"],
        "people": people,
        "systems": len(ranking["systems"]),
        "pairs": len(pairs),
        "decided": sum(bool(pair["decided"]) for pair in pairs),
        "seconds": round(seconds, 2),
    }
    if people >= FEWEST_PEOPLE:
        audit = adjudge.audit(judgments, only="claims,reliability").to_dict()
        row["hold"] = sum(claim["kind"] == "better" and claim["verdict"] == "holds" for claim in audit["claims"])
        row |= {key: round(audit["reliability"][key]["tau"], 3) for key in audit["reliability"] if key in KEPT}
    return row | {"version": adjudge.__version__, "commit": commit()}


KEPT = ("mixed", "mixed-points", "bradley-terry", "zscore", "raw", "expected-wins")
"""Methods whose halves are shown."""


def main(file: Path = FILE, part: str = "") -> None:
    """Measure, print and store every set."""
    rows = []
    for sets in (score_sets, ranking_sets):
        for name, judgments in sets():
            if part not in name:
                continue
            try:
                rows.append(measure(name, judgments))
            except adjudge.AdjudgeError as fault:
                print(f"{name}: {fault}", flush=True)
                continue
            print(rows[-1], flush=True)
    lines = ",\n".join(json.dumps(row) for row in rows)
    file.write_text(f'{{"rows": [\n{lines}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE, sys.argv[2] if len(sys.argv) > 2 else "")
