"""Gold standards, and what they say about metrics and quality estimation; `meta` is the main function.

`meta` evaluates metrics against human scores, `gold` makes a human score for every document or segment, and `qe` labels
documents from post-edits and evaluates quality estimation against the labels.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence  # noqa: TC003 - the shell reads the types of settings when it runs
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adjudge.metrics import levels as resampling
from adjudge.metrics.gold import GoldSettings
from adjudge.metrics.gold import gold as gold_standard
from adjudge.metrics.join import HUMAN, Scores, join, system_means
from adjudge.metrics.levels import MOST_PAIRS, Draws, evaluate_segments, evaluate_systems, outliers, signs
from adjudge.metrics.results import Gold, MetaEvaluation, MetricAtLevel, MetricComparison, Perturbation, descending
from adjudge.metrics.significance import compare_segments, compare_systems, enough_permutations, metric_clusters
from adjudge.ranking.changes import ONCE_PER_PAIR, all_changes
from adjudge.ranking.methods import RankSettings, rank
from adjudge.ranking.scores import as_scores
from adjudge.readers.metric_scores import MetricScore, fingerprint_of_scores, read_metric_scores, reverse_scores
from adjudge.readers.texts import Column, aligned, read_column
from adjudge.table.errors import DataError, InputError, UsageError, param
from adjudge.table.judgments import Judgments, SetAside
from adjudge.table.maths import Floats, pearson
from adjudge.table.protocols import RELATIVE
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.table.score_sheet import Sheet, item_means, sheet_of, standardised
from adjudge.table.settings import option, seed_option
from adjudge.table.texts import signature_text
from adjudge.table.wording import counted
from adjudge.work.tasks import map_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.ranking.ranking import Ranking


def _named_files(typed: Sequence[str]) -> dict[str, Path]:
    """The file of every system, named by NAME=FILE or by the file itself."""
    named: dict[str, Path] = {}
    for output in typed:
        name, _, file = output.rpartition("=")
        named[name or Path(file).stem] = Path(file)
    if len(named) < len(typed):
        raise UsageError(f"{param('outputs')} names a system twice; give each its own NAME=FILE")
    return named


@dataclass(frozen=True, kw_only=True)
class MetaSettings:
    """What is correlated, and how it is tested."""

    gold_column: str | None = option(
        None,
        "Column of GOLD with the human scores.",
        about="the column of human scores, if it cannot be recognised by its name.",
    )
    gold_method: str | None = option(
        None,
        "Ranking method that turns rankings and pairs into system scores. Default: bradley-terry.",
        complete="methods",
    )
    lower_is_better: list[str] = option(
        (),
        "A metric (or the human column) where lower is better; its sign is reversed.",
        metavar="NAME",
        typed=list[str] | None,
        python="Sequence[str]",
        about="metrics, or the human column, where lower is better; their sign is reversed.",
    )
    references: list[Path] = option(
        (),
        f"Reference translations, to compute BLEU, chrF and TER of {param('outputs')}.",
        python="Sequence[str | Path]",
    )
    outputs: Mapping[str, str | Path] | None = option(
        None,
        "Output of a system; repeat for each system.",
        metavar="NAME=FILE",
        typed=list[str] | None,
        parse=_named_files,
        about="the output file of each system, by the system's name.",
    )
    tokenize: str = option("13a", "sacrebleu's tokenizer for BLEU.")
    permutations: int = option(1000, "Permutations per test; more are used if there are many metrics.")
    resamples: int = option(500, "Bootstrap resamples of documents (or segments) for intervals.")
    seed: int = seed_option()


def meta(gold: Judgments | Path | str, scores: Sequence[Path | str], settings: MetaSettings) -> MetaEvaluation:
    """Evaluate metrics against human scores, at every level that the scores allow, and compare every two of them.

    Args:
        gold: judgments of one language pair (scores, rankings or pairs), or a file with a column of human scores.
        scores: files or folders of metric scores; the file of human scores may be among them.
        settings: what is correlated, and how it is tested.
    """
    from adjudge.metrics.segment_tau import add_relative_levels, add_separated_level

    repeats = {"permutations": settings.permutations, "resamples": settings.resamples, "seed": settings.seed}
    check_counts(settings.permutations, settings.resamples)
    inputs = read_inputs(gold, scores, settings)
    result = evaluate(
        inputs.scores,
        **repeats,
        data=inputs.fingerprint,
        set_aside=inputs.set_aside,
        perturbations=inputs.perturbations,
        made_with=inputs.made_with,
        notes=inputs.notes,
    )
    if not isinstance(gold, Judgments):
        return result
    if inputs.ranking is None:
        return add_separated_level(result, as_scores(gold), inputs.metrics, seed=settings.seed)
    return add_relative_levels(
        replace(result, settings={**result.settings, "gold_method": inputs.ranking.method}),
        gold,
        inputs.ranking,
        inputs.metrics,
        **repeats,
    )


# `meta`: metrics and quality estimation against human scores, at every level, with valid tests of significance.

MAE_NOTE = (
    "mae rewards a metric for using the scale of the human scores, not for ordering translations: do not rank by it"
)
FEW_SYSTEMS = 10


def evaluate(
    scores: Scores,
    *,
    permutations: int = 1000,
    resamples: int = 500,
    seed: int = DEFAULT_SEED,
    data: str = "",
    set_aside: tuple[SetAside, ...] = (),
    perturbations: tuple[Perturbation, ...] = (),
    made_with: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
) -> MetaEvaluation:
    """Evaluate every metric at the levels that the scores allow, and compare every two of them.

    Args:
        scores: human and metric scores side by side.
        permutations: of every permutation test; more where there are many metrics.
        resamples: of documents, or of segments where documents are not named, for intervals.
        seed: of both.
        data: fingerprint of the data.
        set_aside: scores that could not be joined.
        perturbations: what becomes of the metrics when the human data are changed, where that is known.
        made_with: how metric scores were made, where adjudge made them.
        notes: what else is to be known of the scores.
    """
    if len(scores.systems) < 2:
        raise DataError("at least two systems are needed to say anything about a metric")
    rng = generator(seed)
    drawn = resampling.draws(resamples, scores.texts(), rng)
    flips = signs(permutations, len(scores.segments), rng) if len(scores.segments) > 1 else None
    far = outliers(scores.system_means(scores.human))
    names = tuple(name for name, out in zip(scores.systems, far, strict=True) if out)
    levels = _evaluate_levels(scores, drawn, flips, set(names), rng)
    comparisons = compare_systems(scores)
    if (of_segments := scores.of_segments()) is not None:
        comparisons += compare_segments(of_segments, permutations, rng)
    return MetaEvaluation(
        settings={"permutations": permutations, "resamples": resamples, "seed": seed, **(made_with or {})},
        data=data,
        set_aside=set_aside,
        notes=(
            *_note_scores(scores, names, permutations),
            *_note_levels(levels),
            *notes,
        ),
        metrics=levels,
        comparisons=comparisons,
        clusters=_find_clusters(levels, comparisons),
        outliers=names,
        perturbations=perturbations,
    )


def _evaluate_levels(
    scores: Scores, drawn: Draws | None, flips: np.ndarray | None, far: set[str], rng: np.random.Generator
) -> dict[str, dict[str, MetricAtLevel]]:
    without = scores.without(far) if far and len(scores.systems) - len(far) > 2 else None
    several = len({document for document in scores.documents if document is not None}) > 1
    documents = scores.by_document() if several else None
    resamples = 0 if drawn is None else len(drawn.weights)
    redrawn = None if documents is None else resampling.draws(resamples, documents.texts(), rng)

    def evaluate_metric(name: str) -> dict[str, MetricAtLevel]:
        levels = {"system": evaluate_systems(scores, name, drawn, flips)}
        if without is not None:
            levels["system without outliers"] = evaluate_systems(without, name, drawn, flips)
        if not scores.has_segments(name):
            return levels
        if documents is not None:
            matched = documents if not scores.missing(name).any() else scores.matched(name).by_document()
            levels["document"] = evaluate_segments(matched, matched.metrics[name], redrawn)
        if len(scores.segments) > 1:
            levels["segment"] = evaluate_segments(scores, scores.metrics[name], drawn)
        return levels

    return dict(zip(scores.metrics, map_tasks(evaluate_metric, scores.metrics, what="metrics"), strict=True))


def _find_clusters(
    levels: Mapping[str, Mapping[str, MetricAtLevel]], comparisons: tuple[MetricComparison, ...]
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Clusters by Williams' test at system level, and by permutation of accuracy (by item) at segment level."""
    clusters: dict[str, tuple[tuple[str, ...], ...]] = {}
    by_pearson = sorted(levels, key=lambda name: descending(levels[name]["system"].values["pearson"]))
    clusters["system"] = metric_clusters(
        [comparison for comparison in comparisons if comparison.level == "system"], by_pearson
    )
    test = "permutation of tie-calibrated accuracy by item"
    if any(comparison.test == test for comparison in comparisons):
        by_item = {
            name: at_levels["segment"].groups["by_item"] for name, at_levels in levels.items() if "segment" in at_levels
        }
        order = sorted(by_item, key=lambda name: descending(by_item[name]["tie_calibrated_accuracy"]))
        clusters["segment"] = metric_clusters(
            [comparison for comparison in comparisons if comparison.test == test], order
        )
    return clusters


