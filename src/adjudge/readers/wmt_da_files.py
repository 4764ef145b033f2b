"""Which file of the `ad-*.csv` family is which: recognised by its name, or else by its content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from adjudge.readers import parsing
from adjudge.table.errors import InputError, param, shown
from adjudge.table.files import read_text
from adjudge.table.judgments import language_codes
from adjudge.table.languages import language_code, pair_in_name
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from adjudge.readers.options import ReadOptions
    from adjudge.readers.parsing import UsableRows


Role = Literal["latest", "documents", "good", "standardised", "segments", "means", "times", "workers", "classes"]

_ITEM = r"(?P<item>[a-z]+)"
# Every name fits at most one pattern, so their order does not matter.
_NAMES: tuple[tuple[Role, str], ...] = (
    ("latest", rf"{_ITEM}-latest"),
    ("documents", rf"{_ITEM}-latest-doc"),
    ("good", rf"{_ITEM}-good-raw(?P<expanded>-redup)?"),
    ("standardised", rf"{_ITEM}-(?P<pair>[a-z]+)-good-stnd(?P<expanded>-redup)?"),
    ("segments", rf"{_ITEM}-(?:(?:raw|stnd)-)?seg-scores(?:-(?:[0-9]+\.)?(?P<pair>[a-z]+-[a-z]+))?"),
    ("means", rf"{_ITEM}-(?P<pair>[a-z]+)-trk-mean-sd"),
    ("times", rf"{_ITEM}-(?:hit-time|corrected-hit-times)"),
    ("workers", rf"{_ITEM}-wrkr-stats"),
)
_CLASSES = re.compile(rf"{_ITEM}-trk-stats\.class")
# Where the same judgments lie in several files, the first of these kinds that holds a language pair is read.
SOURCES: tuple[Role, ...] = ("latest", "good", "standardised", "segments", "documents")
_WANTED = "ad-latest.csv, ad-good-raw.csv, ad-XXYY-good-stnd.csv or ad-seg-scores-XX-YY.csv"
# What the organisers computed from the scores.
_RESULTS = ("ad-sys-", "ad-DA-", "adwilcox", "clusters", "ad-trk-stats")
# A folder with this name says nothing about the campaign; the folder around it does.
_NAMELESS = "analysis"


@dataclass(frozen=True)
class Member:
    """A file of the family. `expanded`: outputs shared by several systems have a row for each of them (`redup`)."""

    path: Path
    role: Role
    item: str
    pair: str
    expanded: bool


@dataclass(frozen=True)
class Campaign:
    """The files of one folder: those to read, and all that lie beside them."""

    name: str
    folder: Path
    given: tuple[Member, ...]
    beside: tuple[Member, ...]

    def find(self, role: Role, *, item: str, pair: str | None = None) -> list[Member]:
        """The files beside that have this role, for an item and a pair; expanded ones first."""
        members = [
            member
            for member in self.beside
            if member.role == role and member.item == item and pair in (None, "", member.pair)
        ]
        return sorted(members, key=lambda member: not member.expanded)


def member_of(path: Path) -> Member | None:
    """Recognise a file by its name; None if it is no file of the family."""
    if match := _CLASSES.fullmatch(path.name):
        return Member(path, "classes", match["item"], "", expanded=False)
    for role, pattern in _NAMES:
        if match := re.fullmatch(pattern, parsing.stem(path)):
            groups = match.groupdict()
            pair = (groups.get("pair") or "").replace("-", "")
            return Member(path, role, groups["item"], pair, expanded=bool(groups.get("expanded")))
    return None


def find_campaigns(paths: Sequence[Path]) -> list[Campaign]:
    """One campaign per folder that holds scores: the folders given, those inside them, and those of the files given."""
    given: dict[Path, list[Member]] = {}
    others: list[Path] = []
    for path in paths:
        if path.is_dir():
            for folder in _folders_with_scores(path):
                given.setdefault(folder, []).extend(_sources(_members(folder)))
        elif _is_source(path):
            given.setdefault(path.parent, []).extend(_sources([member_of(path)]))
        else:
            others.append(path)
    folders = list(given)
    campaigns = [
        Campaign(name, folder, tuple(dict.fromkeys(given[folder])), tuple(_members(folder)))
        for name, folder in zip(_names(folders), folders, strict=True)
    ]
    # A file whose name is not of the family stands for itself: nothing beside it is known to belong to it.
    named = zip(others, parsing.campaign_names(others), strict=True) if others else ()
    return campaigns + [Campaign(name, path.parent, (_has_no_known_name(path),), ()) for path, name in named]


def _is_source(path: Path) -> bool:
    """Whether a file given by itself is of the family; those of the family that hold no scores are refused."""
    member = member_of(path)
    if member is not None and member.role in SOURCES:
        return True
    if member is not None or parsing.stem(path).startswith(_RESULTS):
        raise InputError(f"holds no scores by itself; give {_WANTED}, or the folder", file=path)
    return False


def _has_no_known_name(path: Path) -> Member:
    name = path.name.lower()
    role: Role = "standardised" if "stnd" in name else "segments" if "seg-scores" in name else "latest"
    return Member(path, role, "ad", "", expanded="redup" in name)


def _folders_with_scores(folder: Path) -> list[Path]:
    try:
        inside = sorted(path for path in folder.rglob("*") if path.is_dir() and not path.name.startswith("."))
    except OSError as fault:
        raise InputError(f"cannot be listed ({fault.strerror}); check its permissions", file=folder) from fault
    folders = [path for path in (folder, *inside) if _sources(_members(path))]
    if not folders:
        raise InputError(
            f"holds no file of scores such as {_WANTED}; check the path and {param('format')}", file=folder
        )
    return folders


def _members(folder: Path) -> list[Member]:
    try:
        files = sorted(file for file in folder.iterdir() if file.is_file())
    except OSError as fault:
        raise InputError(f"cannot be listed ({fault.strerror}); check its permissions", file=folder) from fault
    return [member for file in files if (member := member_of(file)) is not None]


def _sources(members: Iterable[Member | None]) -> list[Member]:
    return [member for member in members if member is not None and member.role in SOURCES]


def _names(folders: list[Path]) -> list[str]:
    """The shortest tails of the folders' paths that tell them apart."""
    parts = [path.resolve().parts for path in folders]
    parts = [path[:-1] if path[-1] == _NAMELESS and len(path) > 1 else path for path in parts]
    for depth in range(1, max(map(len, parts), default=0) + 1):
        names = ["/".join(path[-depth:]) for path in parts]
        if len(set(names)) == len(names):
            return names
    return [str(path) for path in folders]


