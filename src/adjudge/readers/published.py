"""A ranking as it was published: a table, a list from a paper, or the official files of a workshop.

Ranks may be given as numbers, ranges (`2-4`) or clusters, or by the order alone. Two systems count as told apart where
their ranges do not meet: with an order alone, that are all; with clusters, those in different ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.readers.columns import SYNONYMS, map_columns, plain
from adjudge.readers.options import as_frame
from adjudge.readers.tables import load_table
from adjudge.table.errors import InputError, Source, UsageError, shown
from adjudge.table.files import read_text
from adjudge.table.languages import parse_pair, split_pair

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

Range = tuple[int, int]
_MEANINGS: dict[str, tuple[str, ...]] = {
    "system": (*SYNONYMS["system"], "team", "name", "entry", "participant"),
    "cluster": ("cluster", "cluster_id", "group", "tier"),
    "rank": ("rank", "ranks", "rank_range", "rank_set", "range", "place", "#", "ranking", "position", "rang", "pos"),
    "score": (*SYNONYMS["score"], "average", "avg", "mean", "ave", "ave_z", "z", "elo", "human"),
    "source_lang": (*SYNONYMS["source_lang"], "src"),
    "target_lang": (*SYNONYMS["target_lang"], "trg", "tgt"),
    "pair": SYNONYMS["pair"],
}
_OFFICIAL = "cluster_start cluster_end end_of_cluster system"
"""The last columns of `clusters.csv`, which the script of the workshops writes between blanks."""
_OFFICIAL_FIELDS = 7
# A line of `ad-sys-ranking-*.csv`: raw mean, mean z-score, two counts, the name, and often the name for people.
_MEANS = re.compile(r"^-?[0-9.]+ -?[0-9.]+ [0-9]+ [0-9]+ (\S+)(?: \S+)?\s*$")
_ITEM = re.compile(r"(?:=?([0-9]{1,9})(?:\s*[-–—]\s*([0-9]{1,9}))?\s*[.):=]*\s+)?(\S.*)")
_RULE = re.compile(r"[-–—_=*]{3,}|")
_RANGE = re.compile(r"\s*=?([0-9]{1,9})(?:\.0|\.|=)?(?:\s*[-–—]+\s*([0-9]{1,9}))?\s*")
# Looking for names in longer lines takes minutes.
_LONGEST_LINE = 1_000
_LATEX = re.compile(r"\\[a-zA-Z]+\*?|[{}$~]")
"""What stands around the cells of a table in LaTeX: commands such as `\\textbf`, and braces."""
# Scores that a list has behind the names.
_NUMBERS_BEHIND = re.compile(r"(\s+[-+±(]*[0-9.]+%?\)?)+\s*$")
# Systems have a number behind their name in files of the workshops, which people leave out: `Online-A.5`.
_NUMBERED = re.compile(r"\.[0-9]+$")


@dataclass(frozen=True)
class Published:
    """A published ranking, the best system first."""

    name: str
    """Where it is from, for sentences."""
    ranges: Mapping[str, Range]
    """The ranks that each system may have, as published."""
    notes: tuple[str, ...] = ()
    pairs: tuple[tuple[str, str], ...] | None = None
    """The pairs told apart, the better one first, where these are known; otherwise the ranges say it."""

    def of(self, systems: Iterable[str]) -> Published:
        """The ranking of these systems, under their names; what nobody judged is left out, with a note."""
        known = list(systems)
        found = {name: match for name in self.ranges if (match := _same(name, known)) is not None}
        if len(found) < 2:
            examples = ", ".join(shown(name) for name in [*self.ranges][:3])
            raise InputError(f"ranks none or one of the systems that were judged ({examples}); check the names")
        unknown = [name for name in self.ranges if name not in found]
        never = [name for name in known if name not in found.values()]
        notes = [f"nobody judged {', '.join(unknown)}, which the published ranking has"] * bool(unknown)
        notes += [f"the published ranking does not have {', '.join(never)}"] * bool(never)
        ranges = {match: self.ranges[name] for name, match in found.items()}
        return replace(self, ranges=ranges, notes=(*self.notes, *notes))

    @property
    def apart(self) -> tuple[tuple[str, str], ...]:
        """Pairs of systems that the ranking tells apart, the better one first."""
        if self.pairs is not None:
            return self.pairs
        names = list(self.ranges)
        return tuple((a, b) for a in names for b in names if self.ranges[a][1] < self.ranges[b][0])


def _same(name: str, known: Sequence[str]) -> str | None:
    """The judged system of this name, in any case, or without the number of a submission; None where unclear."""
    if name in known:
        return name
    for form in (plain, lambda text: plain(_NUMBERED.sub("", _NUMBERS_BEHIND.sub("", text.rstrip("*†‡ "))))):
        same = [other for other in known if form(other) == form(name)]
        if len(same) == 1:
            return same[0]
    return None


def read_published(source: Any, *, pair: str | None = None) -> Published:
    """Read a published ranking.

    Args:
        source: a path, a data frame, a mapping from systems to ranks, or systems from the best on.
        pair: the language pair to take, where it has several.
    """
    if isinstance(source, Published):
        return source
    if isinstance(source, str | Path):
        return _read_file(Path(source), pair)
    if isinstance(source, Mapping) and all(isinstance(value, int | str) for value in source.values()):
        return Published("the published ranking", _in_order({str(k): _range(str(v)) for k, v in source.items()}))
    if isinstance(source, list | tuple) and all(isinstance(name, str) for name in source):
        return Published("the published ranking", {name: (i, i) for i, name in enumerate(source, start=1)})
    if (frame := as_frame(source)) is None:
        raise UsageError(f"a published ranking cannot be read from {type(source).__name__}; give a path or a table")
    return Published("the published ranking", _from_table(frame, pair, "data frame"))


def _read_file(path: Path, pair: str | None) -> Published:
    if path.suffix.lower() not in (".xlsx", ".xls", ".ods", ".parquet", ".json", ".jsonl"):
        lines = read_text(path).splitlines()
        head = lines[0].lower().split() if lines else []
        if " ".join(head[-4:]) == _OFFICIAL:
            return Published(path.name, _from_clusters(lines, pair, path))
        means = [match[1] for line in lines if (match := _MEANS.match(line))]
        if means and len(means) == sum(bool(line.strip()) for line in lines):
            return Published(path.name, {name: (i, i) for i, name in enumerate(means, start=1)})
        if any("&" in line and "\\\\" in line for line in lines):
            return Published(path.name, _from_table(_table_of_latex(lines, path), pair, str(path)))
        if len(groups := [line for line in lines if line.strip()]) == 1 and ">" in groups[0]:
            lines = [line for group in groups[0].split(">") for line in (*group.split("="), "")]
        if not _has_header(lines):
            return Published(path.name, _from_list(lines, path))
    return Published(path.name, _from_table(load_table(path).frame, pair, str(path)))


def _table_of_latex(lines: Sequence[str], path: Path) -> pl.DataFrame:
    """The rows of a table in LaTeX that have as many cells as the first one."""
    import polars as pl

    cells = [line.rpartition("\\\\")[0].split("&") for line in lines if "&" in line and "\\\\" in line]
    rows = [[" ".join(_LATEX.sub(" ", cell).split()) for cell in row] for row in cells]
    if len(set(rows[0])) < len(rows[0]):
        raise InputError("has two columns of one name in its first row; name each once", file=path)
    return pl.DataFrame([row for row in rows[1:] if len(row) == len(rows[0])], schema=rows[0], orient="row")


def _has_header(lines: Sequence[str]) -> bool:
    """Whether the first line names columns, one of systems and another one."""
    names = {plain(cell.strip(' "')) for cell in re.split(r"[,;\t|]", lines[0] if lines else "")}
    return len(names) > 1 and bool(names & {plain(name) for name in _MEANINGS["system"]})


def _from_clusters(lines: Sequence[str], pair: str | None, path: Path) -> dict[str, Range]:
    """The official clusters: a rank from where the cluster begins to where it ends."""
    rows = [line.split() for line in lines[1:] if line.strip()]
    for number, row in enumerate(rows, start=1):
        if len(row) < _OFFICIAL_FIELDS or not all(map(_RANGE.fullmatch, row[4:6])):
            what = f"row {number} does not have a language pair, ranks and a system under '{_OFFICIAL}'"
            raise InputError(f"{what}; check whether it is cut", file=path)
    pairs = list(dict.fromkeys((row[0], row[1]) for row in rows))
    wanted = _choose(pairs, pair, path)
    return {row[-1]: (_range(row[4])[0], _range(row[5])[1]) for row in rows if (row[0], row[1]) == wanted}


def _choose(pairs: Sequence[tuple[str, str]], pair: str | None, where: object) -> tuple[str, str]:
    codes = [parse_pair(f"{source}-{target}") for source, target in pairs]
    wanted = codes[0] if pair is None and len(pairs) == 1 else parse_pair(pair) if pair else None
    if wanted not in codes:
        say = "say which, by its language pair" if wanted is None else f"it has no {wanted}"
        raise InputError(f"{where} ranks {len(pairs)} language pairs ({', '.join(codes)}); {say}")
    return pairs[codes.index(wanted)]


def _from_list(lines: Sequence[str], path: Path) -> dict[str, Range]:
    """A list with a system in each line; an empty line, or one of dashes, stands between clusters."""
    groups: list[list[tuple[str, Range | None]]] = [[]]
    for number, line in enumerate(map(str.strip, lines), start=1):
        if len(line) > _LONGEST_LINE:
            what = f"has {len(line):,} characters where a system is named in each line; check what it is"
            raise InputError(what, file=path, line=number)
        if _RULE.fullmatch(line):
            groups.append([])
        elif (item := _ITEM.match(line)) is not None:
            given = (int(item[1]), int(item[2] or item[1])) if item[1] else None
            groups[-1].append((item[3], given))
    groups = [group for group in groups if group]
    if sum(map(len, groups)) < 2:
        raise InputError("holds no ranking; name a system in each line, the best first, or give a table", file=path)
    said = {name: given for group in groups for name, given in group if given is not None}
    if len(said) == sum(map(len, groups)):
        return _in_order(said)
    if len(groups) == 1:
        return {name: (i, i) for i, (name, _) in enumerate(groups[0], start=1)}
    ranges: dict[str, Range] = {}
    for group in groups:
        ranges |= dict.fromkeys([name for name, _ in group], (len(ranges) + 1, len(ranges) + len(group)))
    return ranges


def _from_table(frame: pl.DataFrame, pair: str | None, where: str) -> dict[str, Range]:
    mapping = map_columns(frame.columns, Source(where), meanings=_MEANINGS, known=_MEANINGS)
    system = mapping.need("system")
    frame = _of_pair(frame, mapping.columns, pair, where)
    names = [str(name) for name in frame[system]]
    if "cluster" in mapping:
        return _by_groups(names, [str(value) for value in frame[mapping.columns["cluster"]]])
    if "rank" in mapping:
        ranks = {name: _range(str(value)) for name, value in zip(names, frame[mapping.columns["rank"]], strict=True)}
        return _in_order(ranks)
    if "score" in mapping:
        scores = [_score(value, mapping.columns["score"], where) for value in frame[mapping.columns["score"]]]
        return _in_order(
            {n: (r := 1 + sum(s < other for other in scores), r) for n, s in zip(names, scores, strict=True)}
        )
    return {name: (i, i) for i, name in enumerate(names, start=1)}


def _of_pair(frame: pl.DataFrame, columns: Mapping[str, str], pair: str | None, where: str) -> pl.DataFrame:
    if "pair" in columns:
        languages = [split_pair(str(name)) for name in frame[columns["pair"]]]
    elif {"source_lang", "target_lang"} <= set(columns):
        both = frame.select(columns["source_lang"], columns["target_lang"]).rows()
        languages = [(str(source), str(target)) for source, target in both]
    else:
        return frame
    wanted = _choose(list(dict.fromkeys(languages)), pair, where)
    return frame[[row for row, found in enumerate(languages) if found == wanted]]


def _by_groups(names: Sequence[str], groups: Sequence[str]) -> dict[str, Range]:
    order = list(dict.fromkeys(groups))
    order = sorted(order, key=float) if all(re.fullmatch(r"[0-9]+(\.[0-9]+)?", group) for group in order) else order
    ranges: dict[str, Range] = {}
    for group in order:
        members = [name for name, own in zip(names, groups, strict=True) if own == group]
        ranges |= dict.fromkeys(members, (len(ranges) + 1, len(ranges) + len(members)))
    return ranges


def _range(text: str) -> Range:
    found = _RANGE.fullmatch(text)
    if found is None:
        raise InputError(f"'{shown(text)}' is no rank; give a number such as 2, or a range such as 2-4")
    return int(found[1]), int(found[2] or found[1])


def _score(value: Any, column: str, where: str) -> float:
    with suppress(TypeError, ValueError):
        if math.isfinite(score := float(value)):
            return score
    raise InputError(f"column '{shown(column)}' holds '{shown(value)}', a number is needed; correct it", file=where)


def _in_order(ranges: Mapping[str, Range]) -> dict[str, Range]:
    return dict(sorted(ranges.items(), key=lambda entry: entry[1]))
