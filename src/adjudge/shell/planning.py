"""Commands before a campaign: `testset`, `plan`, `design`, `simulate`; and `read`, which Python has alone."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from adjudge.readers.options import ReadOptions
from adjudge.shell.declare import BEFORE, COMMANDS, command, python_call, sentence
from adjudge.shell.options import Table, page_option, silent
from adjudge.shell.reading import Reading, Results
from adjudge.table.errors import UsageError, in_python, param, unknown_choice
from adjudge.table.settings import REQUIRED, argument, column_names, option, option_of, seed_option
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from adjudge.campaigns.campaign_file import Campaign
    from adjudge.campaigns.design_report import DesignReport
    from adjudge.campaigns.tasks import TaskSet
    from adjudge.planning.relative import RelativePlan
    from adjudge.planning.settings import Plan
    from adjudge.planning.simulated_rankings import RankingCampaign
    from adjudge.planning.simulated_scores import ScoreCampaign
    from adjudge.planning.truth import Simulated
    from adjudge.table.judgments import Judgments
    from adjudge.testsets.check import TestSetOptions
    from adjudge.testsets.findings import TestSetCheck


@python_call
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


def _per_item(given: str | Iterable[int]) -> tuple[int, ...]:
    if not isinstance(given, str):
        return tuple(given)
    try:
        numbers = tuple(int(part) for part in given.split(","))
    except ValueError:
        numbers = (0,)
    if min(numbers) < 1:
        raise UsageError(f"{param('per_item')} is '{given}'; give whole numbers from 1, joined by commas")
    return numbers


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What is to be planned, for scores or relative judgments. What is None depends on the protocol."""

    systems: int = option(8, "Number of systems.")
    protocol: Literal["scores", "ranking", "pairwise"] = option(
        "scores", "How annotators judge: scores, ranking of blocks, or pairwise comparison."
    )
    difference: float | None = option(
        None, "Smallest difference to detect. Default: 3 points of 100; for rankings and pairs, 0.3 log-odds."
    )
    block_size: int = option(5, "Rankings: systems per block.")
    power: float = option(0.8, "Probability of detecting the difference.")
    level: float = option(0.05, "Significance level over all comparisons together.")
    comparisons: int | None = option(None, "Number of comparisons to correct for. Default: all pairs.")
    annotators: int = option(10, "Number of annotators.")
    documents: int = option(200, "Number of documents available.")
    segments: int = option(8, "Segments per document.")
    page: int | None = option(None, "Largest number of segments on a page. Default: whole documents.")
    task_size: int = option(100, "Items per task, controls included. Judgments are counted without controls.")
    controls: float = option(0.2, "Share of control items in a task.")
    per_item: tuple[int, ...] = option(
        (1, 2),
        "Numbers of judgments per item to try, comma-separated.",
        typed=str,
        python="Iterable[int]",
        about="numbers of judgments per item to try.",
        convert=_per_item,
    )
    structures: tuple[str, ...] = option(
        (),
        "Designs to try, comma-separated. Default: all.",
        typed=str,
        python="Iterable[str]",
        about="designs to try; default: all.",
        convert=column_names,
    )
    seconds: float | None = option(None, "Seconds per judgment (default 20) or per block (default 60).")
    like: Any = option(
        None,
        "Judgments to take the variances from. Default: those of large shared tasks.",
        typed=list[Path] | None,
        about="judgments to take the variances from (any source, or a function that returns them once the settings "
        "have been checked); default: the variances of large shared tasks.",
    )
    looks: int = option(5, "Number of looks during the campaign, for the comparison of goals and policies.")
    spending: Literal["kim-demets", "obrien-fleming", "pocock"] = option(
        "kim-demets", "How the level is spread over looks."
    )
    select: Path | None = option(
        None,
        "A file with a number per segment for sampling segments, as in 'adjudge design --select'.",
        about="a file with a number per segment for sampling segments, as in `design`; default: assumed numbers.",
    )
    draws: int = option(30, "Campaigns to simulate with the recommended design; 0 for none.")
    plot: Path | None = option(None, "Write a chart to this file: .svg or .png.", only="command line")
    seed: int = seed_option()
    progress: Callable[[str], None] = option(silent, "Called with progress messages.", only="python")


def _plan_and_plot(reading: Reading, options: PlanOptions) -> Plan | RelativePlan:
    from adjudge.planning.settings import Plan
    from adjudge.shell.output import tell_written

    def tell(what: str) -> None:
        if sys.stderr.isatty():
            print(what, file=sys.stderr)

    result: Plan | RelativePlan = COMMANDS["plan"].function(reading, replace(options, progress=tell))
    if options.plot is not None and isinstance(result, Plan):
        from adjudge.reports.charts import write_plan_chart

        write_plan_chart(result, options.plot)
        tell_written(options.plot)
    return result


