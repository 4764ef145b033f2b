"""Which file of the `ad-*.csv` family is which: recognised by its name, or else by its content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from adjudge.core.errors import InputError
from adjudge.formats.parsing.sources import campaign_names, stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

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
        if match := re.fullmatch(pattern, stem(path)):
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
    named = zip(others, campaign_names(others), strict=True) if others else ()
    return campaigns + [Campaign(name, path.parent, (_unnamed(path),), ()) for path, name in named]


def _is_source(path: Path) -> bool:
    """Whether a file given by itself is of the family; those of the family that hold no scores are refused."""
    member = member_of(path)
    if member is not None and member.role in SOURCES:
        return True
    if member is not None or stem(path).startswith(_RESULTS):
        raise InputError(f"holds no scores by itself; give {_WANTED}, or the folder", file=path)
    return False


def _unnamed(path: Path) -> Member:
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
        raise InputError(f"holds no file of scores such as {_WANTED}; check the path and --format", file=folder)
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
