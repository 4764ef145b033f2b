"""Direct assessment as the translation workshops release it: a folder of the `ad-*.csv` family, or single files of it.

The same judgments lie in several files of a folder. For every language pair the fullest one is read: all judgments
(`ad-latest`), else those of workers who passed (`ad-good-raw`), else standardised ones (`ad-XXYY-good-stnd`), which are
undone with the workers' means beside them, else segment means (`ad-seg-scores`). `docs/formats-scores.md` says how
the official numbers come out of the table: three columns beyond the common ones carry what that needs.

- `passed`: the official quality control kept this row; null where no file tells.
- `copy`: the row repeats a judgment for another system with the same output; leave it out of a worker's mean.
- `z`, `n`: only for segment means: the mean of z-scores, and how many judgments are behind the row.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from adjudge.readers import wmt_da_files
from adjudge.readers.duplicates import times_before
from adjudge.readers.parsing import Spaced, numbered_lines, read_spaced
from adjudge.table.errors import InputError
from adjudge.table.files import read_text
from adjudge.table.judgments import ColumnUse, Judgments, SetAside, concat
from adjudge.table.languages import parse_pair
from adjudge.table.participants import mark_humans
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.readers.options import ReadOptions


# Where a judgment stands: task, page, document and segment, as far as the ids of a file tell.
#
# - Ids such as `cs-en-3-71-1000434.2_2` carry the task (3), the document (71), the page (1000434) and the segment (2).
# - Ids that are plain numbers count the segments of the test set. Where the rows of one page (`rid`) cover one
#   contiguous range of them, a page is one document by one system, and documents are the ranges that overlap, taken
#   together.
# - Other ids that end in a number are read as document and segment.
#
# Whatever the ids are, two rows have the same document and segment only if the file gave them the same segment id (or,
# for ids that carry a task, the same document and segment in it).

_CODED = r"^(?:\p{L}+-\p{L}+-)?(?P<task>[0-9]+)-(?P<document>[0-9]+)-(?P<page>[0-9]+)\.(?P<segment>[0-9]+)_[0-9]+$"
_ENDS_IN_NUMBER = r"^(?P<document>.+?)[_.:#@|-]+(?P<segment>[0-9]+)$"
_PAGE = ("hit_id", "annotator", "rid")
# So few ids of another kind, and pages with holes, are damage or lost judgments, not another layout: one of them must
# not change the documents of all others.
_FEW = 0.03


def add_documents(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows of one language pair with the columns task, screen, document and segment."""
    sid = rows["sid"]
    placed = rows.with_columns(task=pl.coalesce("hit_id", "hit"), screen=pl.col("rid"), segment=pl.col("sid"))
    if _most(sid.str.contains(_CODED)):
        parts = sid.str.extract_groups(_CODED).struct.unnest()
        return placed.with_columns(
            parts["document"],
            segment=pl.coalesce(parts["segment"], "sid"),
            task=pl.coalesce("task", parts["task"]),
            screen=pl.coalesce("rid", parts["page"]),
        )
    number = pl.select(pl.when(sid.str.contains("^[0-9]+$")).then(sid.cast(pl.Int64, strict=False))).to_series()
    return _documents_by_ranges(placed, number) if _most(number.is_not_null()) else _documents_by_endings(placed)


def _most(fits: pl.Series) -> bool:
    return fits.fill_null(value=False).sum() >= (1 - _FEW) * len(fits)


