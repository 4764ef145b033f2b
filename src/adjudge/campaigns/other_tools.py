"""Campaigns of other tools as texts of a new one: Appraise batches and Pearmut campaign files. Reads no judgments.

What these files hold besides texts (their own controls, tutorials, the division into tasks) is left out and counted:
the new campaign is designed anew, with controls of its own.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from adjudge.readers.appraise_batches import batch_documents
from adjudge.table.errors import InputError, shown
from adjudge.table.languages import find_pair
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

_COPY = re.compile(r"#(bad|dup|duplicate|incomplete)\d*(#|$)")
_TUTORIAL = ("-tutorial", "_#_tutorial_#_")
# What their protocols are called here. Where sliders were named by the campaign, they are scores.
_PROTOCOLS = {"da": "da", "sqm": "sqm", "esa": "esa", "cesa": "esa", "mqm": "mqm"}


# Source, outputs by system, reference.
_Segment = tuple[str, dict[str, str], str | None]


@dataclass
class OtherCampaign:
    """What another tool's file holds: texts by document and segment, and what is known of the campaign."""

    protocol: str = "da"
    pair: tuple[str, str] | None = None
    side_by_side: int = 1
    annotators: int | tuple[str, ...] | None = None
    segments: dict[tuple[str, str, int], _Segment] = field(default_factory=dict)
    """By document, source and how often the source came before in it."""
    left_out: Counter[str] = field(default_factory=Counter)

    @property
    def systems(self) -> tuple[str, ...]:
        """All systems, in the order in which they first come."""
        return tuple(dict.fromkeys(system for _, outputs, _ in self.segments.values() for system in outputs))

    def add(
        self, document: str, source: str, times: int, outputs: dict[str, str], reference: str | None = None
    ) -> None:
        """Add outputs of a segment; what was added before stays."""
        known = self.segments.setdefault((document, source, times), (source, {}, reference))
        for system, text in outputs.items():
            known[1].setdefault(system, text)

    def notes(self) -> tuple[str, ...]:
        """What was left out, and how often."""
        return tuple(f"left out: {counted(count, *what.split('|'))}" for what, count in self.left_out.items())


def read_other_tool(file: Path) -> OtherCampaign:
    """Read a campaign file of Pearmut, or batches of Appraise, by its contents."""
    try:
        parts = [json.loads(text) for _, text in batch_documents(file)]
        data = parts[0] if len(parts) == 1 else [task for part in parts for task in part]
    except (ValueError, TypeError, RecursionError) as fault:
        raise InputError(
            f"is no JSON ({shown(fault, 80)}); give Appraise batches or a Pearmut campaign", file=file
        ) from None
    found = OtherCampaign()
    try:
        if isinstance(data, dict) and "data" in data:
            _read_pearmut(data, found)
        elif isinstance(data, list) and data and all(isinstance(task, dict) and "items" in task for task in data):
            _read_appraise(data, found)
        else:
            raise InputError("is neither a list of Appraise tasks nor a Pearmut campaign; give one of these", file=file)
    except (KeyError, TypeError, AttributeError, IndexError) as fault:
        reason = shown(f"{type(fault).__name__}: {fault}", 80)
        raise InputError(f"is not made as such files are ({reason}); correct it", file=file) from fault
    _keep_complete(found, file)
    return found


def _keep_complete(found: OtherCampaign, file: Path) -> None:
    """Keep the segments that every system has translated: a campaign needs all outputs of a segment."""
    systems = set(found.systems)
    whole = {key: segment for key, segment in found.segments.items() if set(segment[1]) == systems}
    if not systems or not whole:
        most = max((len(outputs) for _, outputs, _ in found.segments.values()), default=0)
        what = f"holds no segment with outputs of all {len(systems)} systems (at most {most} have one)"
        raise InputError(f"{what}; take out systems or add outputs", file=file)
    if missing := len(found.segments) - len(whole):
        found.left_out["segment that some system lacks|segments that some system lacks"] += missing
    found.segments = whole


def _read_pearmut(data: dict[str, Any], found: OtherCampaign) -> None:
    info = data.get("info") or {}
    found.protocol = _PROTOCOLS.get(str(info.get("protocol", "DA")).lower(), "da")
    users = info.get("users")
    if isinstance(users, int) and users > 0:
        found.annotators = users
    elif isinstance(users, list) and users and all(isinstance(user, str) for user in users):
        found.annotators = tuple(users)
    for name in ("data_welcome", "data_goodbye", "data_random"):
        if held := data.get(name):
            found.left_out[f"page of '{name}'|pages of '{name}'"] += len(held)
    shown_together = 1
    for number, document in enumerate(_pages(data["data"]), start=1):
        times: Counter[str] = Counter()
        for item in document:
            name = str(item.get("item_id") or "")
            if name.startswith("attention_check_") or any(sign in name for sign in _TUTORIAL):
                found.left_out["tutorial item or attention check|tutorial items and attention checks"] += 1
                continue
            source = str(item.get("src") or "")
            outputs = item["tgt"] if isinstance(item["tgt"], dict) else {"output": item["tgt"]}
            texts = {str(system): text for system, text in outputs.items() if isinstance(text, str)}
            shown_together = max(shown_together, len(texts))
            key = name.partition("_###_")[0] if "_###_" in name else f"document {number}"
            reference = item.get("ref")
            found.add(key, source, times[source], texts, reference if isinstance(reference, str) else None)
            times[source] += 1
    found.side_by_side = shown_together