def _note_scores(scores: Scores, far: tuple[str, ...], permutations: int) -> Iterator[str]:
    """Note few and outlying systems, further permutations, and segments that metrics lack."""
    several = len(scores.segments) > 1
    if several:
        yield MAE_NOTE
    if len(scores.systems) < FEW_SYSTEMS:
        yield f"only {counted(len(scores.systems), 'system')}: correlations at system level say little"
    if far:
        yield f"outlier systems ({', '.join(far)}) raise correlations at system level; see the level without them"
    most = enough_permutations(len(scores.metrics), permutations)
    if most != permutations and several:
        often = f"pairs whose p is at most .05 are permuted up to {most:,} times"
        yield f"with {len(scores.metrics)} metrics, {often}, so that Holm's correction can be met"
    lacking = []
    for name in scores.metrics:
        # Of the systems that the metric scored at all.
        scored = ~np.isnan(scores.metrics[name]).all(axis=1)
        missing, judged = scores.missing(name)[scored], ~np.isnan(scores.human[scored])
        if missing.any():
            lacking.append(f"{name} {missing.sum():,} of {judged.sum():,}")
    if lacking:
        same = "where a metric is averaged over segments, human scores are averaged over the segments that it scored"
        yield f"judged segments of systems without a score by the metric ({', '.join(lacking)}): {same}"


