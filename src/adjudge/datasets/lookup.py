"""The catalogue of data sets, and which of them are on this machine: in ADJUDGE_DATA or in the cache of the user."""

from __future__ import annotations

import json
import os
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import unknown_choice
from adjudge.core.files import exists
from adjudge.datasets.sets import DataFile, DataSet, DataSets, Listed

if TYPE_CHECKING:
    from collections.abc import Sequence


@cache
def catalogue() -> dict[str, DataSet]:
    """Every data set by its name, in the order of the file."""
    text = (files("adjudge.datasets") / "catalogue.toml").read_text(encoding="utf-8")
    sets = [_data_set(entry) for entry in tomllib.loads(text)["set"]]
    return {dataset.name: dataset for dataset in sets}


def find_set(name: str) -> DataSet:
    """The data set of this name."""
    known = catalogue()
    if name not in known:
        raise unknown_choice("data set", name, known)
    return known[name]


def _data_set(given: dict[str, Any]) -> DataSet:
    return DataSet(files=tuple(_data_file(file) for file in given.pop("file")), **given)


def _data_file(given: dict[str, Any]) -> DataFile:
    return DataFile(mirrors=tuple(given.pop("mirrors", ())), **given)


RECORD = ".adjudge-data.json"
"""Written into the folder of a set when all of its files are there."""


def data_folder() -> Path:
    """The folder of released data: ADJUDGE_DATA, or `adjudge/data` in the user's cache."""
    given = os.environ.get("ADJUDGE_DATA")
    if given:
        return Path(given)
    # The standard for folders (XDG) says that a path that is not absolute is to be ignored.
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if Path(cache).is_absolute() else Path.home() / ".cache") / "adjudge" / "data"


def where_is(dataset: DataSet, folder: Path) -> Path | None:
    """The folder that holds the set: one that was fetched, or one of a collection that has it under another name."""
    if exists(folder / dataset.name / RECORD):
        return folder / dataset.name
    if dataset.found_in and dataset.probe and exists(folder / dataset.found_in / dataset.probe):
        return folder / dataset.found_in
    return None


def listed(sets: Sequence[DataSet], *, details: bool = False) -> DataSets:
    """The sets, each with where it is at hand."""
    folder = data_folder()
    folders = [(dataset, where_is(dataset, folder)) for dataset in sets]
    return DataSets(
        settings={"folder": str(folder)},
        data=f"{len(sets)} sets",
        folder=str(folder),
        sets=tuple(
            Listed(dataset, None if location is None else str(location), str(location or folder / dataset.name))
            for dataset, location in folders
        ),
        details=details,
    )


def read_record(folder: Path) -> dict[str, dict[str, str]]:
    """What was fetched into the folder before: by path, the source and checksum; nothing where that cannot be read."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return {str(path): dict(known) for path, known in record["files"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
