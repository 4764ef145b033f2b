"""Commands before a campaign: `testset`, `plan`, `design`, `simulate`; and `read`, which Python has alone."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.readers.options import ReadOptions
from adjudge.shell.declare import BEFORE, COMMANDS, as_python_call, command, sentence
from adjudge.shell.options import Table, page_option, silent
from adjudge.shell.reading import Reading, Results, check_one_pair
from adjudge.table.errors import in_python, param
from adjudge.table.settings import REQUIRED, argument, option, option_of
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from adjudge.campaigns.campaign_file import Campaign
    from adjudge.campaigns.design_report import DesignReport
    from adjudge.campaigns.tasks import TaskSet
    from adjudge.planning.relative import RelativePlan
    from adjudge.planning.settings import Plan, PlanOptions
    from adjudge.planning.simulate import SimulateSettings
    from adjudge.planning.truth import Simulated
    from adjudge.table.judgments import Judgments
    from adjudge.testsets.check import TestSetOptions
    from adjudge.testsets.findings import TestSetCheck


@as_python_call
def read(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002
    options: ReadOptions | None = None,
    **reading: Any,
) -> Judgments:
    """Read judgments from any source into one table.

    Every function that takes judgments accepts the same sources and keywords, so calling `read` first is needed only
    to inspect the table, to filter its rows, or to use it several times.

    Args:
        source: a path, several paths, a polars or pandas data frame, or judgments.
        format: the file format, as listed by `adjudge formats`; default: detected.
        options: the options below in one object.
        **reading: see below.

    Returns:
        The judgments. `table` is a polars data frame, `set_aside` says what was not used and why, `by_pair()` gives
        one table per language pair.

    Example:
        >>> judgments = adjudge.read("scores.csv")  # doctest: +SKIP
        >>> judgments = adjudge.read("data_RNK.csv", format="wmt-ranking", pair="en-cs")  # doctest: +SKIP
    """
    from adjudge.readers.registry import read as read_source

    return read_source(source, format=format, options=options, **reading)


def _show_options(function: Callable[..., Any]) -> None:
    """Show the readers' options, instead of `**reading`, in the signature and the help of a function."""
    signature = inspect.signature(function)
    named = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    lines = []
    for each in fields(ReadOptions):
        kind = inspect.Parameter.KEYWORD_ONLY
        named.append(inspect.Parameter(each.name, kind, default=each.default, annotation=each.type))
        declared = option_of(each.metadata)
        lines.append(f"    {each.name}: {in_python(sentence(declared.help if declared else ''))}")
    function.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
    # From Python 3.13 on, docstrings come without their indentation.
    documented = inspect.cleandoc(function.__doc__ or "")
    function.__doc__ = documented.replace("    **reading: see below.", "\n".join(lines))


_show_options(read)


@dataclass(frozen=True, kw_only=True)
class TestSetFiles:
    """The texts, and what is written besides the result."""

    __test__ = False  # not a test, whatever its name looks like to pytest

    files: list[Path] = argument(
        REQUIRED,
        "Source texts: plain text (blank line between documents), TSV, XML or SGM.",
        metavar="FILE",
        about="plain text (a blank line between documents), TSV with columns `document` and `source`, WMT XML or SGM.",
    )
    fix: Path | None = option(
        None,
        "Write corrected copies and a log of changes to this folder.",
        metavar="FOLDER",
        only="command line",
        after="tokenize",
    )
    report: Path | None = page_option(after="reference_translation")


@command(
    "testset", BEFORE, "adjudge testset newstest.en.txt --fix clean", settings="adjudge.testsets.check:TestSetOptions"
)
def testset(files: TestSetFiles, settings: TestSetOptions) -> TestSetCheck:
    """Find problems in source texts: quotation marks, typos, spacing, captions, encoding, topics and more."""
    from adjudge.testsets.check import read_and_check

    sources, result = read_and_check(files.files, settings)
    if files.fix is not None:
        from adjudge.testsets.fixes import write_fixed

        written, one = write_fixed(sources, result.findings, files.fix), "segment holds markup and was left as it is"
        hold = counted(written.left, one, "segments hold markup and were left as they are")
        left = f"; {hold}" if written.left else ""
        print(f"{counted(written.changes, 'change')} written to {files.fix}{left}", file=sys.stderr)
    if files.report is not None:
        from adjudge.reports.testset_page import build_testset_page
        from adjudge.shell.output import write_page

        write_page(build_testset_page(result, title=files.files[0].name), files.report)
    return result


