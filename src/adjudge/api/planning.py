"""Functions for reading, and for the time before a campaign: `read`, `testset`, `plan`, `design`, `simulate`."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from adjudge.api.calls import single_pair, verb, with_reading_options
from adjudge.core.rng import DEFAULT_SEED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from adjudge.core.judgments import Judgments
    from adjudge.design.campaign import Campaign
    from adjudge.design.tasks import TaskSet
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
    """Find problems in source texts: quotation marks, typos, spacing, captions, encoding, topics.

    Args:
        files: plain text (a blank line between documents), TSV with columns `document` and `source`, WMT XML or SGM.
        format: `text`, `tsv`, `wmt-xml` or `sgm`; default: by file extension.
        language: the language of the texts, such as `en`; default: detected.
        translations: translations of the same lines, to check against the source.
        reference: a corpus whose mix of topics the texts should match.
        topics: number of topics.
        labels: names of the topics, in the order shown.
        embeddings: compare topics by `words`, by `sentences`, or by the ONNX sentence model in a folder.
        after: a later version of the file; shows what changed, segment by segment.
        outputs: output of a system for both versions, by the system's name.
        reference_translation: reference translation for BLEU, chrF and TER: one, or one per version.
        seed: random seed for the test of topics.
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
    """Compute how many judgments each design needs to detect a difference.

    Args:
        systems: number of systems.
        protocol: how annotators judge: `scores`, `ranking` of blocks, or `pairwise` comparison.
        difference: the smallest difference to detect; default: 3 points of 100, or 0.3 log-odds for rankings and
            pairs.
        block_size: for rankings: systems per block.
        power: the probability of detecting the difference.
        level: significance level over all comparisons together.
        comparisons: number of comparisons to correct for; default: all pairs of systems.
        annotators: number of annotators.
        documents: number of documents available.
        segments: segments per document.
        page: largest number of segments on a page; default: whole documents.
        task_size: judgments per task, including controls.
        controls: share of control items in a task.
        per_item: numbers of judgments per item to try.
        structures: designs to try; default: all.
        seconds: seconds per judgment (default 20) or per block (default 60).
        like: judgments to take the variances from (any source, or a function that returns them once the settings
            have been checked); default: the variances of large shared tasks.
        looks: number of looks during the campaign, for the comparison of goals and policies.
        spending: how the level is spread over looks: `kim-demets`, `obrien-fleming` or `pocock`.
        select: a file with a number per segment for sampling segments, as in `design`; default: assumed numbers.
        draws: number of campaigns to simulate with the recommended design; 0 for none.
        seed: random seed for designs and simulations.
        progress: called with progress messages.
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
    """Create the tasks of a campaign: who judges what, with which controls.

    Args:
        campaign: the campaign file, `campaign.toml`, or the result of `adjudge.load_campaign`.
        select: sample segments with known probabilities: `outputs`, by how much the outputs differ, or a file with a
            number per segment. Default: as in the campaign file.
    """
    from adjudge.design.campaign.toml_file import load_campaign, set_selection
    from adjudge.design.make import design as make_tasks

    loaded = load_campaign(Path(campaign)) if isinstance(campaign, str | Path) else campaign
    return make_tasks(loaded if select is None else set_selection(loaded, str(select)))


@verb
def simulate(
    protocol: str | RankingCampaign | ScoreCampaign = "ranking", *, seed: int = DEFAULT_SEED, **settings: Any
) -> Simulated:
    """Simulate a campaign with known system qualities, to try out methods and designs.

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
