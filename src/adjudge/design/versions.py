"""Two versions of a test set in one campaign, as it was and as corrected: mixed blindly, no document seen in both.

The documents are divided into two halves, and the people into two teams. One team judges the first half as it was and
the second half as corrected, the other team the reverse: a two-by-two Latin square. So every task holds both versions
in about equal shares, every person judges both versions but no document in both, and every document is judged in both.
Traits of a person (strict, generous, fond of a system) affect both versions alike, and so do those of a document:
neither can pass for an effect of the correction. After A. Kim and others (2022), who judged two versions one
after the other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError, InputError
from adjudge.core.protocols import PROTOCOLS
from adjudge.core.test_set import AFTER, BEFORE, SourceSegment, TestSet
from adjudge.core.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from adjudge.design.campaign import Campaign
    from adjudge.design.drafts import Material


def join_versions(before: TestSet, after: TestSet) -> TestSet:
    """One test set of all segments as they were, followed by the same segments as corrected."""
    _check_same(before, after)
    source = [
        replace(segment, version=version)
        for version, testset in ((BEFORE, before), (AFTER, after))
        for segment in testset.source
    ]
    return TestSet(tuple(source), _join(before.references, after.references), _join(before.systems, after.systems))


def _join(before: Mapping[str, tuple[str, ...]], after: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    return {name: texts + after[name] for name, texts in before.items()}


def _check_same(before: TestSet, after: TestSet) -> None:
    if len(before) != len(after):
        raise InputError(
            f"files.after has {counted(len(after), 'segment')}, the test set as it was has {len(before):,}; both must "
            "have the same segments"
        )
    for segment, other in zip(before.source, after.source, strict=True):
        if (segment.document, segment.segment) != (other.document, other.segment):
            raise InputError(
                f"files.after has segment '{_name_segment(other)}' where the test set as it was has "
                f"'{_name_segment(segment)}'; "
                "both must have the same documents and segments"
            )
    for group in ("systems", "references"):
        names, others = set(getattr(before, group)), set(getattr(after, group))
        if names != others:
            lacking = ", ".join(sorted(names ^ others))
            raise InputError(f"files.after and files do not have the same {group} ({lacking}); name the same in both")


def _name_segment(segment: SourceSegment) -> str:
    return f"{segment.document}:{segment.segment}"


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
