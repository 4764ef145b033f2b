# Made from the declarations in `adjudge.shell` by `make docs`.

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from adjudge._version import __version__ as __version__
from adjudge.campaigns.campaign_file import Campaign
from adjudge.campaigns.campaign_file import load_campaign as load_campaign
from adjudge.campaigns.results import BackedUp
from adjudge.campaigns.results import Extended
from adjudge.campaigns.results import Initialised
from adjudge.campaigns.results import Moved
from adjudge.campaigns.results import Restored
from adjudge.campaigns.tasks import TaskSet
from adjudge.evidence.audit import Audit
from adjudge.evidence.compared_campaigns import CampaignComparison
from adjudge.evidence.look_claims import Look
from adjudge.evidence.parity_results import Parity
from adjudge.judges.ask import Judged
from adjudge.metrics.results import Gold
from adjudge.metrics.results import MetaEvaluation
from adjudge.metrics.results import QualityEstimation
from adjudge.papers.replicate import Replication
from adjudge.people.results import Agreement
from adjudge.people.results import Checked
from adjudge.planning.relative import RelativePlan
from adjudge.planning.settings import Plan
from adjudge.planning.simulated_rankings import RankingCampaign
from adjudge.planning.simulated_scores import ScoreCampaign
from adjudge.planning.truth import Simulated
from adjudge.ranking.ranking import Ranking as Ranking
from adjudge.ranking.tournament import Tournament
from adjudge.readers.options import ReadOptions
from adjudge.shell.report_stages import CampaignReport
from adjudge.table.errors import AdjudgeError as AdjudgeError
from adjudge.table.judgments import Judgments as Judgments
from adjudge.testsets.findings import TestSetCheck

__all__ = [
    "AdjudgeError",
    "Judgments",
    "Ranking",
    "__version__",
    "agree",
    "audit",
    "backup",
    "check",
    "compare",
    "design",
    "extend",
    "gold",
    "init",
    "judge",
    "load_campaign",
    "look",
    "meta",
    "move",
    "parity",
    "plan",
    "qe",
    "rank",
    "read",
    "replicate",
    "report",
    "restore",
    "simulate",
    "testset",
    "tournament",
]

