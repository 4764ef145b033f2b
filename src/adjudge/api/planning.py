"""Verbs for the time before people judge, and reading: `read`, `testset`, `plan`, `design`, `simulate`."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from adjudge.api.calls import single_pair, verb, with_reading_options
from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from adjudge.core.judgments import Judgments
    from adjudge.design import Campaign, TaskSet
    from adjudge.formats import ReadOptions
    from adjudge.look.boundaries import Spending
    from adjudge.results.plan import Plan
    from adjudge.results.relative_plan import RelativePlan
    from adjudge.results.simulate import Simulated
    from adjudge.results.testset import TestSetCheck
    from adjudge.simulate import RankingCampaign, ScoreCampaign

    AnyPath = str | Path

_READING = "reading the judgments whose spread is assumed"


@verb
@with_reading_options
def read(
    source: Any,
    *,
    format: str | None = None,  # noqa: A002
    options: ReadOptions | None = None,
    **reading: Any,
) -> Judgments:
    """Read judgments from any source into one table.

    Every verb that takes judgments takes the same sources and the same keywords, so that reading first is needed only
    to look at the table, to choose among its rows, or to use it several times.

    Args:
        source: a path, several paths, a polars or pandas data frame, or judgments.
        format: the format of the files, as `adjudge formats` lists them; a table with one row per judgment where
            left out.
        options: the options below in one object.
        **reading: see below.

    Returns:
        The judgments. `table` is a polars data frame, `set_aside` says what was not used and why, `by_pair()` gives
        one table per language pair.

    Example:
        >>> judgments = adjudge.read("scores.csv")  # doctest: +SKIP
        >>> judgments = adjudge.read("data_RNK.csv", format="wmt-ranking", pair="en-cs")  # doctest: +SKIP
    """
    from adjudge.formats import read as read_source

    return read_source(source, format=format, options=options, **reading)


@verb
def testset(
    files: AnyPath | Iterable[AnyPath],
    *,
    format: str = "auto",  # noqa: A002
    language: str | None = None,
    translations: AnyPath | Iterable[AnyPath] = (),
    reference: AnyPath | Iterable[AnyPath] = (),
    topics: int = 8,
    labels: Iterable[str] = (),
    embeddings: str = "words",
    after: AnyPath | None = None,
    outputs: Mapping[str, tuple[AnyPath, AnyPath]] | None = None,
    reference_translation: AnyPath | Iterable[AnyPath] = (),
    seed: int = DEFAULT_SEED,
) -> TestSetCheck:
    """Look for contaminants in source texts: quotation marks, typos, spacing, captions, encodings, topics.

    Args:
        files: plain text (a blank line between documents), TSV with columns `document` and `source`, WMT XML or SGM.
        format: `text`, `tsv`, `wmt-xml` or `sgm`; by the files' endings where left out.
        language: the language of the texts, as `en`; recognised where left out.
        translations: references or outputs of the same lines, to be checked against their source.
        reference: a corpus whose mix of topics the texts should have.
        topics: how many topics to show.
        labels: names of the topics, in the order in which they are shown.
        embeddings: compare topics by `words`, by `sentences`, or by the sentence model in a folder (ONNX).
        after: a later version of the one file: what changed, segment by segment.
        outputs: a system's output for both versions, by the system's name.
        reference_translation: the human translation, for BLEU, chrF and TER; one, or one for each version.
        seed: of the test on topics.
    """
    from adjudge.testset import TestSetOptions
    from adjudge.testset import testset as check_texts

    options = TestSetOptions.parse(
        format=format,
        language=language,
        translations=_paths(translations),
        reference=_paths(reference),
        topics=topics,
        labels=",".join(labels) or None,
        embeddings=embeddings,
        after=None if after is None else Path(after),
        outputs=[f"{name}={before},{later}" for name, (before, later) in (outputs or {}).items()],
        reference_translations=_paths(reference_translation),
        seed=seed,
    )
    return check_texts(_paths(files), options)


testset.__test__ = False  # type: ignore[attr-defined]  # not a test, whatever its name looks like to pytest


@verb
def plan(
    *,
    systems: int = 8,
    protocol: Literal["scores", "ranking", "pairwise"] = "scores",
    difference: float | None = None,
    block_size: int = 5,
    power: float = 0.8,
    level: float = 0.05,
    comparisons: int | None = None,
    annotators: int = 10,
    documents: int = 200,
    segments: int = 8,
    page: int | None = None,
    task_size: int = 100,
    controls: float = 0.2,
    per_item: Iterable[int] = (1, 2),
    structures: Iterable[str] = (),
    seconds: float | None = None,
    like: Any = None,
    looks: int = 5,
    spending: Spending = "kim-demets",
    select: AnyPath | None = None,
    draws: int = 30,
    seed: int = DEFAULT_SEED,
    progress: Callable[[str], None] = lambda _: None,
    **reading: Any,
) -> Plan | RelativePlan:
    """Find how many judgments each design needs to find a difference of a given size.

    Args:
        systems: systems to be compared.
        protocol: what people will do: give `scores`, rank blocks (`ranking`), or compare two (`pairwise`).
        difference: the difference that matters, in points of 100 (3 where left out) or, of rankings and pairs, in
            log-odds (0.3).
        block_size: systems that are ranked together, of rankings.
        power: the chance with which it is to be found.
        level: of significance, shared by all comparisons.
        comparisons: how many matter; all pairs of systems where left out.
        annotators: people who judge.
        documents: documents that there are.
        segments: segments of each document.
        page: most segments on a page; whole documents where left out.
        task_size: judgments in a task, controls included.
        controls: share of controls in a task.
        per_item: judgments per item to try.
        structures: structures to try; all where left out.
        seconds: that a judgment takes (20 where left out), or a block (60).
        like: judgments whose spread is assumed (any source, or a function that gives them once the settings have been
            checked); that of large shared tasks where left out.
        looks: looks on the way, where goals and policies are compared.
        spending: how looks spend the level: `kim-demets`, `obrien-fleming` or `pocock`.
        select: a file with a number per segment by which segments would be chosen, as for `design`; assumed where
            left out.
        draws: simulated campaigns of the recommended design; 0 for none.
        seed: of designs and simulations.
        progress: called with what is being done.
        **reading: how `like` is read, as in `adjudge.read`.
    """
    asked = {
        "systems": systems,
        "difference": difference,
        "block_size": block_size,
        "power": power,
        "level": level,
        "comparisons": comparisons,
        "annotators": annotators,
        "documents": documents,
        "segments": segments,
        "page": page,
        "task_size": task_size,
        "controls": controls,
        "per_item": tuple(per_item),
        "structures": tuple(structures) or None,
        "seconds": seconds,
        "looks": looks,
        "spending": spending,
        "draws": draws,
        "seed": seed,
    }
    return _plan_for(
        protocol,
        asked,
        pilot=like if like is None or callable(like) else lambda: single_pair(like, reading, doing="plan"),
        select=None if select is None else Path(select),
        progress=progress,
    )


def _plan_for(
    protocol: str,
    asked: Mapping[str, Any],
    *,
    pilot: Callable[[], Judgments] | None,
    select: Path | None,
    progress: Callable[[str], None],
) -> Plan | RelativePlan:
    """Plan scores, or rankings and pairs: each takes the settings that it has, and its defaults where one is None.

    Args:
        protocol: `scores`, `ranking` or `pairwise`.
        asked: settings by name, those of `PlanSettings` and of `RelativePlanSettings`.
        pilot: gives the judgments whose spread is assumed; called once the settings have been checked.
        select: a file with a number per segment, by which segments would be chosen.
        progress: called with what is being tried.
    """
    from adjudge.design.select_segments import read_spread
    from adjudge.plan import PlanSettings, pilot_variances
    from adjudge.plan import plan as make_plan
    from adjudge.plan.relative import RelativePlanSettings, plan_relative, spread_like
    from adjudge.rank.mixed import design_from

    if protocol != "scores":
        relative = RelativePlanSettings(**_settings_of(RelativePlanSettings, {**asked, "protocol": protocol}))
        progress("trying designs" if pilot is None else _READING)
        return plan_relative(relative, spread=None if pilot is None else spread_like(pilot()))
    settings = PlanSettings(**_settings_of(PlanSettings, asked))
    chosen_by = None if select is None else read_spread(select)
    variances = None
    if pilot is not None:
        progress(_READING)
        variances = pilot_variances(design_from(pilot()), seed=settings.seed, progress=progress)
    return make_plan(settings, variances=variances, spread=chosen_by, progress=progress)


def _settings_of(kind: type[Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """What this kind of settings has a field for; what is None keeps its default."""
    names = {field.name for field in fields(kind)}
    return {name: value for name, value in asked.items() if name in names and value is not None}


@verb
def design(campaign: AnyPath | Campaign, *, select: AnyPath | None = None) -> TaskSet:
    """Make the tasks of a campaign: who judges what, with which controls, balanced by construction.

    Args:
        campaign: the campaign file, `campaign.toml`, or what `adjudge.load_campaign` made of it.
        select: choose segments with known probabilities: `outputs`, by how much the outputs differ, or a file with a
            number per segment. As in the campaign file where left out.
    """
    from adjudge.design import design as make_tasks
    from adjudge.design import load_campaign, with_selection

    loaded = load_campaign(Path(campaign)) if isinstance(campaign, str | Path) else campaign
    return make_tasks(loaded if select is None else with_selection(loaded, str(select)))


@verb
def simulate(
    protocol: str | RankingCampaign | ScoreCampaign = "ranking", *, seed: int = DEFAULT_SEED, **settings: Any
) -> Simulated:
    """Draw judgments from a known truth, to try methods and designs before people are paid.

    Args:
        protocol: how is judged: `ranking`, or `da` for scores; or a campaign with all its settings.
        seed: the same seed gives the same judgments.
        **settings: what the campaign is made of: `systems`, `annotators`, `documents`, `segments`, `spread`,
            `qualities`, `careless`; of rankings also `blocks`, `ties`, `reference` and more, of scores `tasks`,
            `humans`, `controls` and more. `adjudge.simulate.RankingCampaign` and `ScoreCampaign` explain all.

    Returns:
        The `judgments`, the `truth` behind them, and a source text for every segment.
    """
    from adjudge.core.errors import UsageError, unknown_choice
    from adjudge.simulate import RankingCampaign, ScoreCampaign
    from adjudge.simulate import simulate as draw

    if not isinstance(protocol, str):
        if settings:
            raise UsageError("a campaign has its settings inside; change them there")
        return draw(protocol, seed=seed)
    kinds = {"ranking": RankingCampaign, "da": ScoreCampaign}
    if protocol not in kinds:
        raise unknown_choice("protocol", protocol, kinds)
    names = [field.name for field in fields(kinds[protocol])]
    for name in settings:
        if name not in names:
            raise unknown_choice("setting", name, names)
    return draw(kinds[protocol](**settings), seed=seed)


def _paths(files: AnyPath | Iterable[AnyPath]) -> list[Path]:
    return [Path(files)] if isinstance(files, str | Path) else [Path(file) for file in files]
