"""Made-up test sets and campaigns of any shape, for the tests of design."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from adjudge.core.test_set import SourceSegment, TestSet
from adjudge.design.campaign import Campaign

WORDS = [
    "river",
    "stone",
    "bread",
    "cloud",
    "lamp",
    "garden",
    "seven",
    "quietly",
    "opens",
    "under",
    "between",
    "winter",
    "paper",
    "voice",
    "yellow",
    "train",
    "carries",
    "morning",
    "salt",
    "window",
]


def sentence(rng: np.random.Generator, *, longest: int = 14) -> str:
    return " ".join(str(word) for word in rng.choice(WORDS, size=int(rng.integers(3, longest))))


def make_texts(*, documents: list[int], systems: int, seed: int = 1, same: float = 0.0, references: int = 1) -> TestSet:
    """Documents of these lengths by this many systems; a share `same` of outputs is copied from another system."""
    rng = np.random.default_rng(seed)
    source = tuple(
        SourceSegment(f"d{d}", str(i), f"{d}.{i} {sentence(rng)}")
        for d, length in enumerate(documents)
        for i in range(1, length + 1)
    )
    outputs: dict[str, list[str]] = {}
    for s in range(systems):
        # A number makes every text unlike all others, unless it is copied on purpose.
        texts = [f"{sentence(rng)} s{s}p{index}" for index in range(len(source))]
        for index in np.flatnonzero(rng.random(len(source)) < same):
            if s:
                texts[index] = outputs[f"S{int(rng.integers(s))}"][index]
        outputs[f"S{s}"] = texts
    refs = {f"ref{r}": tuple(f"{sentence(rng)} r{r}p{p}" for p in range(len(source))) for r in range(references)}
    return TestSet(source, refs, {name: tuple(texts) for name, texts in outputs.items()})


def make_campaign(protocol: str = "da", **parts: Any) -> Campaign:
    """A campaign without files, with these parts of the campaign file."""
    data = {
        "name": "made-up",
        "protocol": protocol,
        "languages": {"source": "en", "target": "de"},
        "files": {"source": "source.txt", "systems": {"S0": "s0.txt"}},
        **parts,
    }
    return Campaign.model_validate_json(json.dumps(data))
