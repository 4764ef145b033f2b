"""Replications of papers, each made once for all tests of a process."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from adjudge.papers.replicate import Replication, replicate


@cache
def replication_of(paper: str, folder: Path) -> Replication:
    """The replication of a paper from the data in this folder."""
    return replicate(paper, folder)
