"""`adjudge parity`: tests for human parity, also before and after a test set is corrected."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from adjudge.cli import options as o
from adjudge.cli.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.audit.parity.counts import Ties
    from adjudge.core.judgments import Judgments
    from adjudge.results.parity import Parity


def parity(
    human: Annotated[str, typer.Option("--human", help="The human translation: its name, or a regular expression.")],
    reading: Reading,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="Judgments; leave out with --before and --after.")
    ] = None,
    before: Annotated[
        list[Path] | None, typer.Option(help="Judgments on the original test set (a file or folder). May be repeated.")
    ] = None,
    after: Annotated[
        list[Path] | None, typer.Option(help="Judgments on the corrected test set. The change is tested.")
    ] = None,
    contaminated: Annotated[
        str | None,
        typer.Option(
            metavar="IDS", help="Segments to analyse separately: a comma-separated list, a file, or a column."
        ),
    ] = None,
    keys: o.Keys = None,
    ties: Annotated[str, typer.Option(help="Ties in the sign test: half (half a win each) or drop.")] = "half",
    margin: Annotated[
        str | None,
        typer.Option(
            metavar="POINTS|SHARE%",
            help="Scores: largest difference that counts as parity, in points or as a share of the scale.",
        ),
    ] = None,
    report: o.ReportFile = None,
    seed: o.Seed = o.DEFAULT_SEED,
    json: o.Json = False,
    output: o.Output = None,
) -> None:
    """Test each system against a human translation, on one test set or before and after a correction.

    Example: adjudge parity --before bts --after ats --format rank-lines --stacked 2 --human ref --contaminated error
    """
    from adjudge.audit.parity import ParitySettings, parity
    from adjudge.cli.output import for_each_pair, write_output
    from adjudge.core.errors import UsageError
    from adjudge.meta.document_keys import read_keys

    if bool(before) != bool(after):
        raise UsageError("--before and --after belong together; give both")
    if bool(files) == bool(after):
        raise UsageError("give judgments either as FILE or as --before and --after")
    earlier, later = _read_versions(reading.with_human(human), before or [], after or files or [])
    both_in_one = bool(earlier) and not before
    settings = ParitySettings(
        contaminated=_contaminated(contaminated, earlier, later, both_in_one=both_in_one),
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
        _write_page(results, report)
    write_output(results, json=json, output=output)


def _contaminated(
    given: str | None, earlier: "Mapping[str, Judgments]", later: "Mapping[str, Judgments]", *, both_in_one: bool
) -> frozenset[str] | None:
    """The segments to look at apart; those that were corrected, where one campaign judged both versions and says it."""
    from adjudge.api.comparing import marked_segments
    from adjudge.core.test_set import CORRECTED

    if given is None and both_in_one and all(CORRECTED in part.table.columns for part in later.values()):
        given = CORRECTED
    return None if given is None else marked_segments(given, [*later.values(), *earlier.values()])


def _write_page(results: "Mapping[str, Parity]", file: Path) -> None:
    from adjudge.cli.output import write_page
    from adjudge.core.languages import pair_title
    from adjudge.report.parity_page import build_parity_page

    title = ", ".join(["Human parity", *filter(None, map(pair_title, results))])
    write_page(build_parity_page(results, title=title), file)


def _read_versions(
    reading: Reading, before: list[Path], after: list[Path]
) -> "tuple[dict[str, Judgments], dict[str, Judgments]]":
    """The judgments before and after by language pair; none before where one version of the test set was judged."""
    from adjudge.core.errors import UsageError

    later = reading.by_pair(after)
    if not before:
        return _split_versions(later)
    earlier = reading.by_pair(before)
    if earlier.keys() != later.keys():
        held = f"{', '.join(earlier)} before, {', '.join(later)} after"
        raise UsageError(f"the two test sets hold other language pairs ({held}); choose one with --pair")
    return earlier, later


def _split_versions(parts: "Mapping[str, Judgments]") -> "tuple[dict[str, Judgments], dict[str, Judgments]]":
    """The judgments before and after of campaigns that judged both versions of a test set; none before in others."""
    from adjudge.audit.parity import split_versions

    versions = {name: split_versions(part) for name, part in parts.items()}
    earlier = {name: first for name, (first, _) in versions.items() if first is not None}
    later = {name: second for name, (_, second) in versions.items() if not earlier or name in earlier}
    return earlier, later
