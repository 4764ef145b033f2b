"""What a user can ask of `testset` besides the files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from adjudge.core.errors import UsageError, unknown_choice
from adjudge.core.rng import DEFAULT_SEED
from adjudge.testset.versions import OutputFiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.formats.texts.columns import TextFormat

FORMATS = ("auto", "text", "tsv", "wmt-xml", "sgm")


@dataclass(frozen=True, kw_only=True)
class TestSetOptions:
    """All options; the defaults look for technical contaminants only."""

    __test__ = False  # not a test, whatever its name looks like to pytest

    format: TextFormat = "auto"
    language: str | None = None
    tokenize: str | None = None
    """What counts as a word in the statistics: a tokeniser of sacreBLEU, by the language where left out."""
    translations: tuple[Path, ...] = ()
    """References or outputs of the same lines, to be checked against the source."""
    reference: tuple[Path, ...] = ()
    """A corpus whose mix of topics the texts should have."""
    topics: int = 8
    labels: tuple[str, ...] = ()
    embeddings: str = "words"
    """What makes documents into points: words, sentences, or the folder of a model."""
    after: Path | None = None
    """A later version of the same test set."""
    outputs: tuple[OutputFiles, ...] = ()
    reference_translations: tuple[Path, ...] = ()
    seed: int = DEFAULT_SEED

    @classmethod
    def parse(
        cls,
        *,
        format: str,  # noqa: A002
        language: str | None,
        tokenize: str | None = None,
        translations: Sequence[Path],
        reference: Sequence[Path],
        topics: int,
        labels: str | None,
        embeddings: str,
        after: Path | None,
        outputs: Sequence[str],
        reference_translations: Sequence[Path],
        seed: int,
    ) -> TestSetOptions:
        """The options as the command line gives them."""
        if format not in FORMATS:
            raise unknown_choice("format", format, FORMATS)
        if embeddings != "words" and not reference:
            raise UsageError(f"--embeddings {embeddings} compares topics with a corpus; name it with --reference")
        if topics < 2:
            raise UsageError(f"--topics is {topics}, it must be 2 or more")
        if (outputs or reference_translations) and after is None:
            raise UsageError("outputs for two versions need --after, the later version of the texts")
        if len(reference_translations) > 2:
            raise UsageError("give one reference translation, or one for each of the two versions")
        return cls(
            format=cast("TextFormat", format),
            language=language,
            tokenize=tokenize,
            translations=tuple(translations),
            reference=tuple(reference),
            topics=topics,
            labels=tuple(name.strip() for name in labels.split(",")) if labels else (),
            embeddings=embeddings,
            after=after,
            outputs=tuple(parse_output(output) for output in outputs),
            reference_translations=tuple(reference_translations),
            seed=seed,
        )


def parse_output(text: str) -> OutputFiles:
    """`NAME=BEFORE,AFTER` taken apart."""
    name, _, files = text.partition("=")
    before, _, after = files.partition(",")
    if not (name and before and after):
        raise UsageError(f"--output-of '{text}' must be NAME=BEFORE,AFTER, with the output for both versions")
    return OutputFiles(name, Path(before), Path(after))
