"""Topics by words and by a sentence model: false alarms on random halves, and how small a change of mix is seen.

News documents of the document-level quality estimation data (eacl2017), and talks (mqm) cut into documents of the same
size as the other subject. Needs ADJUDGE_DATA, or the data beside the project.
"""

from __future__ import annotations

import time

import numpy as np
import polars as pl
from tests.conftest import data_folder

from adjudge.testsets.documents import Document, Segment
from adjudge.testsets.topics import embed, energy_test, load, make_space

ROUNDS = 200
PERMUTATIONS = 499
TALK = 17
SHARES = (0.0, 0.1, 0.2, 0.3)


def documents() -> tuple[list[Document], list[Document]]:
    """News, and pieces of talks."""
    data = data_folder()
    if data is None:
        raise SystemExit("set ADJUDGE_DATA to the folder of released judgments")
    lines = (data / "eacl2017/texts/wmt16-qe-task3-enes-src.en").read_text(encoding="utf-8").splitlines()
    keys = (data / "eacl2017/seg-key-enes").read_text(encoding="utf-8").splitlines()[1:]
    news: dict[str, list[Segment]] = {}
    for number, (key, line) in enumerate(zip(keys, lines, strict=True)):
        news.setdefault(" ".join(key.split()[:2]), []).append(Segment(number, line))
    table = pl.read_csv(data / "mqm/mqm_ted_ende.tsv", separator="\t", quote_char=None)
    spoken = table.unique("seg_id", maintain_order=True)["source"].to_list()
    talks = [spoken[start : start + TALK] for start in range(0, len(spoken) - TALK, TALK)]
    return (
        [Document("news", name, tuple(run)) for name, run in news.items()],
        [
            Document("talks", str(i), tuple(Segment(j, text) for j, text in enumerate(run)))
            for i, run in enumerate(talks)
        ],
    )


def alarms(points: np.ndarray, news: int, share: float) -> float:
    """How often half of the news, with a share of its documents exchanged for talks, is told from the other half."""
    detected = 0
    for seed in range(ROUNDS):
        order = np.random.default_rng(seed).permutation(news)
        foreign = np.random.default_rng(seed + 10_000).permutation(len(points) - news) + news
        half = news // 2
        exchanged = round(share * half)
        chosen = np.concatenate([order[: half - exchanged], foreign[:exchanged], order[half:]])
        _, p = energy_test(points[chosen], np.arange(len(chosen)) < half, permutations=PERMUTATIONS, seed=seed)
        detected += p <= 0.05
    return detected / ROUNDS


def run() -> None:
    """Print the share of alarms at .05 by the share of foreign documents, for both spaces."""
    news, talks = documents()
    print(f"{len(news)} news documents, {len(talks)} pieces of talks; share of {ROUNDS} rounds with p <= .05")
    print(f"{'documents exchanged':22s}" + "".join(f"{share:>8.0%}" for share in SHARES) + f"{'CPU s':>9s}")
    for name in ("words", "sentences"):
        start = time.process_time()
        if name == "words":
            points = make_space([" ".join(document.texts) for document in (*news, *talks)], 1).points
        else:
            points = embed([*news, *talks], load(name))
        spent = time.process_time() - start
        rates = "".join(f"{alarms(points, len(news), share):>8.3f}" for share in SHARES)
        print(f"{name:22s}{rates}{spent:>9.2f}")
