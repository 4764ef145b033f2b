"""The attacks of the bench come to nothing, on both databases: wrong clocks, a full disk, clients that hang."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from bench.collect_attack import Outcome, clock_steps, deaf_clients, full_disk, slow_clients

from tests.helpers.databases import needed_postgres_url

ATTACKS: dict[str, Callable[[str | None], Outcome]] = {
    "clocks": clock_steps,
    "full disk": full_disk,
    "slow clients": partial(slow_clients, count=300),
    "deaf clients": partial(deaf_clients, count=70),
}


@pytest.mark.parametrize("store", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_is_lost_let_in_or_held_up(attack: str, store: str) -> None:
    database = needed_postgres_url() if store == "postgres" else None
    outcome = ATTACKS[attack](database)
    assert outcome.failed == 0, outcome
