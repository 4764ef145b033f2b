"""The files that belong to a campaign, and the campaign file as it has to be where they all lie in one folder."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from functools import reduce
from itertools import count
from operator import getitem
from pathlib import Path, PurePosixPath
from typing import Any

from adjudge.collect.copies.archive import is_safe_name
from adjudge.core.errors import InputError
from adjudge.core.files import read_text
from adjudge.design.campaign.parts import map_paths
from adjudge.design.campaign.toml_file import check_campaign, load_campaign

OUTSIDE = "outside"
"""The folder for files that lie outside of the campaign's folder, or have names that are unsafe in archives."""
# Beside the campaign file, where they exist: tasks, looks, the key that signs cookies, links that were handed out.
_BESIDE = ("tasks.json", "looks.json", "looks.start.json", "looks.shown.json")
_BESIDE_SECRET = (".secret", ".links.tsv")


@dataclass(frozen=True)
class CampaignFile:
    """A file of a campaign: where it is, its name in a copy of the folder, and whether it is secret."""

    path: Path
    name: str
    secret: bool = False


def campaign_files(campaign_file: Path) -> tuple[str, list[CampaignFile]]:
    """The text of the campaign file for a copy of its folder, and all other files that belong there."""
    load_campaign(campaign_file)  # names all files that are missing
    if not is_safe_name(campaign_file.name):
        raise InputError("has a name that is unsafe in an archive; rename it with plain letters", file=campaign_file)
    folder = campaign_file.resolve().parent
    text = read_text(campaign_file)
    beside = [
        *((campaign_file.with_name(name), False) for name in _BESIDE),
        *((campaign_file.with_suffix(ending), True) for ending in _BESIDE_SECRET),
    ]
    others = [CampaignFile(path, path.name, secret) for path, secret in beside if path.is_file()]
    named = list(dict.fromkeys(value for _, value in named_paths(tomllib.loads(text))))
    files = _name_files(folder, named)
    # Links and detours such as sub/../a.txt are not in the copy: there, the campaign file names the files themselves.
    renamed = {
        given: files[path].name
        for given in named
        if files[path := (folder / given).resolve()].name != PurePosixPath(given).as_posix()
    }
    known = {file.name for file in files.values()}
    return (
        rename_paths(text, renamed, campaign_file),
        [*files.values(), *(file for file in others if file.name not in known)],
    )


def _name_files(folder: Path, named: list[str]) -> dict[Path, CampaignFile]:
    """The files that a campaign file names, each with a name in the copy that no other file has."""
    paths = list(dict.fromkeys((folder / given).resolve() for given in named))
    inside = {path: path.relative_to(folder).as_posix() for path in paths if path.is_relative_to(folder)}
    names = {path: name for path, name in inside.items() if is_safe_name(name)}
    free = (number for number in count(1) if not (folder / OUTSIDE / str(number)).exists())
    for path in paths:
        if path not in names:
            plain = re.sub(r"[^\w.-]", "-", path.name)[-60:]  # the ending says what the file is
            names[path] = f"{OUTSIDE}/{next(free)}/{plain}"
    return {path: CampaignFile(path, names[path]) for path in paths}


def find_outside_path(campaign_file: Path) -> str | None:
    """A file outside of its folder that a campaign file names; None where there is none, or no campaign file."""
    folder = campaign_file.resolve().parent
    try:
        data = tomllib.loads(read_text(campaign_file))
    except ValueError:
        return None  # said better by those who read it whole
    named = (value for _, value in named_paths(data))
    return next((value for value in named if not (folder / value).resolve().is_relative_to(folder)), None)


def named_paths(data: dict[str, Any]) -> list[tuple[tuple[str, ...], str]]:
    """List all files that a campaign file names, with their keys, in the order of the file."""
    places: list[tuple[str, ...]] = []

    def note(path: Path, keys: tuple[str, ...]) -> Path:
        places.append(keys)
        return path

    def place_in_file(keys: tuple[str, ...]) -> list[int]:
        place, table = [], data
        for key in keys:
            place.append(list(table).index(key))
            table = table[key]
        return place

    map_paths(check_campaign(data), note)
    named = []
    for keys in sorted(places, key=place_in_file):
        value = reduce(getitem, keys, data)
        named.append(((*keys, "file"), value["file"]) if isinstance(value, dict) else (keys, value))
    return named


def rename_paths(text: str, renamed: dict[str, str], campaign_file: Path) -> str:
    """The campaign file with other names of files; everything else, remarks included, stays as it is."""
    changed = text
    for old, new in renamed.items():
        for quoted in (json.dumps(old, ensure_ascii=False), f"'{old}'"):
            changed = changed.replace(quoted, json.dumps(new, ensure_ascii=False))
    if tomllib.loads(changed) != _rename_in_data(tomllib.loads(text), renamed):
        raise InputError(
            f"names a file ('{next(iter(renamed))}') in a way that cannot be changed in a copy; "
            "copy that file beside the campaign file and name it there",
            file=campaign_file,
        )
    return changed


def _rename_in_data(data: Any, renamed: dict[str, str]) -> Any:
    """The parsed campaign file with other names of files."""
    for keys, value in named_paths(data):
        if value in renamed:
            reduce(getitem, keys[:-1], data)[keys[-1]] = renamed[value]
    return data
