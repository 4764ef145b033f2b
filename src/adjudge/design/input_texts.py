"""The test set of a campaign: its files read and aligned. Every misaligned file is named with its number of lines."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError, unknown_choice
from adjudge.core.files import read_text
from adjudge.core.humans import is_human
from adjudge.core.test_set import SourceSegment, TestSet
from adjudge.core.wording import counted
from adjudge.design.versions import join_versions
from adjudge.formats.texts import Column, aligned
from adjudge.formats.texts.columns import read_column, read_table, text_format

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adjudge.design.campaign import Campaign
    from adjudge.design.campaign.parts import Files, TextFile, Texts


def read_texts(campaign: Campaign) -> TestSet:
    """Read and align all texts that the campaign file names, both versions where there are two."""
    files = campaign.files
    whole = _check_testset(_read_version(files, files), campaign)
    if files.after is None:
        return whole
    return join_versions(whole, _check_testset(_read_version(files.after, files), campaign))


def _read_version(texts: Texts, files: Files) -> TestSet:
    """One version of the test set."""
    files = files.model_copy(update=dict(texts))
    if files.testset is not None:
        whole, column = _read_whole(files.testset, files)
    else:
        assert files.source is not None
        column = read_column(files.source.file, format=files.format, names=_column_names(files.source, "source"))
        whole = TestSet(_make_source(column, files.documents))
    references = {**whole.references, **_read_all(files, "references", column)}
    systems = {**whole.systems, **_read_all(files, "systems", column)}
    return TestSet(whole.source, references, _keep_wanted(systems, files.only))


def _read_whole(path: Path, files: Files) -> tuple[TestSet, Column]:
    """One file that holds all texts: WMT XML, or TSV where columns named like a reference are references."""
    if text_format(path, files.format) == "tsv":
        column, others = read_table(path)
        references = {
            name: texts for name, texts in others.items() if is_human(name) and name not in (files.human or ())
        }
        systems = {name: texts for name, texts in others.items() if name not in references}
        return TestSet(_make_source(column, files.documents), references, systems), column
    from adjudge.formats.texts.wmt_xml import read_wmt_xml

    whole = read_wmt_xml(path)
    column = Column(
        path,
        tuple(segment.text for segment in whole.source),
        tuple(segment.document for segment in whole.source),
        tuple(segment.segment for segment in whole.source),
    )
    return whole, column


def _column_names(file: TextFile, *defaults: str) -> tuple[str, ...]:
    return (file.column,) if file.column is not None else defaults


def _make_source(column: Column, documents: Path | None) -> tuple[SourceSegment, ...]:
    """Source segments with the file's own names where it has them, and running numbers where it has none."""
    count = len(column.texts)
    names = column.documents or ("1",) * count
    if documents is not None:
        # One document name per segment; only the last field counts, as released lists put the domain first.
        names = tuple(line.split("\t")[-1].strip() for line in read_text(documents).splitlines() if line.strip())
        if len(names) != count:
            given = f"names {counted(len(names), 'document')} where {column.path} has {counted(count, 'segment')}"
            raise InputError(f"{given}; give one per segment", file=documents)
    segments = column.segments or tuple(str(i) for i in range(1, count + 1))
    return tuple(SourceSegment(*fields) for fields in zip(names, segments, column.texts, strict=True))


def _read_all(files: Files, group: str, source: Column) -> dict[str, tuple[str, ...]]:
    """All references or all systems; those that do not fit the source are named together."""
    named: Mapping[str, TextFile] = getattr(files, group)
    default = "reference" if group == "references" else "target"
    texts: dict[str, tuple[str, ...]] = {}
    faults: list[str] = []
    for name, file in named.items():
        column = read_column(file.file, format=files.format, names=_column_names(file, name, default))
        fitted = aligned(source, column)
        if fitted is None:
            lines = len(column.lines or column.texts)
            same = ", which do not line up" if len(column.texts) == len(source.texts) else ""
            faults.append(f"{column.path} has {counted(lines, 'line')} ({len(column.texts)} with text){same}")
        else:
            texts[name] = fitted
    if faults:
        own_lines = counted(len(source.lines or source.texts), "line")
        count = f"the source {source.path} has {own_lines} ({len(source.texts)} with text)"
        raise InputError(f"{count}, but {'; '.join(faults)}; make the files line up")
    return texts


def _keep_wanted(systems: Mapping[str, tuple[str, ...]], wanted: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    for name in wanted:
        if name not in systems:
            raise unknown_choice("system in files.only", name, systems)
    return {name: texts for name, texts in systems.items() if not wanted or name in wanted}


def _check_testset(testset: TestSet, campaign: Campaign) -> TestSet:
    """Faults that alignment cannot see: no systems, a name used twice, a document in two places."""
    if not testset.systems:
        raise InputError("no system outputs were found; name them under 'files.systems'", file=campaign.files.testset)
    if both := sorted(testset.systems.keys() & testset.references.keys()):
        raise InputError(f"'{both[0]}' is both a system and a reference; give each its own name")
    segments = Counter((segment.document, segment.segment) for segment in testset.source)
    if doubled := next((segment for segment, count in segments.items() if count > 1), None):
        raise InputError(f"document '{doubled[0]}' has segment '{doubled[1]}' twice; number the segments")
    starts = Counter(name for name, _ in testset.documents())
    if torn := next((name for name, count in starts.items() if count > 1), None):
        raise InputError(f"the segments of document '{torn}' are not consecutive; sort them by document")
    return testset


def human_names(campaign: Campaign, testset: TestSet) -> tuple[str, ...]:
    """The systems that are human translations: those that the file lists, or those whose names say so."""
    listed = campaign.files.human
    if listed is None:
        return tuple(name for name in testset.systems if is_human(name)) + tuple(testset.references)
    for name in listed:
        if name not in testset.systems:
            raise unknown_choice("system in files.human", name, testset.systems)
    return tuple(name for name in testset.systems if name in listed) + tuple(testset.references)
