"""Made-up test sets and campaigns of any shape for the tests of design, and what holds for every design."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from adjudge.campaigns.campaign_file import Campaign
from adjudge.campaigns.tasks import Output, Task, TaskSet
from adjudge.table.texts import SourceSegment, TestSet

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


def work(tasks: TaskSet) -> list[Task]:
    return [task for task in tasks.tasks if task.kind == "work"]


def assert_sound(tasks: TaskSet, campaign: Campaign) -> None:
    """What holds for every design."""
    k = campaign.design.judgments
    loads: Counter[str] = Counter()
    showings: Counter[tuple[str, str, str, str]] = Counter()
    ids: set[str] = set()
    for task in work(tasks):
        assert task.size <= campaign.design.task_size
        assert len(set(task.annotators)) == len(task.annotators) == k == task.judgments
        loads.update(task.annotators)
        outputs = {output.id: (screen.document, item.segment, output) for screen, item, output in task.outputs()}
        assert not ids & outputs.keys()
        ids |= outputs.keys()
        for document, segment, output in outputs.values():
            if output.kind != "repeat":
                showings.update((person, document, segment, output.text) for person in task.annotators)
            if output.of is not None:
                assert_copy(output, *outputs[output.of][:2], outputs[output.of][2], document, segment)
    assert max(loads.values()) - min(loads.get(name, 0) for name in tasks.annotators) <= 1
    if campaign.protocol in ("da", "sqm"):
        assert max(showings.values()) == 1, "somebody meets a text twice without a plan"


def assert_copy(
    copy: Output, its_document: str, its_segment: str, original: Output, document: str, segment: str
) -> None:
    assert (its_document, its_segment) == (document, segment)
    assert original.systems == copy.systems
    assert original.kind in ("system", "reference", "calibration")
    assert (copy.text == original.text) == (copy.kind == "repeat")


SYSTEMS = ("refA", "S0", "S1", "S2")


def write_texts(folder: Path, *, documents: int = 8) -> tuple[TestSet, TestSet]:
    """Two versions; the source of every second document has another first segment after."""
    before = make_texts(documents=[4] * documents, systems=3, seed=3)
    before = replace(before, references={}, systems={"refA": before.references["ref0"], **before.systems})
    changed = [int(s.document[1:]) % 2 == 0 and s.segment == "1" for s in before.source]

    def corrected(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(f"{text} corrected" if own else text for text, own in zip(texts, changed, strict=True))

    source = corrected(tuple(segment.text for segment in before.source))
    after = TestSet(
        tuple(replace(segment, text=text) for segment, text in zip(before.source, source, strict=True)),
        {},
        {name: corrected(texts) for name, texts in before.systems.items()},
    )
    for ending, version in (("before", before), ("after", after)):
        columns = {"source": [segment.text for segment in version.source], **version.systems}
        for name, texts in columns.items():
            blocks = ["\n".join(texts[i : i + 4]) for i in range(0, len(texts), 4)]
            (folder / f"{name}.{ending}.txt").write_text("\n\n".join(blocks) + "\n")
    return before, after


def campaign_file(folder: Path, *, protocol: str = "da", design: str = "", more: str = "", task_size: int = 32) -> Path:
    def files(ending: str, table: str) -> str:
        systems = "\n".join(f'{name} = "{name}.{ending}.txt"' for name in SYSTEMS)
        return f'[{table}]\nsource = "source.{ending}.txt"\n[{table}.systems]\n{systems}\n'

    path = folder / "campaign.toml"
    path.write_text(
        f'name = "two"\nprotocol = "{protocol}"\n[languages]\nsource = "en"\ntarget = "cs"\n'
        f"{files('before', 'files')}{files('after', 'files.after')}"
        f"[design]\ntask_size = {task_size}\nannotators = 6\njudgments = 2\n{design}\n{more}"
    )
    return path
