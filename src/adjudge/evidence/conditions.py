"""What must be known before a verdict is believed: how people judged, and whether the data are what they seem.

`Conditions` holds what a claim about a human translation rests on. What the judgments say is taken from them; what they
do not say stays unknown, and is named as unknown. S. Läubli and others (2020): A set of recommendations for assessing
human-machine parity in language translation. Journal of Artificial Intelligence Research 67, 653-672.

`Oddities` are signs of a mistake in the data: two systems with the same answers or texts, a system with one score
throughout, a system that one person alone judged. `Composition` is what a system owes to those who judged it.
`evidence.verdict` has the words for all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from adjudge.mixed.design import MODELS
from adjudge.people.twins import find_twins
from adjudge.ranking.estimator import is_relative
from adjudge.ranking.scores import ScoreEstimator, as_scores
from adjudge.table.errors import DataError
from adjudge.table.judgments import key_hashes, mark_repeated
from adjudge.table.participants import suspected_accounts
from adjudge.table.protocols import RELATIVE
from adjudge.table.record import is_answered, is_judgment
from adjudge.table.score_sheet import own_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.people.results import Twins
    from adjudge.table.judgments import Judgments

COLUMNS: dict[str, tuple[str, ...]] = {
    "raters": ("raters", "rater_type", "annotator_type", "expertise"),
    "shown": ("shown", "shown_beside"),
    "context": ("context",),
    "origin": ("origlang", "orig_lang", "original_language"),
}
"""Additional columns of judgments that say how people judged, by the condition that they tell."""


TOGETHER = 0.1
"""Where so many judgments are of segments that stood together, documents were shown as pages; many have one segment."""


@dataclass(frozen=True)
class Conditions:
    """Under which people judged; None is what is not known."""

    people: int | None = None
    accounts: bool = False
    """Whether these are accounts that may be fewer people."""
    raters: str | None = None
    """`experts`, `crowd`, or what the judgments call them."""
    shown: str | None = None
    """What stood beside the translation: `source` or `reference`."""
    context: Literal["pages", "segments"] | None = None
    """Whether several segments of a document stood on a page, or one segment at a time."""
    original: float | None = None
    """The share of judgments on text that was written in the source language."""
    checked: bool | None = None
    """Whether faults of the test set were marked, as `adjudge testset` finds them."""
    humans: int = 1
    """How many human translations were judged."""
    agreement: float | None = None
    """Of every two people: mean kappa over ranks."""


def find_conditions(judgments: Judgments, humans: int, *, checked: bool | None = None) -> Conditions:
    """What the judgments say of the conditions, given how many human translations there are."""
    table = _answers(judgments)
    people = table["annotator"]
    return Conditions(
        people=None if people.null_count() else people.n_unique(),
        accounts=not {*judgments.protocols} & {*RELATIVE} and suspected_accounts(judgments) is not None,
        raters=_only_value(table, "raters"),
        shown=_only_value(table, "shown"),
        context=_context(table),
        original=_original(table),
        checked=checked,
        humans=humans,
    )


def _answers(judgments: Judgments) -> pl.DataFrame:
    return judgments.final().table.filter(is_answered() & is_judgment())


def _column(table: pl.DataFrame, condition: str) -> pl.Series | None:
    name = next((name for name in COLUMNS[condition] if name in table.columns), None)
    return None if name is None else table[name].cast(pl.String)


def _only_value(table: pl.DataFrame, condition: str) -> str | None:
    """What a column says of all judgments; None where it says nothing, or not of all the same."""
    values = _column(table, condition)
    found = [] if values is None or values.null_count() else values.unique().to_list()
    return str(found[0]) if len(found) == 1 else None


def _context(table: pl.DataFrame) -> Literal["pages", "segments"] | None:
    """What a column says, or pages if segments stood together on screens; one segment may have had neighbours."""
    said = _only_value(table, "context")
    if said in ("pages", "segments"):
        return "pages" if said == "pages" else "segments"
    known = table.filter(pl.col("screen").is_not_null() & pl.col("segment").is_not_null())
    page = known.group_by("annotator", "task", "screen", "system").agg(pl.struct("document", "segment").n_unique())
    together = page.filter(pl.col("document") > 1)["document"].sum()
    return "pages" if together > TOGETHER * table.height else None


def _original(table: pl.DataFrame) -> float | None:
    written = _column(table, "origin")
    if written is None or written.null_count() or not len(written):
        return None
    # Language codes may have three letters in one column, and a region in the other.
    code, source = (values.str.to_lowercase().str.slice(0, 2) for values in (written, table["source_lang"]))
    return float(np.mean((code == source).to_numpy()))


# Signs of a mistake in the data

FEWEST_SHARED = 30
LEAST_SHARE = 0.5
NEARLY_ALL = 0.95
FEWEST_UNUSUAL = 10
FEWEST_SCORES = 20
_MOST_ROWS = 30_000_000
"""Pairs of answers that are compared; of larger data, every so many-th item is."""


@dataclass(frozen=True)
class Alike:
    """Two systems with the same answers, or the same texts, on nearly all that they share."""

    systems: tuple[str, str]
    what: Literal["score", "rank", "text"]
    same: int
    shared: int


@dataclass(frozen=True)
class Oddities:
    """All that looks like a mistake, the copies first."""

    alike: tuple[Alike, ...] = ()
    constant: tuple[tuple[str, float, int], ...] = ()
    """Systems with one score throughout, the score, and how many there are."""
    alone: tuple[tuple[str, str], ...] = ()
    """Systems that one person alone judged, and who, where others judged other systems."""
    twins: tuple[Twins, ...] = ()
    """Of rankings: people whose answers are the same, or mirrored, on more items in a row than chance explains."""


def find_oddities(judgments: Judgments) -> Oddities:
    """Look for copies of systems or of people's answers, constant scores, and systems that one person alone judged."""
    table = _answers(judgments)
    if not table.height:
        return Oddities()
    texts = _texts(table)
    same_texts = () if texts is None else _alike(_by_item(texts, ("document", "segment"), "target_text"), "text")
    known = {alike.systems for alike in same_texts}
    relative = set(judgments.protocols) & set(RELATIVE)
    answers = (
        _alike(_by_item(table, ("annotator", "task", "screen", "document", "segment"), "rank"), "rank")
        if relative
        else _alike_scores(table)
    )
    return Oddities(
        (*same_texts, *(alike for alike in answers if alike.systems not in known)),
        () if relative else _constant(table),
        _alone(table),
        find_twins(judgments.final()) if relative else (),
    )


