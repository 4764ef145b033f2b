"""What a user can ask of `testset` besides the files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from adjudge.core.errors import UsageError, unknown_choice
from adjudge.core.settings import option, seed_option
from adjudge.formats.texts.columns import TextFormat  # noqa: TC001, the command line asks for the types when it runs
from adjudge.testset.versions import OutputFiles

FORMATS = ("auto", "text", "tsv", "wmt-xml", "sgm")


def _paths(files: str | Path | Iterable[str | Path]) -> tuple[Path, ...]:
    return (Path(files),) if isinstance(files, str | Path) else tuple(map(Path, files))


def _labels(names: str | Iterable[str]) -> tuple[str, ...]:
    given = names if isinstance(names, str) else ",".join(names)
    return tuple(name.strip() for name in given.split(",")) if given else ()


def _outputs(given: Mapping[str, tuple[str | Path, str | Path]] | Iterable[str]) -> tuple[OutputFiles, ...]:
    if isinstance(given, Mapping):
        return tuple(OutputFiles(name, Path(before), Path(after)) for name, (before, after) in given.items())
    return tuple(parse_output(text) for text in given)


def parse_output(text: str) -> OutputFiles:
    """`NAME=BEFORE,AFTER` taken apart."""
    name, _, files = text.partition("=")
    before, _, after = files.partition(",")
    if not (name and before and after):
        raise UsageError(f"--output-of '{text}' must be NAME=BEFORE,AFTER, with the output for both versions")
    return OutputFiles(name, Path(before), Path(after))


@dataclass(frozen=True, kw_only=True)
class TestSetOptions:
    """All options; the defaults look for technical contaminants only."""

    __test__ = False  # not a test, whatever its name looks like to pytest

    format: TextFormat = option(
        "auto", "text, tsv, wmt-xml or sgm. Default: by file extension.", "--format", "-f", typed=str, python="str"
    )
    language: str | None = option(None, "Language of the texts, such as en. Default: detected.", "--language")
    tokenize: str | None = option(
        None, "Tokenizer for counting words. Default: by language.", metavar="13a|intl|zh|char|none|..."
    )
    translations: tuple[Path, ...] = option(
        (),
        "A translation of the same lines, to check against the source. May be repeated.",
        "--translation",
        typed=list[Path] | None,
        python="str | Path | Iterable[str | Path]",
        about="translations of the same lines, to check against the source.",
        convert=_paths,
    )
    reference: tuple[Path, ...] = option(
        (),
        "Corpus whose mix of topics the texts should match.",
        "--reference",
        typed=list[Path] | None,
        python="str | Path | Iterable[str | Path]",
        convert=_paths,
    )
    topics: int = option(8, "Number of topics.")
    labels: tuple[str, ...] = option(
        (),
        "Names of the topics in the order shown, comma-separated.",
        typed=str | None,
        python="Iterable[str]",
        about="names of the topics, in the order shown.",
        convert=_labels,
    )
    embeddings: str = option(
        "words",
        "Compare topics by words, by sentence embeddings, or by the ONNX sentence model in a folder.",
        metavar="words|sentences|FOLDER",
    )
    after: Path | None = option(
        None,
        "A later version of FILE; shows what changed, segment by segment.",
        python="str | Path | None",
        about="a later version of the file; shows what changed, segment by segment.",
        convert=Path,
    )
    outputs: tuple[OutputFiles, ...] = option(
        (),
        "Output of a system for both versions. May be repeated.",
        "--output-of",
        metavar="NAME=BEFORE,AFTER",
        typed=list[str] | None,
        python="Mapping[str, tuple[str | Path, str | Path]] | None",
        python_default=None,
        about="output of a system for both versions, by the system's name.",
        convert=_outputs,
    )
    reference_translation: tuple[Path, ...] = option(
        (),
        "Reference translation for BLEU, chrF and TER: one, or one per version.",
        typed=list[Path] | None,
        python="str | Path | Iterable[str | Path]",
        convert=_paths,
    )
    seed: int = seed_option()

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise unknown_choice("format", self.format, FORMATS)
        if self.embeddings != "words" and not self.reference:
            raise UsageError(f"--embeddings {self.embeddings} compares topics with a corpus; name it with --reference")
        if self.topics < 2:
            raise UsageError(f"--topics is {self.topics}, it must be 2 or more")
        if (self.outputs or self.reference_translation) and self.after is None:
            raise UsageError("outputs for two versions need --after, the later version of the texts")
        if len(self.reference_translation) > 2:
            raise UsageError("give one reference translation, or one for each of the two versions")