def _note_levels(levels: Mapping[str, Mapping[str, MetricAtLevel]]) -> Iterator[str]:
    """Note metrics that probably count errors, and where there were too many pairs of scores to form them all."""
    negative = [name for name, found in levels.items() if all(level.values["pearson"] < 0 for level in found.values())]
    if negative:
        hint = f"if lower is better there, reverse them with --lower-is-better {shlex.quote(negative[0])}"
        yield f"negative correlations at every level ({', '.join(negative)}): {hint}"
    segments = [found["segment"] for found in levels.values() if "segment" in found]
    values = {"pooled": [one.values for one in segments], "by system": [one.groups["by_system"] for one in segments]}
    left = [where for where, several in values.items() if any("pairwise_accuracy" not in each for each in several)]
    if left:
        more = f"as there are more than {MOST_PAIRS:,} pairs of scores; see by item"
        yield f"accuracies {' and '.join(left)} are left out, {more}"


# BLEU, chrF and TER of outputs against references, through sacrebleu: every segment, and every whole test set.
#
# The score of a whole test set is sacrebleu's own (of summed counts), not the mean of its segments. Sentence BLEU is of
# effective order. TER counts errors, so it is turned round: higher is better for all three.

TURNED = "TER counts errors, so its sign is reversed (multiplied by -1) and higher is better"
DEFAULT_TOKENIZER = "13a"


