"""A campaign to be judged, and short pauses."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.judges import ask
from tests.helpers.fake_endpoint import make_campaign


@pytest.fixture
def campaign(tmp_path: Path) -> Path:
    return make_campaign(tmp_path)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are short here."""
    monkeypatch.setattr(ask, "FIRST_WAIT", 0.01)
    monkeypatch.delenv("ADJUDGE_JUDGE_KEY", raising=False)
