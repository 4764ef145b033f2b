"""The tables of protocols and kinds agree with the documents and with each other."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from adjudge.table import protocols as table
from adjudge.table.protocols import KINDS, PROTOCOLS, CollectedProtocol, Kind, Protocol, Work

DATA_PAGE = Path(__file__).resolve().parents[2] / "docs" / "data.md"


@pytest.mark.parametrize(
    ("group", "names"),
    [
        # How each protocol works: docs/data.md and docs/design.md.
        (table.RELATIVE, ("ranking", "pairwise")),
        (table.SCORED, ("da", "sqm", "esa", "mqm")),
        (table.ON_SCALE, ("da", "sqm", "esa")),
        (table.MARKED, ("esa", "mqm")),
        (table.ONE_BY_ONE, ("da", "sqm", "esa", "mqm", "postedit", "acceptability")),
        # What each kind counts for: docs/data.md.
        (table.RATED, ("system", "repeat")),
        (table.NOT_TRANSLATIONS, ("degraded", "tutorial", "attention")),
        (table.WORK, ("system", "reference", "repeat")),
        (table.NOT_CONTROLS, ("system", "calibration")),
        (table.NOT_JUDGED, ("tutorial", "attention")),
    ],
)
def test_names_with_a_fact_in_common(group: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert group == names


def test_the_type_of_collected_protocols_lists_those_of_the_table() -> None:
    assert get_args(CollectedProtocol) == table.COLLECTED


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=lambda protocol: protocol.name)
def test_facts_of_a_protocol_agree(protocol: Protocol) -> None:
    assert not (protocol.relative and protocol.scored)
    assert protocol.scored or not protocol.on_scale
    assert protocol.relative == (protocol.in_pairs or protocol.in_blocks)
    assert not (protocol.in_pairs and protocol.in_blocks)
    assert protocol.marked or not protocol.categories
    assert protocol.severities == tuple(name for name in table.SEVERITIES if name in protocol.severities)


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_facts_of_a_kind_agree(kind: Kind) -> None:
    assert kind.translation or not kind.rated, "only translations are rated"
    assert kind.judged or not kind.translation, "what is not judged is no translation"
    assert set(kind.made_from) <= set(KINDS) - {kind.name}
    assert table.KIND_CODES[kind.name] == tuple(KINDS).index(kind.name)


@pytest.mark.parametrize("name", [*PROTOCOLS, *KINDS])
def test_the_page_about_data_names_it(name: str) -> None:
    assert f"`{name}`" in DATA_PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("name", "column"), [("ranking", "rank"), ("da", "score"), ("esa", None), ("postedit", None)])
def test_the_column_without_which_a_judgment_says_nothing(name: str, column: str | None) -> None:
    assert PROTOCOLS[name].needed_column == column


def test_few_controls_decide_nothing() -> None:
    """One wrong answer of one fails nobody; from `least_controls` on the share decides."""
    assert not Work(10, 100.0, controls_right=0, controls=4).missed_controls(0.5, 5)
    assert Work(10, 100.0, controls_right=2, controls=5).missed_controls(0.5, 5)
    assert not Work(10, 100.0, controls_right=3, controls=5).missed_controls(0.5, 5)
    assert Work(10, 100.0, controls_right=0, controls=1).faults(least_controls=1) == ("controls",)
