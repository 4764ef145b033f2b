"""Commands on metrics and papers: `gold`, `meta`, `qe`, `replicate`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.shell.declare import COMMANDS, METRICS, command
from adjudge.shell.evidence import source_name
from adjudge.shell.options import keys_option, page_option, read_keys
from adjudge.shell.reading import Reading, Results, check_one_pair
from adjudge.table.errors import UsageError, param
from adjudge.table.settings import REQUIRED, argument, option

if TYPE_CHECKING:
    from adjudge.metrics.gold import GoldSettings
    from adjudge.metrics.meta import MetaSettings
    from adjudge.metrics.quality_estimation import Prices
    from adjudge.metrics.results import Gold, MetaEvaluation, QualityEstimation
    from adjudge.papers.replicate import Replication
    from adjudge.table.judgments import Judgments


@dataclass(frozen=True, kw_only=True)
class GoldFiles:
    """The runs of judgments, the documents of their segments, and the page that is written."""

    runs: list[Path] | None = argument(
        REQUIRED, "One or two runs, each a file or a folder.", metavar="RUN", typed=list[Path], only="command line"
    )
    run: Any = option(
        REQUIRED, "A path, several paths, a polars or pandas data frame, or judgments.", positional=True, only="python"
    )
    second: Any = option(None, "An optional second run of the same task.", positional=True, only="python")
    keys: Any = keys_option()
    report: Path | None = page_option(after="seed")


@command(
    "gold",
    METRICS,
    "adjudge gold runA/ runB/ --format mturk-da --keys seg-key.txt",
    settings="adjudge.metrics.gold:GoldSettings",
    work=True,
)
def gold(reading: Reading, files: GoldFiles, settings: GoldSettings) -> Gold:
    """Compute human scores of documents or segments; with two runs, how well they correlate."""
    from adjudge.metrics.gold import check_runs, runs_by_pair
    from adjudge.metrics.gold import gold as make_gold

    runs = files.runs or [files.run, *([] if files.second is None else [files.second])]
    check_runs(len(runs))
    # Runs count everybody, and standardise scores before they leave out who fails.
    read = [reading.one_pair(run, everyone=True) for run in runs]
    parts = runs_by_pair(read) if reading.caller is None else {"": read}
    if files.report is not None:
        check_one_pair(parts, param("report"))
    keys = read_keys(files.keys)
    names = [source_name(run, otherwise) for run, otherwise in zip(runs, ("first", "second"), strict=False)]

    def compute(part: list[Judgments]) -> Gold:
        everyone = settings.all_annotators or reading.options.everyone
        return make_gold(part, replace(settings, all_annotators=everyone), names=names, keys=keys)

    def write_page(results: Mapping[str, Gold]) -> None:
        _write_page(next(iter(results.values())), files.report, title=", ".join(Path(run).stem for run in runs))

    return reading.each(parts, compute, then=write_page)


def _write_page(result: Any, path: Path | None, *, title: str) -> None:
    """Write the page of `gold`, `meta` or `qe` if one was requested."""
    if path is None:
        return
    from adjudge.reports.result_page import build_standard_report
    from adjudge.shell.output import write_page

    write_page(build_standard_report(result, title=title), path)


@dataclass(frozen=True, kw_only=True)
class MetaFiles:
    """Human scores and metric scores."""

    gold: Any = argument(
        REQUIRED,
        "Human scores: a table, a *.seg.score file, or judgments. Without SCORES, also a folder of mt-metrics-eval.",
        metavar="GOLD",
        typed=Path,
        about="human scores: a file with a column of scores; or judgments (a data frame, or a path with its `format`).",
    )
    scores: list[Path] = argument((), "Metric scores: tables, score files or folders.", metavar="SCORES")
    format: str | None = option(
        None,
        "Format of GOLD if it holds judgments; 'judgments' for the judgment table.",
        "--format",
        "-f",
        only="command line",
        reads=True,
    )
    report: Path | None = page_option(after="seed")


@command("meta", METRICS, "adjudge meta human.tsv metrics.tsv", settings="adjudge.metrics.meta:MetaSettings", work=True)
def meta(reading: Reading, files: MetaFiles, settings: MetaSettings) -> MetaEvaluation:
    """Correlate metrics with human scores, and test which metric is better."""
    from adjudge.metrics.meta import meta as evaluate

    # A table of human scores is text; only judgments come as Parquet.
    is_text = isinstance(files.gold, str | Path) and not str(files.gold).lower().endswith(".parquet")
    is_table = is_text and reading.format is None
    if is_table and not files.scores:
        files, settings = _take_release(files, settings, reading.pair)
    scored = files.gold if is_table else reading.one_pair(files.gold)
    result = evaluate(scored, files.scores, settings)
    if files.report is not None:
        _write_page(result, files.report, title=Path(files.gold).stem)
    return result


def _take_release(files: MetaFiles, settings: MetaSettings, pair: str | None) -> tuple[MetaFiles, MetaSettings]:
    """The human scores and metrics of a whole folder of mt-metrics-eval; other files as they are."""
    from adjudge.readers.metric_scores import parts_of_release

    release = parts_of_release(Path(files.gold), pair, settings.gold_column)
    if release is None:
        return files, settings
    return replace(files, gold=release[0], scores=[release[1]]), replace(settings, gold_column=None)


@dataclass(frozen=True, kw_only=True)
class QeSettings:
    """Post-edits, predictions, and what is computed from them."""

    texts: Any = argument(
        REQUIRED,
        "TSV with the columns document, mt, pe1 and, for two-stage post-editing, pe2.",
        metavar="TEXTS",
        typed=Path,
        about="a TSV file or a data frame with the columns document, mt, pe1 and, for two-stage post-editing, pe2; or "
        "with edit rates computed elsewhere, in the columns document, first and second.",
    )
    predictions: Any = option(
        None,
        "Table with a column document and one column per system; higher is worse.",
        typed=Path | None,
        positional=True,
        about="a table (a file or a data frame) with a column document and one column per system, or a mapping from "
        "systems to documents to numbers; higher is worse.",
    )
    weight: float | None = option(None, "Weight of the second post-edit in the label.")
    baseline: str | None = option(
        None, "Baseline system for choosing the weight by the rule of WMT 2016, if no weight is given."
    )
    largest: float = option(50.0, "Largest weight to try.")
    direct: Path | None = option(
        None, "Direct assessment scores of the documents: a table, or JSON from 'adjudge gold'."
    )
    assessments: int | None = option(None, "Costs: number of direct assessments.")
    assessment_price: float | None = option(None, "Costs: price of one assessment.")
    word_price: tuple[float, float] | None = option(None, "Costs: low and high price per post-edited word.")
    report: Path | None = page_option()

    @property
    def prices(self) -> Prices | None:
        """The prices for the comparison of costs, if they are given."""
        from adjudge.metrics.quality_estimation import Prices

        given = (self.assessments, self.assessment_price, self.word_price)
        if all(value is None for value in given):
            return None
        if self.assessments is None or self.assessment_price is None or self.word_price is None:
            names = f"{param('assessments')}, {param('assessment_price')} and {param('word_price')} LOW HIGH"
            raise UsageError(f"costs need {names} together")
        return Prices(self.assessments, self.assessment_price, *self.word_price)


@command("qe", METRICS, "adjudge qe edits.tsv --predictions predictions.tsv --baseline BASELINE", work=True)
def qe(settings: QeSettings) -> QualityEstimation:
    """Score documents from post-edits, and rank quality-estimation systems for every weight."""
    from adjudge.metrics.quality_estimation import estimate
    from adjudge.readers.post_edits import read_document_scores, read_post_edits, read_predictions

    result = estimate(
        read_post_edits(settings.texts),
        None if settings.predictions is None else read_predictions(settings.predictions),
        weight=settings.weight,
        baseline=settings.baseline,
        largest=settings.largest,
        direct=None if settings.direct is None else read_document_scores(settings.direct),
        prices=settings.prices,
    )
    if settings.report is not None:
        _write_page(result, settings.report, title=settings.texts.stem)
    return result


@dataclass(frozen=True, kw_only=True)
class ReplicateSettings:
    """The paper and its data."""

    paper: str = argument(
        REQUIRED,
        "The paper: document-qe, grain-of-salt, in-order, stability or suboptimal.",
        metavar="PAPER",
        complete="papers",
    )
    data: Path = option(
        REQUIRED,
        "Folder with the released data of the paper.",
        "--data",
        "-d",
        metavar="DIR",
        positional=True,
        about="the folder of its released data, or a folder that holds it.",
    )
    report: Path | None = page_option(
        only=None, about="also write a page with all figures and tables to this file, `.html` or `.pdf`."
    )


def _replicate_and_tell(settings: ReplicateSettings) -> Results:
    from adjudge.shell.output import tell_written

    result = COMMANDS["replicate"].function(settings)
    if settings.report is not None:
        tell_written(settings.report)
    return Results({settings.paper: result})


@command(
    "replicate",
    METRICS,
    "adjudge replicate grain-of-salt --data wmt10 --report grain-of-salt.html",
    line=_replicate_and_tell,
    work=True,
)
def replicate(settings: ReplicateSettings) -> Replication:
    """Recompute the tables and figures of a paper from its released data."""
    from adjudge.papers.replicate import PAPERS
    from adjudge.papers.replicate import replicate as recompute
    from adjudge.reports.files import check_page_ending, write_page
    from adjudge.reports.replication_page import build_replication_page

    if settings.report is not None:
        check_page_ending(settings.report)
    result = recompute(settings.paper, settings.data)
    if settings.report is not None:
        write_page(build_replication_page(result, title=PAPERS[settings.paper][1]), settings.report)
    return result
