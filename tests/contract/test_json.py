"""The JSON of every command as promised to those who script against it: its keys, its pairs, and no NaN."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adjudge.ranking.methods import METHODS
from adjudge.shell.line import app
from tests.helpers.tables import command, ranking_rows, score_rows, write_table

COMMON = {"signature", "settings", "version", "set_aside"}
RULES = ("official", "fewest-wins", "ranges", "scipy-1.6", "scipy-1.7", "strict", "holm", "rank-sets")
# Calibrated scores need items that everybody judged, which these tables do not have.
SCORES = [name for name, method in METHODS.items() if method.judgments != "relative" and name != "zscore-calibrated"]
RELATIVE = [name for name, method in METHODS.items() if method.judgments == "relative"]
OWN_NUMBERS = {"raw": {"raw", "wins"}, "zscore": {"raw", "z", "wins"}, "mixed": {"se"}, "mixed-rank": {"se"}}


@pytest.fixture(scope="module")
def rankings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("rankings") / "table.csv", ranking_rows())


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_table(tmp_path_factory.mktemp("scores") / "table.csv", score_rows())


@pytest.fixture(scope="module")
def two_pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two language pairs, one of them by the names of its languages."""
    rows = [*ranking_rows(blocks=6), *ranking_rows(pair="German,eng", blocks=6)]
    return write_table(tmp_path_factory.mktemp("pairs") / "table.csv", rows)


