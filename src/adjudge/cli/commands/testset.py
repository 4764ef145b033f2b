"""`adjudge testset`: what is wrong with source texts."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli import options as o

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.results.testset import TestSetCheck
    from adjudge.testset.document import SourceText


def testset(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="Source texts: plain text (blank line between documents), TSV, XML, SGM."),
    ],
    format: Annotated[  # noqa: A002
        str, typer.Option("--format", "-f", help="text, tsv, wmt-xml or sgm; by the files' endings where left out.")
    ] = "auto",
    language: Annotated[
        str | None, typer.Option("--language", help="Language of the texts, as en; recognised where left out.")
    ] = None,
    tokenize: Annotated[
        str | None,
        typer.Option(
            metavar="13a|intl|zh|char|none|...", help="How words are counted; by the language where left out."
        ),
    ] = None,
    fix: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write corrected copies and a log of changes into this folder."),
    ] = None,
    translations: Annotated[
        list[Path] | None,
        typer.Option(
            "--translation", help="A reference or output of the same lines, to be checked against its source."
        ),
    ] = None,
    reference: Annotated[
        list[Path] | None, typer.Option("--reference", help="Corpus whose mix of topics the texts should have.")
    ] = None,
    topics: Annotated[int, typer.Option(help="How many topics to show.")] = 8,
    labels: Annotated[
        str | None, typer.Option(help="Names of the topics, joined by commas, in the order in which they are shown.")
    ] = None,
    embeddings: Annotated[
        str,
        typer.Option(
            metavar="words|sentences|FOLDER",
            help="Compare topics by words, by sentence embeddings, or by the sentence model in a folder (ONNX).",
        ),
    ] = "words",
    after: Annotated[
        Path | None, typer.Option(help="A later version of the one FILE: what changed, segment by segment.")
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option("--output-of", metavar="NAME=BEFORE,AFTER", help="A system's output for both versions."),
    ] = None,
    reference_translation: Annotated[
        list[Path] | None,
        typer.Option(help="The human translation, for BLEU, chrF and TER; one, or one for each version."),
    ] = None,
    report: o.ReportFile = None,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Find contaminants in source texts: quotation marks, typos, spacing, captions, encodings, topics, and more.

    Example: adjudge testset newstest.en.txt --fix clean
    """
    from adjudge.cli.output import write_output
    from adjudge.testset import TestSetOptions, read_and_check

    options = TestSetOptions.parse(
        format=format,
        language=language,
        tokenize=tokenize,
        translations=translations or (),
        reference=reference or (),
        topics=topics,
        labels=labels,
        embeddings=embeddings,
        after=after,
        outputs=outputs or (),
        reference_translations=reference_translation or (),
        seed=seed,
    )
    sources, result = read_and_check(files, options)
    if fix is not None:
        _write_fixed(sources, result, fix)
    if report is not None:
        from adjudge.cli.output import write_page
        from adjudge.report.testset_page import build_testset_page

        write_page(build_testset_page(result, title=files[0].name), report)
    write_output({"all": result}, json=json, output=output)


def _write_fixed(sources: "Sequence[SourceText]", result: "TestSetCheck", folder: Path) -> None:
    """Write the corrected texts, and say how much was changed and what was left as it is."""
    from adjudge.core.wording import counted
    from adjudge.testset.fix import write_fixed

    written = write_fixed(sources, result.findings, folder)
    hold = counted(
        written.left, "segment holds markup and was left as it is", "segments hold markup and were left as they are"
    )
    left = f"; {hold}" if written.left else ""
    print(f"{counted(written.changes, 'change')} written to {folder}{left}", file=sys.stderr)
