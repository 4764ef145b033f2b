"""What `meta` is computed from: human scores and metric scores, read, computed from texts, and joined."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.core.errors import DataError, UsageError
from adjudge.core.judgments import Judgments
from adjudge.core.protocols import RELATIVE
from adjudge.core.rng import DEFAULT_SEED
from adjudge.formats.metric_score_files import MetricScore, fingerprint_of_scores, read_metric_scores, reverse_scores
from adjudge.meta.gold import gold as gold_standard
from adjudge.meta.join import HUMAN, join, system_means
from adjudge.meta.perturbations import perturbations
from adjudge.meta.segment_tau import gold_ranking, human_scores_of_ranking
from adjudge.meta.text_metrics import TURNED, read_texts, text_metrics
from adjudge.rank.edits_as_scores import as_scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.core.judgments import SetAside
    from adjudge.meta.scores import Scores
    from adjudge.results.gold import Gold
    from adjudge.results.meta import Perturbation
    from adjudge.results.rank import Ranking

CHOOSE_PAIR = "choose with --pair"
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
        raise UsageError("--permutations must be at least 1 and --resamples at least 0")


def read_inputs(
    gold: Judgments | Path | str,
    scores: Sequence[Path | str],
    *,
    gold_column: str | None,
    lower_is_better: Sequence[str],
    references: Sequence[Path | str],
    outputs: Mapping[str, Path | str],
    tokenize: str,
    gold_method: str | None = None,
    seed: int = DEFAULT_SEED,
) -> MetaInputs:
    """Read and join everything; for the arguments see `adjudge.meta.meta`."""
    files = [Path(path) for path in scores]
    gold = as_scores(gold) if isinstance(gold, Judgments) else gold
    judgments = gold if isinstance(gold, Judgments) else None
    ranking = _ranking(judgments, gold_method, seed)
    standard: Gold | Ranking | None = ranking
    if ranking is not None:
        human = human_scores_of_ranking(ranking)
    else:
        human, standard = _human_scores(gold, gold_column)
    metrics = _given_scores(gold, files, {score.metric for score in human})
    computed, made_with = _computed_scores(references, outputs, tokenize, given=bool(files))
    notes = (TURNED,) if computed or _has_error_rates(files, metrics) else ()
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
        return gold_ranking(judgments, method, seed)
    if method is not None:
        raise UsageError("--gold-method is how rankings and pairs are turned into scores; leave it out with scores")
    return None


def _human_scores(gold: Judgments | Path | str, column: str | None) -> tuple[list[MetricScore], Gold | None]:
    """Human scores in the form of metric scores; from judgments also the gold standard with what it left out."""
    if not isinstance(gold, Judgments):
        return human_scores_of_table([Path(gold)], column), None
    if len(gold.pairs) > 1:
        raise DataError(f"the judgments hold several language pairs ({', '.join(gold.pairs)}); {CHOOSE_PAIR}")
    return human_scores_of_judgments(gold)


def human_scores_of_judgments(judgments: Judgments) -> tuple[list[MetricScore], Gold]:
    """The mean z-score of every segment of every system, and the gold standard with what it left out."""
    standard = gold_standard([judgments], level="segments")
    scores = [MetricScore(HUMAN, score.system, score.segment, score.document, score.z) for score in standard.scores]
    return scores, standard


def human_scores_of_table(paths: Sequence[Path], column: str | None) -> list[MetricScore]:
    """The column of human scores of a table (`human`, `gold` and the like, or the one named)."""
    scores = read_metric_scores(paths)
    names = list(dict.fromkeys(score.metric for score in scores))
    chosen = column or next((name for wanted in HUMAN_COLUMNS for name in names if name.casefold() == wanted), None)
    if chosen is None and len(names) == 1:
        chosen = names[0]
    if chosen not in names:
        raise DataError(f"no column of human scores among {', '.join(names)}; name it with --gold-column")
    return [score for score in scores if score.metric == chosen]


def _given_scores(gold: Judgments | Path | str, files: Sequence[Path], human: set[str]) -> list[MetricScore]:
    """Metric scores from files. A table may hold human and metric scores: the human column is no metric."""
    both = not isinstance(gold, Judgments) and Path(gold) in files
    return [score for score in read_metric_scores(files) if not both or score.metric not in human]


def _computed_scores(
    references: Sequence[Path | str], outputs: Mapping[str, Path | str], tokenize: str, *, given: bool
) -> tuple[list[MetricScore], dict[str, str]]:
    """BLEU, chrF and TER where texts were given, with sacrebleu's signatures."""
    if bool(references) != bool(outputs):
        raise UsageError("--references and --outputs belong together; give both to compute BLEU, chrF and TER")
    if not references:
        if not given:
            raise UsageError("there is no metric; give files of scores, or --references and --outputs")
        return [], {}
    named = {name: Path(path) for name, path in outputs.items()}
    return text_metrics(read_texts([Path(path) for path in references], named), tokenize=tokenize)


def _has_error_rates(files: Sequence[Path], metrics: Sequence[MetricScore]) -> bool:
    """Whether sacrebleu's JSON was read, whose TER is turned round by the reader."""
    return any(path.suffix == ".json" for path in files) and any(score.metric == "TER" for score in metrics)