@dataclass(frozen=True)
class Texts:
    """References (one or several) and the output of every system, all with the same segments."""

    segments: tuple[str, ...]
    documents: tuple[str | None, ...]
    references: tuple[tuple[str, ...], ...]
    outputs: Mapping[str, tuple[str, ...]]


def read_texts(references: Sequence[Path], outputs: Mapping[str, Path]) -> Texts:
    """Read and align the files: plain text (line n is segment n), TSV, WMT XML or SGM."""
    first = read_column(references[0], names=("reference", "ref", "refA"))
    others = [_align(first, read_column(path, names=("reference", "ref", "refA"))) for path in references[1:]]
    texts = {
        name: _align(first, read_column(path, names=(name, "mt", "output", "system", "translation")))
        for name, path in outputs.items()
    }
    segments = first.segments or tuple(str(i) for i in range(1, len(first.texts) + 1))
    if len(set(segments)) < len(segments):
        # Numbers that restart in every document do not identify a segment; line numbers do.
        segments = tuple(str(i) for i in range(1, len(segments) + 1))
    documents: tuple[str | None, ...] = first.documents or (None,) * len(segments)
    return Texts(segments, documents, (first.texts, *others), texts)


def _align(reference: Column, other: Column) -> tuple[str, ...]:
    texts = aligned(reference, other)
    if texts is None:
        held = counted(len(other.texts), "segment")
        what = f"has {held} where the reference {reference.path} has {len(reference.texts)}"
        raise InputError(f"{what}; one line per segment is needed", file=other.path)
    return texts


def text_metrics(texts: Texts, *, tokenize: str = DEFAULT_TOKENIZER) -> tuple[list[MetricScore], dict[str, str]]:
    """All scores, and how sacrebleu made each metric (its signature)."""
    metrics = _metrics(tokenize)
    references = [list(reference) for reference in texts.references]
    scores: list[MetricScore] = []
    for system, output in texts.outputs.items():
        for name, (of_segments, of_all) in metrics.items():
            sentences = [
                of_segments.sentence_score(line, [reference[i] for reference in references])
                for i, line in enumerate(output)
            ]
            sign = -1.0 if name == "TER" else 1.0
            whole = _ter(sentences) if name == "TER" else of_all.corpus_score(list(output), references).score
            scores.append(MetricScore(name, system, None, None, sign * whole))
            scores += [
                MetricScore(name, system, segment, document, sign * float(sentence.score))
                for segment, document, sentence in zip(texts.segments, texts.documents, sentences, strict=True)
            ]
    return scores, {name: signature_text(whole) for name, (_, whole) in metrics.items()}


def _ter(sentences: Sequence[Any]) -> float:
    """Compute sacrebleu's TER of the whole from its segments: all edits by all reference words."""
    words = sum(sentence.ref_length for sentence in sentences)
    edits = sum(sentence.num_edits for sentence in sentences)
    return 100 * float(edits / words) if words else 100.0 * (edits > 0)


