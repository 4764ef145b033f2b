"""Functions beyond the ranking: `parity`, `compare`, `gold`, `meta`, `qe`, `replicate`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from adjudge.api.calls import single_pair, verb
from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from adjudge.core.judgments import Judgments
    from adjudge.results.compare import CampaignComparison
    from adjudge.results.gold import Gold
    from adjudge.results.meta import MetaEvaluation
    from adjudge.results.parity import Parity
    from adjudge.results.qe import QualityEstimation
    from adjudge.results.replication import Replication

    AnyPath = str | Path
_YES = ("t", "true", "yes", "y", "1")


@verb
def parity(
    source: Any,
    human: str,
    *,
    before: Any = None,
    contaminated: str | Iterable[str] | None = None,
    keys: AnyPath | Mapping[str, str] | None = None,
    ties: Literal["half", "drop"] = "half",
    margin: float | str | None = None,
    seed: int = DEFAULT_SEED,
    **reading: Any,
) -> Parity:
    """Test each system against a human translation, on one test set or before and after a correction.

    Args:
        source: a path, several paths, a polars or pandas data frame, or judgments.
        human: the human translation: its name, or a regular expression.
        before: judgments on an earlier version of the test set, to test the change; or use a column `version`.
        contaminated: segments to analyse separately: names, a file of names, or a column of the judgments.
        keys: the document of every segment, as a mapping or a table, if the judgments do not name documents.
        ties: ties in the sign test: half a win each (`half`), or left out (`drop`).
        margin: for scores: the largest difference that counts as parity, in points or as a share of the scale (`5%`).
        seed: random seed for resampling.
        **reading: how the source is read, as in `adjudge.read`: `format`, `pair`, ...
    """
    from adjudge.audit.parity import ParitySettings, split_versions
    from adjudge.audit.parity import parity as compare_with_human
    from adjudge.core.test_set import CORRECTED

    reading["human"] = human
    whole = single_pair(source, reading, doing="parity")
    earlier, later = split_versions(whole) if before is None else (single_pair(before, reading, doing="parity"), whole)
    if earlier is not None and contaminated is None and CORRECTED in later.table.columns:
        contaminated = CORRECTED
    tables = [table for table in (later, earlier) if table is not None]
    settings = ParitySettings(
        contaminated=_marked(contaminated, tables), keys=read_keys(keys), ties=ties, margin=margin, seed=seed
    )
    return compare_with_human(later, human=human, before=earlier, settings=settings)


def _marked(contaminated: str | Iterable[str] | None, tables: Sequence[Judgments]) -> frozenset[str] | None:
    if contaminated is None:
        return None
    return marked_segments(contaminated, tables) if isinstance(contaminated, str) else frozenset(contaminated)


def read_keys(keys: AnyPath | Mapping[str, str] | None) -> Mapping[str, str] | None:
    """The document of every segment; read from a table if a path is given."""
    from adjudge.meta.document_keys import read_keys as read_table

    return read_table(Path(keys)) if isinstance(keys, str | Path) else keys


@verb
def compare(
    campaigns: Mapping[str, Any] | Sequence[Any] | Any,
    *others: Any,
    rename: Mapping[str, str] | None = None,
    method: str | None = None,
    keys: AnyPath | Mapping[str, str] | None = None,
    resamples: int = 1000,
    seed: int = DEFAULT_SEED,
    **reading: Any,
) -> CampaignComparison:
    """Compare campaigns over the same systems: do they give the same order?

    Args:
        campaigns: two or more, by name or in a list: paths, polars or pandas data frames, judgments, or metric scores
            (files `*.seg.score` and `*.sys.score`, or what `read_metric_scores` gives).
        *others: further campaigns, if they are not in a list.
        rename: new names of systems by their old names, if campaigns name them differently.
        method: ranking method; default: mean raw scores, or Bradley-Terry for rankings.
        keys: the document of every segment, as a mapping or a table, if the judgments do not name documents.
        resamples: number of bootstrap resamples of annotators and documents, for intervals.
        seed: random seed for resampling.
        **reading: how the campaigns are read, as in `adjudge.read`: `format`, `pair`, ...
    """
    from adjudge.compare import compare as compare_campaigns

    if not isinstance(campaigns, Mapping):
        several = enumerate([campaigns, *others] if others else campaigns, start=1)
        campaigns = {_name(source, f"campaign {i}"): source for i, source in several}
    sources = {name: _campaign(source, reading) for name, source in campaigns.items()}
    documents = read_keys(keys)
    return compare_campaigns(sources, rename=rename, method=method, keys=documents, resamples=resamples, seed=seed)


def _campaign(source: Any, reading: dict[str, Any]) -> Any:
    from adjudge.formats.metric_score_files import ENDINGS, MetricScore, read_metric_scores

    if isinstance(source, str | Path) and str(source).endswith(ENDINGS):
        return read_metric_scores([Path(source)])
    if isinstance(source, list) and source and isinstance(source[0], MetricScore):
        return source
    return single_pair(source, reading, doing="compare")


@verb
def gold(
    run: Any,
    second: Any = None,
    *,
    keys: AnyPath | Mapping[str, str] | None = None,
    level: Literal["documents", "segments"] | None = None,
    all_annotators: bool = False,
    orders: int = 200,
    seed: int = DEFAULT_SEED,
    **reading: Any,
) -> Gold:
    """Compute human scores of documents or segments; with two runs, also how well they correlate.

    Args:
        run: a path, several paths, a polars or pandas data frame, or judgments.
        second: an optional second run of the same task.
        keys: the document of every segment, as a mapping or a table, if the judgments do not name documents.
        level: what to score; default: documents if they are known.
        all_annotators: keep annotators who fail the check on control items.
        orders: number of random orders for the band around the curve.
        seed: random seed for the orders.
        **reading: how the runs are read, as in `adjudge.read`: `format`, `pair`, ...
    """
    from adjudge.meta.gold import gold as make_gold

    runs = [single_pair(source, reading, doing="gold") for source in (run, second) if source is not None]
    names = [_name(source, otherwise) for source, otherwise in ((run, "first"), (second, "second"))]
    return make_gold(
        runs, names=names, keys=read_keys(keys), level=level, checked=not all_annotators, orders=orders, seed=seed
    )


def _name(source: Any, otherwise: str) -> str:
    return str(source) if isinstance(source, str | Path) else otherwise


@verb
def meta(
    gold: Any,
    scores: AnyPath | Iterable[AnyPath] = (),
    *,
    gold_column: str | None = None,
    gold_method: str | None = None,
    lower_is_better: Sequence[str] = (),
    references: Sequence[AnyPath] = (),
    outputs: Mapping[str, AnyPath] | None = None,
    tokenize: str = "13a",
    permutations: int = 1000,
    resamples: int = 500,
    seed: int = DEFAULT_SEED,
    **reading: Any,
) -> MetaEvaluation:
    """Correlate metrics with human scores, and test which metric is better.

    Args:
        gold: human scores: a file with a column of scores; or judgments (a data frame, or a path with its `format`).
        scores: files or folders of metric scores.
        gold_column: the column of human scores, if it cannot be recognised by its name.
        gold_method: ranking method that turns rankings and pairs into system scores; default `bradley-terry`.
        lower_is_better: metrics, or the human column, where lower is better; their sign is reversed.
        references: reference translations, to compute BLEU, chrF and TER of `outputs`.
        outputs: the output file of each system, by the system's name.
        tokenize: sacrebleu's tokenizer for BLEU.
        permutations: number of permutations per test.
        resamples: number of bootstrap resamples of documents, or of segments if there are none, for intervals.
        seed: random seed for permutations and resampling.
        **reading: how judgments are read, as in `adjudge.read`: `format`, `pair`, ...
    """
    from adjudge.meta import meta as evaluate

    is_table = isinstance(gold, str | Path) and reading.get("format") is None
    return evaluate(
        gold if is_table else single_pair(gold, reading, doing="meta"),
        [scores] if isinstance(scores, str | Path) else list(scores),
        gold_column=gold_column,
        gold_method=gold_method,
        lower_is_better=lower_is_better,
        references=references,
        outputs=outputs,
        tokenize=tokenize,
        permutations=permutations,
        resamples=resamples,
        seed=seed,
    )


@verb
def qe(
    texts: AnyPath,
    predictions: AnyPath | None = None,
    *,
    weight: float | None = None,
    baseline: str | None = None,
    largest: float = 50.0,
    direct: AnyPath | None = None,
    assessments: int | None = None,
    assessment_price: float | None = None,
    word_price: tuple[float, float] | None = None,
) -> QualityEstimation:
    """Score documents from post-edits, and rank quality-estimation systems for every weight.

    Args:
        texts: TSV with columns `document`, `mt`, `pe1` and, for two-stage post-editing, `pe2`.
        predictions: table with a column `document` and one column per system; higher is worse.
        weight: the weight of the second post-edit in the label.
        baseline: the baseline system for choosing the weight by the rule of WMT 2016, if no weight is given.
        largest: the largest weight to try.
        direct: direct assessment scores of the documents: a table, or the JSON of `adjudge gold`.
        assessments: for costs: number of direct assessments.
        assessment_price: for costs: price of one assessment.
        word_price: for costs: low and high price per post-edited word.
    """
    from adjudge.core.errors import UsageError
    from adjudge.meta.quality_estimation import Prices
    from adjudge.meta.quality_estimation import qe as estimate

    prices = None
    if assessments is not None and assessment_price is not None and word_price is not None:
        prices = Prices(assessments, assessment_price, *word_price)
    elif any(value is not None for value in (assessments, assessment_price, word_price)):
        raise UsageError("costs need --assessments, --assessment-price and --word-price LOW HIGH together")
    return estimate(texts, predictions, weight=weight, baseline=baseline, largest=largest, direct=direct, prices=prices)


def marked_segments(marked: str, tables: Sequence[Judgments]) -> frozenset[str]:
    """The names of marked segments: the lines of a file, the rows for which a column says yes, or the given names."""
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


def _marked_in_column(column: str, tables: Sequence[Judgments]) -> frozenset[str]:
    import polars as pl

    says_yes = pl.col(column).cast(pl.String).str.strip_chars().str.to_lowercase().is_in(_YES)
    holding = [judgments.table for judgments in tables if column in judgments.table.columns]
    rows = pl.concat([table.filter(says_yes).select("document", "segment") for table in holding])
    # If segment numbers restart in every document, the document is part of the name.
    segments = pl.concat([judgments.table.select("document", "segment") for judgments in tables]).drop_nulls().unique()
    anew = segments["segment"].n_unique() < segments.height
    name = pl.concat_str("document", "segment", separator=":") if anew else pl.col("segment")
    return frozenset(rows.select(name=name)["name"].drop_nulls().to_list())


@verb
def replicate(paper: str, data: AnyPath, *, report: AnyPath | None = None) -> Replication:
    """Recompute the tables and figures of a paper from its released data.

    Args:
        paper: `document-qe`, `grain-of-salt`, `in-order`, `stability` or `suboptimal`.
        data: the folder of its released data, or a folder that holds it.
        report: also write a page with all figures and tables to this file, `.html` or `.pdf`.
    """
    from adjudge.replicate import PAPERS
    from adjudge.replicate import replicate as recompute
    from adjudge.report.output.pages import check_page_ending, write_page
    from adjudge.report.replication_page import build_replication_page

    if report is not None:
        check_page_ending(Path(report))
    result = recompute(paper, Path(data))
    if report is not None:
        write_page(build_replication_page(result, title=PAPERS[paper][1]), Path(report))
    return result
