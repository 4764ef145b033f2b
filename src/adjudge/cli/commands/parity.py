"""`adjudge parity`: is a system at human parity, and does the claim survive a clean test set?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.audit.parity.counts import Ties
    from adjudge.core.judgments import Judgments

_YES = ("t", "true", "yes", "y", "1")


def parity(
    human: Annotated[str, typer.Option("--human", help="The human translation: its name, or a pattern that fits it.")],
    reading: Reading,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="Judgments; none with --before and --after.")
    ] = None,
    before: Annotated[
        list[Path] | None, typer.Option(help="Judgments on the test set as it was (a file or folder; may be repeated).")
    ] = None,
    after: Annotated[
        list[Path] | None, typer.Option(help="Judgments on the corrected test set; the change is tested.")
    ] = None,
    contaminated: Annotated[
        str | None,
        typer.Option(
            metavar="IDS", help="Segments to look at apart: joined by commas, a file, or a column of the judgments."
        ),
    ] = None,
    keys: Annotated[
        Path | None, typer.Option(help="Table that maps segments to documents, for judgments that do not say it.")
    ] = None,
    ties: Annotated[str, typer.Option(help="Ties in the sign test: half (half a win for each) or drop.")] = "half",
    margin: Annotated[
        str | None,
        typer.Option(
            metavar="POINTS|SHARE%",
            help="Scores: the largest difference that still counts as parity, in points or as a share of the scale.",
        ),
    ] = None,
    report: o.ReportFile = None,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Test every system against the human translation, and how parity changes from one test set to another.

    Example: adjudge parity --before bts --after ats --format rank-lines --stacked 2 --human ref --contaminated error
    """
    from adjudge.audit.parity import ParitySettings, parity
    from adjudge.cli.output import for_each_pair, write_output
    from adjudge.core.errors import UsageError
    from adjudge.meta.keys import read_keys

    if bool(before) != bool(after):
        raise UsageError("--before and --after belong together; give both")
    if bool(files) == bool(after):
        raise UsageError("give judgments either as FILE or as --before and --after")
    reading = reading.with_human(human)
    later = reading.by_pair(after or files or [])
    earlier = reading.by_pair(before) if before else {}
    if earlier and earlier.keys() != later.keys():
        held = f"{', '.join(earlier)} before, {', '.join(later)} after"
        raise UsageError(f"the two test sets hold other language pairs ({held}); choose one with --pair")
    settings = ParitySettings(
        contaminated=None
        if contaminated is None
        else marked_segments(contaminated, [*later.values(), *earlier.values()]),
        keys=None if keys is None else read_keys(keys),
        ties=cast("Ties", ties),
        margin=margin,
        seed=seed,
    )
    pairs = {id(part): earlier.get(name) for name, part in later.items()}
    results = for_each_pair(
        later, lambda part: parity(part, human=human, before=pairs[id(part)], settings=settings)
    )  # fmt: skip
    if report is not None:
        from adjudge.cli.output import write_page
        from adjudge.report.parity_page import build_parity_page

        title = ", ".join(["Human parity", *(name for name in results if not name.startswith("und"))])
        write_page(build_parity_page(results, title=title), report)
    write_output(results, json=json, output=output)


def marked_segments(marked: str, tables: "Sequence[Judgments]") -> frozenset[str]:
    """The names of marked segments: the lines of a file, the rows where a column says yes, or names given directly."""
    from adjudge.core.errors import InputError
    from adjudge.core.files import exists, read_text

    if any(marked in judgments.table.columns for judgments in tables):
        return _marked_in_column(marked, tables)
    path = Path(marked)
    if exists(path) and path.is_file():
        names = frozenset(line.strip() for line in read_text(path).splitlines() if line.strip())
        if not names:
            raise InputError("is empty; one segment per line is needed", file=path)
        return names
    return frozenset(name.strip() for name in marked.split(",") if name.strip())


def _marked_in_column(column: str, tables: "Sequence[Judgments]") -> frozenset[str]:
    import polars as pl

    says_yes = pl.col(column).cast(pl.String).str.strip_chars().str.to_lowercase().is_in(_YES)
    holding = [judgments.table for judgments in tables if column in judgments.table.columns]
    rows = pl.concat([table.filter(says_yes).select("document", "segment") for table in holding])
    # Where segments are numbered anew in every document, the document is part of the name.
    segments = pl.concat([judgments.table.select("document", "segment") for judgments in tables]).drop_nulls().unique()
    anew = segments["segment"].n_unique() < segments.height
    name = pl.concat_str("document", "segment", separator=":") if anew else pl.col("segment")
    return frozenset(rows.select(name=name)["name"].drop_nulls().to_list())
