"""Nothing is lost silently: what a damaged row held is used, set aside and counted, or the file is refused."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from bench.bench_fuzz import FINE
from bench.fuzz_checks import outcome
from bench.fuzz_inputs import make_input

from adjudge.readers import registry
from adjudge.readers.metric_scores import read_metric_scores
from adjudge.readers.options import ReadOptions
from adjudge.readers.texts import read_column
from adjudge.table.errors import AdjudgeError, InputError
from adjudge.table.judgments import Judgments
from tests.helpers.samples import SAMPLES

DAMAGES = ["", "x", "-7", "1e9", "nan", "7", "\x00", "[", "None", "TGT", '"']
# A row of the file is a row of the table: used and set aside add up to the same number, whatever happens.
ONE_TO_ONE = ("judgments", "wmt-edits", "wmt-acceptability", "metric-scores")


def read_sample(file: Path, name: str) -> Judgments:
    ranks = ("a_rank", "b_rank", "c_rank") if name == "rank-table" else ()
    return registry.read(file, format=name, options=ReadOptions(rank_columns=ranks, bad_rows=1.0))


def set_aside(judgments: Judgments) -> int:
    return sum(part.rows for part in judgments.set_aside)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 6))])
def test_rows_in_are_rows_used_and_rows_set_aside(name: str, seed: int, tmp_path: Path) -> None:
    generator = random.Random(f"{name} {seed}")
    file = tmp_path / "sample.csv"
    whole = generator.choice(SAMPLES[name])
    file.write_text(whole, encoding="utf-8")
    before = read_sample(file, name)
    for _ in range(8):
        file.write_text(with_a_damaged_cell(whole, generator), encoding="utf-8")
        try:
            after = read_sample(file, name)
        except AdjudgeError:
            continue
        lost = len(before) - len(after)
        reasons_added = reasons(after) - reasons(before)
        assert lost <= 0 or reasons_added or set_aside(after) > set_aside(before), after
        if name in ONE_TO_ONE:
            assert len(after) + set_aside(after) == len(before) + set_aside(before), after


def reasons(judgments: Judgments) -> set[str]:
    return {part.reason for part in judgments.set_aside}


def with_a_damaged_cell(text: str, generator: random.Random) -> str:
    lines = text.split("\n")
    number = generator.randrange(1, len(lines) - 1) if len(lines) > 2 else 0
    delimiter = max(("\t", ",", ";", " "), key=lines[number].count)
    cells = lines[number].split(delimiter)
    cells[generator.randrange(len(cells))] = generator.choice(DAMAGES)
    lines[number] = delimiter.join(cells)
    return "\n".join(lines)


RANKING = (
    "srclang,trglang,srcIndex,judgeId,system1Id,system2Id,{third},system1rank,system2rank,system3rank\n"
    "cs,en,1,j,a,b,c,1,2,3\n"
)


def test_a_misspelt_header_of_a_ranking_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "rankings.csv"
    file.write_text(RANKING.format(third="sytem3Id"), encoding="utf-8")
    with pytest.raises(InputError, match="has no column 'system3Id'"):
        registry.read(file, format="wmt-ranking")
    file.write_text(RANKING.format(third="system3Id"), encoding="utf-8")
    assert registry.read(file, format="wmt-ranking").systems == ("a", "b", "c")


EARLY = "TASK,TYPE,ITEM_ID,ANNOTATOR_ID,TIME,SYSTEM_0,SCORE_0_A,SYSTEM_1,{last}\n"


def test_a_rank_without_a_system_is_counted_and_a_misspelt_header_refused(tmp_path: Path) -> None:
    file = tmp_path / "early.csv"
    rows = "WMT07 Czech-English News,RANK,5,18,39,x,1,,2\nWMT07 Czech-English News,RANK,6,18,39,x,1,y,2\n"
    file.write_text(EARLY.format(last="SCORE_1_A") + rows, encoding="utf-8")
    judgments = registry.read(file, format="wmt-ranking-2007")
    assert [(part.reason, part.rows) for part in judgments.set_aside] == [("rank without a system", 1)]
    file.write_text(EARLY.format(last="SCORE_1A") + rows, encoding="utf-8")
    with pytest.raises(InputError, match="has no column 'SCORE_1_A'"):
        registry.read(file, format="wmt-ranking-2007")


def test_a_broken_time_of_the_first_workshops_costs_no_ranking(tmp_path: Path) -> None:
    file = tmp_path / "early.csv"
    rows = "WMT07 Czech-English News,RANK,5,18,soon,x,1,y,2\n"
    file.write_text(EARLY.format(last="SCORE_1_A") + rows, encoding="utf-8")
    judgments = registry.read(file, format="wmt-ranking-2007")
    assert judgments.table["active_seconds"].to_list() == [None, None]
    assert any("1 value of column 'TIME'" in note for note in judgments.notes)


@pytest.mark.parametrize(
    "text",
    [
        "<doc docid='d'>\n<seg id='1'>a</seg>\n<seg id='2' b</seg>\n</doc>",
        "<doc docid='d'>\n<seg id='1'>a\n<seg id='2'>b</seg>\n</doc>",
        "<doc docid='d'>\n<seg id='1'>a</seg>\nb</seg>\n</doc>",
        "<doc docid='d'>\n<seg id='1'>a</seg>\n<seg id='2'>b",
    ],
)
def test_a_damaged_tag_in_sgm_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "set.sgm"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"line [23]: a </?seg>"):
        read_column(file)


@pytest.mark.parametrize("entry", ["BLEU", None, 7, {"name": "BLEU"}, {"score": 3}])
def test_an_entry_of_sacrebleu_that_is_no_score_is_refused(entry: object, tmp_path: Path) -> None:
    file = tmp_path / "scores.json"
    file.write_text(json.dumps([{"name": "BLEU", "score": 30.1}, entry]), encoding="utf-8")
    with pytest.raises(InputError, match="entry 2 is"):
        read_metric_scores([file])


def test_an_error_that_cannot_be_weighed_spoils_its_rating(tmp_path: Path) -> None:
    header = "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
    good = [f"x\td\t{i}\tr\ta\tb\tStyle\tMinor" for i in range(198)]
    file = tmp_path / "ratings.tsv"
    file.write_text("\n".join([header, *good, "x\td\t0\tr\ta\tb\tStyle\tAwful"]) + "\n", encoding="utf-8")
    judgments = registry.read(file, format="mqm")
    assert "0" not in judgments.table["segment"].to_list()
    assert set_aside(judgments) == 2
    assert any("line 200" in note and "Awful" in note for note in judgments.notes)


@pytest.mark.slow
def test_damaged_inputs_of_fixed_seeds_are_read_or_explained(tmp_path: Path) -> None:
    """A short run of the fuzzing bench, in this process: what one of a hundred inputs brings up is found by 95%."""
    for number in range(300):
        fuzzed = make_input(number, seed=2024)
        kind, details = outcome(fuzzed, tmp_path)
        assert kind in FINE, (number, str(fuzzed), details)
