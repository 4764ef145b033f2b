"""Campaigns with known truth, drawn from parameters: relative rankings or scores. `simulate` is the main function.

    simulated = simulate(RankingCampaign(systems=8, annotators=20, blocks=600), seed=1)
    simulated.judgments, simulated.truth

`recovery` compares a ranking with that truth.
"""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the shell reads the types of settings when it runs
from dataclasses import dataclass, fields
from pathlib import Path  # noqa: TC003 - the same
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from adjudge.planning.simulated_rankings import RankingCampaign, simulate_rankings
from adjudge.planning.simulated_scores import ScoreCampaign, simulate_scores
from adjudge.planning.truth import Simulated, draw_texts
from adjudge.readers.post_edits import EditedDocument
from adjudge.table.errors import UsageError, param, unknown_choice
from adjudge.table.rng import DEFAULT_SEED, generator
from adjudge.table.settings import option, seed_option
from adjudge.work.tasks import map_tasks

if TYPE_CHECKING:
    from adjudge.table.maths import Floats


def _numbers(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError as fault:
        wrong = f"{param('qualities')} '{text}' is not a list of numbers; write them as 0.5,0,-0.5"
        raise UsageError(wrong) from fault


_OF_ALL = ("annotators", "documents", "segments", "careless", "pair")
_OF_RANKINGS = ("blocks", "block_size", "ties", "reference", "uneven", "repeats", "overlap", "length_effect", "blanks")
_OF_SCORES = ("tasks", "task_size", "context", "controls", "humans", "scale", "ends", "workload")


_KINDS: dict[str, type[RankingCampaign | ScoreCampaign]] = {"ranking": RankingCampaign, "da": ScoreCampaign}


@dataclass(frozen=True)
class Rehearsal:
    """A campaign whose tasks simulated annotators do, and how these are simulated (`planning.rehearsal`)."""

    file: Path
    parameters: Mapping[str, Any]


Described = RankingCampaign | ScoreCampaign | Rehearsal


def _simulated(default: Any, help: str, *flags: str, **more: Any) -> Any:  # noqa: A002
    """A setting of the simulated campaign; in Python, the campaign's own class has it."""
    return option(default, help, *flags, only="command line", **more)


@dataclass(frozen=True, kw_only=True)
class SimulateSettings:
    """A simulated campaign as the command line describes it; in Python, the classes of campaigns have all settings."""

    protocol: Any = option(
        "ranking",
        "How annotators judge: ranking or da (direct assessment).",
        typed=str,
        positional=True,
        python="str | RankingCampaign | ScoreCampaign",
        about="how is judged: `ranking`, or `da` for scores; or a campaign with all its settings.",
    )
    systems: int = _simulated(RankingCampaign.systems, "Number of machine translation systems.")
    annotators: int = _simulated(RankingCampaign.annotators, "Number of annotators.")
    documents: int = _simulated(RankingCampaign.documents, "Number of documents.")
    segments: int = _simulated(RankingCampaign.segments, "Segments per document (da: on average).")
    spread: float | None = _simulated(None, "Standard deviation of system quality. Default: 1 log-odds; da: 4 points.")
    qualities: tuple[float, ...] | None = _simulated(
        None,
        "The quality of each system, comma-separated, in log-odds (da: points).",
        typed=str | None,
        convert=_numbers,
    )
    careless: float = _simulated(RankingCampaign.careless, "Share of annotators who judge at random.")
    blocks: int = _simulated(RankingCampaign.blocks, "ranking: number of blocks (screens).")
    block_size: int = _simulated(RankingCampaign.block_size, "ranking: systems per block.")
    ties: float = _simulated(RankingCampaign.ties, "ranking: how likely ties are (Davidson's nu).")
    reference: float = _simulated(RankingCampaign.reference, "ranking: share of blocks that include the reference.")
    uneven: float = _simulated(
        RankingCampaign.uneven, "ranking: how much more often similar systems meet; 0: all pairs equally often."
    )
    repeats: float = _simulated(RankingCampaign.repeats, "ranking: share of blocks repeated by the same annotator.")
    overlap: float = _simulated(RankingCampaign.overlap, "ranking: share of blocks also judged by a second annotator.")
    length_effect: float = _simulated(RankingCampaign.length_effect, "ranking: how much harder long source texts are.")
    blanks: float = _simulated(RankingCampaign.blanks, "ranking: share of ranks left blank.")
    tasks: int = _simulated(ScoreCampaign.tasks, "da: number of tasks, each for one annotator.")
    task_size: int = _simulated(ScoreCampaign.task_size, "da: judgments per task, including controls.")
    context: bool = _simulated(ScoreCampaign.context, "da: show whole documents, or single segments.")
    controls: float = _simulated(ScoreCampaign.controls, "da: share of control items in a task.")
    humans: int = _simulated(ScoreCampaign.humans, "da: number of human translations judged like systems.")
    taste: float | None = _simulated(
        None, "Standard deviation of annotators' tastes for systems. Default: 0.4 log-odds; da: 3 points."
    )
    scale: float = _simulated(
        ScoreCampaign.scale, "da: variation in how widely annotators spread their scores (sd of the log)."
    )
    ends: bool = _simulated(
        ScoreCampaign.ends, "da: round scores to whole numbers from 0 to 100, or keep them as drawn."
    )
    workload: float = _simulated(
        ScoreCampaign.workload, "da: variation in the number of tasks per annotator (sd of the log)."
    )
    pair: str = _simulated(RankingCampaign.pair, "Language pair to write to the table.", "--pair", "-p")
    design: Path | None = option(
        None,
        "Rehearse this campaign: simulated annotators do its tasks (the campaign file, or its tasks as JSON).",
        metavar="CAMPAIGN",
        about="rehearse this campaign (its file, or its tasks as JSON): simulated annotators do its tasks.",
        after="seed",
    )
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

    def campaign(self) -> Described:
        """The campaign that the command line describes."""
        ranking = self.protocol == "ranking"
        of_kind = (*_OF_RANKINGS, *_OF_SCORES) if self.design else _OF_RANKINGS if ranking else _OF_SCORES
        given: dict[str, Any] = {name: getattr(self, name) for name in (*_OF_ALL, *of_kind)}
        given["systems"] = self.systems if self.qualities is None else len(self.qualities)
        optional = {"spread": self.spread, "taste": self.taste if self.design or not ranking else None}
        optional["system_taste"] = self.taste if self.design or ranking else None
        given |= {name: value for name, value in optional.items() if value is not None}
        given["qualities"] = self.qualities
        return Rehearsal(self.design, given) if self.design else self._kind(**given)

    def campaign_in_python(self) -> Described:
        """The campaign that was given, or the one that the further keywords describe."""
        settings = self.settings or {}
        if isinstance(self.protocol, RankingCampaign | ScoreCampaign):
            if settings:
                raise UsageError("a campaign has its settings inside; change them there")
            return self.protocol
        kinds = _KINDS.values() if self.design is not None else (self._kind,)
        names = [each.name for kind in kinds for each in fields(kind)]
        for name in settings:
            if name not in names:
                raise unknown_choice("setting", name, names)
        return Rehearsal(self.design, settings) if self.design is not None else self._kind(**settings)

    @property
    def _kind(self) -> type[RankingCampaign | ScoreCampaign]:
        if self.protocol not in _KINDS:
            raise unknown_choice("protocol", self.protocol, _KINDS)
        return _KINDS[self.protocol]


def simulate(campaign: Described, *, seed: int = DEFAULT_SEED) -> Simulated:
    """Draw the judgments of a campaign; the same campaign and seed give the same judgments."""
    if isinstance(campaign, ScoreCampaign):
        return simulate_scores(campaign, seed=seed)
    if isinstance(campaign, RankingCampaign):
        return simulate_rankings(campaign, seed=seed)
    from adjudge.planning.rehearsal import rehearse

    return rehearse(campaign.file, campaign.parameters, seed=seed)


def simulate_many(campaign: Described, campaigns: int, *, seed: int = DEFAULT_SEED) -> list[Simulated]:
    """Draw so many campaigns, the first with this seed, each of the others with the next one."""
    return map_tasks(lambda each: simulate(campaign, seed=each), range(seed, seed + campaigns), what="campaigns")


# Machine translations with two post-editions and systems that predict them, with known truth. All text is invented.
#
# Every document has a share of words that are wrong in themselves, and a share that is wrong only in the light of the
# whole document. A person who sees single sentences corrects the former (first post-edition), one who sees the document
# the latter (second). Systems of quality estimation sense the two shares to different degrees: as the second gains
# weight in a label made of both, those that sense it rise.

# How much each invented system senses of errors in sentences, and of errors in context.
SENSES: dict[str, tuple[float, float]] = {"sentences": (1.0, 0.0), "both": (0.7, 0.7), "context": (0.0, 1.0)}


@dataclass(frozen=True)
class SimulatedEdits:
    """The texts, what systems predict of them, and the truth behind both."""

    documents: tuple[EditedDocument, ...]
    predictions: Mapping[str, Mapping[str, float]]
    in_sentences: Floats
    """The true share of words that are wrong in themselves, by document."""
    in_context: Floats

    @property
    def texts(self) -> pl.DataFrame:
        """The texts as `adjudge.qe` takes them: document, mt, pe1 and pe2, a row for every segment."""
        rows = [
            (document.name, *texts)
            for document in self.documents
            for texts in zip(document.mt, document.pe1, document.pe2 or document.pe1, strict=True)
        ]
        return pl.DataFrame(rows, schema=["document", "mt", "pe1", "pe2"], orient="row")


def simulate_post_edits(
    *,
    documents: int = 60,
    segments: int = 10,
    sentence_errors: float = 0.3,
    context_errors: float = 0.04,
    noise: float = 0.5,
    senses: Mapping[str, tuple[float, float]] | None = None,
    seed: int = DEFAULT_SEED,
) -> SimulatedEdits:
    """Draw documents whose two shares of errors do not depend on each other.

    Args:
        documents: how many.
        segments: sentences of each.
        sentence_errors: mean share of words that are wrong in themselves.
        context_errors: mean share of words that are wrong only in context.
        noise: of predictions, in standard deviations of what a system senses.
        senses: of every system, how much it senses of both shares.
        seed: of everything.
    """
    rng = generator(seed)
    in_sentences = np.minimum(rng.gamma(9, sentence_errors / 9, documents), 0.9)
    in_context = np.minimum(rng.gamma(2, context_errors / 2, documents), 0.5)
    texts = draw_texts(documents * segments, rng)
    edited = tuple(
        _document(i, texts[i * segments : (i + 1) * segments], float(in_sentences[i]), float(in_context[i]), rng)
        for i in range(documents)
    )
    predicted = {
        name: predictions_from(weights, in_sentences, in_context, noise, rng)
        for name, weights in (senses or SENSES).items()
    }
    names = [copy.name for copy in edited]
    predictions = {name: dict(zip(names, map(float, values), strict=True)) for name, values in predicted.items()}
    return SimulatedEdits(edited, predictions, in_sentences, in_context)


def _document(
    number: int, right: tuple[str, ...], in_sentences: float, in_context: float, rng: np.random.Generator
) -> EditedDocument:
    """Make a document: the second edition is correct, the first has errors of context, the output all errors."""
    first = tuple(_replace_words(text, in_context, rng) for text in right)
    output = tuple(_replace_words(text, in_sentences, rng) for text in first)
    return EditedDocument(f"document-{number + 1}", output, first, right)


def _replace_words(text: str, share: float, rng: np.random.Generator) -> str:
    """Replace this share of the words by words that occur nowhere else."""
    words = text.split()
    wrong = rng.random(len(words)) < share
    return " ".join(
        f"x{rng.integers(10**9)}" if is_wrong else word for word, is_wrong in zip(words, wrong, strict=True)
    )


def predictions_from(
    weights: tuple[float, float], in_sentences: Floats, in_context: Floats, noise: float, rng: np.random.Generator
) -> Floats:
    """Predict as a system that senses the two shares of errors with these weights, on the scale of an edit rate."""
    of_sentences, of_context = weights
    sensed = of_sentences * _standardise(in_sentences) + of_context * _standardise(in_context)
    noisy = sensed + noise * rng.normal(size=len(sensed)) * max(float(sensed.std()), 1e-9)
    return np.asarray(0.3 + 0.05 * noisy)


def _standardise(values: Floats) -> Floats:
    spread = float(values.std())
    return np.asarray((values - values.mean()) / spread if spread else np.zeros(len(values)))
