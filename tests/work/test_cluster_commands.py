"""Commands on a cluster of two workers print the same JSON as in one process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.helpers.clusters import Cluster, needs_distributed
from tests.helpers.warm_command import warm_command

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = needs_distributed

PLAN = (
    "plan", "--systems", "3", "--documents", "12", "--annotators", "4", "--difference", "8", "--draws", "4",
    "--structures", "mixed,pages", "--per-item", "1",
)  # fmt: skip
SIMULATE = ("simulate", "-o", "judgments.parquet", "--protocol", "da", "--tasks", "6", "--campaigns", "5")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    started = Cluster(tmp_path_factory.mktemp("cluster"))
    started.wait_for_workers()
    yield started
    started.close()


def run(folder: Path, *arguments: str) -> str:
    done = warm_command()(*arguments, "--json", folder=folder)
    assert done.code == 0, done.err
    return done.out


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [PLAN, SIMULATE], ids=lambda arguments: str(arguments[0]))
def test_a_command_gives_the_same_json_on_a_cluster(
    arguments: tuple[str, ...], cluster: Cluster, tmp_path: Path
) -> None:
    assert run(tmp_path, *arguments, "--scheduler", cluster.address) == run(tmp_path, *arguments, "--jobs", "1")


@pytest.mark.slow
def test_an_audit_gives_the_same_json_on_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    run(tmp_path, "simulate", "-o", "judgments.parquet", "--protocol", "da", "--systems", "3", "--tasks", "12")
    audit = ("audit", "judgments.parquet", "--only", "claims,aa,reliability,influence")
    alone = run(tmp_path, *audit, "--jobs", "1")
    assert '"influence"' in alone
    assert run(tmp_path, *audit, "--scheduler", cluster.address) == alone


@pytest.mark.slow
def test_a_replication_gives_the_same_json_on_a_cluster(cluster: Cluster, tmp_path: Path, data: Path) -> None:
    replicate = ("replicate", "stability", "--data", str(data / "wmt21" / "facebook-wikipedia-2021"))
    alone = run(tmp_path, *replicate, "--jobs", "1")
    assert run(tmp_path, *replicate, "--scheduler", cluster.address) == alone