# The single files of the `ad-*.csv` family as columns: judgments, segment means, workers' means and spreads.

KINDS = {"SYSTEM": "system", "REF": "reference", "BAD_REF": "degraded", "BAD-REF": "degraded", "REPEAT": "repeat"}
# column of the table: (its place where the file has no header, its names where it has one)
_COLUMNS: dict[str, tuple[int, tuple[str, ...]]] = {
    "hit_id": (0, ("HITId",)),
    "annotator": (1, ("WorkerId", "wid")),
    "source_lang": (2, ("Input.src", "src")),
    "target_lang": (3, ("Input.trg", "trg", "Input.tgt", "tgt")),
    "hit": (5, ("hit", "Input.hit")),
    "system": (6, ("sys_id", "sys")),
    "rid": (7, ("rid",)),
    "kind": (8, ("type",)),
    "sid": (9, ("sid", "doc_id")),
    "score": (10, ("score",)),
    "seconds": (11, ("time",)),
}
# What these columns become in the judgment table, if they have another name there.
_MEANINGS = {
    "hit_id": "task", "hit": "task (where there is no HIT)", "rid": "screen", "sid": "document and segment",
    "seconds": "active_seconds",
}  # fmt: skip
_NEEDED = ("annotator", "source_lang", "target_lang", "system", "kind", "sid", "score")


