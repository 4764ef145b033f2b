"""How judgments are read: the options of the readers, a source of judgments, and one result for each language pair.

The options of individual formats are the fields of `ReadOptions`: a field added there, with its help text, becomes an
option of every command that reads judgments, and a keyword of its Python function.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence, Sized
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from adjudge.readers.options import ReadOptions
from adjudge.table.errors import DataError, UsageError, param

if TYPE_CHECKING:
    from adjudge.table.judgments import Judgments
    from adjudge.table.results import Result

R = TypeVar("R")
_Part = TypeVar("_Part", bound=Sized)


@dataclass(frozen=True)
class Reading:
    """The format, the requested language pair, and the options of individual formats."""

    format: str | None = None
    pair: str | None = None
    options: ReadOptions = field(default_factory=ReadOptions)
    caller: str | None = None
    """The Python function that reads, which takes one language pair; None on the command line, which takes several."""

    @classmethod
    def in_python(cls, caller: str, given: Mapping[str, Any]) -> Reading:
        """The reading options that a Python function was given as keywords."""
        from adjudge.readers.registry import read_options

        options = read_options(**{name: value for name, value in given.items() if name != "format"})
        return cls(given.get("format"), given.get("pair"), options, caller)

    @property
    def is_plain(self) -> bool:
        """Whether the file is a plain table of judgments or pairs, without options for other layouts."""
        return self.pair is None and self.options.is_plain and self.format in (None, "judgments", "pairwise-table")

    def with_options(self, **changed: Any) -> Reading:
        """A copy with another format or other options."""
        name = changed.pop("format", self.format)
        return replace(self, format=name, options=replace(self.options, **changed))

    def for_files(self, files: Sequence[Path]) -> Reading:
        """A copy with the format detected from the files, if none was given."""
        from adjudge.readers.registry import format_of

        return self if self.format else replace(self, format=format_of(files))

    def read(self, source: Any, *, everyone: bool = False) -> Judgments:
        """The judgments of the requested pair, or of all pairs, in one table.

        Args:
            source: where they are.
            everyone: keep annotators who fail the rule of quality, whatever the options say.
        """
        judgments = self._read(source)
        if everyone or self.options.everyone:
            return judgments
        from adjudge.people.check import without_failed

        return without_failed(judgments)

    def _read(self, source: Any) -> Judgments:
        from adjudge.readers.registry import read

        judgments = read(source, format=self.format, options=self.options)
        return judgments if self.pair is None else judgments.for_pair(self.pair)

    def by_pair(self, source: Any, *, everyone: bool = False) -> dict[str, Judgments]:
        """The judgments of the requested pair, or of every pair, by name; the parameters are those of `read`."""
        parts = self._parts(source)
        if everyone or self.options.everyone:
            return parts
        from adjudge.people.check import quality_of

        return {name: quality_of(part).kept for name, part in parts.items()}

    def _parts(self, source: Any) -> dict[str, Judgments]:
        """The judgments by pair, of everybody. Python refuses several pairs."""
        from adjudge.table.languages import parse_pair

        judgments = self._read(source)
        parts = judgments.by_pair()
        if self.caller is not None:
            if len(parts) > 1:
                raise DataError(self._say_several(judgments, list(parts)))
            return {next(iter(parts), ""): judgments}
        wanted = None if self.pair is None else parse_pair(self.pair)
        return {wanted: parts[wanted]} if wanted is not None and wanted in parts else parts

    def _say_several(self, judgments: Judgments, parts: Sequence[str]) -> str:
        """What the judgments hold several of, each with its own ranking, and how to choose."""
        one_by_one = f"{{name: adjudge.{self.caller}(part) for name, part in judgments.by_pair().items()}}"
        what, choose = "language pairs", f"choose one with {param('pair')}, or take"
        if len(judgments.pairs) == 1:
            asked = "criterion" in judgments.table.columns
            what, choose = ("criteria", choose.replace("pair", "criterion")) if asked else ("campaigns", "")
        choose = choose or "drop the column 'campaign' if they are one, or take"
        return f"the judgments hold {len(parts)} {what} ({', '.join(parts)}); {choose} them one by one: {one_by_one}"

    def one_pair(self, source: Any, *, everyone: bool = False) -> Judgments:
        """The judgments of a source with one language pair on the command line too, if the command needs that."""
        if self.caller:
            return next(iter(self.by_pair(source, everyone=everyone).values()))
        return self.read(source, everyone=everyone)

    def each(
        self,
        parts: Mapping[str, _Part],
        compute: Callable[[_Part], R],
        *,
        seconds_per_row: float = 0.0,
        summary: Callable[[Mapping[str, R]], Result | None] | None = None,
        then: Callable[[Mapping[str, R]], None] | None = None,
    ) -> R:
        """Compute the result of a pair: in Python of the only one; the command line writes those of all (`Results`).

        If there are several, a pair that fails is left out with a message. If there are enough pairs for all workers,
        each pair is one task; otherwise the work for each pair is divided.

        Args:
            parts: the judgments of each pair.
            compute: computes the result of a pair.
            seconds_per_row: a lower limit of the CPU seconds per row, if known.
            summary: summarises the results of all pairs.
            then: is called with the results by pair.
        """
        if self.caller is not None:
            return compute(next(iter(parts.values())))
        from adjudge.reports.files import ByPair

        computed, faults = compute_pairs(parts, compute, seconds_per_row=seconds_per_row)
        for name, reason in faults.items():
            print(f"adjudge: {name} is left out: {reason.for_command_line()}", file=sys.stderr)
        if then is not None:
            then(computed)
        results = ByPair(computed)
        results.several = len(parts) > 1
        return cast("R", Results(results, None if summary is None else summary(computed)))

    @property
    def settings(self) -> dict[str, str | None]:
        """The reading options that a result records in its signature."""
        from adjudge.table.languages import parse_pair

        options, names = self.options, ("columns", "systems", "raters", "sheets", "winner", "judges", "values", "scale")
        return {
            "format": self.format or "judgments",
            "pair": parse_pair(self.pair) if self.pair else None,
            "human": options.human,
            "segment_column": options.segment_column,
            "rank_columns": ",".join(options.rank_columns) or None,
            # How a table with another layout was read: only what was given, to keep signatures short.
            **{name: ",".join(values) for name in names if (values := getattr(options, name))},
            **{name: value for name in ("wide", "encoding", "criterion") if (value := getattr(options, name))},
            **({"attributes": options.attributes.name} if options.attributes else {}),
            **{
                name: "yes" for name in ("accounts_are_people", "everyone", "lower_is_better") if getattr(options, name)
            },
        }


@dataclass(frozen=True, eq=False)
class Judged:
    """A source of judgments, and how it is read."""

    source: Any
    """Files on the command line; in Python a path, several paths, a data frame, or judgments."""
    reading: Reading

    def read(self, *, everyone: bool = False) -> Judgments:
        """The judgments of the requested pair, or of all pairs, in one table; see `Reading.read`."""
        return self.reading.read(self.source, everyone=everyone)

    def by_pair(self, *, everyone: bool = False) -> dict[str, Judgments]:
        """The judgments of the requested pair, or of every pair, by name; see `Reading.read`."""
        return self.reading.by_pair(self.source, everyone=everyone)

    def large_file(self) -> Path | None:
        """The file, if the source is one large file."""
        from adjudge.shell.large_files import is_large

        files = self.source if isinstance(self.source, list) else [self.source]
        is_one = len(files) == 1 and isinstance(files[0], str | Path) and is_large(Path(files[0]))
        return Path(files[0]) if is_one else None


def read_by_pair(judged: Judged, *, divided: bool, everyone: bool = False) -> dict[str, Judgments]:
    """The judgments by language pair; on the command line, the processes that audit them start meanwhile."""
    from adjudge.work.processes import AUDIT_MODULES, prepared_processes

    in_python = judged.reading.caller is not None
    with nullcontext() if in_python else prepared_processes(judged.source, AUDIT_MODULES if divided else ()):
        return judged.by_pair(everyone=everyone)


def check_one_pair(parts: Mapping[str, Any], setting: str) -> None:
    """Refuse several language pairs for a setting that is about one."""
    if len(parts) > 1:
        held = f"{setting} is for one language pair, the judgments hold {', '.join(parts)}"
        raise UsageError(f"{held}; choose one with {param('pair')}")


@dataclass(frozen=True)
class Results:
    """The results of a command by language pair."""

    by_pair: Mapping[str, Any]
    summary: Result | None = None


def compute_pairs(
    parts: Mapping[str, _Part], compute: Callable[[_Part], R], *, seconds_per_row: float = 0.0
) -> tuple[dict[str, R], dict[str, DataError]]:
    """The results by language pair, and reasons for pairs without one. If all fail, the first error is raised.

    The parameters are those of `Reading.each`.
    """
    if len(parts) == 1:
        return {name: compute(part) for name, part in parts.items()}, {}
    from adjudge.work.tasks import try_tasks

    sizes = [float(len(part)) for part in parts.values()]
    seconds = seconds_per_row * sum(sizes)
    outcomes = try_tasks(compute, parts.values(), what="language pairs", sizes=sizes, known_seconds=seconds)
    results: dict[str, R] = {}
    faults: dict[str, DataError] = {}
    for name, outcome in zip(parts, outcomes, strict=True):
        if isinstance(outcome.fault, DataError):
            faults[name] = outcome.fault
        else:
            results[name] = outcome.unwrap()
    if not results:
        raise next(iter(faults.values()))
    return results, faults


def as_paths(files: Any) -> list[Path]:
    """One path or several, as a list."""
    return [Path(files)] if isinstance(files, str | Path) else [Path(file) for file in files]
