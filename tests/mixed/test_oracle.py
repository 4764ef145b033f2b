"""The model beside lme4, by the bench that shares no code with it: levels of every effect, and all numbers with R."""

from __future__ import annotations

import shutil
import subprocess

import polars as pl
import pytest
from bench.bench_oracle import compared, level_columns, own_system
from bench.bench_verdicts import drawn
from bench.campaign_cells import EQUAL, UNEQUAL

import adjudge
from tests.helpers.warm_command import PATIENCE

CELLS = {
    "scores, 5 systems, 5 people": UNEQUAL,
    "single segments, 6 systems, 10 people": EQUAL,
    "3 systems on a screen, 12 people": EQUAL,
}


def has_lme4() -> bool:
    call = ["Rscript", "--vanilla", "-e", "library(lme4)"]
    return (
        shutil.which("Rscript") is not None
        and not subprocess.run(call, capture_output=True, check=False, timeout=PATIENCE).returncode
    )


@pytest.mark.parametrize("name", CELLS)
def test_every_effect_has_the_levels_that_the_table_gives_it(name: str) -> None:
    table = drawn(name, CELLS[name][name], 3)
    components = adjudge.rank(table, method="mixed-points").to_dict()["components"]
    assert len(components) > 4
    for part in components:
        system = own_system(part["effect"])
        rows = table.filter(pl.col("system") == system) if system else table
        expected = rows.height if part["effect"] == "residual" else level_columns(rows, part["effect"]).n_unique()
        assert part["levels"] == expected, part["effect"]


@pytest.mark.slow
@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("method", ["mixed-points", "mixed-rank"])
def test_lme4_finds_the_same(name: str, method: str) -> None:
    """Where a variance is near 0 the optimisers stop at different small values, which no difference shows."""
    if not has_lme4():
        pytest.skip("Rscript with lme4 is not installed")
    table = drawn(name, CELLS[name][name], 3)
    row = compared(name, table, table, method)
    assert row["scores"] == row["scores used by adjudge"]
    assert row["difference"] < 1e-3
    assert row["se"] < 1e-3
    assert row["component"] < 5e-3
