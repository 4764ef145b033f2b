"""Marks that annotators find already made, by a machine or by other people: read from a file, and checked.

Columns of the TSV file: `system`, `segment`, `start`, `end` (half-open, in code points), `severity`; and `document`
where segments are numbered anew in each, `category`, `side` (`target`, `source` or `missing`) and `text`, which must
then be what stands at the offsets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.errors import InputError, shown
from adjudge.core.spans import MISSING, SOURCE, TARGET, Mark, carried_over, fault_of_mark, fault_of_marks
from adjudge.formats.parsing.delimited import Delimited, read_delimited, to_int

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adjudge.core.test_set import TestSet
    from adjudge.design.campaign import Campaign
    from adjudge.design.drafts import DraftOutput, Material

# Marks by system and index in the test set.
Prefilled = dict[tuple[str, int], tuple[Mark, ...]]


def read_prefilled(campaign: Campaign, testset: TestSet) -> Prefilled:
    """The marks of the campaign's file; every fault is named with its line."""
    path = campaign.files.prefilled
    if path is None:
        return {}
    table = read_delimited(path, "\t", quoting=False)
    reader = _Reader(campaign, testset, table, path)
    marks_of: dict[tuple[str, int], list[Mark]] = {}
    for line, fields in table.rows:
        system, index, mark = reader.mark(fields, line)
        marks = marks_of.setdefault((system, index), [])
        marks.append(mark)
        fault = fault_of_marks(marks, reader.rules, **reader.texts(system, index))
        if fault is not None:
            raise InputError(f"{fault}; correct it", file=path, line=line)
    return {key: tuple(marks) for key, marks in marks_of.items()}


class _Reader:
    """One file of marks, row by row."""

    def __init__(self, campaign: Campaign, testset: TestSet, table: Delimited, path: Path) -> None:
        self.rules = campaign.spans.rules(campaign.protocol)
        self.testset = testset
        self.path = path
        self.names: Mapping[str, int | None] = {
            **{name: table.need(name) for name in ("system", "segment", "start", "end", "severity")},
            **{name: table.find(name) for name in ("document", "category", "side", "text")},
        }
        self.translations = {**testset.references, **testset.systems}
        self.indices: dict[tuple[str, str], list[int]] = {}
        for index, segment in enumerate(testset.source):
            for document in (segment.document, ""):
                self.indices.setdefault((document, segment.segment), []).append(index)

    def mark(self, fields: list[str], line: int) -> tuple[str, int, Mark]:
        """The system, the index and the mark of a row."""
        given = {name: "" if at is None else fields[at] for name, at in self.names.items()}
        system = given["system"].strip()
        if system not in self.translations:
            raise InputError(f"there is no system '{shown(system)}'; check its name", file=self.path, line=line)
        index = self._index(given["document"].strip(), given["segment"].strip(), line)
        mark = self._made(given, line, **self.texts(system, index))
        fault = fault_of_mark(mark, self.rules, **self.texts(system, index))
        if fault is not None:
            raise InputError(f"{fault}; correct it", file=self.path, line=line)
        return system, index, mark

    def _index(self, document: str, segment: str, line: int) -> int:
        indices = self.indices.get((document, segment), [])
        if len(indices) != 1:
            problem = "is not in the source" if not indices else f"is in {len(indices)} documents; name the document"
            raise InputError(f"segment '{shown(segment)}' {problem}", file=self.path, line=line)
        return indices[0]

    def _made(self, given: dict[str, str], line: int, *, target: str, source: str | None) -> Mark:
        side = given["side"].strip().casefold() or TARGET
        kind = (given["severity"].strip().casefold(), given["category"].strip() or None, side)
        if side == MISSING:
            return Mark(None, None, *kind)
        start, end = (to_int(given[name], name, self.path, line) for name in ("start", "end"))
        text = (source or "") if side == SOURCE else target
        # Without a text of its own, a mark quotes what stands there; where that is nothing, its offsets are at fault.
        quoted = given["text"] if self.names["text"] is not None and given["text"] else text[max(0, start) : end]
        return Mark(start, end, *kind, quoted)

    def texts(self, system: str, index: int) -> dict[str, str]:
        """The texts that a mark may lie in."""
        return {"target": self.translations[system][index], "source": self.testset.source[index].text}


def find_prefilled(material: Material, index: int, output: DraftOutput) -> tuple[Mark, ...]:
    """The marks that an output comes with; in a degraded copy those that its new phrase leaves in place."""
    for system in output.systems:
        marks = material.prefilled.get((system, index))
        if marks:
            before = {**material.testset.references, **material.systems}[system][index]
            return marks if output.text == before else carried_over(marks, before, output.text)
    return ()
