"""Values that no campaign can have are named, before they fill the memory or fail at the first visitor."""

from __future__ import annotations

from pathlib import Path

import pytest

from adjudge.campaigns.campaign_file import load_campaign
from adjudge.table.errors import InputError

CAMPAIGN = """
name = "bounds"
protocol = "da"
{top}
[languages]
source = "en"
target = "cs"
[files]
source = "source.txt"
systems = {{ a = "a.txt" }}
{rest}
"""


@pytest.mark.parametrize(
    ("top", "rest", "words"),
    [
        ("", "[design]\nannotators = 999999999", "design.annotators"),
        ("", "[design]\ntask_size = 999999999", "design.task_size"),
        ("", "[controls]\nrepeats = nan", "controls.repeats"),
        ("", "[controls]\nrepeats = 1000000000", "controls.repeats"),
        ("", "[scale]\nlow = 0.0\nhigh = 1.0\nstep = 1e-300", "more than a million steps"),
        ("", "[scale]\nlow = -inf\nhigh = 1.0", "scale.low"),
        ("", "[scale]\nlow = 0.0\nhigh = 1.0\nstep = 5", "longer than the scale"),
        ("", "[context]\nbefore = 99999999999", "context.before"),
        ("", "[controls]\ncalibration = 99999999999", "controls.calibration"),
        ("", f'[instructions.en]\nfile = "{"x" * 5000}"', "no such file"),
        ("", "[links]\nsession_hours = 99999999", "links.session_hours"),
        ("", "[links]\nlifetime_days = 99999999", "links.lifetime_days"),
        ("", "[assignment]\nlease_minutes = 99999999", "assignment.lease_minutes"),
        ("seed = " + "9" * 5000, "", "too many digits"),
        ("seed = 99999999999999999999", "", "seed"),
        ("deep = " + "[" * 5000 + "]" * 5000, "", "nested too deeply"),
    ],
)
def test_a_value_without_bounds_is_named(tmp_path: Path, top: str, rest: str, words: str) -> None:
    file = tmp_path / "campaign.toml"
    file.write_text(CAMPAIGN.format(top=top, rest=rest), encoding="utf-8")
    for name in ("source.txt", "a.txt"):
        (tmp_path / name).write_text("text\n", encoding="utf-8")
    with pytest.raises(InputError, match=words) as fault:
        load_campaign(file)
    assert len(str(fault.value)) < 2000
