"""`adjudge compare`: two or more campaigns over the same systems."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence


def compare(
    campaigns: Annotated[
        list[Path], typer.Argument(metavar="CAMPAIGN", help="Two or more campaigns, each a file or a folder.")
    ],
    reading: Reading,
    format: Annotated[  # noqa: A002
        str | None,
        typer.Option(
            "--format",
            "-f",
            help="File format: one for all, or a comma-separated list. Use metric-scores for a metric.",
        ),
    ] = None,
    rename: Annotated[
        list[str] | None, typer.Option(metavar="OLD=NEW", help="Rename a system. May be repeated.")
    ] = None,
    method: Annotated[
        str | None,
        o.method_option("Ranking method. Default: mean raw scores, or bradley-terry for rankings."),
    ] = None,
    keys: o.Keys = None,
    resamples: Annotated[
        int, typer.Option(help="Bootstrap resamples of annotators and documents for intervals.")
    ] = 1000,
    seed: o.Seed = o.DEFAULT_SEED,
    report: o.ReportFile = None,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Compare campaigns over the same systems, and test whether they give the same order.

    Example: adjudge compare ranking.parquet scores.parquet --rename sysA=alpha
    """
    from adjudge.cli.output import write_output, write_page
    from adjudge.compare import compare
    from adjudge.meta.document_keys import read_keys

    names = _names(campaigns)
    formats = _formats(format, len(campaigns))
    sources = {
        name: _read(path, format_name, reading)
        for name, path, format_name in zip(names, campaigns, formats, strict=True)
    }
    result = compare(
        sources,
        rename=_renames(rename or []),
        method=method,
        keys=read_keys(keys) if keys is not None else None,
        resamples=resamples,
        seed=seed,
    )
    if report is not None:
        from adjudge.report.compare_page import build_compare_page

        write_page(build_compare_page(result), report)
    write_output({"all": result}, json=json, output=output)


def _names(paths: "Sequence[Path]") -> list[str]:
    """The file names without extensions, or the full paths if two names are the same."""
    from adjudge.formats.metric_score_files import ENDINGS

    names = [path.name.removesuffix(path.suffix) if path.is_file() else path.name for path in paths]
    for ending in ENDINGS:
        names = [
            path.name.removesuffix(ending) if path.name.endswith(ending) else name
            for path, name in zip(paths, names, strict=True)
        ]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


def _formats(given: str | None, count: int) -> list[str | None]:
    from adjudge.core.errors import UsageError

    formats = [name.strip() for name in given.split(",")] if given else []
    if len(formats) not in (0, 1, count):
        raise UsageError(
            f"--format names {len(formats)} formats for {count} campaigns; give one for all or one for each"
        )
    return [None] * count if not formats else [*formats] * (count if len(formats) == 1 else 1)


def _read(path: Path, format: str | None, reading: Reading) -> Any:  # noqa: A002
    from adjudge.formats.metric_score_files import ENDINGS, read_metric_scores

    if format == "metric-scores" or path.name.endswith(ENDINGS):
        return read_metric_scores([path])
    return replace(reading, format=format).read([path])


def _renames(pairs: "Sequence[str]") -> dict[str, str]:
    from adjudge.core.errors import UsageError
    from adjudge.core.wording import split_names

    renames: dict[str, str] = {}
    for pair in (part for given in pairs for part in split_names(given)):
        old, equals, new = pair.partition("=")
        if not (old and equals and new):
            raise UsageError(f"--rename is '{pair}'; write OLD=NEW")
        renames[old] = new
    return renames
