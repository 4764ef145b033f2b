"""The verdict says what the ranking holds, and no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adjudge.evidence.claims import Claims, Verdict
from adjudge.evidence.verdict import (
    count_claims_in_paper,
    decide_by_ranking,
    lost_to_correction,
    say_apart_in_paper,
    say_headline,
    say_ranking,
)
from adjudge.ranking.ranking import Ranking
from adjudge.reports import latex
from adjudge.reports.build import build_report
from adjudge.table.judgments import SetAside
from adjudge.table.wording import counted, short_list
from tests.helpers.made import made_claims, pair_results, ranked, ranking, three_systems


def headline(made: Ranking, claims: Claims | None = None, annotators: int | None = None) -> str:
    return say_headline(decide_by_ranking(made, claims, annotators))


def verdict(made: Ranking, annotators: int | None = None) -> tuple[str, ...]:
    return say_ranking(decide_by_ranking(made, annotators=annotators))


def test_names_are_listed_as_people_write_them() -> None:
    assert short_list(["A"]) == "A"
    assert short_list(["A", "B"], "or") == "A or B"
    assert short_list(["A", "B", "C"]) == "A, B and C"
    assert short_list(list("ABCDEFGHI")) == "A, B, C, D, E and 4 others"
    long = [f"{i}-" + "x" * 60 for i in range(4)]
    assert short_list(long) == f"{long[0]} and 3 others"
    assert short_list([long[0], "B"]) == f"{long[0]} and B"
    assert short_list(["A" * 119, "B" * 60], "or") == f"{'A' * 119} or 1 other"
    assert counted(1, "pair") == "1 pair"
    assert counted(2000, "pair") == "2,000 pairs"


def test_a_system_alone_in_front_is_the_best() -> None:
    made = ranking(ranked("A", 1, cluster=1, ranks=(1, 1)), ranked("B", 2, cluster=2, ranks=(2, 2)))
    assert headline(made) == "A comes out best; that was not put to the audits."
    assert headline(made, made_claims(("A", "B", "holds"))) == "A is the best system."
    assert verdict(made) == ("The one pair of systems differs by more than chance explains (Holm, 5%).",)


def test_the_reference_is_not_the_best_system() -> None:
    made = three_systems()
    assert decide_by_ranking(made).leaders == ("alpha", "beta")
    assert "The human translation ref comes out better than every system." in verdict(made)


def test_an_open_first_place_names_the_candidates() -> None:
    made = ranking(
        ranked("A", 1, cluster=1, ranks=(1, 2)),
        ranked("B", 2, cluster=1, ranks=(1, 3)),
        ranked("C", 3, cluster=1, ranks=(2, 3)),
        ranked("D", 4, cluster=2, ranks=(4, 4)),
        open_pairs=(("A", "B"), ("B", "C")),
    )
    assert headline(made) == "The data cannot tell which is best: A or B."
    sentences = verdict(made)
    assert (
        "Of 6 pairs of systems, 4 differ by more than chance explains (Holm, 5%); the other 2 stay open." in sentences
    )
    assert "Lines cut the ranking into 2 clusters; the order within a cluster is not a finding." in sentences


def test_without_p_values_the_lines_decide() -> None:
    made = ranking(
        ranked("A", 1, cluster=1, ranks=(1, 3)),
        ranked("B", 2, cluster=1, ranks=(1, 3)),
        ranked("C", 3, cluster=2, ranks=(1, 3)),
    )
    silent = replace(made, comparisons=tuple(replace(comparison, p_holm=None) for comparison in made.comparisons))
    assert decide_by_ranking(silent).leaders == ("A", "B")


@pytest.mark.parametrize(
    ("verdict_on_pair", "sentence"),
    [
        ("holds", "A is the best system."),
        ("fragile", "A comes out best, but not in every audit."),
        ("not supported", "A comes out first, but the data do not establish that it is the best."),
    ],
)
def test_audited_claims_have_the_last_word(verdict_on_pair: Verdict, sentence: str) -> None:
    made = ranking(
        ranked("ref", 1, cluster=1, ranks=(1, 1), human=True),
        ranked("A", 2, cluster=2, ranks=(2, 2)),
        ranked("B", 3, cluster=3, ranks=(3, 3)),
        ranked("C", 4, cluster=4, ranks=(4, 4)),
    )
    claims = made_claims(("A", "B", "holds"), ("A", "C", verdict_on_pair), ("ref", "A", "not supported"))
    assert headline(made, claims) == sentence
    assert headline(made, replace(claims, method="another")) == "A comes out best; that was not put to the audits."


def test_nothing_decided_is_said_plainly() -> None:
    made = ranking(
        ranked("A", 1, cluster=1, ranks=(1, 2)), ranked("B", 2, cluster=1, ranks=(1, 2)), open_pairs=(("A", "B"),)
    )
    assert headline(made) == "The data cannot tell which system is best: no two of them are told apart."
    assert verdict(made) == (
        "The one pair of systems does not differ by more than chance explains (Holm, 5%).",
        "No line can be drawn anywhere in the ranking.",
    )


@pytest.mark.parametrize("separated", [False, True])
def test_no_difference_from_the_human_is_never_called_parity(separated: bool) -> None:
    made = ranking(
        ranked("ref", 1, cluster=1, ranks=(1, 2), human=True),
        ranked("A", 2, cluster=1, ranks=(1, 2)),
        ranked("B", 3, cluster=2, ranks=(3, 3)),
        open_pairs=() if separated else (("ref", "A"),),
    )
    sentence = verdict(made)[0]
    if separated:
        assert sentence == "The human translation ref comes out better than every system."
    else:
        assert sentence.startswith("The data do not separate A from ref;")
        assert "does not show that they are equal" in sentence


def test_a_system_above_the_human_is_named() -> None:
    made = ranking(
        ranked("A", 1, cluster=1, ranks=(1, 1)),
        ranked("refA", 2, cluster=2, ranks=(2, 2), human=True),
        ranked("B", 3, cluster=3, ranks=(3, 3)),
    )
    assert verdict(made)[0] == "A comes out better than the human translation refA."


def test_every_human_is_compared_by_itself() -> None:
    """Systems between two humans: told apart from both, and not "not separated from the human translations"."""
    made = ranking(
        ranked("refA", 1, cluster=1, ranks=(1, 1), human=True),
        ranked("A", 2, cluster=2, ranks=(2, 3)),
        ranked("B", 3, cluster=2, ranks=(2, 3)),
        ranked("refB", 4, cluster=3, ranks=(4, 4), human=True),
        open_pairs=(("A", "B"),),
    )
    assert verdict(made)[:2] == (
        "The human translation refA comes out better than every system.",
        "A and B come out better than the human translation refB.",
    )


@pytest.mark.parametrize(("people", "whom"), [(1, "For this one person only"), (2, "For these two people only")])
def test_with_one_or_two_people_the_headline_is_about_them(people: int, whom: str) -> None:
    made = ranking(ranked("A", 1, cluster=1, ranks=(1, 1)), ranked("B", 2, cluster=2, ranks=(2, 2)))
    assert headline(made, annotators=people) == f"{whom}: A comes out best."
    tied = replace(made, comparisons=tuple(replace(pair, p=0.5, p_holm=0.5) for pair in made.comparisons))
    undecided = "the data cannot tell which system is best: no two of them are told apart."
    assert headline(tied, annotators=people) == f"{whom}: {undecided}"
    assert verdict(made, annotators=people)[-1].endswith("only.")
    assert headline(made, annotators=3) == "A comes out best; that was not put to the audits."


def test_what_only_the_correction_leaves_undecided_is_said() -> None:
    made = ranking(
        ranked("A", 1, cluster=1, ranks=(1, 2)),
        ranked("B", 2, cluster=1, ranks=(1, 3)),
        ranked("C", 3, cluster=1, ranks=(2, 3)),
        open_pairs=(("A", "B"), ("B", "C")),
    )
    near = replace(made, comparisons=(replace(made.comparisons[0], p=0.03), *made.comparisons[1:]))
    sentence = (
        "One pair of systems differs by itself but stays undecided: Holm's correction for all 3 pairs makes the "
        "difference."
    )
    assert sentence in verdict(near)
    assert sentence not in verdict(made)
    assert [(pair.better, pair.worse) for pair in lost_to_correction(near)] == [("A", "B")]


def test_a_single_system_is_not_called_the_best() -> None:
    made = ranking(ranked("ref", 1, cluster=1, ranks=(1, 1), human=True), ranked("A", 2, cluster=2, ranks=(2, 2)))
    assert headline(made) == "A comes out worse than the human translation ref."
    assert headline(made, annotators=1) == "For this one person only: A comes out worse than the human translation ref."


@pytest.mark.parametrize(
    ("separated", "pairs", "sentence"),
    [
        (0, 1, "The two systems are not told apart HOW."),
        (1, 1, "The two systems differ HOW."),
        (0, 3, "None of the 3 pairs of systems differs HOW."),
        (1, 3, "Of 3 pairs of systems, 1 differs HOW; the other 2 are not told apart."),
        (2, 3, "Of 3 pairs of systems, 2 differ HOW; the other one is not told apart."),
        (3, 3, "All 3 pairs of systems differ HOW."),
    ],
)
def test_the_paper_says_none_one_and_all_in_words(separated: int, pairs: int, sentence: str) -> None:
    assert say_apart_in_paper(separated, pairs, "HOW") == sentence


@pytest.mark.parametrize(
    ("holds", "fragile", "words"),
    [
        (0, 0, "No difference is claimed"),
        (1, 0, "The one difference claimed holds in every audit."),
        (3, 0, "All 3 differences claimed hold in every audit."),
        (2, 1, "Of 3 differences claimed, 2 hold in every audit; the other one does not."),
        (0, 2, "None of the 2 differences claimed holds in every audit."),
    ],
)
def test_the_paper_says_what_audits_left(holds: int, fragile: int, words: str) -> None:
    assert words in count_claims_in_paper(holds, fragile)


def test_a_page_says_first_that_no_annotator_passes() -> None:
    results = pair_results()
    assert results.checked is not None
    failed = results.checked.annotators[1:]
    sentences = {
        (failed[0], replace(failed[0], annotator="cy")): "None of the 2 annotators passes the check; the ranking rests "
        "on their work all the same.",
        failed: "The one annotator does not pass the check; the ranking rests on that work all the same.",
    }
    for annotators, sentence in sentences.items():
        page = build_report({"p": replace(results, checked=replace(results.checked, annotators=annotators))}, title="t")
        assert page.pairs[0].words[0] == sentence
    assert "the check" not in " ".join(build_report({"p": results}, title="t").pairs[0].words)


def test_pairs_count_as_comparisons_and_people_without_a_name_are_not_none() -> None:
    counts = replace(pair_results().counts, protocols=("pairwise",), judgments=480, annotators=0, segments=0)
    results = replace(pair_results(), counts=counts)
    fact = build_report({"p": results}, title="t").pairs[0].facts[-1]
    assert (fact.label, fact.value, fact.detail) == ("Comparisons", "240", "by people whom the data do not name")
    assert "The data are 240 comparisons by people whom the data do not name." in latex.write_paragraph(
        results, "tab:x"
    )


def test_the_paper_names_what_is_not_ranked_apart_from_the_judgments() -> None:
    """The ranking does not rest on what it sets aside, and what was never read is not among the judgments."""
    results = pair_results()
    read, control = SetAside("bad row", 3), SetAside("control items", 20)
    ranked = replace(results.ranking, set_aside=(read, control))
    results = replace(results, ranking=ranked, counts=replace(results.counts, set_aside=(read,)))
    paragraph = latex.write_paragraph(results, "tab:x")
    assert "The data are 480 judgments of 40 segments by 6 annotators.\nNot ranked: 20 (control items)." in paragraph
