"""The test set of a campaign: its files read and aligned. Every misaligned file is named with its number of lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from adjudge.readers.texts import Column, aligned, read_column, read_table, text_format
from adjudge.table.errors import DataError, InputError, unknown_choice
from adjudge.table.files import read_text
from adjudge.table.participants import is_human
from adjudge.table.protocols import PROTOCOLS
from adjudge.table.texts import AFTER, BEFORE, SourceSegment, TestSet
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np

    from adjudge.campaigns.campaign_file import Campaign, Files, TextFile, Texts
    from adjudge.campaigns.tasks import Material


# Two versions of a test set in one campaign, as it was and as corrected: mixed blindly, no document seen in both.
#
# The documents are divided into two halves, and the people into two teams. One team judges the first half as it was
# and the second half as corrected, the other team the reverse: a two-by-two Latin square. So every task holds both
# versions in about equal shares, every person judges both versions but no document in both, and every document is
# judged in both. Traits of a person (strict, generous, fond of a system) affect both versions alike, and so do those
# of a document: neither can pass for an effect of the correction. After A. Kim and others (2022), who judged two
# versions one after the other.


def join_versions(before: TestSet, after: TestSet) -> TestSet:
    """One test set of all segments as they were, followed by the same segments as corrected."""
    _check_same(before, after)
    source = [
        replace(segment, version=version)
        for version, testset in ((BEFORE, before), (AFTER, after))
        for segment in testset.source
    ]
    references = {name: texts + after.references[name] for name, texts in before.references.items()}
    systems = {name: texts + after.systems[name] for name, texts in before.systems.items()}
    return TestSet(tuple(source), references, systems)


def _check_same(before: TestSet, after: TestSet) -> None:
    if len(before) != len(after):
        raise InputError(
            f"files.after has {counted(len(after), 'segment')}, the test set as it was has {len(before):,}; both must "
            "have the same segments"
        )
    for segment, other in zip(before.source, after.source, strict=True):
        if (segment.document, segment.segment) != (other.document, other.segment):
            raise InputError(
                f"files.after has segment '{other.document}:{other.segment}' where the test set as it was has "
                f"'{segment.document}:{segment.segment}'; both must have the same documents and segments"
            )
    for group in ("systems", "references"):
        names, others = set(getattr(before, group)), set(getattr(after, group))
        if names != others:
            lacking = ", ".join(sorted(names ^ others))
            raise InputError(f"files.after and files do not have the same {group} ({lacking}); name the same in both")


def first_version(material: Material) -> Material:
    """The material of the test set as it was, from which segments are drawn for both versions."""
    count = len(material.testset) // 2

    def half(texts: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
        return {name: tuple(translations[:count]) for name, translations in texts.items()}

    testset = TestSet(
        material.testset.source[:count], half(material.testset.references), half(material.testset.systems)
    )
    return replace(material, testset=testset, systems=half(material.systems))


def divide_documents(
    material: Material, chosen: Sequence[int], rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Divide the documents between two teams: indices of segments, half of the documents in each version.

    Args:
        material: both versions.
        chosen: indices of the segments to judge, in the version as it was.
        rng: which documents come in which version.
    """
    count = len(material.testset) // 2
    documents: dict[str, list[int]] = {}
    relative = PROTOCOLS[material.campaign.protocol].relative
    for index in chosen:
        if relative and len(material.outputs(index + count)) < 2:
            # All systems agree on the corrected segment, so there is nothing to compare.
            continue
        documents.setdefault(material.testset.source[index].document, []).append(index)
    if len(documents) < 2:
        raise DataError(
            "two versions need at least two documents, because nobody is to see a document in both; separate documents "
            "by blank lines, or name them in files.documents"
        )
    halves: tuple[list[int], list[int]] = ([], [])
    names = list(documents)
    # The longest first, each to the half that has less, so that both are of about the same size.
    for name in sorted((names[i] for i in rng.permutation(len(names))), key=lambda name: -len(documents[name])):
        min(halves, key=len).extend(documents[name])
    first, second = halves
    return (
        sorted([*first, *(index + count for index in second)]),
        sorted([*(index + count for index in first), *second]),
    )


def divide_people(campaign: Campaign, rng: np.random.Generator) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Divide the people into two teams of the same size, or one more in the first."""
    names = campaign.design.annotator_names
    shuffled = [names[i] for i in rng.permutation(len(names))]
    half = (len(names) + 1) // 2
    first, second = (tuple(sorted(team, key=names.index)) for team in (shuffled[:half], shuffled[half:]))
    if len(second) < campaign.design.judgments:
        people = counted(campaign.design.judgments, "person", "people")
        raise DataError(
            f"two versions need two teams of at least design.judgments = {people}, so that nobody sees a "
            f"document in both; design.annotators is {len(names)}, raise it"
        )
    return first, second


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
    for name in files.only:
        if name not in systems:
            raise unknown_choice("system in files.only", name, systems)
    wanted = {name: texts for name, texts in systems.items() if not files.only or name in files.only}
    return TestSet(whole.source, references, wanted)


def _read_whole(path: Path, files: Files) -> tuple[TestSet, Column]:
    """One file that holds all texts: WMT XML, or TSV where columns named like a reference are references."""
    if text_format(path, files.format) == "tsv":
        column, others = read_table(path)
        named = {name for name in others if is_human(name) and name not in (files.human or ())}
        references = {name: texts for name, texts in others.items() if name in named}
        systems = {name: texts for name, texts in others.items() if name not in named}
        return TestSet(_make_source(column, files.documents), references, systems), column
    from adjudge.readers.texts import read_wmt_xml

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
    for name in listed or ():
        if name not in testset.systems:
            raise unknown_choice("system in files.human", name, testset.systems)
    human = (name for name in testset.systems if (is_human(name) if listed is None else name in listed))
    return (*human, *testset.references)
