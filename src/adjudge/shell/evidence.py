"""Commands that ask how far a result can be trusted: `audit`, `parity`, `compare`, `look`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from adjudge.shell.declare import ANALYSIS, DURING, command
from adjudge.shell.options import keys_option, page_option, read_keys
from adjudge.shell.reading import Judged, Reading, check_one_pair, read_by_pair
from adjudge.table.errors import UsageError, param
from adjudge.table.languages import is_unknown_pair
from adjudge.table.settings import REQUIRED, argument, column_names, option, seed_option

if TYPE_CHECKING:
    import polars as pl

    from adjudge.evidence.audit import Audit, AuditSettings
    from adjudge.evidence.compare import CompareSettings
    from adjudge.evidence.compared_campaigns import CampaignComparison
    from adjudge.evidence.look import LookSettings
    from adjudge.evidence.look_claims import Look
    from adjudge.evidence.parity import ParitySettings
    from adjudge.evidence.parity_results import Parity
    from adjudge.evidence.reaudit import Gallery, Reaudit
    from adjudge.table.judgments import Judgments
    from adjudge.table.results import Result


def _sections(given: str | Iterable[str]) -> list[str]:
    return given.split(",") if isinstance(given, str) else list(given)


@dataclass(frozen=True)
class AuditOptions:
    """What is audited, and files that are read besides the judgments."""

    only: list[str] | None = option(
        None,
        "Sections to compute, comma-separated. Default: all that apply.",
        typed=str | None,
        python="str | Iterable[str] | None",
        about="sections to compute, as a list or comma-separated; default: all that apply.",
        convert=_sections,
    )
    edits: Any = option(
        None,
        "Post-edits from the same campaign: a judgment table or a wmt-edits file.",
        typed=Path | None,
        about="post-edits from the same campaign: a path, or judgments.",
        after="documents_by",
    )
    acceptability: Any = option(
        None,
        "Judgments of these post-edits: a judgment table or a wmt-acceptability file.",
        typed=Path | None,
        about="judgments of these post-edits: a path, or judgments.",
        after="edits",
    )
    judge_scores: list[Path] = option(
        (),
        "Scores of metrics by segment, each tested as a machine judge. May be given several times.",
        about="files with scores of metrics by segment, each of which is tested as a machine judge. Annotators that "
        "are machines are named by `judges`, or by names that begin with `judge:`.",
        after="acceptability",
    )
    judge_lower_is_better: tuple[str, ...] = option(
        (),
        f"A metric of {param('judge_scores')} where lower is better; its sign is reversed.",
        metavar="NAME",
        typed=list[str] | None,
        python="str | Iterable[str]",
        about="metrics of these files where lower is better, as a list or comma-separated.",
        convert=column_names,
        after="judge_scores",
    )


@command(
    "audit",
    ANALYSIS,
    "adjudge audit data_RNK.csv --format wmt-ranking --pair en-cs --edits data_EDT.tsv",
    settings="adjudge.evidence.audit:AuditSettings",
    work=True,
)
def audit(judged: Judged, options: AuditOptions, settings: AuditSettings) -> Audit:
    """Test how far a ranking can be trusted, and list the claims that survive.

    Sections include stability under changes to the data, A/A tests, reliability, influence of single annotators and
    documents, sampling and composition.
    """
    parts = read_by_pair(judged, divided=options.only is None)
    if options.judge_scores:
        check_one_pair(parts, param("judge_scores"))
    # Imported here and not above, so that the other processes start first.
    from adjudge.evidence.audit import SECONDS_PER_ROW
    from adjudge.evidence.audit import audit as make_audit
    from adjudge.evidence.post_edits import read_companion as read_file
    from adjudge.table.judgments import Judgments

    def read_companion(source: Any, format_name: str) -> Judgments | None:
        is_read = source is None or isinstance(source, Judgments)
        return source if is_read else read_file(Path(source), format_name, judged.reading.options)

    settings = replace(
        settings,
        edits=read_companion(options.edits, "wmt-edits"),
        acceptability=read_companion(options.acceptability, "wmt-acceptability"),
        judge_scores=_metric_judges(options),
    )
    return judged.reading.each(
        parts,
        lambda part: make_audit(part, only=options.only, settings=settings),
        seconds_per_row=SECONDS_PER_ROW if options.only is None else 0.0,
        summary=_summarise_stability,
    )


def _metric_judges(options: AuditOptions) -> pl.DataFrame | None:
    from adjudge.judges.answers import read_judge_scores

    if options.judge_scores:
        return read_judge_scores(options.judge_scores, lower_is_better=options.judge_lower_is_better)
    if options.judge_lower_is_better:
        raise UsageError(f"{param('judge_lower_is_better')} names metrics of {param('judge_scores')}; give both")
    return None


def _summarise_stability(audits: Mapping[str, Audit]) -> Result | None:
    """Stability summed over language pairs, if several were audited."""
    from adjudge.evidence.stability import Stability, over_pairs

    found = {name: audit.sections.get("stability") for name, audit in audits.items()}
    stabilities = {name: section for name, section in found.items() if isinstance(section, Stability)}
    if len(stabilities) < 2:
        return None
    return over_pairs(stabilities, data="+".join(audit.data for audit in audits.values()))


@dataclass(frozen=True, kw_only=True)
class ReauditOptions:
    """A published ranking, or all that are at hand."""

    source: Any = argument(
        None,
        f"The judgments behind the published ranking; leave out with {param('gallery')}.",
        metavar="FILE",
        typed=list[Path] | None,
        about="a path, several paths, a data frame, or judgments.",
    )
    published: Any = option(
        None,
        "The published ranking: a table, a list with a system per line, or an official file (docs/reaudit.md).",
        typed=Path | None,
        about="the published ranking: a path, a data frame, names from the best on, or a mapping from names to ranks.",
    )
    rule: str | None = option(
        None,
        "The method behind the published ranking, as in 'adjudge rank'. Default: the one whose order comes closest.",
    )
    gallery: Path | None = option(
        None,
        "Audit every released campaign that 'adjudge data get' has put into this folder.",
        only="command line",
    )
    seed: int = seed_option()


@command("reaudit", ANALYSIS, "adjudge reaudit scores.csv --published table2.csv", work=True)
def reaudit(reading: Reading, options: ReauditOptions) -> Reaudit:
    """Compare a published ranking with ours: which differences hold, and what explains the others.

    Every published difference gets our verdict; every system that moves gets the reasons in order: rows and rule,
    annotators who fail, the model, the correction for all pairs.
    """
    from adjudge.evidence.reaudit import reaudit as compare
    from adjudge.readers.published import read_published

    if options.gallery is not None:
        return cast("Reaudit", _make_gallery(options.gallery, options.seed))
    if options.source is None or (isinstance(options.source, list) and not options.source):
        raise UsageError(f"no file was given; name the judgments, or {param('gallery')}")
    parts = reading.by_pair(options.source, everyone=True)

    def compute(part: Judgments) -> Reaudit:
        pair = part.pairs[0] if part.pairs and not is_unknown_pair(part.pairs[0]) else reading.pair
        published = None if options.published is None else read_published(options.published, pair=pair)
        everyone = reading.options.everyone
        return compare(part, published, rule=options.rule, everyone=everyone, seed=options.seed)

    return reading.each(parts, compute)


@dataclass(frozen=True, eq=False)
class _Released:
    """The judgments of a released campaign, and what was published of it."""

    judgments: Judgments
    published: Path | None
    rule: str | None

    def __len__(self) -> int:
        return len(self.judgments)


def _make_gallery(data: Path, seed: int) -> Gallery:
    """All released campaigns in a folder, each beside what was published of it."""
    from adjudge.datasets.catalogue import catalogue, find_folder
    from adjudge.evidence.reaudit import Gallery
    from adjudge.evidence.reaudit import reaudit as compare
    from adjudge.readers.published import read_published
    from adjudge.shell.reading import compute_pairs
    from adjudge.table.errors import DataError
    from adjudge.table.judgments import fingerprint_of_parts

    parts: dict[str, _Released] = {}
    left_out: dict[str, str] = {}
    for name, dataset in catalogue().items():
        folder = find_folder(dataset, data)
        if folder is None or not (dataset.published or dataset.rule):
            continue
        files = [folder / file for file in dataset.read] or [folder]
        try:
            found = Reading(dataset.format).by_pair(files, everyone=True)
        except DataError as fault:
            left_out[name] = str(fault)
            continue
        for pair, part in found.items():
            published = folder / dataset.published if dataset.published else None
            parts[f"{name} {pair}"] = _Released(part, published, dataset.rule)
    if not parts:
        raise UsageError(f"{data} holds no released campaign; fetch some by 'adjudge data get'")

    def compute(part: _Released) -> Reaudit:
        file = part.published
        published = None if file is None else read_published(file, pair=part.judgments.pairs[0])
        return compare(part.judgments, published, rule=part.rule, seed=seed)

    computed, faults = compute_pairs(parts, compute)
    left_out |= {name: str(fault) for name, fault in faults.items()}
    return Gallery(
        settings={"gallery": True, "seed": seed},
        data=fingerprint_of_parts(one.data for one in computed.values()),
        campaigns=computed,
        left_out=left_out,
    )


@dataclass(frozen=True, kw_only=True)
class ParityOptions:
    """What is compared, besides `ParitySettings`."""

    source: Any = argument(
        REQUIRED,
        f"Judgments; leave out with {param('before')} and {param('after')}.",
        metavar="FILE",
        typed=list[Path] | None,
        about="a path, several paths, a polars or pandas data frame, or judgments.",
        after="human",
    )
    human: str = option(
        REQUIRED, "The human translation: its name, or a regular expression.", positional=True, reads=True
    )
    before: Any = option(
        None,
        "Judgments on the original test set (a file or folder). May be repeated.",
        typed=list[Path] | None,
        about="judgments on an earlier version of the test set, to test the change; or use a column `version`.",
    )
    after: list[Path] | None = option(
        None, "Judgments on the corrected test set. The change is tested.", only="command line"
    )
    contaminated: Any = option(
        None,
        "Segments to analyse separately: a comma-separated list, a file, or a column.",
        metavar="IDS",
        typed=str | None,
        python="str | Iterable[str] | None",
        about="segments to analyse separately: names, a file of names, or a column of the judgments.",
    )
    keys: Any = keys_option()
    report: Path | None = page_option(after="margin")


@dataclass(frozen=True, eq=False)
class _Versions:
    """The judgments of a language pair on a test set, and those on an earlier version of it."""

    later: Judgments
    earlier: Judgments | None

    def __len__(self) -> int:
        return len(self.later)


@command(
    "parity",
    ANALYSIS,
    "adjudge parity --before bts --after ats --format rank-lines --stacked 2 --human ref --contaminated error",
    settings="adjudge.evidence.parity:ParitySettings",
    work=True,
)
def parity(reading: Reading, options: ParityOptions, settings: ParitySettings) -> Parity:
    """Test each system against a human translation, on one test set or before and after a correction."""
    from adjudge.evidence.parity import parity as compare_with_human

    earlier, later = _read_versions(reading, options)
    settings = replace(settings, contaminated=_find_contaminated(options, earlier, later), keys=read_keys(options.keys))
    versions = {name: _Versions(part, earlier.get(name)) for name, part in later.items()}

    def write_report(results: Mapping[str, Parity]) -> None:
        if options.report is not None:
            from adjudge.reports.parity_page import build_parity_page
            from adjudge.shell.output import write_page
            from adjudge.table.languages import pair_title

            title = ", ".join(["Human parity", *filter(None, map(pair_title, results))])
            write_page(build_parity_page(results, title=title), options.report)

    def compute(part: _Versions) -> Parity:
        return compare_with_human(part.later, human=options.human, before=part.earlier, settings=settings)

    return reading.each(versions, compute, then=write_report)


def _read_versions(reading: Reading, options: ParityOptions) -> tuple[dict[str, Judgments], dict[str, Judgments]]:
    """The judgments before and after by language pair; none before where one version of the test set was judged."""
    source, before, after = options.source, options.before, options.after
    if reading.caller is None:
        if bool(before) != bool(after):
            raise UsageError(f"{param('before')} and {param('after')} belong together; give both")
        if bool(source) == bool(after):
            raise UsageError(f"give judgments either as FILE or as {param('before')} and {param('after')}")
    later = reading.by_pair(after or source)
    if before is None:
        # A campaign may have judged both versions of a test set; in others there is none before.
        from adjudge.evidence.parity import split_versions

        versions = {name: split_versions(part) for name, part in later.items()}
        earlier = {name: first for name, (first, _) in versions.items() if first is not None}
        return earlier, {name: part for name, (_, part) in versions.items() if not earlier or name in earlier}
    earlier = reading.by_pair(before)
    if reading.caller is not None:
        return dict(zip(later, earlier.values(), strict=True)), later
    if earlier.keys() != later.keys():
        held = f"{', '.join(earlier)} before, {', '.join(later)} after"
        raise UsageError(f"the two test sets hold other language pairs ({held}); choose one with {param('pair')}")
    return earlier, later


def _find_contaminated(
    options: ParityOptions, earlier: Mapping[str, Judgments], later: Mapping[str, Judgments]
) -> frozenset[str] | None:
    """The segments to look at apart; those that were corrected, where the judgments hold both versions and say it."""
    from adjudge.table.texts import CORRECTED

    given, in_one = options.contaminated, bool(earlier) and options.before is None
    if given is None and in_one and all(CORRECTED in part.table.columns for part in later.values()):
        given = CORRECTED
    if given is None:
        return None
    tables = [*later.values(), *earlier.values()]
    return find_marked_segments(given, tables) if isinstance(given, str) else frozenset(given)


_YES = ("t", "true", "yes", "y", "1")


def find_marked_segments(marked: str, tables: Sequence[Judgments]) -> frozenset[str]:
    """The names of marked segments: the lines of a file, the rows for which a column says yes, or the given names."""
    from adjudge.table.errors import InputError
    from adjudge.table.files import exists, read_text

    if any(marked in judgments.table.columns for judgments in tables):
        return _find_marked_in_column(marked, tables)
    path = Path(marked)
    if exists(path) and path.is_file():
        names = frozenset(line.strip() for line in read_text(path).splitlines() if line.strip())
        if not names:
            raise InputError("is empty; one segment per line is needed", file=path)
        return names
    return frozenset(name.strip() for name in marked.split(",") if name.strip())


def _find_marked_in_column(column: str, tables: Sequence[Judgments]) -> frozenset[str]:
    import polars as pl

    says_yes = pl.col(column).cast(pl.String).str.strip_chars().str.to_lowercase().is_in(_YES)
    holding = [judgments.table for judgments in tables if column in judgments.table.columns]
    rows = pl.concat([table.filter(says_yes).select("document", "segment") for table in holding])
    # If segment numbers restart in every document, the document is part of the name.
    segments = pl.concat([judgments.table.select("document", "segment") for judgments in tables]).drop_nulls().unique()
    anew = segments["segment"].n_unique() < segments.height
    name = pl.concat_str("document", "segment", separator=":") if anew else pl.col("segment")
    return frozenset(rows.select(name=name)["name"].drop_nulls().to_list())


@dataclass(frozen=True, kw_only=True)
class CompareFiles:
    """The campaigns, the documents of their segments, and the page that is written."""

    campaigns: Any = argument(
        REQUIRED,
        "Two or more campaigns, each a file or a folder.",
        metavar="CAMPAIGN",
        typed=list[Path],
        python="Mapping[str, Any] | Sequence[Any] | Any",
        about="two or more, by name or in a list: paths, polars or pandas data frames, judgments, or metric scores "
        "(files `*.seg.score` and `*.sys.score`, or what `read_metric_scores` gives).",
    )
    others: Any = option((), "Further campaigns, if they are not in a list.", positional="rest", only="python")
    format: str | None = option(
        None,
        "File format: one for all, or a comma-separated list. Use metric-scores for a metric.",
        "--format",
        "-f",
        only="command line",
        reads=True,
    )
    keys: Any = keys_option(after="method")
    report: Path | None = page_option(after="seed")


@command(
    "compare",
    ANALYSIS,
    "adjudge compare ranking.parquet scores.parquet --rename sysA=alpha",
    settings="adjudge.evidence.compare:CompareSettings",
    work=True,
)
def compare(reading: Reading, files: CompareFiles, settings: CompareSettings) -> CampaignComparison:
    """Compare campaigns over the same systems, and test whether they give the same order."""
    from adjudge.evidence.compare import compare as compare_campaigns

    result = compare_campaigns(_campaigns(reading, files), settings, keys=read_keys(files.keys))
    if files.report is not None:
        from adjudge.reports.compare_page import build_compare_page
        from adjudge.shell.output import write_page

        write_page(build_compare_page(result), files.report)
    return result


def _campaigns(reading: Reading, files: CompareFiles) -> dict[str, Any]:
    """The campaigns by name. Files are named without their folders and endings on the command line."""
    given = files.campaigns
    if reading.caller is None:
        formats = _formats(reading.format, len(given))
        named = zip(_file_names(given), given, formats, strict=True)
        return {name: _campaign(path, replace(reading, format=format_name)) for name, path, format_name in named}
    if not isinstance(given, Mapping):
        several = enumerate([given, *files.others] if files.others else given, start=1)
        given = {source_name(source, f"campaign {i}"): source for i, source in several}
    return {name: _campaign(source, reading) for name, source in given.items()}


def _campaign(source: Any, reading: Reading) -> Any:
    from adjudge.readers.metric_scores import ENDINGS, MetricScore, read_metric_scores

    is_file = isinstance(source, str | Path)
    if is_file and (reading.format == "metric-scores" or str(source).endswith(ENDINGS)):
        return read_metric_scores([Path(source)])
    if isinstance(source, list) and source and isinstance(source[0], MetricScore):
        return source
    return reading.one_pair(source)


def source_name(source: Any, otherwise: str) -> str:
    """What a source is called: the path of a file."""
    return str(source) if isinstance(source, str | Path) else otherwise


def _file_names(paths: Sequence[Path]) -> list[str]:
    """The file names without extensions, or the full paths if two names are the same."""
    from adjudge.readers.metric_scores import ENDINGS

    def name(path: Path) -> str:
        ending = next((each for each in ENDINGS if path.name.endswith(each)), path.suffix if path.is_file() else "")
        return path.name.removesuffix(ending)

    names = [name(path) for path in paths]
    return names if len(set(names)) == len(names) else [str(path) for path in paths]


def _formats(given: str | None, count: int) -> list[str | None]:
    formats = [name.strip() for name in given.split(",")] if given else []
    if len(formats) not in (0, 1, count):
        named = f"{param('format')} names {len(formats)} formats for {count} campaigns"
        raise UsageError(f"{named}; give one for all or one for each")
    return [None] * count if not formats else [*formats] * (count if len(formats) == 1 else 1)


@command(
    "look",
    DURING,
    "adjudge look judgments.parquet --planned 5000 --looks 5 --goal best --history looks.json",
    settings="adjudge.evidence.look:LookSettings",
    work=True,
)
def look(judged: Judged, settings: LookSettings) -> Look:
    """Check during a campaign which claims are settled, which are open, and whether to stop."""
    from adjudge.evidence.look import look as take_look

    parts = judged.by_pair()
    if settings.history is not None:
        check_one_pair(parts, param("history"))
    return judged.reading.each(parts, lambda part: take_look(part, settings))