def read_scores(path: Path, options: ReadOptions, *, raw: bool | None) -> UsableRows | None:
    """Read the judgments of a file as they stand in it; None if it is empty or holds a header alone.

    Args:
        path: the file.
        options: how many rows may be unreadable.
        raw: whether its scores lie on the scale from 0 to 100; None to let the scores decide.
    """
    table = parsing.read_spaced(path, header="score")
    if table is None or table.frame.height == 0:
        return None
    columns = _column_indexes(table)
    bad = table.bad_rows(options)
    score = table.numbers(columns["score"], "score", bad)
    if raw or (raw is None and score.min() is not None and float(str(score.min())) >= 0):
        bad.mark_off_scale(score)
    kind = table.texts(columns["kind"])
    known = "; the known types are " + ", ".join(KINDS)
    strange = ~kind.is_in(list(KINDS)).fill_null(value=False)
    bad.mark(strange, lambda row: f"type is '{shown(kind[row])}'{known}", "row of an unknown type")
    bad.mark_nameless(table.texts(columns["system"]))
    texts = {name: table.texts(index) for name, index in columns.items() if name not in ("score", "kind", "seconds")}
    seconds = table.numbers(columns["seconds"], "time", bad, optional=True) if "seconds" in columns else None
    nothing = pl.repeat(None, len(score), dtype=pl.String, eager=True)
    frame = pl.DataFrame(
        {
            **{name: texts.get(name, nothing) for name in _COLUMNS},
            "score": score,
            "kind": kind.replace_strict(KINDS, default=None, return_dtype=pl.String),
            "seconds": pl.repeat(None, len(score), dtype=pl.Float64, eager=True) if seconds is None else seconds,
            parsing.LINE: table.frame[parsing.LINE],
        }
    )
    frame = frame.with_columns(language_codes(frame["source_lang"]), language_codes(frame["target_lang"]))
    uses = parsing.column_uses(
        path, table.header, {_MEANINGS.get(name, name): index for name, index in columns.items()}
    )
    return bad.keep_usable(frame, uses)


def is_standardised(frame: pl.DataFrame) -> bool:
    """Whether scores cannot be raw ones, because some are negative."""
    return bool((frame["score"] < 0).any())


def _column_indexes(table: parsing.Spaced) -> dict[str, int]:
    if not table.header:
        width = table.frame.width - 1
        if width != len(_COLUMNS) + 1:
            problem = f"{width} columns and no header, {len(_COLUMNS) + 1} are needed"
            raise InputError(f"has {problem}; check {param('format')}", file=table.path, line=1)
        return {name: index for name, (index, _) in _COLUMNS.items()}
    indexes = {name: table.column_index(*names) for name, (_, names) in _COLUMNS.items()}
    for name in _NEEDED:
        if indexes[name] is None:
            wanted = _COLUMNS[name][1][0]
            shown_header = shown(", ".join(table.header), 200)
            raise InputError(
                f"has no column '{wanted}', it has {shown_header}; check {param('format')}", file=table.path
            )
    return {name: index for name, index in indexes.items() if index is not None}


def read_segments(path: Path, options: ReadOptions) -> UsableRows | None:
    """Segment means: columns source_lang, target_lang, system, sid, score, z, n. None where the file is empty.

    Files of one language pair have it in their names, those of several have columns for it.
    """
    table = parsing.read_spaced(path, header="SID")
    if table is None or table.frame.height == 0:
        return None
    system, segment = table.column_index("SYS"), table.column_index("SID")
    # The columns of raw and of standardised means; where there is a single one, the file's name says which it is.
    single, standardised = table.column_index("SCR"), "stnd" in path.name
    raw = table.column_index("RAW.SCR") if single is None or standardised else single
    z = single if single is not None and standardised else table.column_index("Z.SCR")
    count = table.column_index("N", "N.raw")
    if system is None or segment is None or (raw is None and z is None):
        existing = shown(", ".join(table.header), 200) or "no header"
        raise InputError(f"columns SYS, SID, RAW.SCR and Z.SCR are needed, it has {existing}", file=path, line=1)
    bad = table.bad_rows(options)
    nothing = pl.repeat(None, table.frame.height, dtype=pl.Float64, eager=True)
    source, target = _pair_of_segments(table)
    names = table.texts(system)
    bad.mark_nameless(names)
    frame = pl.DataFrame(
        {
            "source_lang": source,
            "target_lang": target,
            "system": names,
            "sid": table.texts(segment),
            "score": nothing if raw is None else table.numbers(raw, "RAW.SCR", bad),
            "z": nothing if z is None else table.numbers(z, "Z.SCR", bad),
            "n": nothing if count is None else table.numbers(count, "N", bad),
        }
    )
    taken = {"system": system, "document and segment": segment, "score": raw, "z": z, "n": count}
    return bad.keep_usable(frame, parsing.column_uses(path, table.header, taken))


