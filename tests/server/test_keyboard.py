"""Every protocol from the first screen to the export, by keyboard alone, left to right and right to left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from tests.helpers.campaigns import PROTOCOLS, make_campaign
from tests.helpers.judging import begin, judge_all
from tests.helpers.serving import Server, exported
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

SCORES = {"da": {72.0, 0.0, 100.0, 35.0}, "sqm": {4.0, 0.0, 6.0, 3.0}}


@pytest.mark.parametrize("target", ["en", "ar"])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_judged_from_first_screen_to_export(protocol: str, target: str, page: Page, tmp_path: Path) -> None:
    source = "de" if target == "en" else "en"
    campaign = make_campaign(tmp_path, protocol, source=source, target=target, documents=1, task_size=30)
    with Server(campaign) as server:
        begin(page, server)
        assert page.url == server.url + "/work"
        shoot(page, f"{protocol}-{target}-unset")
        count = judge_all(page, protocol, picture=f"{protocol}-{target}")
        page.get_by_text("Thank you!").wait_for()
        shoot(page, f"{protocol}-{target}-end")
        _check_table(exported(server, tmp_path).final().table, protocol, count)


def _check_table(table: pl.DataFrame, protocol: str, screens: int) -> None:
    assert table["screen"].n_unique() == screens
    assert table["annotator"].unique().to_list() == ["anna"]
    assert (table["active_seconds"] >= 0).all()
    assert (table["ended"] >= table["started"]).all()
    if protocol in SCORES:
        assert table["score"].null_count() == 0
        assert set(table["score"].to_list()) <= SCORES[protocol]
        assert 0.0 in table["score"].to_list()
    else:
        assert table["rank"].null_count() == 0
        assert table["rank"].min() == 1
    if protocol == "pairwise":
        outcomes = (
            table.sort("segment", "system").group_by("segment", maintain_order=True).agg("rank")["rank"].to_list()
        )
        assert {tuple(outcome) for outcome in outcomes} >= {(1, 1)}
        assert len({tuple(outcome) for outcome in outcomes}) > 1
