"""The names that users import, and that a folder never hides the function of the same name."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import adjudge
from tests.helpers.warm_command import PATIENCE


def test_every_public_name_exists() -> None:
    for name in adjudge.__all__:
        assert not isinstance(getattr(adjudge, name), ModuleType), name
    assert sorted(adjudge.__all__) == dir(adjudge)


def test_functions_stay_functions_after_their_folder_was_imported() -> None:
    code = (
        "import adjudge.ranking.counts, adjudge.evidence.audit; print(callable(adjudge.rank), callable(adjudge.audit))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=PATIENCE)
    assert done.stdout.split() == ["True", "True"]