def _pair_of_segments(table: parsing.Spaced) -> list[pl.Series]:
    """The languages of every row: from columns, else from the file's name, else null."""
    source, target = table.column_index("SRC"), table.column_index("TRG")
    if source is not None and target is not None:
        return [language_codes(table.texts(source)), language_codes(table.texts(target))]
    named = re.search(r"seg-scores-(?:[0-9]+\.)?([a-z]+)-([a-z]+)", table.path.name)
    pair = (language_code(named[1]), language_code(named[2])) if named else pair_in_name(table.path.name)
    rows = table.frame.height
    return [pl.repeat(code, rows, dtype=pl.String, eager=True) for code in pair or (None, None)]


def read_means(path: Path) -> pl.DataFrame:
    """Mean and standard deviation of every worker, from lines as R prints them: name, mean, sd. NA becomes null."""
    entries: list[tuple[int, str]] = [
        (number, line.strip().removeprefix("[1]").strip().strip('"'))
        for number, line in parsing.numbered_lines(read_text(path))
    ]
    if len(entries) % 3:
        raise InputError("is cut: three lines per worker are needed (name, mean, sd)", file=path, line=entries[-1][0])

    def number(entry: tuple[int, str], what: str) -> float | None:
        return None if entry[1] in ("NA", "NaN") else parsing.to_float(entry[1], what, path, entry[0])

    return pl.DataFrame(
        {
            "annotator": [name for _, name in entries[0::3]],
            "mean": [number(entry, "mean") for entry in entries[1::3]],
            "sd": [number(entry, "standard deviation") for entry in entries[2::3]],
        },
        schema={"annotator": pl.String, "mean": pl.Float64, "sd": pl.Float64},
    ).unique("annotator", keep="last", maintain_order=True)


# Standardised scores turned back into the scores that people gave: raw = z * sd + mean of the worker.
# Workers whose scores have no spread cannot be standardised, so their judgments are missing from such files although
# they count in the official raw means. Where the segment means lie beside, those judgments are put back.


# Raw scores are whole numbers; the files print z with 15 digits, so undone scores miss them by 1e-12 at most.
_WHOLE = 1e-9
# The files print means with 7 digits.
_SAME_MEAN = 1e-4


def undo(rows: pl.DataFrame, means: pl.DataFrame, path: Path) -> tuple[pl.DataFrame, list[str]]:
    """The rows with raw scores, and notes on what did not come out as it should."""
    joined = rows.join(means, on="annotator", how="left", maintain_order="left")
    unknown = joined.filter(pl.col("mean").is_null() | pl.col("sd").is_null())
    if unknown.height:
        who, line = unknown["annotator"][0], unknown["line"][0]
        problem = f"the file of means has no mean and spread for worker '{who}'; the files do not belong together"
        raise InputError(problem, file=path, line=line)
    exact = pl.col("score") * pl.col("sd") + pl.col("mean")
    deviation = joined.select((exact - exact.round()).abs()).to_series()
    joined = joined.with_columns(score=pl.when(deviation <= _WHOLE).then(exact.round()).otherwise(exact))
    low, high = parsing.SCORE_SCALE
    outside = joined.filter((pl.col("score") < low - _WHOLE) | (pl.col("score") > high + _WHOLE))
    if outside.height:
        value, line = outside["score"][0], outside["line"][0]
        problem = f"the score is {value:g} once standardisation is undone, outside 0 to 100; check the file of means"
        raise InputError(problem, file=path, line=line)
    notes = []
    if broken := int((deviation > _WHOLE).sum()):
        largest = float(str(deviation.max()))
        are = agreeing(broken, "is", "are")
        problem = f"{broken} of {counted(len(deviation), 'score')} {are} not whole once standardisation is undone"
        notes.append(f"{path.name}: {problem} (off by up to {largest:.2g}); the means may be of another version")
    notes += _changed_means(joined, path)
    return joined.drop("mean", "sd"), notes


