"""Marks that annotators find already made, by a machine or by other people: read from a file, and checked.

Columns of the TSV file: `system`, `segment`, `start`, `end` (half-open, in code points), `severity`; and `document`
where segments are numbered anew in each, `category`, `side` (`target`, `source` or `missing`) and `text`, which must
then be what stands at the offsets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.core.errors import InputError, shown
from adjudge.core.spans import MISSING, SOURCE, TARGET, Mark, carried_over, fault_of_mark, fault_of_marks
from adjudge.formats.delimited import Delimited, read_delimited, to_int

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adjudge.core.texts import TestSet
    from adjudge.design.campaign import Campaign
    from adjudge.design.drafts import DraftOutput, Material

# Marks by system and place in the test set.
Prefilled = dict[tuple[str, int], tuple[Mark, ...]]


def read_prefilled(campaign: Campaign, testset: TestSet) -> Prefilled:
    """The marks of the campaign's file; every fault is named with its line."""
    path = campaign.files.prefilled
    if path is None:
        return {}
    table = read_delimited(path, "\t", quoting=False)
    reader = _Reader(campaign, testset, table, path)
    found: dict[tuple[str, int], list[Mark]] = {}
    for line, fields in table.rows:
        system, place, mark = reader.mark(fields, line)
        marks = found.setdefault((system, place), [])
        marks.append(mark)
        fault = fault_of_marks(marks, reader.rules, **reader.texts(system, place))
        if fault is not None:
            raise InputError(f"{fault}; correct it", file=path, line=line)
    return {key: tuple(marks) for key, marks in found.items()}


class _Reader:
    """One file of marks, row by row."""

    def __init__(self, campaign: Campaign, testset: TestSet, table: Delimited, path: Path) -> None:
        self.rules = campaign.spans.rules(campaign.protocol)
        self.testset = testset
        self.path = path
        self.names: Mapping[str, int | None] = {
            **{name: table.need(name) for name in ("system", "segment", "start", "end", "severity")},
            **{name: table.column(name, required=False) for name in ("document", "category", "side", "text")},
        }
        self.translations = {**testset.references, **testset.systems}
        self.places: dict[tuple[str, str], list[int]] = {}
        for place, one in enumerate(testset.source):
            for document in (one.document, ""):
                self.places.setdefault((document, one.segment), []).append(place)

    def mark(self, fields: list[str], line: int) -> tuple[str, int, Mark]:
        """The system, the place and the mark of a row."""
        given = {name: "" if at is None else fields[at] for name, at in self.names.items()}
        system = given["system"].strip()
        if system not in self.translations:
            raise InputError(f"there is no system '{shown(system)}'; check its name", file=self.path, line=line)
        place = self._place(given["document"].strip(), given["segment"].strip(), line)
        made = self._made(given, line, **self.texts(system, place))
        fault = fault_of_mark(made, self.rules, **self.texts(system, place))
        if fault is not None:
            raise InputError(f"{fault}; correct it", file=self.path, line=line)
        return system, place, made

    def _place(self, document: str, segment: str, line: int) -> int:
        places = self.places.get((document, segment), [])
        if len(places) != 1:
            found = "is not in the source" if not places else f"is in {len(places)} documents; name the document"
            raise InputError(f"segment '{shown(segment)}' {found}", file=self.path, line=line)
        return places[0]

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

    def texts(self, system: str, place: int) -> dict[str, str]:
        """The texts that a mark may lie in."""
        return {"target": self.translations[system][place], "source": self.testset.source[place].text}


def prefilled_marks(material: Material, place: int, output: DraftOutput) -> tuple[Mark, ...]:
    """The marks that an output comes with; in a degraded copy those that its new phrase leaves in place."""
    for system in output.systems:
        marks = material.prefilled.get((system, place))
        if marks:
            before = {**material.testset.references, **material.systems}[system][place]
            return marks if output.text == before else carried_over(marks, before, output.text)
    return ()