def agree(
    source: Any,
    *,
    labels: int | None = None,
    texts: Mapping[str, Sequence[str]] | Sequence[str] | None = None,
    length_unit: Literal['words', 'characters'] = 'words',
    resamples: int = 1000,
    seed: int = 1,
    **reading: Any,
) -> Agreement: ...
def audit(
    source: Any,
    *,
    only: str | Iterable[str] | None = None,
    method: str | None = None,
    lines: str | None = None,
    removal: str = 'genuine',
    margin: float | str | None = None,
    by: str | Iterable[str] = ...,
    documents_by: str | Path = 'raw',
    edits: Any = None,
    acceptability: Any = None,
    judge_scores: str | Path | Iterable[str | Path] = ...,
    lower_is_better: str | Iterable[str] = ...,
    judge_allowance: float = 0.15,
    judge_scale: Literal['matched', 'z', 'raw'] = 'matched',
    judge_families: Mapping[str, str] | None = None,
    seed: int = 1,
    **reading: Any,
) -> Audit: ...
def backup(
    campaign: str | Path,
    output: str | Path,
    *,
    database: str | None = None,
) -> BackedUp: ...
def check(
    source: Any,
    *,
    test: str = 'paired-t',
    level: float = 0.05,
    least_seconds: float | None = 1.0,
    longest_run: int | None = None,
    keep_rejected: bool = False,
    **reading: Any,
) -> Checked: ...
def compare(
    campaigns: Mapping[str, Any] | Sequence[Any] | Any,
    *others: Any,
    rename: Mapping[str, str] | None = None,
    method: str | None = None,
    keys: str | Path | Mapping[str, str] | None = None,
    resamples: int = 1000,
    seed: int = 1,
    **reading: Any,
) -> CampaignComparison: ...
def design(
    campaign: str | Path | Campaign,
    *,
    select: str | Path | None = None,
) -> TaskSet: ...
def extend(
    campaign: str | Path,
    *,
    judgments: int = 0,
    beside: float = 1.0,
    dry_run: bool = False,
    url: str | None = None,
    links: str | Path | None = None,
    database: str | None = None,
) -> Extended: ...
def gold(
    run: Any,
    second: Any = None,
    *,
    keys: str | Path | Mapping[str, str] | None = None,
    level: Literal['documents', 'segments'] | None = None,
    all_annotators: bool = False,
    orders: int = 200,
    reliability: float = 0.9,
    seed: int = 1,
    **reading: Any,
) -> Gold: ...
def init(
    folder: str | Path,
    *,
    protocol: Literal['da', 'ranking', 'pairwise', 'sqm', 'esa', 'mqm', 'postedit'] = 'da',
    pair: str | None = None,
    source: str | Path | None = None,
    systems: Mapping[str, str | Path] | str | Path | None = None,
    references: Mapping[str, str | Path] | str | Path | None = None,
    annotators: int | Iterable[str] = 2,
) -> Initialised: ...
def judge(
    campaign: str | Path,
    output: str | Path,
    *,
    endpoint: str | None = None,
    model: str | None = None,
    command: str | None = None,
    name: str | None = None,
    prompt: str | Path | None = None,
    repeats: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
    key_variable: str | None = None,
    jobs: int = 1,
    retries: int = 5,
    timeout: float = 120.0,
    ask_again: bool = False,
    seed: int = 1,
    tell: Callable[[str], None] = ...,
) -> Judged: ...
def look(
    source: Any,
    *,
    planned: int | None = None,
    looks: int | None = None,
    history: str | Path | None = None,
    goal: str | None = None,
    between: Sequence[tuple[str, str]] = ...,
    spending: Literal['kim-demets', 'obrien-fleming', 'pocock', 'anytime'] | None = None,
    level: float | None = None,
    people: int | None = None,
    final: bool = False,
    method: str | None = None,
    seed: int = 1,
    **reading: Any,
) -> Look: ...
def meta(
    gold: Any,
    scores: str | Path | Iterable[str | Path] = ...,
    *,
    gold_column: str | None = None,
    gold_method: str | None = None,
    lower_is_better: Sequence[str] = ...,
    references: Sequence[str | Path] = ...,
    outputs: Mapping[str, str | Path] | None = None,
    tokenize: str = '13a',
    permutations: int = 1000,
    resamples: int = 500,
    seed: int = 1,
    **reading: Any,
) -> MetaEvaluation: ...
def move(
    campaign: str | Path,
    to: str | Path,
    *,
    database: str | None = None,
) -> Moved: ...
def parity(
    source: Any,
    human: str,
    *,
    before: Any = None,
    contaminated: str | Iterable[str] | None = None,
    keys: str | Path | Mapping[str, str] | None = None,
    ties: Literal['half', 'drop'] = 'half',
    margin: float | str | None = None,
    seed: int = 1,
    **reading: Any,
) -> Parity: ...
def plan(
    *,
    systems: int = 8,
    protocol: Literal['scores', 'ranking', 'pairwise'] = 'scores',
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
    per_item: Iterable[int] = ...,
    structures: Iterable[str] = ...,
    seconds: float | None = None,
    like: Any = None,
    looks: int = 5,
    spending: Literal['kim-demets', 'obrien-fleming', 'pocock'] = 'kim-demets',
    select: str | Path | None = None,
    draws: int = 30,
    seed: int = 1,
    progress: Callable[[str], None] = ...,
    **reading: Any,
) -> Plan | RelativePlan: ...
def qe(
    texts: Any,
    predictions: Any = None,
    *,
    weight: float | None = None,
    baseline: str | None = None,
    largest: float = 50.0,
    direct: str | Path | None = None,
    assessments: int | None = None,
    assessment_price: float | None = None,
    word_price: tuple[float, float] | None = None,
) -> QualityEstimation: ...
def rank(
    source: Any,
    *,
    method: str | None = None,
    reference: Literal['include', 'exclude'] | None = None,
    lines: str | None = None,
    level: float = 0.05,
    significance: Literal['sign', 'resample', 'tastes'] | None = None,
    resamples: int | None = None,
    zero_sd: Literal['drop', 'zero'] = 'drop',
    with_scores: Any = None,
    by: str | Iterable[str] = ...,
    explain: bool = False,
    correct_screens: bool = False,
    seed: int = 1,
    **reading: Any,
) -> Ranking: ...
def read(
    source: Any,
    *,
    format: str | None = None,
    options: ReadOptions | None = None,
    **reading: Any,
) -> Judgments: ...
def replicate(
    paper: str,
    data: str | Path,
    *,
    report: str | Path | None = None,
) -> Replication: ...
def report(
    source: Any,
    *,
    method: str | None = None,
    title: str | None = None,
    texts: Mapping[str, Sequence[str]] | None = None,
    only_passing: bool = False,
    by: str | Iterable[str] = ...,
    documents_by: str | Path = 'raw',
    seed: int = 1,
    progress: Callable[[str], None] = ...,
    **reading: Any,
) -> CampaignReport: ...
def restore(
    archive: str | Path,
    folder: str | Path,
    *,
    database: str | None = None,
) -> Restored: ...
def simulate(
    protocol: str | RankingCampaign | ScoreCampaign = 'ranking',
    *,
    seed: int = 1,
    design: str | Path | None = None,
    **settings: Any,
) -> Simulated: ...
def testset(
    files: str | Path | Iterable[str | Path],
    *,
    format: str = 'auto',
    language: str | None = None,
    tokenize: str | None = None,
    translations: str | Path | Iterable[str | Path] = ...,
    reference: str | Path | Iterable[str | Path] = ...,
    topics: int = 8,
    labels: Iterable[str] = ...,
    embeddings: str = 'words',
    after: str | Path | None = None,
    outputs: Mapping[str, tuple[str | Path, str | Path]] | None = None,
    reference_translation: str | Path | Iterable[str | Path] = ...,
    seed: int = 1,
) -> TestSetCheck: ...
def tournament(
    source: Any,
    *,
    time_limit: float = 60.0,
    uncertainty: bool = False,
    confidence: float = 0.95,
    resamples: int = 200,
    seed: int = 1,
    **reading: Any,
) -> Tournament: ...
