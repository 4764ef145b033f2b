"""The files that belong to a campaign, the campaign file as it has to be where they all lie in one folder.

Also folders for copies that are being made.
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import InputError
from adjudge.core.files import is_alive, read_text
from adjudge.design.campaign.toml_file import load_campaign

if TYPE_CHECKING:
    from collections.abc import Iterator

OUTSIDE = "outside"
"""The folder for files that lie outside of the campaign's folder."""
# Beside the campaign file, where they exist: tasks, looks, the key that signs cookies, links that were handed out.
_BESIDE = ("tasks.json", "looks.json", "looks.start.json", "looks.shown.json")
_BESIDE_SECRET = (".secret", ".links.tsv")
_PATH_KEYS = {
    ("files", "testset"), ("files", "documents"), ("files", "tutorial"), ("files", "prefilled"), ("files", "spread"),
    ("files", "after", "testset"), ("files", "after", "documents"), ("page", "logo"),
}  # fmt: skip
_TEXT_KEYS = {
    ("files", "source"), ("files", "after", "source"), ("files", "systems", "*"), ("files", "references", "*"),
    ("files", "after", "systems", "*"), ("files", "after", "references", "*"),
}  # fmt: skip


@dataclass(frozen=True)
class CampaignFile:
    """A file of a campaign: where it is, its name in a copy of the folder, and whether it is secret."""

    path: Path
    name: str
    secret: bool = False


def campaign_files(campaign_file: Path) -> tuple[str, list[CampaignFile]]:
    """The text of the campaign file for a copy of its folder, and all other files that belong there."""
    load_campaign(campaign_file)  # names all files that are missing
    folder = campaign_file.resolve().parent
    text = read_text(campaign_file)
    files: dict[Path, CampaignFile] = {}
    renamed: dict[str, str] = {}
    for given in dict.fromkeys(value for _, value in named_paths(tomllib.loads(text))):
        path = (folder / given).resolve()
        if not path.is_relative_to(folder) or PurePosixPath(given).is_absolute():
            known = files.get(path) or CampaignFile(path, f"{OUTSIDE}/{len(renamed) + 1}/{path.name}")
            renamed[given] = known.name
        else:
            known = CampaignFile(path, (folder / given).resolve().relative_to(folder).as_posix())
        files[path] = known
    beside = [
        *((campaign_file.with_name(name), False) for name in _BESIDE),
        *((campaign_file.with_suffix(ending), True) for ending in _BESIDE_SECRET),
    ]
    others = [CampaignFile(path, path.name, secret) for path, secret in beside if path.is_file()]
    return with_other_paths(text, renamed, campaign_file), [*files.values(), *others]


def outside_of_folder(campaign_file: Path) -> str | None:
    """A file outside of its folder that a campaign file names; None where there is none, or no campaign file."""
    folder = campaign_file.resolve().parent
    try:
        data = tomllib.loads(read_text(campaign_file))
    except ValueError:
        return None  # said better by those who read it whole
    named = (value for _, value in named_paths(data))
    return next((value for value in named if not (folder / value).resolve().is_relative_to(folder)), None)


def named_paths(data: Any, keys: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """All files that a campaign file names, with their keys."""
    pattern = (*keys[:-1], "*") if keys else ()
    if isinstance(data, dict):
        if keys in _TEXT_KEYS or pattern in _TEXT_KEYS or keys[:1] == ("instructions",):
            if isinstance(data.get("file"), str):
                yield (*keys, "file"), data["file"]
            if keys != ("instructions",):
                return
        for key, value in data.items():
            yield from named_paths(value, (*keys, key))
    elif isinstance(data, str) and (keys in _PATH_KEYS or keys in _TEXT_KEYS or pattern in _TEXT_KEYS):
        yield keys, data


def with_other_paths(text: str, renamed: dict[str, str], campaign_file: Path) -> str:
    """The campaign file with other names of files; everything else, remarks included, stays as it is."""
    changed = text
    for old, new in renamed.items():
        for quoted in (json.dumps(old, ensure_ascii=False), f"'{old}'"):
            changed = changed.replace(quoted, json.dumps(new, ensure_ascii=False))
    if tomllib.loads(changed) != _replaced(tomllib.loads(text), renamed):
        raise InputError(
            f"names a file outside of its folder ('{next(iter(renamed))}') in a way that cannot be changed in a copy; "
            "copy that file beside the campaign file and name it there",
            file=campaign_file,
        )
    return changed


def _replaced(data: Any, renamed: dict[str, str]) -> Any:
    """The parsed campaign file with other names of files."""
    for keys, value in list(named_paths(data)):
        if value in renamed:
            place = data
            for key in keys[:-1]:
                place = place[key]
            place[keys[-1]] = renamed[value]
    return data


@contextmanager
def working_folder(beside: Path) -> Iterator[Path]:
    """A folder for work in progress, readable by its owner alone; what killed processes left there is removed."""
    for left in beside.parent.glob(f".{_glob_safe(beside.name)}.*.part"):
        process = left.name.split(".")[-2]
        if process.isdecimal() and not is_alive(int(process)):
            shutil.rmtree(left, ignore_errors=True)
    folder = beside.parent / f".{beside.name}.{os.getpid()}.part"
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
    except OSError as fault:
        raise InputError(f"cannot be written ({fault.strerror}); choose another place", file=beside) from fault
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _glob_safe(name: str) -> str:
    """A name in which no character stands for others."""
    return "".join(f"[{character}]" if character in "*?[" else character for character in name)