def _documents_by_ranges(rows: pl.DataFrame, number: pl.Series) -> pl.DataFrame:
    unknown = rows.with_columns(pl.lit(None, dtype=pl.String).alias("document"))
    pages = (
        rows.with_columns(number.alias("number"))
        .filter(pl.col("rid").is_not_null() & pl.col("number").is_not_null())
        .group_by(_PAGE)
        .agg(low=pl.col("number").min(), high=pl.col("number").max(), size=pl.col("number").n_unique())
    )
    whole = pages["high"] - pages["low"] + 1 == pages["size"]
    if pages.height == 0 or _most(pages["size"] == 1) or not _most(whole):
        return unknown
    documents = _join_overlapping(pages.filter(whole))
    # A page with a hole has lost a judgment, or holds a damaged id: it must not make one document of several.
    torn = pages.filter(~whole).filter(2 * pl.col("size") > pl.col("high") - pl.col("low") + 1)
    met = torn.join_where(documents, pl.col("low") <= pl.col("high_right"), pl.col("high") >= pl.col("low_right"))
    apart = torn.join(met.group_by(_PAGE).len().filter(pl.col("len") > 1), on=_PAGE, how="anti", nulls_equal=True)
    documents = _join_overlapping(pl.concat([documents, apart], how="diagonal"))
    ranges = documents.with_columns(pl.format("{}-{}", "low", "high").alias("name"))
    placed = rows.with_columns(number.alias("number")).with_row_index("row").sort("number")
    placed = placed.join_asof(ranges, left_on="number", right_on="low", strategy="backward").sort("row")
    inside = pl.when(pl.col("number") <= pl.col("high")).then(pl.col("name"))
    return placed.with_columns(inside.alias("document")).drop("row", "number", "low", "high", "name", strict=False)


def _join_overlapping(ranges: pl.DataFrame) -> pl.DataFrame:
    """The ranges, those that overlap taken together."""
    ranges = ranges.select("low", "high").unique().sort("low", "high")
    apart = pl.col("low") > pl.col("high").cum_max().shift(1)
    parts = ranges.group_by(part=apart.fill_null(value=True).cum_sum())
    return parts.agg(low=pl.col("low").min(), high=pl.col("high").max()).select("low", "high").sort("low")


def _documents_by_endings(rows: pl.DataFrame) -> pl.DataFrame:
    """Document and segment from ids that end in a number, if most documents then have several segments."""
    parts = rows["sid"].str.extract_groups(_ENDS_IN_NUMBER).struct.unnest()
    different = parts.unique()
    sizes = different.group_by("document").len()["len"]
    ambiguous = different.height != rows["sid"].n_unique()
    if parts["segment"].null_count() or ambiguous or float(str(sizes.median())) <= 1:
        return rows.with_columns(pl.lit(None, dtype=pl.String).alias("document"))
    return rows.with_columns(parts["document"], parts["segment"])


# Who passed, and which rows are copies: one table from the files of all, of approved, and of expanded judgments.
# Three files may hold the same judgments: all of them, those of the workers who passed quality control, and the latter
# with one row for each of the systems that share an output. A worker's mean and spread belong to the first, system
# scores to the last. So the table keeps every row of both, and says of each whether it `passed` and whether it is a
# `copy`, made for another system that shares the judged output.


# What identifies a judgment in all files; the system is left out, because expansion changes it.
_IDENTITY = ("hit_id", "annotator", "source_lang", "target_lang", "hit", "rid", "kind", "sid", "score")
# The identity as one number: files are large, and two identities share a number once in a billion files.
_KEY = "key"
_NTH = "nth"


