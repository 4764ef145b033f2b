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

from adjudge.core.errors import InputError
from adjudge.core.files import read_text
from adjudge.core.humans import mark_humans
from adjudge.core.judgments import Judgments, SetAside, concat
from adjudge.core.languages import parse_pair
from adjudge.core.wording import agreeing, counted
from adjudge.formats.parsing.delimited import numbered_lines
from adjudge.formats.wmt_da.copies import mark_copies, merge_passing, split_shared_outputs
from adjudge.formats.wmt_da.documents import with_documents
from adjudge.formats.wmt_da.files import SOURCES, Campaign, Member, find_campaigns, member_of
from adjudge.formats.wmt_da.scores import is_standardised, read_means, read_scores, read_segments
from adjudge.formats.wmt_da.standardised import restore_constant_workers, undo
from adjudge.formats.wmt_da.times import with_times

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from adjudge.core.judgments import ColumnUse
    from adjudge.formats.options import ReadOptions
    from adjudge.formats.parsing.bad_rows import UsableRows

_PAIR = ("source_lang", "target_lang")
_EXTRA = ("passed", "copy", "rejected", "z", "n")
_COLUMNS = (
    *_PAIR, "annotator", "task", "screen", "document", "segment", "system", "kind", "score", "started", "ended",
    "active_seconds",
)  # fmt: skip