@dataclass(frozen=True, kw_only=True)
class PlanFiles:
    """What is read and written besides the plan, and who is told of its progress."""

    like: Any = option(
        None,
        "Judgments to take the variances from. Default: those of large shared tasks.",
        typed=list[Path] | None,
        about="judgments to take the variances from (any source, or a function that returns them once the settings "
        "have been checked); default: the variances of large shared tasks.",
        after="seconds",
    )
    select: Path | None = option(
        None,
        "A file with a number per segment for sampling segments, as in 'adjudge design --select'.",
        about="a file with a number per segment for sampling segments, as in `design`; default: assumed numbers.",
        after="spending",
    )
    plot: Path | None = option(
        None, "Write a chart to this file: .svg, .html, .png or .pdf.", only="command line", after="draws"
    )
    progress: Callable[[str], None] = option(silent, "Called with progress messages.", only="python", after="seed")


def _plan_and_plot(reading: Reading, files: PlanFiles, settings: PlanOptions) -> Plan | RelativePlan:
    from adjudge.planning.settings import Plan
    from adjudge.reports.files import check_chart_ending
    from adjudge.shell.output import tell_written

    def tell(what: str) -> None:
        if sys.stderr.isatty():
            print(what, file=sys.stderr)

    if files.plot is not None:
        check_chart_ending(files.plot)
    result: Plan | RelativePlan = COMMANDS["plan"].function(reading, replace(files, progress=tell), settings)
    if files.plot is not None and isinstance(result, Plan):
        tell_written(result.plot().save(files.plot))
    return result


@command(
    "plan",
    BEFORE,
    "adjudge plan --systems 10 --difference 3 --annotators 15",
    settings="adjudge.planning.settings:PlanOptions",
    line=_plan_and_plot,
    work=True,
)
def plan(reading: Reading, files: PlanFiles, settings: PlanOptions) -> Plan | RelativePlan:
    """Compute how many judgments each design needs to detect a difference."""
    from adjudge.campaigns.segment_selection import read_spread
    from adjudge.mixed.design import design_from
    from adjudge.planning.plan import plan as make_plan
    from adjudge.planning.relative import RelativePlanSettings, plan_relative, spread_like
    from adjudge.planning.search import pilot_variances
    from adjudge.planning.settings import PlanSettings

    pilot, progress = _pilot(reading, files.like), files.progress
    what = "reading the judgments whose spread is assumed"
    if settings.protocol != "scores":
        relative = settings.as_kind(RelativePlanSettings)
        progress("trying designs" if pilot is None else what)
        return plan_relative(relative, spread=None if pilot is None else spread_like(pilot()))
    asked = settings.as_kind(PlanSettings)
    chosen_by = None if files.select is None else read_spread(files.select)
    variances = None
    if pilot is not None:
        progress(what)
        variances = pilot_variances(design_from(pilot()), seed=asked.seed, progress=progress)
    return make_plan(asked, variances=variances, spread=chosen_by, progress=progress)


def _pilot(reading: Reading, like: Any) -> Callable[[], Judgments] | None:
    """Gives the judgments from which the variances are taken; called once the settings have been checked."""
    if like is None or callable(like):
        return like  # type: ignore[no-any-return]

    def read_pilot() -> Judgments:
        parts = reading.by_pair(like)
        check_one_pair(parts, param("like"))
        return next(iter(parts.values()))

    return read_pilot


@dataclass(frozen=True, kw_only=True)
class DesignOptions:
    """A campaign and the files of its tasks."""

    campaign: Any = argument(
        REQUIRED,
        "The campaign file, usually campaign.toml.",
        metavar="CAMPAIGN",
        typed=Path,
        python="str | Path | Campaign",
        about="the campaign file, `campaign.toml`, or the result of `adjudge.load_campaign`.",
    )
    output: Path | None = option(
        None,
        "Write the tasks to this JSON file. Default: only show the balance.",
        "--output",
        "-o",
        only="command line",
    )
    appraise_batches: Path | None = option(
        None, "Also write the tasks as Appraise batches (JSON).", only="command line"
    )
    instructions: Path | None = option(
        None,
        "Also write the annotators' instructions to this folder, a CommonMark file per language. Edit and name them "
        "under [instructions].",
        metavar="FOLDER",
        only="command line",
    )
    select: str | None = option(
        None,
        "Sample design.segments segments with known probabilities. 'outputs' prefers segments whose outputs differ "
        "most; a FILE gives a number per segment, and larger numbers are preferred.",
        metavar="outputs|FILE",
        python="str | Path | None",
        about="sample segments with known probabilities: `outputs`, by how much the outputs differ, or a file with a "
        "number per segment. Default: as in the campaign file.",
        convert=str,
    )

    def load(self) -> Campaign:
        """The campaign with the selection of segments."""
        from adjudge.campaigns.campaign_file import load_campaign, set_selection

        given = self.campaign
        loaded: Campaign = load_campaign(Path(given)) if isinstance(given, str | Path) else given
        return loaded if self.select is None else set_selection(loaded, self.select)


