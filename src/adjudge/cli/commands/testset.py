"""`adjudge testset`: finds problems in source texts."""

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
        typer.Argument(
            metavar="FILE", help="Source texts: plain text (blank line between documents), TSV, XML or SGM."
        ),
    ],
    format: Annotated[  # noqa: A002
        str, typer.Option("--format", "-f", help="text, tsv, wmt-xml or sgm. Default: by file extension.")
    ] = "auto",
    language: Annotated[
        str | None, typer.Option("--language", help="Language of the texts, such as en. Default: detected.")
    ] = None,
    tokenize: Annotated[
        str | None,
        typer.Option(metavar="13a|intl|zh|char|none|...", help="Tokenizer for counting words. Default: by language."),
    ] = None,
    fix: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write corrected copies and a log of changes to this folder."),
    ] = None,
    translations: Annotated[
        list[Path] | None,
        typer.Option(
            "--translation", help="A translation of the same lines, to check against the source. May be repeated."
        ),
    ] = None,
    reference: Annotated[
        list[Path] | None, typer.Option("--reference", help="Corpus whose mix of topics the texts should match.")
    ] = None,
    topics: Annotated[int, typer.Option(help="Number of topics.")] = 8,
    labels: Annotated[str | None, typer.Option(help="Names of the topics in the order shown, comma-separated.")] = None,
    embeddings: Annotated[
        str,
        typer.Option(
            metavar="words|sentences|FOLDER",
            help="Compare topics by words, by sentence embeddings, or by the ONNX sentence model in a folder.",
        ),
    ] = "words",
    after: Annotated[
        Path | None, typer.Option(help="A later version of FILE; shows what changed, segment by segment.")
    ] = None,
    outputs: Annotated[
        list[str] | None,
        typer.Option(
            "--output-of", metavar="NAME=BEFORE,AFTER", help="Output of a system for both versions. May be repeated."
        ),
    ] = None,
    reference_translation: Annotated[
        list[Path] | None,
        typer.Option(help="Reference translation for BLEU, chrF and TER: one, or one per version."),
    ] = None,
    report: o.ReportFile = None,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Find problems in source texts: quotation marks, typos, spacing, captions, encoding, topics and more.

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
    """Write the corrected texts, and report the number of changes and of segments left unchanged."""
    from adjudge.core.wording import counted
    from adjudge.testset.fix import write_fixed

    written = write_fixed(sources, result.findings, folder)
    hold = counted(
        written.left, "segment holds markup and was left as it is", "segments hold markup and were left as they are"
    )
    left = f"; {hold}" if written.left else ""
    print(f"{counted(written.changes, 'change')} written to {folder}{left}", file=sys.stderr)
