"""The verbs as Python calls them: any source, plain keywords, messages that name parameters, names that stay."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import adjudge
from adjudge.readers.options import ReadOptions
from tests.helpers.tables import command, ranking_rows, score_rows, write_table
from tests.helpers.warm_command import PATIENCE

VERBS = (
    "read", "testset", "design", "check", "agree", "rank", "tournament", "audit", "parity", "gold", "meta", "qe",
    "plan", "simulate", "report", "look", "compare",
)  # fmt: skip
OF_JUDGMENTS: dict[str, Callable[[Any], Any]] = {
    "check": adjudge.check,
    "agree": lambda source: adjudge.agree(source, resamples=10),
    "rank": lambda source: adjudge.rank(source, resamples=20),
    "tournament": adjudge.tournament,
    "audit": lambda source: adjudge.audit(source, only="composition,sampling"),
    "parity": lambda source: adjudge.parity(source, "ref"),
}


@pytest.fixture
def rankings(tmp_path: Path) -> Path:
    return write_table(tmp_path / "rankings.csv", ranking_rows())


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    return write_table(tmp_path / "scores.csv", score_rows())


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_is_a_function_worth_asking_about(name: str) -> None:
    function = getattr(adjudge, name)
    assert inspect.isfunction(function)
    documented = inspect.getdoc(function) or ""
    for parameter in inspect.signature(function).parameters.values():
        if name != "read" or parameter.name in ("source", "format", "options"):
            assert f"{parameter.name}:" in documented, parameter.name


@pytest.mark.parametrize("name", OF_JUDGMENTS)
def test_every_source_gives_the_same_result(name: str, rankings: Path) -> None:
    frame = pl.read_csv(rankings)
    sources = [rankings, str(rankings), [rankings], frame, pd.read_csv(rankings), adjudge.read(rankings)]
    results = [json.dumps(OF_JUDGMENTS[name](source).to_dict(), sort_keys=True) for source in sources]
    assert len(set(results)) == 1


def test_the_same_numbers_as_on_the_command_line(rankings: Path) -> None:
    printed = command("rank", rankings, "--level", "0.1", "--resamples", "50", "--json").json
    assert adjudge.rank(rankings, level=0.1, resamples=50).to_dict() == printed


def test_help_on_reading_lists_every_option() -> None:
    known, documented = inspect.signature(adjudge.read).parameters, inspect.getdoc(adjudge.read) or ""
    for option in fields(ReadOptions):
        assert option.name in known
        assert f"{option.name}: " in documented
    assert "--" not in documented


def test_messages_name_parameters_in_python_and_options_on_the_command_line(rankings: Path) -> None:
    with pytest.raises(adjudge.AdjudgeError, match=r"^'level' is 7, it must lie between 0 and 1"):
        adjudge.rank(rankings, level=7)
    assert "adjudge: --level is 7, it must" in command("rank", rankings, "--level", "7").err
    with pytest.raises(adjudge.AdjudgeError, match=r"^'level' is 7; a share"):
        adjudge.plan(level=7)
    # Settings are checked before the judgments of --like are read.
    assert "adjudge: --level is 7; a share" in command("plan", "--level", "7", "--like", "missing.csv").err
    assert "missing.csv: no such file" in command("plan", "--like", "missing.csv").err


@pytest.mark.parametrize("name", ["rank", "check", "tournament", "audit", "parity"])
def test_several_language_pairs_are_refused_by_name_with_the_way_out(name: str, tmp_path: Path) -> None:
    both = write_table(tmp_path / "both.csv", [*ranking_rows(), *ranking_rows(pair="de,en")])
    with pytest.raises(
        adjudge.AdjudgeError, match=r"2 language pairs \(cs-en, de-en\); choose one with 'pair'"
    ) as fault:
        OF_JUDGMENTS[name](both)
    assert f"adjudge.{name}(part) for name, part in judgments.by_pair().items()" in str(fault.value)
    assert adjudge.rank(both, pair="de-en", resamples=0).order


def test_unknown_settings_are_refused_with_a_suggestion(rankings: Path) -> None:
    with pytest.raises(adjudge.AdjudgeError, match="did you mean 'human'"):
        adjudge.rank(rankings, humen="ref")  # type: ignore[call-arg]
    with pytest.raises(adjudge.AdjudgeError, match=r"of adjudge\.rank 'metod': did you mean 'method'"):
        adjudge.rank(rankings, metod="mfas")  # type: ignore[call-arg]
    with pytest.raises(adjudge.AdjudgeError, match="did you mean 'time_limit'"):
        adjudge.tournament(rankings, timelimit=1)  # type: ignore[call-arg]
    with pytest.raises(adjudge.AdjudgeError, match="did you mean 'segment_column'"):
        adjudge.read(rankings, segment_colum="id")  # type: ignore[call-arg]
    with pytest.raises(adjudge.AdjudgeError, match="did you mean 'annotators'"):
        adjudge.simulate("da", annotator=3)
    with pytest.raises(adjudge.AdjudgeError, match="choose one of ranking, da"):
        adjudge.simulate("mqm")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reference": "exlude"}, "unknown reference 'exlude': did you mean 'exclude'? choose one of include, exclude"),
        ({"significance": 3}, "unknown significance '3': choose one of sign, resample, tastes"),
        ({"zero_sd": "nul"}, "unknown zero_sd 'nul': choose one of drop, zero"),
        ({"level": "0.05"}, "'level' is '0.05', a number is needed"),
        ({"level": None}, "'level' is None, a number is needed"),
        ({"resamples": 10.5}, "'resamples' is 10.5, a whole number is needed"),
        ({"seed": 1.0}, "'seed' is 1.0, a whole number is needed"),
        ({"seed": -1}, "'seed' is -1, it must be 0 or more"),
    ],
)
def test_values_are_refused_as_on_the_command_line(settings: dict[str, Any], message: str, rankings: Path) -> None:
    with pytest.raises(adjudge.AdjudgeError) as fault:
        adjudge.rank(rankings, **settings)
    assert str(fault.value) == message


def test_numbers_of_any_type_are_numbers(rankings: Path) -> None:
    numbers = pd.Series([20])
    plain = adjudge.rank(rankings, resamples=20, reference=None)
    assert adjudge.rank(rankings, resamples=numbers[0], seed=numbers[0] - 19).to_dict() == plain.to_dict()


def test_a_data_frame_with_one_column_twice_is_refused(scores: Path) -> None:
    frame = pd.read_csv(scores)
    with pytest.raises(adjudge.AdjudgeError, match="data frame: column 'score' occurs twice; drop or rename one"):
        adjudge.rank(pd.concat([frame, frame[["score"]]], axis=1))


def test_importing_the_package_is_light() -> None:
    code = "import adjudge, sys; print([m for m in ('polars', 'numpy', 'scipy', 'jinja2') if m in sys.modules])"
    assert (
        subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=PATIENCE
        ).stdout
        == "[]\n"
    )


def test_simulate_takes_plain_keywords() -> None:
    simulated = adjudge.simulate("da", systems=3, annotators=4, tasks=6, seed=3)
    assert len(simulated.truth.systems) == 4  # three systems and a human translation
    assert simulated.judgments.protocols == ("da",)


def test_design_takes_a_campaign_file() -> None:
    folder = Path(__file__).resolve().parents[2] / "examples" / "da"
    assert adjudge.design(folder / "campaign.toml").tasks


def test_gold_takes_two_runs(scores: Path) -> None:
    gold = adjudge.gold(scores, adjudge.read(scores), orders=5, all_annotators=True)
    assert gold.correlation is not None
    assert gold.correlation.pearson == pytest.approx(1.0)


def test_compare_takes_names_and_sources(rankings: Path, scores: Path) -> None:
    by_name = adjudge.compare({"ranks": rankings, "scores": adjudge.read(scores)}, resamples=20)
    assert by_name.campaigns == ("ranks", "scores")
    assert adjudge.compare([rankings, scores], resamples=20).campaigns == (str(rankings), str(scores))


@pytest.mark.slow
def test_a_report_is_computed_shown_and_saved(rankings: Path, tmp_path: Path) -> None:
    messages: list[str] = []
    report = adjudge.report(rankings, title="Ours", progress=messages.append)
    assert list(report.pairs) == ["cs-en"]
    assert report.to_dict()["pairs"]["cs-en"]["rank"]["method"] == "bradley-terry"
    assert "cs-en" in str(report)
    assert messages[0] == "checking the annotators"
    assert "<title>Ours</title>" in report.save(tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_type_checkers_see_a_misspelt_keyword(tmp_path: Path) -> None:
    """Of the readers too: each of their options is a parameter of every function that reads."""
    script = tmp_path / "users.py"
    script.write_text(
        "import adjudge\n"
        "adjudge.rank('x.csv', columns={'system': 'model'}, scale=(1, 5), lower_is_better=True, level=0.1)\n"
        "adjudge.agree('x.csv', labels=5, human='ref').save('x.tex')\n"
        "adjudge.audit('x.csv', colums={'system': 'model'})\n"
        "adjudge.read('x.csv', critrion='fluency')\n"
    )
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", script], capture_output=True, text=True,
        cwd=tmp_path, timeout=PATIENCE, check=False,
    )  # fmt: skip
    faults = [line for line in run.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[1] for line in faults] == ["4", "5"], run.stdout
    assert 'did you mean "columns"?' in faults[0]


@pytest.mark.parametrize("name", OF_JUDGMENTS)
def test_every_result_is_saved_by_its_ending(name: str, rankings: Path, tmp_path: Path) -> None:
    result = OF_JUDGMENTS[name](rankings)
    for ending in (".json", ".csv", ".parquet", ".xlsx", ".tex", ".html", ".txt"):
        file = tmp_path / f"result{ending}"
        assert result.save(str(file)) == file
        assert file.stat().st_size > 0
    assert json.loads((tmp_path / "result.json").read_text()) == result.to_dict()
    assert result.to_csv() == (tmp_path / "result.csv").read_text()
    assert r"\toprule" in result.to_latex()
    assert result.to_frame().columns == pl.read_csv(result.to_csv().encode()).columns
    with pytest.raises(adjudge.AdjudgeError, match="the ending says what is written"):
        result.save(tmp_path / "result.docx")
