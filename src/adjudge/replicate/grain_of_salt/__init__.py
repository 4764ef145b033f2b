"""Replication of "A Grain of Salt for the WMT Manual Evaluation" (Bojar et al. 2011) from the released judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import adjudge
from adjudge.replicate.grain_of_salt import tables
from adjudge.replicate.grain_of_salt.figures import draw_figures
from adjudge.replicate.published import find_file, read_published, sign_data
from adjudge.results.replication import Replication

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from adjudge.replicate.published import Published
    from adjudge.results.agree import Agreement

NAME = "grain-of-salt"
Table = tuple[tables.Cells, dict[str, str]]


def replicate(folder: Path) -> Replication:
    """All tables that the released data allow."""
    published = read_published("grain_of_salt")
    released = _read(folder, published.content)
    agreement = adjudge.agree(released.rankings, resamples=0)
    figures = draw_figures(released, published, folder)
    parts = (released.rankings, released.edits, released.acceptability)
    return Replication(
        settings={"paper": NAME},
        data=sign_data(part.fingerprint for part in parts),
        figures=figures,
        not_recomputed=published.not_recomputed(drawn=[figure.figure for figure in figures]),
        paper=published.paper,
        replicated=tuple(
            published.compared(name, cells, notes)
            for name, (cells, notes) in _recomputed(published, released, agreement).items()
        ),
    )


def _read(folder: Path, content: Mapping[str, Any]) -> tables.Released:
    files = {name: find_file(folder, file) for name, file in content["files"].items()}
    first, other = content["systems_in_focus"]
    tied, seldom_tied = content["tied_apart"]
    return tables.Released(
        rankings=adjudge.read(files["rankings"], format="wmt-ranking"),
        edits=adjudge.read(files["edits"], format="wmt-edits"),
        acceptability=adjudge.read(files["acceptability"], format="wmt-acceptability"),
        focus=content["focus"],
        edits_focus=content["edits_focus"],
        systems_in_focus=(first, other),
        tied_apart=(tied, seldom_tied),
    )


def _recomputed(published: Published, released: tables.Released, agreement: Agreement) -> dict[str, Table]:
    """The cells of every table, and what is to be known of some of them."""
    named = {name.partition(": ")[2] for name in published.cells("Table 4")}
    times, presence = tables.sampling(released)
    exact_times, exact_presence = tables.sampling(released, decimals=None)
    return {
        "Table 1": (tables.collected_rankings(released), {}),
        "Table 2": (tables.scores_of_systems(released), {}),
        "Table 3": (tables.kappas(agreement), _own_chance(agreement)),
        "Table 4": (tables.sole_winners(released, named), {}),
        "Table 5": (times, _unrounded(exact_times)),
        "Table 6": (tables.direct_comparisons(released), {}),
        **_from_printed_counts(published),
        "Table 9": (tables.ranked_twice(released, published.content["ranked_twice"]), {}),
        "Table 10": (presence, _unrounded(exact_presence)),
        "Table 11": (tables.post_edits(released), {}),
        "Text": (tables.figures_in_the_text(released, agreement), {}),
    }


def _own_chance(agreement: Agreement) -> dict[str, str]:
    """The paper corrects agreement without the reference by the P(E) of all comparisons."""
    return {
        f"{kind}, without reference: pi": "with the P(E) of all comparisons, as in the paper; "
        f"with its own P(E) it is {getattr(agreement, kind)['without_reference'].pi:.3f}"
        for kind in ("inter", "intra")
    }


def _unrounded(exact: Mapping[str, float]) -> dict[str, str]:
    return {name: f"scores rounded to 0.1% first; unrounded it is {value:.4f}" for name, value in exact.items()}


def _from_printed_counts(published: Published) -> dict[str, Table]:
    printed = published.content["printed"]
    from_counts = "from the counts printed in the table; the annotations are not in the release"
    totals = tables.six_annotators(printed["Table 8"]["rows"])
    missing = "needs the six annotators' labels of each sentence, which are not in the release"
    return {
        "Table 7": (
            tables.two_annotators(printed["Table 7"]["matrix"]),
            dict.fromkeys(published.cells("Table 7"), from_counts),
        ),
        "Table 8": (totals, {name: missing for name in published.cells("Table 8") if name not in totals}),
    }
