"""Detectors beside that of quotation marks: what they find, and what they leave alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.testsets.alignment import missing_headlines, repeated_segments
from adjudge.testsets.check import inspect_document, not_checked
from adjudge.testsets.documents import Document, Segment
from adjudge.testsets.findings import CATEGORIES, NOTED
from adjudge.testsets.fixes import apply_edits
from adjudge.testsets.punctuation import Habits
from adjudge.testsets.words import lexicon
from tests.conftest import examples
from tests.helpers.testset_make import document, findings_in, lines_and_suggestions

HEAD = "A headline"


@pytest.mark.parametrize(
    ("text", "category", "expected"),
    [
        ("The goverment said it was monitorng the case.", "typo", ["government", "monitoring"]),
        ("They asked the the mayor about it.", "typo", ["the mayor"]),
        ("They asked the the the mayor about it.", "typo", ["the mayor"]),
        ("It was built on the edge ofthe town.", "spacing", ["of the town"]),
        ("He left the house.She stayed in.", "spacing", ["house. She"]),
        ("They lost keys,maps and money.", "spacing", ["keys, maps"]),
        ("He moved to theUnited States in May.", "spacing", ["the United"]),
        ("Thisis what the mayor of Kelloway wanted.", "spacing", ["This is"]),
        ("They met on Thursdayafter the storm.", "spacing", ["Thursday after"]),
        ("The wind came with thatgusts of the night.", "spacing", ["that gusts"]),
        ("It was theneighbour's bird.", "spacing", ["the neighbour's"]),
        ("Themuseum's director and Kellowaysaid no.", "spacing", ["The museum"]),
        ("He asked abou it, aftr dark.", "typo", ["about", "after"]),
        ("The office was monitorigin the case.", "typo", ["monitoring"]),
        ("They had met n Paris and n the country.", "typo", [None, None]),
        ("For istance, it was late.", "typo", ["instance"]),
        ("Rescuers heard him whistle shortly after dawn", "final-period", ["dawn."]),
        ("It was late , and they left .", "spacing", ["late, and", "left."]),
        ("The word is cafÃ© in French.", "mojibake", ["café"]),
        ("Research &amp; development is costly.", "markup", ["Research & development"]),
        ("The mayor said that nothing of the kind had ever happened here", "final-period", ["happened here."]),
        ("They met the mayor (and his wife.", "brackets", [None]),
        ("They met the mayor and his wife).", "brackets", [None]),
        ("They had come all the way to meet the", "segmentation", [None]),
        ('""We won,"" she said.', "quotation-marks", ['"We won," she said.']),
        ("Photo: Jane Doe/Getty Images", "caption", [None]),
        ("Published 26 September 2019", "irrelevant", [None]),
        ("By Jane Doe and John Smith", "irrelevant", [None]),
        ("Read more: what we know so far", "irrelevant", [None]),
        ("LONDON (Reuters)", "irrelevant", [None]),
    ],
)
def test_what_is_found(text: str, category: str, expected: list[str | None]) -> None:
    findings = findings_in(HEAD, "They met again.", text, "They left.", category=category)
    assert len(findings) == len(expected)
    for finding, wanted in zip(findings, expected, strict=True):
        assert finding.line == 3
        assert wanted is None or wanted in (finding.suggestion or "")


@pytest.mark.parametrize(
    "text",
    [
        "The colour of the programme's catalogue is grey.",
        "See www.example.com/path,with or e.g. the U.S.-based firm of J.P. Morgan.",
        "The iPhone and eBay were mentioned at 10:30 a.m. on p.12.",
        "The undercooked, lensed and coevolved words are rare but right.",
        "Jörg's naïve façade and the zloty's fall: all names.",
        "He had had enough of that that day.",
        "A sub-heading in the text",
        "Results: 1,000 to 2.5",
        "LONDON (Reuters) - The bank said on Monday it would close.",
        "By the time he left, it was dark.",
        "LINES CROSSED",
        "They read Ortega y Gasset and met Silva e Costa.",
        "a) the first (see 1), b) the second, and the third :) or [0, 1).",
        "The mobilisations and the marginalisation were unravelled.",
        "In this subtask the organisers of the wellbeing week grovelled.",
        "The word “neru” means to knead, and the tree is called ylang ylang.",
        "Johnson, Williamson and Andover met in Thebes with Hisham.",
        "The taluk, the capex and the perp leant on a wall.",
    ],
)
def test_what_is_left_alone(text: str) -> None:
    findings = findings_in(HEAD, "They met again.", text, "They left.")
    assert [finding for finding in findings if finding.category in CATEGORIES] == []


def test_a_recurring_form_is_no_typo() -> None:
    assert findings_in(HEAD, "A zorblat is here.", "The zorblat left.", "No zorblat came back.", category="typo") == []


def test_a_name_of_the_document_with_a_word_behind_it() -> None:
    texts = ("Old Zorblat spoke for an hour.", "It was Zorblatwho had asked.", "Zorblatson is another name.")
    assert [(item.line, item.category) for item in findings_in(HEAD, *texts)] == [(3, "spacing")]


def test_a_compound_that_a_file_uses_again_is_meant_so() -> None:
    assert len(findings_in(HEAD, "All lampsets were sold.", category="spacing")) == 1
    habits = Habits.of(["All lampsets were sold.", "The lampsets are back."], "en")
    assert habits.repeated >= {"lampsets"}
    findings = inspect_document(document(HEAD, "All lampsets were sold."), "en", lexicon("en"), habits)
    assert [finding.category for finding in findings] == []


def test_only_clear_corrections_are_made_without_asking() -> None:
    """Two words are as close: the finding stands, but nothing is corrected."""
    (finding,) = findings_in(HEAD, "For istance, it was late.", category="typo")
    assert not finding.sure
    (other,) = findings_in(HEAD, "They recetly met.", category="typo")
    assert other.sure


def test_a_bracket_may_close_in_the_next_segment() -> None:
    assert findings_in(HEAD, "(They met at noon.", "It rained.)", "They left.") == []
    late = findings_in(HEAD, "(They met at noon.", "It rained.", "It rained.", "It rained.", "They left.)")
    assert [(finding.line, finding.what) for finding in late] == [
        (2, "a bracket that is never closed"),
        (6, "a bracket that is never opened"),
    ]


def test_entities_are_read_before_quotations_are_followed() -> None:
    """A mark that an entity hides closes a quotation all the same."""
    texts = ("He said: “We won.&quot;", "It was R&amp;D, &quot;no more&quot;.")
    assert {item.category for item in findings_in(HEAD, *texts)} == {"markup"}


def test_no_words_are_cut_where_no_dictionary_knows_the_language() -> None:
    spanish = "Para despejarlas y no retrasarnos hizo falta que renunciasen a todo."
    assert findings_in("Un titular", spanish, "Se fueron.", language="es", category="spacing") == []


def test_a_sentence_cut_in_two() -> None:
    findings = findings_in(HEAD, "They went to the", "market in the morning.", "They left.")
    assert [(finding.line, finding.category) for finding in findings] == [(2, "segmentation")]


def test_text_in_another_language() -> None:
    german = "Der Bürgermeister hat am Montag erklärt, dass die Fähre auch im nächsten Jahr fahren wird."
    assert [item.line for item in findings_in(HEAD, german, "They left.", category="language")] == [2]


def test_other_languages_get_what_holds_for_all() -> None:
    findings = findings_in(
        "Überschrift", "Er sagte: „Wir haben gewonnen.", "Sie gingen , und es war spät.", language="de"
    )
    assert {finding.category for finding in findings} == {"quotation-marks", "spacing"}
    assert any("no dictionary" in name for name in not_checked("de"))
    assert any("no frequency list" in name for name in not_checked("xx"))
    assert any("grammar" in name for name in not_checked("en"))


def test_articles_may_stand_twice_in_other_languages() -> None:
    german = ("Die Fähre", "Das sind die Leute, die die Stadt braucht.", "»Was war das?«", "Sie gingen.")
    assert findings_in(*german, language="de") == []


def test_missing_headlines_and_repeats() -> None:
    texts = [("A headline", "A sentence with enough words."), ("Another one", "One more sentence is here.")] * 4
    documents = [
        Document("f", str(i), tuple(Segment(10 * i + k, f"{text} {i}." if k else text) for k, text in enumerate(pair)))
        for i, pair in enumerate(texts)
    ]
    without = Document("f", "9", (Segment(91, "He then left the town for good."), Segment(92, "It was late.")))
    findings = list(missing_headlines([*documents, without]))
    assert [(finding.line, finding.category) for finding in findings] == [(91, "headline"), (91, "out-of-context")]
    twice = [document("A", "The same five words stand here."), document("B", "The same five words stand here.")]
    assert [finding.what for finding in repeated_segments(twice)] == ["the same text stands on line 2 (document 1)"]


def test_corrections_are_made_from_the_surest_and_never_overlap() -> None:
    text = "It was late , and the the mayor of  town spoke ofthe war."
    findings = [item for item in findings_in(HEAD, text, "They left.") if item.sure]
    assert apply_edits(text, findings)[0] == "It was late, and the mayor of town spoke of the war."


def test_every_category_is_explained() -> None:
    assert not set(CATEGORIES) & set(NOTED)
    assert all(what for what in (*CATEGORIES.values(), *NOTED.values()))


pieces = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        ['"', "'", "“", "”", "’", "‘", " ", ".", ",", "said", 's"', "6'2\"", "He said", "(", ")", "Ã©", "\u200b", "don"]
    ),
)
texts = st.lists(pieces, max_size=12).map("".join)


@pytest.mark.slow
@settings(max_examples=examples(150))
@given(st.lists(texts, min_size=1, max_size=6), st.sampled_from(["en", "de", "fr", "xx", "zh"]))
def test_no_text_breaks_a_detector(lines: list[str], language: str) -> None:
    for item in findings_in(*lines, language=language):
        assert item.category in {*CATEGORIES, *NOTED}
        assert 0 < item.confidence <= 1
        text = lines[item.line - 1]
        if item.edit is not None:
            assert 0 <= item.edit.start <= item.edit.end <= len(text)
    for number, text in enumerate(lines, start=1):
        own = [item for item in findings_in(*lines, language=language) if item.line == number and item.sure]
        apply_edits(text, own)


def test_suggestions_are_the_excerpt_after_the_edit() -> None:
    (finding,) = findings_in(HEAD, "They asked the the mayor.", "They left.", category="typo")
    assert lines_and_suggestions([finding]) == [(2, "They asked the mayor.")]
    assert finding.text == "They asked the the mayor."


CONFUSED = """\
The money went though its office in town. / through
They drove though the old town at night. / through
The bank paid the cartel though its Northern unit. / through
Even through he was tired, he stayed. / though
The price is higher then last year. / than
Since than, nobody has lived there. / then
The letter came form the ministry. / from
She was far form the harbour. / from
They lost there homes in the flood. / their
He said their were no survivors. / there
The town has its own rules, but its been years. / it's
The firm told it's employees to stay. / its
They should of left earlier. / have
It was to late for a vote. / too
The party is going too lose seats. / to
He did not want to loose the race. / lose
The mistake has lead to a long dispute. / led
The tax will effect millions of people. / affect
The law had a great affect on prices. / effect
Nobody knows weather or not they will sign. / whether
A man who's name is not known was hurt. / whose
There were quiet a few people in the hall. / quite
He asked everyone to keep quite. / quiet
It was a rare peace of evidence. / piece
The miners could not breath. / breathe
A lawyer would advice them to wait. / advise
Prices doubled in the passed year. / past
They where waiting for the bus. / were
Nobody knows were he went. / where
They don't now how it began. / know
She lives there just know. / now
The crowd could here the music. / hear
It was never scene by the public. / seen
The bridge maybe due for repair. / may be
The minister said the are ready. / they
He asked other man for help. / another
The road is suppose to open in May. / supposed
"""
UNGRAMMATICAL = """\
She bought a apple at the market. / an
It was an careful answer. / a
He have no time for it. / has
They was late again. / were
The club don't play on Monday, and he don't mind. / doesn't
They could been saved. / have been
The firm did not had a licence. / have
She didn't went home. / go
The river has became a lake. / become
Those is new in town. / are
The work is more easier now. / is easier
"""


@pytest.mark.parametrize(
    ("category", "line"),
    [(name, line) for name, lines in (("typo", CONFUSED), ("grammar", UNGRAMMATICAL)) for line in lines.splitlines()],
)
def test_words_that_stand_for_others_are_found_and_silent_when_corrected(category: str, line: str) -> None:
    wrong, meant = line.split(" / ")
    (finding,) = findings_in(HEAD, "They met again.", wrong, category=category)
    assert finding.suggestion is not None
    assert meant in finding.suggestion
    corrected = wrong[: finding.edit.start] + finding.edit.text + wrong[finding.edit.end :] if finding.edit else ""
    assert findings_in(HEAD, "They met again.", corrected, category=category) == []


@pytest.mark.parametrize(
    "text",
    [
        "She came, though the road was closed.",
        "A nice walk, though a long one.",
        "It went on, as though the storm had never been.",
        "If it were true, they would say so, and could it have been he?",
        "He asked that she have a second chance.",
        "It is an honest answer by a European of a one-room school, a unit of a union.",
        "Any other man would have left, but no other country has done it.",
        "They can go there then, and even then it may be too much.",
        "It's own-brand food, and its first, said the other man.",
        "The completion of these is in force, and the said firm will effect a change.",
        "He wants to, too, and is able to, if only to be sure.",
        "In the form the office sends, weather they had to endure is no reason.",
    ],
)
def test_correct_text_that_looks_similar_is_left_alone(text: str) -> None:
    assert findings_in(HEAD, "They met again.", text, category="typo") == []
    assert findings_in(HEAD, "They met again.", text, category="grammar") == []


def test_a_name_without_its_accents_is_found_where_the_file_has_them_elsewhere() -> None:
    texts = (HEAD, "Zoltán Kőváry spoke first.", "Then Zoltan Kovary left.")
    findings = [
        finding
        for finding in inspect_document(document(*texts), "en", lexicon("en"), Habits.of(texts, "en"))
        if "elsewhere" in finding.what
    ]
    assert [finding.line for finding in findings] == [3, 3]
    assert apply_edits(texts[2], findings)[0] == "Then Zoltán Kőváry left."