def _design_and_write(options: DesignOptions) -> DesignReport:
    from adjudge.campaigns.design import design as make_tasks
    from adjudge.campaigns.design_report import measure_balance
    from adjudge.campaigns.tasks import save_tasks
    from adjudge.campaigns.texts import read_texts
    from adjudge.shell.output import tell_written

    chosen = options.load()
    texts = read_texts(chosen)
    tasks = make_tasks(chosen, texts)
    balance = measure_balance(tasks, chosen, texts)
    if options.appraise_batches is not None:
        from adjudge.campaigns.appraise import write_batches

        filled = write_batches(tasks, options.appraise_batches)
        added = f"{counted(filled, 'repeat')} added to fill tasks up to 100 items"
        print(f"wrote {options.appraise_batches} ({added})", file=sys.stderr)
    if options.instructions is not None:
        from adjudge.campaigns.guide import write_guides

        for file in write_guides(chosen, options.instructions):
            tell_written(file)
    if options.output is not None:
        save_tasks(tasks, options.output)
        tell_written(options.output)
    return balance


@command(
    "design",
    BEFORE,
    "adjudge design examples/da/campaign.toml -o tasks.json",
    about="Create the tasks of a campaign: who judges what, with which controls.",
    line=_design_and_write,
    output=False,
)
def design(options: DesignOptions) -> TaskSet:
    """Create the tasks of a campaign and show how balanced they are."""
    from adjudge.campaigns.design import design as make_tasks

    return make_tasks(options.load())


@dataclass(frozen=True, kw_only=True)
class SimulateFiles:
    """The files that are written besides the judgment table."""

    truth: Path | None = option(None, "Write the true qualities to this JSON file.", only="command line")
    sources: Path | None = option(None, "Write a source text for every segment to this file.", only="command line")


def _simulate_and_write(table: Table, files: SimulateFiles, settings: SimulateSettings) -> Results:
    """Draw the campaigns and write their files; the result is the truth behind them."""
    from adjudge.planning.simulate import simulate_many
    from adjudge.readers import native
    from adjudge.reports.files import to_json
    from adjudge.table.files import write_text

    many, pair = settings.campaigns, settings.pair
    drawn = simulate_many(settings.campaign(), many, seed=settings.seed)

    def numbered(file: Path, number: int) -> Path:
        # Of up to 99 campaigns, `judgments-07.parquet` is the seventh.
        return file if many == 1 else file.with_stem(f"{file.stem}-{number:0{len(str(many))}d}")

    for number, simulated in enumerate(drawn, start=1):
        native.write(simulated.judgments, numbered(table.output, number))
        if files.truth is not None:
            write_text(numbered(files.truth, number), to_json(simulated.truth.to_dict()) + "\n")
        if files.sources is not None:
            write_text(numbered(files.sources, number), "\n".join(simulated.sources) + "\n")
    names = [pair] if many == 1 else [f"{pair} {number}" for number in range(1, many + 1)]
    return Results({name: simulated.truth for name, simulated in zip(names, drawn, strict=True)})


@command(
    "simulate",
    BEFORE,
    "adjudge simulate -o judgments.parquet --truth truth.json --systems 12 --uneven 1 --careless 0.1",
    settings="adjudge.planning.simulate:SimulateSettings",
    line=_simulate_and_write,
    work=True,
    output=False,
)
def simulate(table: Table, files: SimulateFiles, settings: SimulateSettings) -> Simulated:  # noqa: ARG001, only the command line writes files
    """Simulate a campaign with known system qualities, to try out methods and designs.

    Returns:
        The `judgments`, the `truth` behind them, and a source text for every segment.
    """
    from adjudge.planning.simulate import simulate as draw

    return draw(settings.campaign_in_python(), seed=settings.seed)