def _changed_means(joined: pl.DataFrame, path: Path) -> list[str]:
    """A note where a worker's mean is not that of the rows: then the file lacks some of the worker's judgments."""
    own_judgments = joined.filter(~pl.col("copy")).group_by("annotator")
    workers = own_judgments.agg(pl.col("score").mean(), pl.col("mean").first())
    differing = workers.filter((pl.col("score") - pl.col("mean")).abs() > _SAME_MEAN).height
    if not differing:
        return []
    problem = f"the released means of {differing} of {workers.height} workers are not those of their judgments here"
    return [f"{path.name}: {problem}; z-scores will differ from the released ones"]


def restore_constant_workers(
    rows: pl.DataFrame, segments: pl.DataFrame, means: pl.DataFrame, good: frozenset[str] | None, path: Path
) -> tuple[pl.DataFrame, list[str]]:
    """The judgments that the segment means count but the rows lack, and a note about them.

    Args:
        rows: the judgments at hand, raw.
        segments: the released segment means and counts.
        means: every worker's mean and spread.
        good: the workers who passed, where that is known.
        path: the file of the segment means.
    """
    missing = _find_lacking(rows, segments)
    if not missing.height:
        return rows.clear(), []
    # Workers whose scores cannot be standardised, with the score that they always gave.
    no_spread = (pl.col("sd").is_null() | (pl.col("sd") == 0)) & ~pl.col("annotator").is_in(rows["annotator"].unique())
    constant = means.filter(no_spread if good is None else no_spread & pl.col("annotator").is_in(good))
    explained = missing.filter(pl.col("score").is_in(constant["mean"].to_list()))
    total, back = int(missing["copies"].sum()), int(explained["copies"].sum())
    put_back, are = counted(back, "judgment"), agreeing(back, "is", "are")
    notes = [f"{path.name}: {put_back} of workers without spread {are} put back from the segment means"]
    if total > back:
        lost, are = counted(total - back, "judgment"), agreeing(total - back, "is", "are")
        notes.append(f"{path.name}: {lost} that the segment means count {are} in no file")
    restored = explained.select(pl.exclude("copies").repeat_by("copies").explode())
    # A score is the worker's who always gave it, where that is one worker only.
    single = constant.group_by("mean").agg(pl.len(), pl.col("annotator").first()).filter(pl.col("len") == 1)
    who = restored["score"].replace_strict(single["mean"], single["annotator"], default=None, return_dtype=pl.String)
    restored = restored.with_columns(
        who.alias("annotator"), kind=pl.lit("system"), passed=pl.lit(value=True), copy=pl.lit(value=False)
    )
    return pl.concat([rows.clear(), restored], how="diagonal"), notes if back else notes[1:]


def _find_lacking(rows: pl.DataFrame, segments: pl.DataFrame) -> pl.DataFrame:
    """Segments with fewer rows than the released means count: how many are lacking, and their mean score."""
    scored = rows.filter(pl.col("kind").is_in(["system", "repeat"])).group_by("system", "sid")
    counts_here = scored.agg(pl.len().alias("here"), pl.col("score").sum().alias("sum"))
    joined = segments.join(counts_here, on=["system", "sid"], how="left")
    joined = joined.with_columns(pl.col("here", "sum").fill_null(0))
    lacking = (pl.col("n") - pl.col("here")).cast(pl.Int64)
    value = ((pl.col("score") * pl.col("n") - pl.col("sum")) / (pl.col("n") - pl.col("here"))).round(6)
    return joined.filter(pl.col("n") > pl.col("here")).select(
        "source_lang", "target_lang", "system", "sid", value.alias("score"), lacking.alias("copies")
    )
