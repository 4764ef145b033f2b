"""The catalogue, read from the data file beside this module."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from adjudge.core.errors import unknown_choice
from adjudge.datasets.sets import DataFile, DataSet


@cache
def catalogue() -> dict[str, DataSet]:
    """Every data set by its name, in the order of the file."""
    text = (files("adjudge.datasets") / "catalogue.toml").read_text(encoding="utf-8")
    sets = [_data_set(one) for one in tomllib.loads(text)["set"]]
    return {one.name: one for one in sets}


def find_set(name: str) -> DataSet:
    """The data set of this name."""
    known = catalogue()
    if name not in known:
        raise unknown_choice("data set", name, known)
    return known[name]


def _data_set(given: dict[str, Any]) -> DataSet:
    return DataSet(files=tuple(_data_file(one) for one in given.pop("file")), **given)


def _data_file(given: dict[str, Any]) -> DataFile:
    return DataFile(mirrors=tuple(given.pop("mirrors", ())), **given)