def answer(*arguments: str | Path) -> dict[str, Any]:
    """The object that a command prints; NaN and infinities are refused."""
    run = command(*arguments, "--json")
    assert run.code == 0, run.err
    parsed = json.loads(run.out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    assert isinstance(parsed, dict)
    for result in parsed["pairs"].values() if set(parsed) == {"pairs"} else [parsed]:
        assert set(result) >= COMMON
        assert result["signature"].startswith(f"adjudge {arguments[0]}|")
        assert all(set(left) == {"reason", "rows"} for left in result["set_aside"])
    return parsed


def assert_is_ranking(ranking: dict[str, Any], method: str) -> None:
    systems, n = ranking["systems"], len(ranking["systems"])
    assert ranking["method"] == method
    assert all(
        set(system) >= {"system", "human", "score", "rank", "rank_set", "cluster", "n", *OWN_NUMBERS.get(method, ())}
        for system in systems
    )
    assert [system["rank"] for system in systems] == sorted(system["rank"] for system in systems)
    assert [name for cluster in ranking["clusters"] for name in cluster] == [system["system"] for system in systems]
    assert all(len(system["rank_set"]) == 2 for system in systems)
    pairs = {frozenset((comparison["better"], comparison["worse"])) for comparison in ranking["comparisons"]}
    assert len(ranking["comparisons"]) == len(pairs) == n * (n - 1) // 2
    assert all(set(comparison) >= {"difference", "p", "p_holm", "p_bh"} for comparison in ranking["comparisons"])
    assert set(ranking["lines"]) == {"rule", "level"}


@pytest.mark.parametrize("method", RELATIVE)
def test_every_method_for_rankings(method: str, rankings: Path) -> None:
    plain = ("rank", rankings, "--method", method, "--resamples", "30")
    assert_is_ranking(answer(*plain), method)
    without = answer(*plain, "--reference", "exclude")
    assert [system["human"] for system in without["systems"]] == [False] * 3
    if METHODS[method].reference != "exclude":
        assert any(system["human"] for system in answer(*plain, "--reference", "include")["systems"])


@pytest.mark.parametrize("method", SCORES)
def test_every_method_for_scores(method: str, scores: Path) -> None:
    assert_is_ranking(answer("rank", scores, "--method", method), method)
    # Scores of a system stand by themselves: nothing is left to exclude, and that is said. So it is of their tests.
    for option, value in (("--reference", "exclude"), ("--significance", "sign")):
        run = command("rank", scores, "--method", method, option, value)
        assert (run.code, run.out) == (2, "")
        assert f"{option} {value} is for relative rankings" in run.err


@pytest.mark.parametrize("method", [None, *RELATIVE, *SCORES])
def test_equal_scores_are_asked_about_where_there_are_z_scores(
    method: str | None, rankings: Path, scores: Path
) -> None:
    for file in (rankings, scores) if method is None else (scores if method in SCORES else rankings,):
        chosen = () if method is None else ("--method", method)
        run = command("rank", file, *chosen, "--zero-sd", "zero", "--resamples", "2")
        if method in ("zscore", "zscore-task", "raw", "zscore-calibrated"):
            assert run.code == 0
            continue
        assert (run.code, run.out) == (2, "")
        assert (
            "makes no z-scores; --zero-sd zero is for zscore, zscore-task, raw, zscore-calibrated: choose one"
            in run.err
        )


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("method", ["wins-or-ties", "bradley-terry", "zscore", "mixed"])
def test_every_rule_for_lines(method: str, rule: str, rankings: Path, scores: Path) -> None:
    file = rankings if method in RELATIVE else scores
    ranking = answer("rank", file, "--method", method, "--lines", rule)
    assert_is_ranking(ranking, method)
    assert ranking["lines"] == {"rule": rule, "level": 0.05}


def test_methods_by_default(rankings: Path, scores: Path) -> None:
    assert answer("rank", rankings)["method"] == "bradley-terry"
    assert answer("rank", scores)["method"] == "mixed"


def test_tournament(rankings: Path) -> None:
    tournament = answer("tournament", rankings)
    assert isinstance(tournament["acyclic"], bool)
    assert set(tournament["cycles"]) >= {"number", "members"}
    assert tournament["mfas"]["optimal"] is True
    assert set(tournament["mfas"]) >= {"order", "cost", "violated"}
    assert set(tournament["violations"]) >= set(RELATIVE)
    assert set(tournament["spearman"]) == set(tournament["violations"])
    assert sorted(tournament["systems"]) == ["a", "b", "c"]


@pytest.mark.parametrize("kind", ["rankings", "scores"])
def test_agree(kind: str, request: pytest.FixtureRequest) -> None:
    agreement = answer("agree", request.getfixturevalue(kind), "--resamples", "20")
    wanted = {"pairs", "observed", "s", "s_corrected", "pi", "kappa", "alpha"}
    for side in ("inter", "intra"):
        assert set(agreement[side]) == {"all", "without_reference"}
        assert all(set(part) >= wanted for part in agreement[side].values())
    assert {annotator["annotator"] for annotator in agreement["annotators"]} == {"x", "y", "z"}
    assert "by_length" not in agreement


@pytest.mark.parametrize("kind", ["rankings", "scores"])
def test_check(kind: str, request: pytest.FixtureRequest) -> None:
    checked = answer("check", request.getfixturevalue(kind))
    wanted = {"annotator", "judgments", "tasks", "p_controls", "p_repeats", "seconds", "constant", "passed", "reasons"}
    assert all(set(annotator) >= wanted for annotator in checked["annotators"])
    assert isinstance(checked["rule"], str)
    assert all(set(checked[part]) >= {"annotators", "judgments", "system"} for part in ("kept", "dropped"))


@pytest.mark.parametrize("kind", ["rankings", "scores"])
def test_look(kind: str, request: pytest.FixtureRequest) -> None:
    look = answer("look", request.getfixturevalue(kind), "--planned", "5000", "--looks", "3", "--goal", "best")
    assert set(look) >= {"look", "information", "level", "claims", "stop", "advice"}
    assert 0 < look["information"] < 1
    for claim in look["claims"]:
        assert set(claim) >= {"claim", "systems", "estimate", "interval", "verdict", "needed"}
        assert claim["verdict"] in ("settled", "open")
        assert len(claim["interval"]) == 2


def test_audit_of_scores(scores: Path) -> None:
    audit_result = answer("audit", scores, "--only", "stability,composition,documents,sampling,aa,claims")
    changed = {"change", "removed", "rank_changed", "cluster_changed", "both_changed", "order", "clusters", "flips"}
    assert audit_result["stability"]
    assert all(set(row) >= changed for row in audit_result["stability"])
    assert set(audit_result["composition"]) >= {"matrix", "shares"}
    assert set(audit_result["documents"]) >= {"matrix", "difficulty", "coverage"}
    assert set(audit_result["sampling"]) >= {"times_judged", "reference_presence"}
    tests = {"raw", "zscore", "page-welch", "mixed", "mixed-rank"}
    assert tests | {"by_annotator"} <= set(audit_result["aa"])
    # Halves of annotators need at least four of them.
    assert audit_result["aa"]["by_annotator"] is None
    rates = [audit_result["aa"][name] for name in tests]
    assert all(set(rate) >= {"tests", "rate_05", "rate_01", "interval"} for rate in rates)
    claimed = {"claim", "estimate", "interval", "p_holm", "survives", "broken_by", "verdict"}
    assert audit_result["claims"]
    assert all(set(claim) >= claimed for claim in audit_result["claims"])


def test_audit_of_machine_judges(scores: Path) -> None:
    """`--judges` names machines among the annotators; with few outputs nothing can be told, and the keys are there."""
    audited = answer("audit", scores, "--only", "judges", "--judges", "x")
    for judge in audited["judges"]:
        assert set(judge) >= {"judge", "winning_rate", "p", "passed", "verdict", "biases"}
        assert judge["passed"] is False
        assert all(set(bias) >= {"name", "estimate", "interval", "p", "sentence"} for bias in judge["biases"])
    assert [judge["judge"] for judge in audited["judges"]] == ["x"]


def test_scores_of_judges_are_of_one_language_pair(tmp_path: Path) -> None:
    table, metric = tmp_path / "two.csv", tmp_path / "metric.tsv"
    rows = [
        f"{pair},{name},{n},{system},{n}"
        for pair in ("cs,en", "de,en")
        for name in "xy"
        for n in range(3)
        for system in "ab"
    ]
    table.write_text("source_lang,target_lang,annotator,segment,system,score\n" + "\n".join(rows) + "\n")
    metric.write_text("system\tsegment\tmetric\tscore\na\t1\tm\t0.5\n")
    run = command("audit", table, "--only", "judges", "--judge-scores", metric)
    assert run.code == 2
    assert "--judge-scores is for one language pair, the judgments hold cs-en, de-en; choose one with --pair" in run.err


def test_audit_of_rankings(rankings: Path) -> None:
    audit_result = answer("audit", rankings)
    assert set(audit_result) >= {"composition", "sampling", "claims"}
    assert set(answer("audit", rankings, "--only", "sampling")) >= {"sampling"}
    assert "claims" not in answer("audit", rankings, "--only", "sampling")


@pytest.mark.parametrize("kind", ["rankings", "scores"])
def test_parity(kind: str, request: pytest.FixtureRequest) -> None:
    parity = answer("parity", request.getfixturevalue(kind), "--human", "ref")
    wanted = {"system", "mt_better", "tie", "human_better", "n", "p", "parity_share", "rank_points"}
    assert all(set(system) >= wanted for system in parity["systems"])


def test_gold_of_one_run_and_of_two(scores: Path, tmp_path: Path) -> None:
    gold = answer("gold", scores, "--all-annotators")
    assert all(set(document) >= {"z", "raw", "n"} for document in gold["documents"])
    again = write_table(tmp_path / "again.csv", score_rows(people=("u", "v")))
    both = answer("gold", scores, again, "--all-annotators", "--orders", "5")
    assert set(both["correlation"]) >= {"pearson", "interval", "spearman", "n"}
    assert both["curve"]


def test_gold_takes_language_pairs_apart(tmp_path: Path) -> None:
    rows = [*score_rows(segments=8), *score_rows(pair="de,en", segments=8)]
    file = write_table(tmp_path / "two.csv", rows)
    gold = answer("gold", file, "--all-annotators")
    assert set(gold["pairs"]) == {"cs-en", "de-en"}
    alone = answer("gold", file, "--all-annotators", "--pair", "German-English")
    assert alone["documents"] == gold["pairs"]["de-en"]["documents"]


def test_meta(tmp_path: Path) -> None:
    lines = ["system\tsegment\thuman\tgood\tbad"]
    for system in range(5):
        for segment in range(8):
            value = 10 * system + (segment * 7) % 5
            lines.append(f"s{system}\t{segment}\t{value}\t{value + (segment % 3)}\t{(value * 13) % 17}")
    file = tmp_path / "scores.tsv"
    file.write_text("\n".join(lines) + "\n")
    meta = answer("meta", file, file, "--permutations", "20", "--resamples", "20")
    for metric in meta["metrics"].values():
        for level in metric.values():
            assert set(level) >= {"pearson", "spearman", "kendall", "pairwise_accuracy", "intervals"}
    assert all(set(comparison) >= {"test", "better", "worse", "p", "p_holm"} for comparison in meta["comparisons"])


def test_testset(tmp_path: Path) -> None:
    file = tmp_path / "source.txt"
    file.write_text("He said “yes and left .\nIt rained all day.\n\nThe second document is short.\n", encoding="utf-8")
    testset = answer("testset", file, "--language", "en")
    assert testset["segments"] == 3
    wanted = {"file", "line", "document", "category", "text", "suggestion", "confidence"}
    assert testset["findings"]
    assert all(set(finding) >= wanted for finding in testset["findings"])
    assert sum(testset["counts"].values()) == len(testset["findings"])


def test_replicate(data: Path) -> None:
    replication = answer("replicate", "in-order", "--data", data)
    for table in replication["tables"]:
        assert {"table", "cells"} <= set(table)
        assert all(set(cell) >= {"name", "published", "recomputed", "match", "note"} for cell in table["cells"])


def test_one_pair_is_the_object_and_several_are_named(two_pairs: Path) -> None:
    both = answer("rank", two_pairs, "--resamples", "20")
    assert set(both["pairs"]) == {"cs-en", "de-en"}
    for written in ("de-en", "German-English", "deu-eng", "ger-eng"):
        assert answer("rank", two_pairs, "--resamples", "20", "--pair", written) == both["pairs"]["de-en"]


@pytest.mark.parametrize("verb", ["agree", "check", "tournament", "audit", "parity"])
def test_every_command_takes_pairs_apart(verb: str, two_pairs: Path) -> None:
    extra = ("--human", "ref") if verb == "parity" else ()
    printed = command(verb, two_pairs, *extra, "--json").json
    assert set(printed["pairs"]) == {"cs-en", "de-en"}
    assert set(answer(verb, two_pairs, *extra, "--pair", "ces-eng")) >= COMMON


def test_import_names_its_pairs_with_short_codes(two_pairs: Path, tmp_path: Path) -> None:
    imported = answer("import", two_pairs, "-o", tmp_path / "out.parquet")
    assert imported["pairs"] == ["cs-en", "de-en"]
    assert imported["protocols"] == ["ranking"]
    assert (imported["annotators"], imported["systems"]) == (3, 4)
    assert imported["kinds"] == {"system": imported["rows"]}


@pytest.mark.parametrize("ending", ["json", "csv", "tex", "txt"])
@pytest.mark.parametrize("verb", ["rank", "tournament", "agree", "check", "audit"])
def test_results_are_written_in_every_form(verb: str, ending: str, rankings: Path, tmp_path: Path) -> None:
    output = tmp_path / f"out.{ending}"
    run = command(verb, rankings, "-o", output)
    assert (run.code, run.out) == (0, "")
    written = output.read_text(encoding="utf-8")
    assert "a" in written
    if ending == "json":
        assert set(json.loads(written)) >= COMMON


NAMES = [command.name for command in app.registered_commands if command.name]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_explains_itself_with_an_example(name: str) -> None:
    run = command(name, "--help")
    assert run.code == 0
    assert f"Example: adjudge {name}" in run.out
    assert "--json" in run.out or name == "serve"