def _metrics(tokenize: str) -> dict[str, tuple[Any, Any]]:
    """Make every metric by name: one for segments, one for the whole test set."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF
    from sacrebleu.metrics.ter import TER

    if tokenize not in BLEU.TOKENIZERS:
        raise UsageError(f"unknown tokenizer '{tokenize}': choose one of {', '.join(BLEU.TOKENIZERS)}")
    try:
        bleu = BLEU(tokenize=tokenize, effective_order=True), BLEU(tokenize=tokenize)
    except (ImportError, RuntimeError) as fault:
        raise UsageError(f"the tokenizer '{tokenize}' is not installed ({fault}); choose another") from fault
    return {"BLEU": bleu, "chrF": (CHRF(), CHRF()), "TER": (ter := TER(), ter)}


# Downstream: how metrics fare when the human ranking is made from changed data (Knowles 2021, section 7).


def perturbations(judgments: Judgments, metrics: Mapping[str, Mapping[str, float]]) -> tuple[Perturbation, ...]:
    """Pearson's r of every metric at system level before and after each change of the human data.

    Args:
        judgments: scores of one language pair.
        metrics: the score of every system by every metric.
    """
    sheet = sheet_of(judgments)
    original = _system_scores(sheet)
    order = np.array([i for i in np.argsort(-original) if not np.isnan(original[i])])
    perturbed: list[Perturbation] = []
    for change in all_changes(sheet, order):
        if change.family not in ONCE_PER_PAIR:
            continue
        changed = _system_scores(change.apply(sheet))
        kept = [i for i in range(len(sheet.systems)) if not change.removed[i] and not np.isnan(changed[i])]
        before = _correlations(sheet.systems, kept, original, metrics)
        after = _correlations(sheet.systems, kept, changed, metrics)
        perturbed.append(Perturbation(change.name, len(kept), before, after, _order(before) != _order(after)))
    return tuple(perturbed)


def _system_scores(sheet: Sheet) -> Floats:
    return item_means(standardised(sheet)).system_means(len(sheet.systems))


def _correlations(
    systems: tuple[str, ...], kept: list[int], human: Floats, metrics: Mapping[str, Mapping[str, float]]
) -> dict[str, float]:
    result: dict[str, float] = {}
    for name, scores in metrics.items():
        both = [i for i in kept if systems[i] in scores]
        result[name] = pearson(human[both], np.array([scores[systems[i]] for i in both]))
    return result


def _order(correlations: dict[str, float]) -> list[str]:
    return sorted(correlations, key=lambda name: -correlations[name])


# What `meta` is computed from: human scores and metric scores, read, computed from texts, and joined.


CHOOSE_PAIR = f"choose with {param('pair')}"
# Names under which tables keep human scores, the surest first.
HUMAN_COLUMNS = ("human", "gold", "da", "z", "mqm", "esa", "sqm", "score")


@dataclass(frozen=True)
class MetaInputs:
    """Human and metric scores side by side, and what is to be known of how they were made."""

    scores: Scores
    fingerprint: str
    set_aside: tuple[SetAside, ...]
    perturbations: tuple[Perturbation, ...]
    """What becomes of the metrics when the human data are changed; none where only human scores are given."""
    made_with: Mapping[str, str]
    notes: tuple[str, ...]
    ranking: Ranking | None = None
    """The ranking of systems, where the human side is relative judgments."""
    metrics: tuple[MetricScore, ...] = ()
    """The metric scores as given, which relative judgments are compared with one by one."""


def check_counts(permutations: int, resamples: int) -> None:
    """Refuse numbers of permutations and resamples that make no test."""
    if permutations < 1 or resamples < 0:
        raise UsageError(f"{param('permutations')} must be at least 1 and {param('resamples')} at least 0")


def read_inputs(gold: Judgments | Path | str, scores: Sequence[Path | str], settings: MetaSettings) -> MetaInputs:
    """Read and join everything."""
    lower_is_better = settings.lower_is_better
    files = [Path(path) for path in scores]
    gold = as_scores(gold) if isinstance(gold, Judgments) else gold
    judgments = gold if isinstance(gold, Judgments) else None
    ranking = _ranking(judgments, settings.gold_method, settings.seed)
    standard: Gold | Ranking | None = ranking
    if ranking is not None:
        human = [MetricScore(HUMAN, one.system, None, None, one.score) for one in ranking.systems if not one.human]
    else:
        human, standard = _human_scores(gold, settings.gold_column)
    # A table may hold human and metric scores: the human column is no metric.
    no_metrics = {one.metric for one in human} if not isinstance(gold, Judgments) and Path(gold) in files else set()
    metrics = [score for score in read_metric_scores(files) if score.metric not in no_metrics]
    texts = settings.references, settings.outputs or {}, settings.tokenize
    computed, made_with = _computed_scores(*texts, given=bool(files))
    # The reader turns the TER of sacrebleu's JSON round, too.
    ter_read = any(path.suffix == ".json" for path in files) and any(score.metric == "TER" for score in metrics)
    notes = (TURNED,) if computed or ter_read else ()
    turned = reverse_scores([*human, *metrics, *computed], lower_is_better)
    human, metrics = turned[: len(human)], turned[len(human) :]
    if lower_is_better:
        made_with["lower_is_better"] = ",".join(lower_is_better)
    joined, aside = join(human, metrics)
    return MetaInputs(
        scores=joined,
        fingerprint=fingerprint_of_scores(turned),
        set_aside=(*(standard.set_aside if standard is not None else ()), *aside),
        perturbations=() if judgments is None or ranking else perturbations(judgments, system_means(metrics)),
        made_with=made_with,
        notes=(*(standard.notes if standard is not None else ()), *notes),
        ranking=ranking,
        metrics=tuple(metrics),
    )


def _ranking(judgments: Judgments | None, method: str | None, seed: int) -> Ranking | None:
    """The ranking of relative judgments; None where the human side is scores."""
    if judgments is not None and set(judgments.protocols) & set(RELATIVE):
        if len(judgments.pairs) > 1:
            raise DataError(f"the judgments hold several language pairs ({', '.join(judgments.pairs)}); {CHOOSE_PAIR}")
        return rank(judgments, method=method, settings=RankSettings(seed=seed))
    if method is not None:
        raise UsageError(
            f"{param('gold_method')} is how rankings and pairs are turned into scores; leave it out with scores"
        )
    return None


def _human_scores(gold: Judgments | Path | str, column: str | None) -> tuple[list[MetricScore], Gold | None]:
    """Human scores in the form of metric scores; from judgments also the gold standard with what it left out."""
    if not isinstance(gold, Judgments):
        return _human_column(Path(gold), column), None
    if len(gold.pairs) > 1:
        raise DataError(f"the judgments hold several language pairs ({', '.join(gold.pairs)}); {CHOOSE_PAIR}")
    standard = gold_standard([gold], GoldSettings(level="segments"))
    scores = [MetricScore(HUMAN, score.system, score.segment, score.document, score.z) for score in standard.scores]
    return scores, standard


def _human_column(path: Path, column: str | None) -> list[MetricScore]:
    """The column of human scores of a table (`human`, `gold` and the like, or the one named)."""
    scores = read_metric_scores([path])
    names = list(dict.fromkeys(score.metric for score in scores))
    chosen = column or next((name for wanted in HUMAN_COLUMNS for name in names if name.casefold() == wanted), None)
    if chosen is None and len(names) == 1:
        chosen = names[0]
    if chosen not in names:
        raise DataError(f"no column of human scores among {', '.join(names)}; name it with {param('gold_column')}")
    return [score for score in scores if score.metric == chosen]


def _computed_scores(
    references: Sequence[Path | str], outputs: Mapping[str, Path | str], tokenize: str, *, given: bool
) -> tuple[list[MetricScore], dict[str, str]]:
    """BLEU, chrF and TER where texts were given, with sacrebleu's signatures."""
    if bool(references) != bool(outputs):
        raise UsageError(
            f"{param('references')} and {param('outputs')} belong together; give both to compute BLEU, chrF and TER"
        )
    if not references:
        if not given:
            raise UsageError(
                f"there is no metric; give files of scores, or {param('references')} and {param('outputs')}"
            )
        return [], {}
    named = {name: Path(path) for name, path in outputs.items()}
    return text_metrics(read_texts([Path(path) for path in references], named), tokenize=tokenize)
