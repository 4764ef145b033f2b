"""The verdict says what the ranking holds, and no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from adjudge.evidence.claims import Claims
from adjudge.evidence.verdict import count_claims_in_paper, name_best, say_apart_in_paper, say_headline, say_ranking
from adjudge.evidence.verdict_facts import Verdict, decide_by_claims, decide_by_ranking, lost_to_correction
from adjudge.people.check import Failing
from adjudge.ranking.decisions import State
from adjudge.ranking.ranking import Ranking
from adjudge.reports import latex
from adjudge.reports.build import build_report
from adjudge.table.judgments import SetAside
from adjudge.table.wording import call_accounts, counted, short_list
from tests.helpers.made import made_claims, pair_results, ranked, ranking, three_systems, undecided

UNAUDITED = "A comes out best: it is decided better than every other system."


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


def test_accounts_are_called_so_and_options_and_effects_keep_their_names() -> None:
    sentence = "An annotator judged 3; the annotators (--annotators) have annotator:system and annotator + task."
    told = "An account judged 3; the accounts (--annotators) have annotator:system and annotator + task."
    assert call_accounts(sentence) == told


def test_a_system_alone_in_front_is_the_best() -> None:
    made = ranking(ranked("A", 1, cluster=1, ranks=(1, 1)), ranked("B", 2, cluster=2, ranks=(2, 2)))
    assert headline(made) == UNAUDITED
    best = "A is the best: better than every other system, and no check changes that."
    assert headline(made, made_claims(("A", "B", "holds"))) == best
    assert verdict(made) == ("The two systems are separated.",)


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
    together = "A and B lead together: all others are behind one of them, and these judgments cannot separate the two."
    assert headline(made) == together
    sentences = verdict(made)
    assert "4 of 6 pairs are decided, at a level of 5% for all together." in sentences
    assert "A line makes two groups: everyone above it is decided better than everyone below it." in sentences
    assert [system.letters for system in made.systems] == ["a", "ab", "b", "c"]


def test_leaders_are_named_up_to_three_and_counted_beyond() -> None:
    systems = [ranked(name, i, cluster=1, ranks=(1, 5)) for i, name in enumerate("ABCDE", start=1)]
    pairs = [(a.system, b.system) for i, a in enumerate(systems) for b in systems[i + 1 :]]
    four = ranking(*systems, open_pairs=tuple(pair for pair in pairs if pair != ("A", "E")))
    assert headline(four) == (
        "Any of 4 systems may be the best (A, B, ...): none of them is shown to be worse than another."
    )
    three = ranking(*systems, open_pairs=tuple(pair for pair in pairs if pair not in (("A", "D"), ("D", "E"))))
    assert headline(three) == (
        "A, B and C lead together: nobody is shown to be better than they, and these judgments cannot separate them."
    )
    assert verdict(three) == (
        "2 of 10 pairs are decided, but no group is better than all the rest: see each system's ranks.",
    )


def test_a_system_that_nobody_is_better_than_need_not_be_better_than_all() -> None:
    """A is decided better than B, and B than C, but A and C are open: A is first, and not the best."""
    made = ranking(
        *(ranked(name, i, cluster=1, ranks=(1, 3)) for i, name in enumerate("ABC", start=1)), open_pairs=(("A", "C"),)
    )
    sentence = "A comes out first, but the data do not establish that it is the best."
    assert headline(made) == sentence
    claims = made_claims(("A", "B", "holds"), ("B", "C", "holds"), ("A", "C", "not supported"))
    assert headline(made, claims) == sentence
    assert say_headline(decide_by_claims(claims)) == sentence
    assert name_best(decide_by_ranking(made), "x")[1] == "undecided"
    view = "This is the view of two people: for them A comes first; others may see it differently."
    assert headline(made, annotators=2) == view


def test_without_p_values_the_lines_decide() -> None:
    made = ranking(
        ranked("A", 1, cluster=1, ranks=(1, 3)),
        ranked("B", 2, cluster=1, ranks=(1, 3)),
        ranked("C", 3, cluster=2, ranks=(1, 3)),
    )
    silent = replace(
        made, comparisons=tuple(replace(undecided(comparison, 1.0, 1.0), p=None) for comparison in made.comparisons)
    )
    assert decide_by_ranking(silent).leaders == ("A", "B")


@pytest.mark.parametrize(
    ("verdict_on_pair", "sentence"),
    [
        ("holds", "A is the best machine translation: better than every other system, and no check changes that."),
        (
            "needs more people",
            (
                "A comes out best of the machine translations, but narrowly: as many other people would confirm it "
                "about as likely as not."
            ),
        ),
        (
            "fragile",
            (
                "A comes out best of the machine translations, but not without annotator ann: let other people judge "
                "A and C first."
            ),
        ),
    ],
)
def test_audited_claims_have_the_last_word(verdict_on_pair: Verdict, sentence: str) -> None:
    made = ranking(
        ranked("ref", 1, cluster=1, ranks=(1, 1), human=True),
        ranked("A", 2, cluster=2, ranks=(2, 2)),
        ranked("B", 3, cluster=3, ranks=(3, 3)),
        ranked("C", 4, cluster=4, ranks=(4, 4)),
        open_pairs=(("ref", "A"),),
    )
    claims = made_claims(("A", "B", "holds"), ("A", "C", verdict_on_pair), ("ref", "A", "not supported"))
    assert headline(made, claims) == sentence
    unaudited = "A comes out best of the machine translations: it is decided better than every other one."
    assert headline(made, replace(claims, method="another")) == unaudited


def test_without_names_of_people_a_winner_is_not_called_narrow() -> None:
    made = ranking(ranked("A", 1, cluster=1, ranks=(1, 1)), ranked("B", 2, cluster=2, ranks=(2, 2)))
    made = replace(made, annotators=None)
    claims = made_claims(("A", "B", "needs more people"))
    unnamed = replace(claims, claims=tuple(replace(claim, people_needed=None) for claim in claims.claims))
    sentence = "A comes out best, but who judged is not named: it may be the view of a few people."
    assert headline(made, unnamed) == sentence


def test_readings_that_disagree_are_told_only_where_they_cost_the_first_place() -> None:
    systems = [ranked(name, i, cluster=1, ranks=(1, 3)) for i, name in enumerate("ABC", start=1)]
    pairs = (("A", "B"), ("A", "C"), ("B", "C"))
    made = ranking(*systems, open_pairs=pairs)
    shares = {"A": 0.01, "B": 0.1, "C": 0.01}
    typical = {"A": 50.0, "B": 60.0, "C": 45.0}
    numbered = tuple(
        replace(system, numbers={"typical": typical[system.system], "low_share": shares[system.system]})
        for system in made.systems
    )

    def with_states(*states: State) -> Ranking:
        changed = tuple(
            replace(pair, state=state, numbers={"typical": typical[pair.better] - typical[pair.worse]})
            for pair, state in zip(made.comparisons, states, strict=True)
        )
        return replace(made, systems=numbered, comparisons=changed)

    both = with_states("typical only", "open", "typical only")
    assert headline(both) == (
        "B is usually better than A, but 10% of its scores are very low (A: 1%), so its average is not: no winner."
    )
    # One reading alone, of two systems: the other may put the same one first, and failures may be the reason.
    apart: tuple[tuple[float, State, str, str], ...] = (
        (0.01, "typical only", "BC", "B is ahead of C in typical scores, but not surely on average: no winner."),
        (0.2, "typical only", "BC", (
            "B is usually better than C, but 20% of its scores are very low (C: 1%), so its average is not surely "
            "better: no winner."
        )),
        (0.01, "average only", "BC", "B is ahead of C on average, but not surely in typical scores: no winner."),
        (0.2, "average only", "AB", (
            "A is ahead of B on average, but not usually: 20% of B's scores are very low (A: 1%)."
        )),
        (0.01, "opposed", "AB", "Typical scores and averages disagree on B and A: neither is decided better."),
        (0.01, "typical only", "AB", "B is ahead of A in typical scores, but not on average: no winner."),
    )  # fmt: skip
    open_ = with_states("open", "open", "open")
    for share, state, pair, said in apart:
        two = [one for one in open_.systems if one.system in pair]
        two = [replace(one, numbers={**one.numbers, "low_share": share if one.system == "B" else 0.01}) for one in two]
        (met,) = (replace(one, state=state) for one in open_.comparisons if one.better + one.worse == pair)
        assert headline(replace(open_, systems=tuple(two), comparisons=(met,))) == said
    # B is open against C anyway: no reading makes it the best.
    assert headline(with_states("typical only", "open", "open")) == "No system is shown to be better than another."


def test_the_best_machine_translation_stands_below_a_human_one() -> None:
    made = ranking(
        ranked("ref", 1, cluster=1, ranks=(1, 1), human=True),
        ranked("A", 2, cluster=2, ranks=(2, 2)),
        ranked("B", 3, cluster=3, ranks=(3, 3)),
    )
    assert headline(made) == "A comes out best of the machine translations; a human translation comes out better."
    claims = made_claims(("ref", "A", "holds"), ("A", "B", "holds"), ("ref", "B", "holds"))
    for known in (claims, replace(claims, humans=("ref",))):
        assert headline(made, known) == "A is the best machine translation; only the human translation is better."


def test_nothing_decided_is_said_plainly() -> None:
    made = ranking(
        ranked("A", 1, cluster=1, ranks=(1, 2)), ranked("B", 2, cluster=1, ranks=(1, 2)), open_pairs=(("A", "B"),)
    )
    assert headline(made) == "No system is shown to be better than another."
    assert verdict(made) == ("The two systems are not separated.",)


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
    assert verdict(made)[:3] == (
        "The human translation refA comes out better than every system.",
        "Alarm: both systems come out better than the human translation refB, which is hard to believe.",
        (
            "Look first at this human translation, its source text, the people who judged, and whether the source is "
            "itself a translation."
        ),
    )


@pytest.mark.parametrize(
    ("people", "whom"),
    [
        (1, "This is the view of one person: for this person"),
        (2, "This is the view of two people: for them"),
    ],
)
def test_with_one_or_two_people_the_headline_is_about_them(people: int, whom: str) -> None:
    made = ranking(ranked("A", 1, cluster=1, ranks=(1, 1)), ranked("B", 2, cluster=2, ranks=(2, 2)))
    assert headline(made, annotators=people) == f"{whom} A is better than B; others may see it differently."
    tied = ranking(*made.systems, open_pairs=(("A", "B"),))
    assert headline(tied, annotators=people) == "No system is shown to be better than another."
    three = ranking(*made.systems, ranked("C", 3, cluster=3, ranks=(3, 3)))
    assert headline(three, annotators=people) == f"{whom} A is the best; others may see it differently."
    two_first = ranking(*three.systems, open_pairs=(("A", "B"),))
    assert headline(two_first, annotators=people) == f"{whom} A and B lead together; others may see it differently."
    assert headline(made, annotators=3) == UNAUDITED


def test_what_only_the_correction_leaves_undecided_is_said() -> None:
    made = ranking(
        ranked("A", 1, cluster=1, ranks=(1, 2)),
        ranked("B", 2, cluster=1, ranks=(1, 3)),
        ranked("C", 3, cluster=1, ranks=(2, 3)),
        open_pairs=(("A", "B"), ("B", "C")),
    )
    near = replace(made, comparisons=(undecided(made.comparisons[0], 0.03, 0.06), *made.comparisons[1:]))
    sentence = "One more pair would be decided if it were the only question asked."
    assert sentence in verdict(near)
    assert sentence not in verdict(made)
    assert [(pair.better, pair.worse) for pair in lost_to_correction(near)] == [("A", "B")]
    # An average that is not significant by itself keeps the pair open, however it is corrected.
    alone = tuple(replace(pair, agreeing=False) for pair in near.comparisons)
    assert lost_to_correction(replace(near, comparisons=alone)) == []


def test_a_single_system_is_not_called_the_best() -> None:
    made = ranking(ranked("ref", 1, cluster=1, ranks=(1, 1), human=True), ranked("A", 2, cluster=2, ranks=(2, 2)))
    assert headline(made) == "A comes out worse than the human translation ref."
    assert headline(made, annotators=1) == "For this one person only: A comes out worse than the human translation ref."


@pytest.mark.parametrize(
    ("separated", "pairs", "sentence"),
    [
        (0, 1, "The two systems are not told apart HOW."),
        (1, 1, "The two systems differ HOW."),
        (0, 3, "None of the 3 pairs differs HOW."),
        (1, 3, "Of 3 pairs, 1 differs HOW. The other 2 are not told apart."),
        (2, 3, "Of 3 pairs, 2 differ HOW. The other one is not told apart."),
        (3, 3, "All 3 pairs differ HOW."),
    ],
)
def test_the_paper_says_none_one_and_all_in_words(separated: int, pairs: int, sentence: str) -> None:
    assert say_apart_in_paper(separated, pairs, "HOW") == sentence


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((0, 0, 0), "No difference is claimed."),
        ((1, 0, 0), "The one difference claimed holds in every audit."),
        ((0, 0, 1), "The one difference claimed is fragile."),
        ((0, 1, 0), "The one difference claimed needs more people."),
        ((3, 0, 0), "All 3 differences claimed hold in every audit."),
        ((2, 0, 1), "Of 3 differences claimed, 2 hold in every audit and 1 is fragile."),
        ((2, 1, 1), "Of 4 differences claimed, 2 hold in every audit, 1 needs more people and 1 is fragile."),
        ((0, 0, 2), "All 2 differences claimed are fragile."),
        ((0, 2, 0), "All 2 differences claimed need more people."),
    ],
)
def test_the_paper_says_what_audits_left(counts: tuple[int, int, int], words: str) -> None:
    assert count_claims_in_paper(*counts) == words


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
    words = build_report({"p": results}, title="t").pairs[0].words
    assert "1 of 2 annotators does not pass the check, but their judgments count: see Annotators." in words
    left_out = replace(results, failing=Failing(("bob",), ("controls",)))
    assert "see Annotators" not in " ".join(build_report({"p": left_out}, title="t").pairs[0].words)


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