def merge_passing(everything: pl.DataFrame, passing: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """All judgments with the columns `passed` and `copy`, and how many passing rows are in no other file.

    Args:
        everything: the unfiltered judgments.
        passing: the judgments of workers who passed, expanded or not.
    """
    all_rows, kept = _number_identities(everything), _number_identities(passing)
    given = all_rows.group_by(_KEY).agg(pl.len().alias("given"), pl.col("line").min().alias("at"))
    kept = kept.join(given, on=_KEY, how="left", maintain_order="left")
    unknown = kept["given"].null_count()
    kept = kept.with_columns(
        (pl.col(_NTH) >= pl.col("given")).fill_null(value=False).alias("copy"),
        pl.lit(value=True).alias("passed"),
        pl.coalesce("at", "line").alias("line"),
    )
    complete = kept.group_by(_KEY).agg(pl.len().alias("kept"), pl.col("given").first())
    others = all_rows.join(complete.filter(pl.col("kept") >= pl.col("given")), on=_KEY, how="anti")
    others = others.join(kept, on=[_KEY, "system"], how="anti")
    others = others.with_columns(pl.lit(value=False).alias("copy"), pl.lit(value=False).alias("passed"))
    merged = pl.concat([kept.drop("given", "at"), others], how="diagonal").sort("line", maintain_order=True)
    return merged.drop(_KEY, _NTH), unknown


def mark_copies(rows: pl.DataFrame, base: pl.DataFrame | None) -> pl.DataFrame:
    """Passing judgments with the columns `passed` and `copy`; `base` is the same file before expansion, if any.

    Without it, rows that agree in everything but the system are copies where a page id says that they are one item.
    """
    numbered = _number_identities(rows)
    if base is not None:
        given = _number_identities(base).group_by(_KEY).agg(pl.len().alias("given"))
        numbered = numbered.join(given, on=_KEY, how="left", maintain_order="left")
        copy = (pl.col(_NTH) >= pl.col("given")).fill_null(value=False)
    else:
        copy = (pl.col(_NTH) > 0) & pl.col("rid").is_not_null() & pl.col("hit_id").is_not_null()
    marked = numbered.with_columns(copy.alias("copy"), pl.lit(value=True).alias("passed"))
    return marked.drop(_KEY, _NTH, "given", strict=False)


def split_shared_outputs(rows: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """One row for each of the systems that share an output (`A+B`), and how many outputs are shared.

    Only where all of them also occur on their own: a name may hold a plus of its own. All but the first are copies.
    """
    known = set(rows["system"].drop_nulls().unique())
    shared = [name for name in known if "+" in name and known.issuperset(name.split("+"))]
    together = pl.col("system").is_in(shared)
    count = rows.select(together.sum()).item()
    if not count:
        return rows, 0
    parts = pl.when(together).then(pl.col("system").str.split("+")).otherwise(pl.concat_list("system"))
    numbers = pl.int_ranges(parts.list.len())
    each = rows.with_columns(parts.alias("system"), numbers.alias(_NTH)).explode("system", _NTH)
    if "copy" in rows.columns:
        each = each.with_columns(pl.col("copy") | (pl.col(_NTH) > 0))
    return each.drop(_NTH), count


def _number_identities(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with the number of their identity, and how many rows before have the same one."""
    keyed = rows.with_columns(pl.struct(_IDENTITY).hash().alias(_KEY))
    return keyed.with_columns(times_before(keyed, (_KEY,), keyed[_KEY].is_duplicated()).alias(_NTH))


# When HITs were done, how long they took, and which were rejected: from the files beside the scores, one row per HIT.
# Only the time of a whole HIT is known. It is divided evenly among its items, so that sums over a HIT, a worker or a
# system are right, while nothing is claimed about single items.

_WAYS_TO_WRITE_A_TIME = ("%Y-%m-%d %H:%M:%S", "%a %b %d %H:%M:%S %Y")
_HIT = ("hit_id", "annotator")


def add_times(
    rows: pl.DataFrame, campaign: wmt_da_files.Campaign, item: str, options: ReadOptions
) -> tuple[pl.DataFrame, list[str]]:
    """The rows with the columns started, ended, active_seconds and rejected, and notes on what cannot be read."""
    hits, notes = _read_hits(campaign, item, options)
    timed = rows.join(hits, on=_HIT, how="left", maintain_order="left")
    seconds = pl.coalesce("hit_seconds", pl.when(pl.col("seconds") > 0).then("seconds"))
    items = (~pl.col("copy")).sum().over(*_HIT)
    has_hit = pl.col("hit_id").is_not_null() & (items > 0)
    timed = timed.with_columns(pl.when(has_hit).then(seconds / items).alias("active_seconds"))
    rejected, rejection_notes = _find_rejected(timed, campaign, item, options)
    return timed.with_columns(rejected).drop("hit_seconds", "approval"), [*notes, *rejection_notes]


def _read_hits(campaign: wmt_da_files.Campaign, item: str, options: ReadOptions) -> tuple[pl.DataFrame, list[str]]:
    """Times by HIT and worker; corrected for HITs done at the same time, where such a file is there."""
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "hit_id": pl.String, "annotator": pl.String, "hit_seconds": pl.Float64,
        "started": pl.Datetime("us", "UTC"), "ended": pl.Datetime("us", "UTC"), "approval": pl.String,
    }  # fmt: skip
    files = sorted(campaign.find("times", item=item), key=lambda companion: "corrected" not in companion.path.name)
    for companion in files:
        table = read_spaced(companion.path, header="approval")
        if table is not None and table.frame.height and table.header:
            hits, notes = _parse_hits(table, options)
            return hits.unique(_HIT, keep="last").match_to_schema(schema, missing_columns="insert"), notes
    return pl.DataFrame(schema=schema), []


def _parse_hits(table: Spaced, options: ReadOptions) -> tuple[pl.DataFrame, list[str]]:
    bad = table.bad_rows(options)
    columns: dict[str, pl.Series] = {}
    for name, names in (("hit_id", ("HITId", "hit")), ("annotator", ("WorkerId", "wid")), ("approval", ("approval",))):
        if (column := table.column_index(*names)) is not None:
            columns[name] = table.texts(column)
    if (column := table.column_index("corrected.work.seconds", "work-seconds", "work.seconds")) is not None:
        columns["hit_seconds"] = table.numbers(column, "work seconds", bad, optional=True)
    for name, names in (("started", ("accept", "accept.time")), ("ended", ("submit", "submit.time"))):
        if (column := table.column_index(*names)) is not None:
            columns[name] = _parse_times(table.texts(column))
    _, notes = bad.settle()
    return pl.DataFrame(columns).filter(bad.usable()), notes


def _parse_times(texts: pl.Series) -> pl.Series:
    """Times, taken as UTC: the files do not say their zone."""
    ways = [texts.str.to_datetime(way, time_unit="us", strict=False) for way in _WAYS_TO_WRITE_A_TIME]
    return pl.select(pl.coalesce(ways)).to_series().dt.replace_time_zone("UTC")


def _find_rejected(
    rows: pl.DataFrame, campaign: wmt_da_files.Campaign, item: str, options: ReadOptions
) -> tuple[pl.Series, list[str]]:
    """Whether a row's HIT was rejected; where only the worker's rate of rejection is known, whether it is not 0."""
    if rows["approval"].null_count() < rows.height:
        return (rows["approval"] == "Rejected").alias("rejected"), []
    for companion in campaign.find("workers", item=item):
        table = read_spaced(companion.path, header="reject.rate")
        if table is None or not table.header:
            continue
        worker, rate = table.column_index("wid", "WorkerId"), table.column_index("reject.rate")
        if worker is not None and rate is not None:
            bad = table.bad_rows(options)
            often = table.numbers(rate, "reject.rate", bad, optional=True) > 0
            _, notes = bad.settle()
            people = table.texts(worker).filter(bad.usable() & often).to_list()
            return rows["annotator"].is_in(people).alias("rejected"), notes
    return pl.repeat(None, rows.height, dtype=pl.Boolean, eager=True).alias("rejected"), []


_PAIR = ("source_lang", "target_lang")
_EXTRA = ("passed", "copy", "rejected", "z", "n")
_COLUMNS = (
    *_PAIR, "annotator", "task", "screen", "document", "segment", "system", "kind", "score", "started", "ended",
    "active_seconds",
)  # fmt: skip


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read folders and files; every folder that holds scores is a campaign named after it."""
    return concat([_Reader(campaign, options).read() for campaign in wmt_da_files.find_campaigns(paths)])


class _Reader:
    """Reads one campaign and collects what there is to say about it."""

    def __init__(self, campaign: wmt_da_files.Campaign, options: ReadOptions) -> None:
        self.campaign = campaign
        self.options = options
        items = {member.item for member in campaign.given}
        # If there are files of several items, such as fluency, adequacy is read.
        self.item = "ad" if "ad" in items else min(items)
        self.notes: list[str] = []
        self.done: set[tuple[str, str]] = set()
        self.seen: dict[Path, pl.DataFrame | None] = {}
        self.no_score = 0
        self.set_aside: list[SetAside] = []
        self.uses: list[ColumnUse] = []

    def read(self) -> Judgments:
        judged: list[pl.DataFrame] = []
        segments: list[pl.DataFrame] = []
        sources = self._sources()
        for role in wmt_da_files.SOURCES:
            members = [member for member in sources if member.role == role]
            for member in sorted(members, key=lambda member: not member.expanded):
                rows = None if member.pair in {source + target for source, target in self.done} else self._rows(member)
                if rows is not None and (fresh := self._select_new_pairs(rows)).height:
                    (segments if role == "segments" else judged).append(fresh)
        for member in self.campaign.given:
            rows = self.seen.get(member.path)
            if member.role == "documents" and rows is not None and len(self.campaign.given) > 1:
                self.notes.append(f"{member.path.name}: {counted(rows.height, 'score')} of whole documents left alone")
        parts = [*self._add_places(judged), *map(self._make_segment_rows, segments)]
        if not parts:
            where = self.campaign.given[0].path if len(self.campaign.given) == 1 else self.campaign.folder
            raise InputError("is empty: it holds no scores; check that the file is complete", file=where)
        return self._judgments(pl.concat(parts, how="diagonal"))

    def _sources(self) -> list[wmt_da_files.Member]:
        """The files to read: where one language pair is wanted and some are named after it, not those of others."""
        members = [member for member in self.campaign.given if member.item == self.item]
        if self.options.pair is None:
            return members
        wanted = parse_pair(self.options.pair).replace("-", "")
        chosen = [member for member in members if member.pair in ("", wanted)]
        return chosen if any(member.pair for member in chosen) else members

    def _select_new_pairs(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of pairs that no fuller file has given yet."""
        pairs = rows.select(_PAIR).unique(maintain_order=True).rows()
        new = [pair for pair in pairs if pair not in self.done]
        self.done.update(new)
        if len(new) == len(pairs):
            return rows
        wanted = pl.DataFrame(new, schema=dict.fromkeys(_PAIR, pl.String), orient="row")
        return rows.join(wanted, on=_PAIR, how="semi", nulls_equal=True, maintain_order="left")

    def _rows(self, member: wmt_da_files.Member) -> pl.DataFrame | None:
        rows = self._load(member)
        if member.role == "segments":
            return rows
        if rows is None or self.done.issuperset(rows.select(_PAIR).unique().rows()):
            return None
        if member.role == "standardised" or (member.role == "latest" and wmt_da_files.is_standardised(rows)):
            return self._undo_standardisation(member, rows)
        return mark_copies(rows, self._find_unexpanded(member)) if member.role == "good" else self._mark_passing(rows)

    def _load(self, member: wmt_da_files.Member) -> pl.DataFrame | None:
        """The rows of a file, read once although they may be asked for as a source and as a companion."""
        if member.path in self.seen:
            return self.seen[member.path]
        if member.role == "segments":
            read = wmt_da_files.read_segments(member.path, self.options)
        else:
            raw = None if wmt_da_files.member_of(member.path) is None else member.role != "standardised"
            read = wmt_da_files.read_scores(member.path, self.options, raw=raw)
        if read is not None:
            self.set_aside += read.set_aside
            self.notes += read.notes
            self.uses += read.uses
        self.seen[member.path] = None if read is None else read.frame
        return self.seen[member.path]

    def _mark_passing(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Mark the judgments of workers who passed."""
        files = map(self._load, self.campaign.find("good", item=self.item))
        passing = next((judged for judged in files if judged is not None), None)
        if passing is None:
            good = self._good_workers
            passed = pl.lit(None, dtype=pl.Boolean) if good is None else pl.col("annotator").is_in(good)
            return rows.with_columns(passed.alias("passed"), pl.lit(value=False).alias("copy"))
        merged, unknown = merge_passing(rows, passing)
        if unknown:
            are = agreeing(unknown, "is", "are")
            known = f"{counted(unknown, 'judgment')} that passed {are} not among all judgments"
            self.notes.append(f"{self.campaign.name}: {known}")
        return merged

    def _undo_standardisation(self, member: wmt_da_files.Member, rows: pl.DataFrame) -> pl.DataFrame:
        rows = mark_copies(rows, self._find_unexpanded(member))
        means = self.campaign.find("means", item=self.item, pair=member.pair)
        if not means or not member.pair:
            what = "scores are standardised, and no file of the workers' means lies beside to undo it"
            self.notes.append(f"{member.path.name}: {what}; they are in standard deviations, not points")
            return rows
        table = wmt_da_files.read_means(means[0].path)
        raw, notes = wmt_da_files.undo(rows, table, member.path)
        self.notes += notes
        for companion in self.campaign.find("segments", item=self.item, pair=member.pair):
            segments = self._load(companion)
            if segments is not None and segments["score"].null_count() == 0 and segments["n"].null_count() == 0:
                more, notes = wmt_da_files.restore_constant_workers(
                    raw, segments, table, self._good_workers, companion.path
                )
                self.notes += notes
                raw = pl.concat([raw, more])
        return raw

    def _find_unexpanded(self, member: wmt_da_files.Member) -> pl.DataFrame | None:
        """Return the same judgments before expansion, if the file is an expanded one and that lies beside."""
        beside = self.campaign.find(member.role, item=self.item, pair=member.pair) if member.expanded else []
        return next((self._load(other) for other in beside if not other.expanded), None)

    @cached_property
    def _good_workers(self) -> frozenset[str] | None:
        for companion in self.campaign.find("classes", item=self.item):
            fields = [line.split() for _, line in numbered_lines(read_text(companion.path))]
            return frozenset(row[0] for row in fields if row[1:] == ["good"])
        return None

    def _add_places(self, parts: list[pl.DataFrame]) -> list[pl.DataFrame]:
        if not parts:
            return []
        rows = pl.concat(parts, how="diagonal")
        self.no_score = rows["score"].null_count()
        rows = rows.filter(pl.col("score").is_not_null())
        if rows.is_empty():
            return []
        by_pair = self._split_shared_outputs(rows)
        placed = pl.concat([add_documents(part) for part in by_pair], how="diagonal")
        timed, notes = add_times(placed, self.campaign, self.item, self.options)
        self.notes += notes
        return [timed.select(name for name in (*_COLUMNS, *_EXTRA) if name in timed.columns)]

    def _split_shared_outputs(self, rows: pl.DataFrame) -> list[pl.DataFrame]:
        """The rows of each pair, with one for each of the systems that share an output."""
        parts = [split_shared_outputs(part) for part in rows.partition_by(_PAIR, maintain_order=True)]
        if shared := sum(count for _, count in parts):
            are = f"{counted(shared, 'output')} {agreeing(shared, 'is', 'are')} shared by systems"
            self.notes.append(f"{self.campaign.name}: {are}; each has a row")
        return [part for part, _ in parts]

    def _make_segment_rows(self, rows: pl.DataFrame) -> pl.DataFrame:
        segments = pl.concat(self._split_shared_outputs(rows))
        pairs = ", ".join(f"{source}-{target}" for source, target in segments.select(_PAIR).unique().rows())
        self.notes.append(f"{self.campaign.name}: only segment means were released for {pairs}")
        return segments.select(
            *_PAIR, "system", pl.col("sid").alias("segment"), pl.lit("system").alias("kind"), "score",
            pl.lit(value=True).alias("passed"), "z", pl.col("n").cast(pl.Int64),
        )  # fmt: skip

    def _judgments(self, table: pl.DataFrame) -> Judgments:
        table = table.with_columns(pl.lit(self.campaign.name).alias("campaign"), pl.lit("da").alias("protocol"))
        left_out = [SetAside("no score was given", self.no_score), *self.set_aside]
        source = str(self.campaign.folder)
        judgments = Judgments.from_columns(table, set_aside=left_out, notes=self.notes, source=source, uses=self.uses)
        return mark_humans(judgments, self.options.human)