@command("plan", BEFORE, "adjudge plan --systems 10 --difference 3 --annotators 15", line=_plan_and_plot, work=True)
def plan(reading: Reading, options: PlanOptions) -> Plan | RelativePlan:
    """Compute how many judgments each design needs to detect a difference."""
    from adjudge.campaigns.segment_selection import read_spread
    from adjudge.mixed.design import design_from
    from adjudge.planning.plan import plan as make_plan
    from adjudge.planning.relative import RelativePlanSettings, plan_relative, spread_like
    from adjudge.planning.search import pilot_variances
    from adjudge.planning.settings import PlanSettings

    pilot, progress = _pilot(reading, options.like), options.progress
    what = "reading the judgments whose spread is assumed"
    # Scores, or rankings and pairs: each takes the settings that it has, and its defaults where one is None.
    if options.protocol != "scores":
        relative = RelativePlanSettings(**_asked(RelativePlanSettings, options))
        progress("trying designs" if pilot is None else what)
        return plan_relative(relative, spread=None if pilot is None else spread_like(pilot()))
    settings = PlanSettings(**_asked(PlanSettings, options))
    chosen_by = None if options.select is None else read_spread(options.select)
    variances = None
    if pilot is not None:
        progress(what)
        variances = pilot_variances(design_from(pilot()), seed=settings.seed, progress=progress)
    return make_plan(settings, variances=variances, spread=chosen_by, progress=progress)


def _asked(kind: type[Any], options: PlanOptions) -> dict[str, Any]:
    """What this kind of settings has a field for; what is not given keeps its default."""
    asked = {**vars(options), "structures": options.structures or None}
    names = {each.name for each in fields(kind)}
    return {name: value for name, value in asked.items() if name in names and value is not None}


def _pilot(reading: Reading, like: Any) -> Callable[[], Judgments] | None:
    """Gives the judgments from which the variances are taken; called once the settings have been checked."""
    if like is None or callable(like):
        return like  # type: ignore[no-any-return]

    def read_pilot() -> Judgments:
        parts = reading.by_pair(like)
        if len(parts) > 1:
            held = f"the files hold {len(parts)} language pairs ({', '.join(parts)})"
            raise UsageError(f"{held}; choose one with {param('pair')}")
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


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError as fault:
        wrong = f"{param('qualities')} '{text}' is not a list of numbers; write them as 0.5,0,-0.5"
        raise UsageError(wrong) from fault


_OF_ALL = ("annotators", "documents", "segments", "careless", "pair")
_OF_RANKINGS = ("blocks", "block_size", "ties", "reference", "uneven", "repeats", "overlap", "length_effect", "blanks")
_OF_SCORES = ("tasks", "task_size", "context", "controls", "humans", "scale", "ends", "workload")


def _simulated(default: Any, help: str, *flags: str, **more: Any) -> Any:  # noqa: A002
    """A setting of the simulated campaign; in Python, the campaign's own class has it."""
    return option(default, help, *flags, only="command line", **more)