def _texts(table: pl.DataFrame) -> pl.DataFrame | None:
    """The texts of all outputs, each once, where the judgments hold them."""
    if "target_text" not in table.columns:
        return None
    known = table.filter(pl.col("target_text").is_not_null() & pl.col("segment").is_not_null())
    return known.unique(("document", "segment", "system"), maintain_order=True)


def _alike_scores(table: pl.DataFrame) -> tuple[Alike, ...]:
    """By the same people on the same segments; where no two systems share these, by segment."""
    scored = table.filter(pl.col("score").is_not_null() & pl.col("segment").is_not_null())
    key: tuple[str, ...] = ("annotator", "document", "segment")
    rows = _by_item(scored, key, "score")
    if not _meet(rows):
        key = key[1:]
        rows = _by_item(scored, key, "score")
    again = mark_repeated(key_hashes(scored, (*key, "system")))
    if again.any():
        means = rows.filter(again).group_by("item", "system", maintain_order=True).agg(pl.col("value").mean())
        rows = pl.concat([rows.filter(~again), means])
    return _alike(rows, "score")


def _meet(rows: pl.DataFrame) -> bool:
    """Whether two systems have one item."""
    shared = rows.filter(mark_repeated(rows["item"].to_numpy())).group_by("item")
    systems = shared.agg(pl.col("system").min().alias("first"), pl.col("system").max().alias("last"))
    return bool((systems["first"] != systems["last"]).any())


def _by_item(table: pl.DataFrame, item: Sequence[str], value: str) -> pl.DataFrame:
    """The values by item, which a hash stands for: that two of millions are taken for one changes no share."""
    systems = pl.Enum(table["system"].unique().sort())
    return pl.DataFrame({
        "item": key_hashes(table, item), "system": table["system"].cast(systems), "value": table[value]
    })  # fmt: skip


