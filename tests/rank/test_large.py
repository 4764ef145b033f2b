"""Means straight from CSV are those of the ordinary ranking."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.core.errors import InputError
from adjudge.formats import native
from adjudge.rank import RankSettings, rank
from adjudge.rank.large import means_of_file
from tests.rank.test_customary import random_scores


def test_the_means_are_those_of_zscore(tmp_path: Path) -> None:
    judgments = random_scores(4)
    file = tmp_path / "scores.csv"
    native.write(judgments, file)
    expected = {one.system: one for one in rank(judgments, method="zscore", settings=RankSettings(resamples=0)).systems}
    found = means_of_file(file)
    assert [one.system for one in found] == list(expected)
    for one in found:
        assert one.z == pytest.approx(expected[one.system].score, abs=1e-5)
        assert one.raw == pytest.approx(expected[one.system].numbers["raw"], abs=1e-4)
        assert (one.n, one.n_all) == (expected[one.system].n, expected[one.system].numbers["n_all"])


def test_what_cannot_be_read_is_explained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        means_of_file(tmp_path / "none.csv")
    file = tmp_path / "x.csv"
    file.write_text("system,score\na,1\n")
    with pytest.raises(InputError, match="no column 'annotator'"):
        means_of_file(file)
    file.write_text("system,annotator,segment,score\na,b,1,much\n")
    with pytest.raises(InputError, match="cannot be read as scores"):
        means_of_file(file)
