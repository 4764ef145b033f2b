"""Pictures, sound and video beside texts: which files belong to a segment or an output, and of what kind they are.

A list names the files of a segment on its line, several separated by tabs; an empty line, or `-`, has none. Names are
those of files in the one folder that the campaign file gives, of which nothing else is ever served.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal, cast

from adjudge.table.errors import InputError, shown
from adjudge.table.files import read_text
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.campaigns.campaign_file import Campaign
    from adjudge.table.texts import TestSet

MediumKind = Literal["image", "audio", "video"]
# Formats that browsers show and that hold no scripts; the type is said by the server, and no browser guesses another.
MEDIA_TYPES = {
    ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
    ".mp3": "audio/mpeg", ".m4a": "audio/mp4", ".ogg": "audio/ogg", ".oga": "audio/ogg", ".opus": "audio/ogg",
    ".wav": "audio/wav", ".flac": "audio/flac", ".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm",
    ".ogv": "video/ogg",
}  # fmt: skip
Files = tuple[str, ...]


@dataclass(frozen=True)
class MediaFiles:
    """The names of the files by segment, in the order of the source: beside the source, and beside each system."""

    source: Sequence[Files] = ()
    systems: Mapping[str, Sequence[Files]] = field(default_factory=dict)

    def of_source(self, index: int) -> Files:
        """The files beside the source of a segment."""
        return self.source[index] if self.source else ()

    def of_output(self, systems: Sequence[str], index: int) -> Files:
        """The files of an output; systems that share an output have the same."""
        return next((self.systems[name][index] for name in systems if name in self.systems), ())


def kind_of(name: str) -> MediumKind:
    """How a file is shown."""
    return cast("MediumKind", media_type(name).partition("/")[0])


def media_type(name: str) -> str:
    """The media type of a file by its ending; those of lists are known ones."""
    return MEDIA_TYPES[PurePosixPath(name).suffix.lower()]


def find_medium(folder: Path, name: str) -> Path | None:
    """The file of this name in the folder, or None: nothing outside it, whatever the name or a link says."""
    try:
        file = (folder / name).resolve(strict=True)
        inside = file.is_relative_to(folder.resolve(strict=True))
    except (OSError, ValueError, RuntimeError):
        return None
    return file if inside and file.is_file() and PurePosixPath(name).suffix.lower() in MEDIA_TYPES else None


_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")
MOST_AT_ONCE = 2_000_000
"""A player that asks for the rest of a file gets so many bytes, and asks again: no answer keeps a thread for long."""


def find_part(wanted: str, size: int) -> tuple[int, int] | None:
    """The part of a file that a request (`Range`) is for, half-open; None is all of it.

    A part that ends where it begins cannot be sent. Several parts at once never are: then it is all of it.
    """
    found = _RANGE.fullmatch(wanted.strip())
    if found is None or found.groups() == ("", ""):
        return None
    first, last = found.groups()
    start = int(first) if first else size - min(size, int(last))
    end = min(size, int(last) + 1) if first and last else size
    return start, min(end, start + MOST_AT_ONCE)


def read_media(campaign: Campaign, testset: TestSet) -> MediaFiles:
    """Read the campaign's lists; a file that is missing, elsewhere or of another kind is named with its line."""
    media = campaign.files.media
    if media is None:
        return MediaFiles()
    systems = {}
    for name, file in media.systems.items():
        if name not in testset.systems:
            raise InputError(f"files.media.systems names '{shown(name)}', which is no system; correct it")
        systems[name] = _read_list(file, media.folder, len(testset))
    return MediaFiles(() if media.source is None else _read_list(media.source, media.folder, len(testset)), systems)


def list_files(campaign: Campaign) -> tuple[Path, ...]:
    """The files of all lists, as the lists name them, each once; what is missing or elsewhere is not among them."""
    media = campaign.files.media
    if media is None:
        return ()
    lists = [file for file in (media.source, *media.systems.values()) if file is not None]
    names = dict.fromkeys(name for file in lists for line in read_text(file).splitlines() for name in _list_names(line))
    return tuple(media.folder / name for name in names if find_medium(media.folder, name) is not None)


def _list_names(line: str) -> Files:
    return tuple(part.strip() for part in line.split("\t") if part.strip() not in ("", "-"))


def _read_list(file: Path, folder: Path, segments: int) -> tuple[Files, ...]:
    lines = read_text(file).splitlines()
    if len(lines) != segments:
        problem = f"has {counted(len(lines), 'line')} where there are {counted(segments, 'segment')}"
        raise InputError(f"{problem}; give one line per segment, '-' where there is no file", file=file)
    rows = [_list_names(line) for line in lines]
    for number, names in enumerate(rows, start=1):
        for name in names:
            if PurePosixPath(name).suffix.lower() not in MEDIA_TYPES:
                problem = f"'{shown(name)}' is of no kind that is shown ({', '.join(MEDIA_TYPES)}); convert it"
                raise InputError(problem, file=file, line=number)
            if find_medium(folder, name) is None:
                raise InputError(f"there is no file '{shown(name)}' in '{folder}'; correct it", file=file, line=number)
    return tuple(rows)