def _pages(data: Any) -> Iterator[list[dict[str, Any]]]:
    """The documents, whether or not they are divided into tasks."""
    for part in data:
        if part and isinstance(part[0], dict):
            yield part
        else:
            yield from part


def _read_appraise(data: list[dict[str, Any]], found: OtherCampaign) -> None:
    languages = data[0].get("task") or {}
    found.pair = find_pair(f"{languages.get('sourceLanguage')}-{languages.get('targetLanguage')}")
    names = {str(item.get("targetID")) for task in data for item in task["items"]}
    alone = 0
    for task in data:
        for (document, _), group in groupby(task["items"], key=_showing):
            items = list(group)
            if document and (_COPY.search(document) or any(sign in document for sign in _TUTORIAL)):
                found.left_out["item of a tutorial or of a damaged copy|items of tutorials and of damaged copies"] += (
                    len(items)
                )
                continue
            times: Counter[str] = Counter()
            for item in items:
                if item.get("itemType") != "TGT":
                    found.left_out["control|controls"] += 1
                    continue
                if item.get("isCompleteDocument"):
                    continue
                alone += not document
                source = str(item.get("sourceText") or item.get("segmentText") or "")
                if "mqm" in item:
                    found.protocol = "esa"
                found.add(document or f"item {alone}", source, times[source], _outputs(item, names))
                found.side_by_side = max(found.side_by_side, len(item.get("targets") or [0]))
                times[source] += 1
    if all(not document or document.startswith("item ") for document, _, _ in found.segments):
        _join_same_sources(found)


def _showing(item: dict[str, Any]) -> tuple[str, str]:
    """Document and system: items of one showing follow each other."""
    document, system = str(item.get("documentID") or ""), str(item.get("targetID") or "")
    return document.replace(f"#{system}", "", 1) if system else document, system


def _outputs(item: dict[str, Any], names: set[str]) -> dict[str, str]:
    """The outputs of an item by system; identical ones stand there once, with the names joined by plus signs."""
    given = item.get("targets") or [item]
    return {
        system: str(each["targetText"]) for each in given for system in _split_systems(str(each["targetID"]), names)
    }


def _split_systems(joined: str, names: set[str]) -> Iterable[str]:
    parts = joined.split("+")
    # A plus sign may belong to a name: then its parts are nowhere alone.
    return parts if len(parts) > 1 and any(part in names for part in parts) else [joined]


def _join_same_sources(found: OtherCampaign) -> None:
    """Where there are no documents, a segment is known by its source alone."""
    apart, found.segments = found.segments, {}
    order: dict[str, str] = {}
    for source, outputs, reference in apart.values():
        found.add(order.setdefault(source, f"item {len(order) + 1}"), source, 0, outputs, reference)


def write_texts(found: OtherCampaign, folder: Path) -> tuple[Path, dict[str, Path], dict[str, Path]]:
    """Write the texts as a campaign has them: a segment per line, a blank line between documents.

    Returns:
        The files of the source, of the systems and of references, by name.
    """
    rows: dict[str, list[_Segment]] = {}
    for (document, _, _), segment in found.segments.items():
        rows.setdefault(document, []).append(segment)
    texts = [segment for group in rows.values() for segment in group]
    broken = sum(_breaks(source) + sum(map(_breaks, outputs.values())) for source, outputs, _ in texts)
    if broken:
        found.left_out["line break within a text|line breaks within texts"] += broken

    def write(name: str, column: Callable[[_Segment], str]) -> Path:
        file = folder / f"{name}.txt"
        blocks = ("\n".join(_one_line(column(segment)) for segment in group) for group in rows.values())
        file.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
        return file

    systems = {
        system: write(f"system-{number}", partial(_output_of, system))
        for number, system in enumerate(found.systems, start=1)
    }
    referenced = all(reference for _, _, reference in texts)
    references = {"refA": write("refA", lambda segment: segment[2] or "")} if referenced else {}
    return write("source", lambda segment: segment[0]), systems, references


def _output_of(system: str, segment: _Segment) -> str:
    return segment[1][system]


def _breaks(text: str) -> int:
    return len(text.splitlines()) - 1 if text.strip() else 0


def _one_line(text: str) -> str:
    # An empty line would be read as the end of a document.
    return " ".join(text.split("\n")).replace("\r", " ").replace("\t", " ").strip() or "(empty)"