def _alike(rows: pl.DataFrame, what: Literal["score", "rank", "text"]) -> tuple[Alike, ...]:
    """Pairs of systems that have the same value on nearly all items that they share: rows of `item, system, value`.

    Many answers are the same in any campaign, such as 100 of 100 or no error. So the answers other than the first
    system's usual one must be the same, too. And where one text of two systems was judged once, and nothing else of
    both by the same person, what they share is the same by design: it must be at least half of what one of them has.
    """
    rows = rows.with_columns(size=pl.len().over("item"))
    every = max(1, int(-(-rows["size"].sum() // _MOST_ROWS)))
    rows = rows if every == 1 else rows.filter(pl.col("item") % every == 0)
    usual = rows.group_by("system").agg(usual=pl.col("value").mode().sort().first(), has=pl.len())
    # What one system alone has is shared with nobody.
    rows = rows.filter(pl.col("size") > 1).join(usual, on="system", maintain_order="left")
    pairs = rows.join(rows.select("item", "system", "value", "has"), on="item", suffix="_2")
    same = pl.col("value") == pl.col("value_2")
    unusual = pl.col("value") != pl.col("usual")
    counts = (
        pairs.filter(pl.col("system") < pl.col("system_2"))
        .group_by("system", "system_2")
        .agg(
            shared=pl.len(),
            same=same.sum(),
            unusual=unusual.sum(),
            same_unusual=(same & unusual).sum(),
            has=pl.min_horizontal(pl.col("has").first(), pl.col("has_2").first()),
        )
    )
    found = counts.filter(
        (pl.col("shared") >= FEWEST_SHARED)
        & (pl.col("shared") >= LEAST_SHARE * pl.col("has"))
        & (pl.col("same") >= NEARLY_ALL * pl.col("shared"))
        & (pl.col("unusual") >= FEWEST_UNUSUAL)
        & (pl.col("same_unusual") >= NEARLY_ALL * pl.col("unusual"))
    ).sort("system", "system_2")
    return tuple(
        Alike((first, second), what, same_, shared)
        for first, second, same_, shared in found.select("system", "system_2", "same", "shared").iter_rows()
    )


def _constant(table: pl.DataFrame) -> tuple[tuple[str, float, int], ...]:
    """Systems with one score throughout, where others' scores vary."""
    spread = (
        table.group_by("system").agg(pl.col("score").n_unique().alias("values"), pl.col("score").first(), n=pl.len())
    ).sort("system")
    if not spread.select((pl.col("values") > 1).any()).item():
        return ()
    found = spread.filter((pl.col("values") == 1) & (pl.col("n") >= FEWEST_SCORES))
    return tuple(found.select("system", "score", "n").iter_rows())


def _alone(table: pl.DataFrame) -> tuple[tuple[str, str], ...]:
    """Systems that one person alone judged, where more than one person judged another."""
    if table["annotator"].null_count():
        return ()
    people = table.group_by("system").agg(pl.col("annotator").n_unique().alias("people"), pl.col("annotator").first())
    if (people["people"] == 1).all():
        return ()
    return tuple(people.filter(pl.col("people") == 1).sort("system").select("system", "annotator").iter_rows())


# Who judged what

MARGIN = 1.96
"""Standard errors of a system's distance from the average that its tasks must be worth to be noted."""
MOST_SCORES = 30_000
"""Scores up to which rankings by means are compared with the model, whose fit takes ten times as long as the means."""


@dataclass(frozen=True)
class Composition:
    """The system for which it matters most who judged it and in which tasks, against the average system, in points."""

    system: str
    worth: float
    margin: float
    """The half-width of the 95% interval of the system's distance from the average."""


def find_composition(method: str, judgments: Judgments) -> Composition | None:
    """What the annotators and tasks that a system happened to get are worth, if it is more than its margin of error.

    Raw means hold the whole of it. Z-scores take off the mean of each annotator, which depends on the systems that this
    person happened to judge: what that is worth beyond strictness is found.
    """
    from adjudge.mixed.model import model_of

    judgments = as_scores(judgments)
    means = method in ("raw", "zscore") and len(judgments) <= MOST_SCORES
    if is_relative(judgments) or not (means or method in MODELS):
        return None
    try:
        model = model_of(ScoreEstimator(judgments).design.with_model("mixed-points"))
    except DataError:
        # Means can be ranked where the model cannot be fitted, as where all scores are equal.
        return None
    worth = model.part_of_means("annotator", "task")
    if method == "zscore":
        worth = worth - model.over_rows(own_means(judgments)[model.design.row])
    centring = np.eye(len(worth)) - 1 / len(worth)
    worth = centring @ worth
    margin = MARGIN * np.sqrt(np.diag(centring @ model.fitted.covariance @ centring))
    most = int(np.argmax(np.abs(worth) - margin))
    if not abs(worth[most]) > margin[most]:
        return None
    return Composition(model.design.systems[most], float(worth[most]), float(margin[most]))
