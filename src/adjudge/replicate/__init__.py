"""Papers' tables recomputed from their released data. `replicate` is the main function.

A paper is a folder whose `replicate(folder)` returns a `Replication`; its published cells are in `published.json`
there, with the page and table of each. To add a paper, write both and name the folder here.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError, unknown_choice

if TYPE_CHECKING:
    from pathlib import Path

    from adjudge.results.replication import Replication

__all__ = ["PAPERS", "replicate"]

# name: (folder, what it is)
PAPERS: dict[str, tuple[str, str]] = {
    "in-order": ("in_order", "Lopez 2012, Putting Human Assessments of Machine Translation Systems in Order"),
    "suboptimal": ("suboptimal", "Kim et al. 2022, The Suboptimal WMT Test Sets and Their Impact on Human Parity"),
    "grain-of-salt": ("grain_of_salt", "Bojar et al. 2011, A Grain of Salt for the WMT Manual Evaluation"),
    "document-qe": ("document_qe", "Graham et al. 2017, Improving Evaluation of Document-level Quality Estimation"),
    "stability": ("stability", "Knowles 2021, On the Stability of System Rankings at WMT"),
}


def replicate(paper: str, data: Path) -> Replication:
    """Recompute the tables of a paper.

    Args:
        paper: a name from `PAPERS`.
        data: the folder that holds its released data, or folders with them.

    Returns:
        Published and recomputed figures side by side, with the reason wherever they differ.
    """
    if paper not in PAPERS:
        raise unknown_choice("paper", paper, PAPERS)
    if not data.is_dir():
        raise InputError("is not a folder; give the folder of the paper's released data", file=data)
    module = import_module(f"adjudge.replicate.{PAPERS[paper][0]}")
    result: Replication = module.replicate(data)
    return result