@dataclass(frozen=True, kw_only=True)
class SimulateOptions:
    """A simulated campaign, and the files that are written."""

    truth: Path | None = _simulated(None, "Write the true qualities to this JSON file.")
    sources: Path | None = _simulated(None, "Write a source text for every segment to this file.")
    protocol: Any = option(
        "ranking",
        "How annotators judge: ranking or da (direct assessment).",
        typed=str,
        positional=True,
        python="str | RankingCampaign | ScoreCampaign",
        about="how is judged: `ranking`, or `da` for scores; or a campaign with all its settings.",
    )
    systems: int = _simulated(8, "Number of machine translation systems.")
    annotators: int = _simulated(20, "Number of annotators.")
    documents: int = _simulated(20, "Number of documents.")
    segments: int = _simulated(10, "Segments per document (da: on average).")
    spread: float | None = _simulated(None, "Standard deviation of system quality. Default: 1 log-odds; da: 4 points.")
    qualities: tuple[float, ...] | None = _simulated(
        None,
        "The quality of each system, comma-separated, in log-odds (da: points).",
        typed=str | None,
        convert=_numbers,
    )
    careless: float = _simulated(0.0, "Share of annotators who judge at random.")
    blocks: int = _simulated(600, "ranking: number of blocks (screens).")
    block_size: int = _simulated(5, "ranking: systems per block.")
    ties: float = _simulated(0.5, "ranking: how likely ties are (Davidson's nu).")
    reference: float = _simulated(0.2, "ranking: share of blocks that include the reference.")
    uneven: float = _simulated(0.0, "ranking: how much more often similar systems meet; 0: all pairs equally often.")
    repeats: float = _simulated(0.05, "ranking: share of blocks repeated by the same annotator.")
    overlap: float = _simulated(0.2, "ranking: share of blocks also judged by a second annotator.")
    length_effect: float = _simulated(0.0, "ranking: how much harder long source texts are.")
    blanks: float = _simulated(0.0, "ranking: share of ranks left blank.")
    tasks: int = _simulated(60, "da: number of tasks, each for one annotator.")
    task_size: int = _simulated(100, "da: items per task, controls included.")
    context: bool = _simulated(True, "da: show whole documents, or single segments.")
    controls: float = _simulated(0.3, "da: share of control items in a task.")
    humans: int = _simulated(1, "da: number of human translations judged like systems.")
    taste: float | None = _simulated(
        None, "Standard deviation of annotators' tastes for systems. Default: 0.4 log-odds; da: 3 points."
    )
    scale: float = _simulated(0.3, "da: variation in how widely annotators spread their scores (sd of the log).")
    ends: bool = _simulated(True, "da: round scores to whole numbers from 0 to 100, or keep them as drawn.")
    workload: float = _simulated(0.5, "da: variation in the number of tasks per annotator (sd of the log).")
    pair: str = _simulated("src-tgt", "Language pair to write to the table.", "--pair", "-p")
    campaigns: int = _simulated(1, "Number of campaigns, each with the next seed; their files are numbered.", least=1)
    seed: int = seed_option()
    settings: Mapping[str, Any] | None = option(
        None,
        "What the campaign is made of: `systems`, `annotators`, `documents`, `segments`, `spread`, `qualities`, "
        "`careless`; of rankings also `blocks`, `ties`, `reference` and more, of scores `tasks`, `humans`, `controls` "
        "and more. `RankingCampaign` and `ScoreCampaign` in `adjudge.planning` explain all.",
        positional="keywords",
        only="python",
        python="Any",
    )

    def campaign(self) -> RankingCampaign | ScoreCampaign:
        """The campaign that the command line describes."""
        ranking = self.protocol == "ranking"
        given = {name: getattr(self, name) for name in (*_OF_ALL, *(_OF_RANKINGS if ranking else _OF_SCORES))}
        given["systems"] = self.systems if self.qualities is None else len(self.qualities)
        optional = {"spread": self.spread, "system_taste" if ranking else "taste": self.taste}
        given |= {name: value for name, value in optional.items() if value is not None}
        campaign: RankingCampaign | ScoreCampaign = _campaign_class(self.protocol)(qualities=self.qualities, **given)
        return campaign


def _campaign_class(protocol: str) -> Any:
    from adjudge.planning.simulated_rankings import RankingCampaign
    from adjudge.planning.simulated_scores import ScoreCampaign

    kinds = {"ranking": RankingCampaign, "da": ScoreCampaign}
    if protocol not in kinds:
        raise unknown_choice("protocol", protocol, kinds)
    return kinds[protocol]


def _simulate_files(table: Table, options: SimulateOptions) -> Results:
    """Draw the campaigns and write their files; the result is the truth behind them."""
    from adjudge.planning.simulate import simulate_many
    from adjudge.readers import native
    from adjudge.reports.files import to_json
    from adjudge.table.files import write_text

    many, pair = options.campaigns, options.pair
    drawn = simulate_many(options.campaign(), many, seed=options.seed)

    def numbered(file: Path, number: int) -> Path:
        # Of up to 99 campaigns, `judgments-07.parquet` is the seventh.
        return file if many == 1 else file.with_stem(f"{file.stem}-{number:0{len(str(many))}d}")

    for number, simulated in enumerate(drawn, start=1):
        native.write(simulated.judgments, numbered(table.output, number))
        if options.truth is not None:
            write_text(numbered(options.truth, number), to_json(simulated.truth.to_dict()) + "\n")
        if options.sources is not None:
            write_text(numbered(options.sources, number), "\n".join(simulated.sources) + "\n")
    names = [pair] if many == 1 else [f"{pair} {number}" for number in range(1, many + 1)]
    return Results({name: simulated.truth for name, simulated in zip(names, drawn, strict=True)})


@command(
    "simulate",
    BEFORE,
    "adjudge simulate -o judgments.parquet --truth truth.json --systems 12 --uneven 1 --careless 0.1",
    line=_simulate_files,
    work=True,
    output=False,
)
def simulate(table: Table, options: SimulateOptions) -> Simulated:  # noqa: ARG001, only the command line writes it
    """Simulate a campaign with known system qualities, to try out methods and designs.

    Returns:
        The `judgments`, the `truth` behind them, and a source text for every segment.
    """
    from adjudge.planning.simulate import simulate as draw

    protocol, settings = options.protocol, options.settings or {}
    if not isinstance(protocol, str):
        if settings:
            raise UsageError("a campaign has its settings inside; change them there")
        return draw(protocol, seed=options.seed)
    kind = _campaign_class(protocol)
    names = [each.name for each in fields(kind)]
    for name in settings:
        if name not in names:
            raise unknown_choice("setting", name, names)
    return draw(kind(**settings), seed=options.seed)