def read(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read folders and files; every folder that holds scores is a campaign named after it."""
    return concat([_Reader(campaign, options).read() for campaign in find_campaigns(paths)])


class _Reader:
    """Reads one campaign and collects what there is to say about it."""

    def __init__(self, campaign: Campaign, options: ReadOptions) -> None:
        self.campaign = campaign
        self.options = options
        self.item = self._main_item()
        self.notes: list[str] = []
        self.done: set[tuple[str, str]] = set()
        self.seen: dict[Path, pl.DataFrame | None] = {}
        self.no_score = 0
        self.set_aside: list[SetAside] = []
        self.uses: list[ColumnUse] = []

    def _main_item(self) -> str:
        """Adequacy (`ad`) where there are files of several items, such as fluency."""
        items = {member.item for member in self.campaign.given}
        return "ad" if "ad" in items else min(items)

    def read(self) -> Judgments:
        judged: list[pl.DataFrame] = []
        segments: list[pl.DataFrame] = []
        sources = self._sources()
        for role in SOURCES:
            members = [member for member in sources if member.role == role]
            for member in sorted(members, key=lambda member: not member.expanded):
                rows = None if member.pair in {source + target for source, target in self.done} else self._rows(member)
                if rows is not None and (fresh := self._select_new_pairs(rows)).height:
                    (segments if role == "segments" else judged).append(fresh)
        self._note_documents()
        parts = [
            *self._add_places(judged),
            *(self._make_segment_rows(self._split_shared_outputs(part)) for part in segments),
        ]
        if not parts:
            where = self.campaign.given[0].path if len(self.campaign.given) == 1 else self.campaign.folder
            raise InputError("is empty: it holds no scores; check that the file is complete", file=where)
        return self._judgments(pl.concat(parts, how="diagonal"))

    def _sources(self) -> list[Member]:
        """The files to read: where one language pair is wanted and some are named after it, not those of others."""
        members = [member for member in self.campaign.given if member.item == self.item]
        if self.options.pair is None:
            return members
        wanted = parse_pair(self.options.pair).replace("-", "")
        chosen = [member for member in members if member.pair in ("", wanted)]
        return chosen if any(member.pair for member in chosen) else members

    def _note_documents(self) -> None:
        for member in self.campaign.given:
            rows = self.seen.get(member.path)
            if member.role == "documents" and rows is not None and len(self.campaign.given) > 1:
                self.notes.append(f"{member.path.name}: {counted(rows.height, 'score')} of whole documents left alone")

    def _select_new_pairs(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows of pairs that no fuller file has given yet."""
        pairs = rows.select(_PAIR).unique(maintain_order=True).rows()
        new = [pair for pair in pairs if pair not in self.done]
        self.done.update(new)
        if len(new) == len(pairs):
            return rows
        wanted = pl.DataFrame(new, schema=dict.fromkeys(_PAIR, pl.String), orient="row")
        return rows.join(wanted, on=_PAIR, how="semi", nulls_equal=True, maintain_order="left")

    def _rows(self, member: Member) -> pl.DataFrame | None:
        if member.role == "segments":
            return self._segments(member)
        rows = self._scores(member)
        if rows is None or self.done.issuperset(rows.select(_PAIR).unique().rows()):
            return None
        if member.role == "standardised" or (member.role == "latest" and is_standardised(rows)):
            return self._undo_standardisation(member, rows)
        return mark_copies(rows, self._unexpanded(member)) if member.role == "good" else self._mark_passing(rows)

    def _scores(self, member: Member) -> pl.DataFrame | None:
        """The judgments of a file, read once although they may be asked for as a source and as a companion."""
        if member.path not in self.seen:
            raw = None if member_of(member.path) is None else member.role != "standardised"
            read = read_scores(member.path, self.options, raw=raw)
            self.seen[member.path] = self._record(read)
        return self.seen[member.path]

    def _segments(self, member: Member) -> pl.DataFrame | None:
        """The segment means of a file, read once."""
        if member.path not in self.seen:
            self.seen[member.path] = self._record(read_segments(member.path, self.options))
        return self.seen[member.path]

    def _record(self, read: UsableRows | None) -> pl.DataFrame | None:
        """Record what there is to say about a file, and return its rows."""
        if read is None:
            return None
        self.set_aside += read.set_aside
        self.notes += read.notes
        self.uses += read.uses
        return read.frame

    def _mark_passing(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Mark the judgments of workers who passed."""
        files = map(self._scores, self.campaign.find("good", item=self.item))
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

    def _undo_standardisation(self, member: Member, rows: pl.DataFrame) -> pl.DataFrame:
        rows = mark_copies(rows, self._unexpanded(member))
        means = self.campaign.find("means", item=self.item, pair=member.pair)
        if not means or not member.pair:
            what = "scores are standardised, and no file of the workers' means lies beside to undo it"
            self.notes.append(f"{member.path.name}: {what}; they are in standard deviations, not points")
            return rows
        table = read_means(means[0].path)
        raw, notes = undo(rows, table, member.path)
        self.notes += notes
        for companion in self.campaign.find("segments", item=self.item, pair=member.pair):
            segments = self._segments(companion)
            if segments is not None and segments["score"].null_count() == 0 and segments["n"].null_count() == 0:
                more, notes = restore_constant_workers(raw, segments, table, self._good_workers, companion.path)
                self.notes += notes
                raw = pl.concat([raw, more])
        return raw

    def _unexpanded(self, member: Member) -> pl.DataFrame | None:
        """Return the same judgments before expansion, if the file is an expanded one and that lies beside."""
        beside = self.campaign.find(member.role, item=self.item, pair=member.pair) if member.expanded else []
        return next((self._scores(other) for other in beside if not other.expanded), None)

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
        rows = self._split_shared_outputs(rows)
        by_pair = rows.partition_by(_PAIR, maintain_order=True)
        placed = pl.concat([with_documents(part) for part in by_pair], how="diagonal")
        timed, notes = with_times(placed, self.campaign, self.item, self.options)
        self.notes += notes
        return [timed.select(name for name in (*_COLUMNS, *_EXTRA) if name in timed.columns)]

    def _split_shared_outputs(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The rows with one for each of the systems that share an output."""
        parts = [split_shared_outputs(part) for part in rows.partition_by(_PAIR, maintain_order=True)]
        if shared := sum(count for _, count in parts):
            are = f"{counted(shared, 'output')} {agreeing(shared, 'is', 'are')} shared by systems"
            self.notes.append(f"{self.campaign.name}: {are}; each has a row")
        return pl.concat([part for part, _ in parts])

    def _make_segment_rows(self, segments: pl.DataFrame) -> pl.DataFrame:
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
