"""The state machine of quotation marks, case by case."""

from __future__ import annotations

import pytest

from tests.helpers.testset_make import findings_in, lines_and_suggestions

QUOTES = "quotation-marks"
HEAD = "A headline"


@pytest.mark.parametrize(
    "texts",
    [
        ('"We won," she said.', '"It was close."'),
        ('She said: "We won.', "It was close.", 'I am glad."'),
        ("“We won,” she said.", "“It was close.”"),
        ('He called it "odd" and "old-fashioned".',),
        ('"He said "no" to me," she said.',),
        ('The board is 20" wide and he is 6\'2" tall.',),
        ('"It was built in 1999," he said.', 'They call it "area 51".'),
        ("The clients' files and the players’ shirts were lost.",),
        ("In the '90s, rock 'n' roll was everywhere.",),
        ("'We won,' she said. 'The girls' team was great.'",),
        ("\"She told me: 'Wait.' So I waited.\"",),
        ("« Bonjour », dit-il.",),
        ('It said " My name is Mo ".', 'And " yours " ?'),
        ('"...and so we left," she said.',),
        ('("Really," he said.)', 'A "test"; a "try": "yes".'),
        ('All the "o"s in the word are round.', 'She got two "A"s.'),
        ("``We won,'' she said.", "`It was close,' he said."),
        ("He swam it in 20''53, a record.",),
    ],
)
def test_right_texts_are_left_alone(texts: tuple[str, ...]) -> None:
    assert findings_in(HEAD, *texts, category=QUOTES) == []
    assert findings_in(HEAD, *texts, category="apostrophe") == []


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        # The closing mark is missing before the words that name the speaker.
        (('"We won, she said.', "Nobody cheered."), [(2, '"We won," she said.')]),
        # The next quotation opens before this one is closed; the finding is on the last segment of speech.
        (('She said: "We won.', "I am glad of it.", 'He added: "So am I."'), [(3, 'I am glad of it."')]),
        # Never closed at all.
        (("They met.", 'He said: "I am glad.'), [(3, 'He said: "I am glad."')]),
        (("“We won, she said.", "They left."), [(2, "“We won,” she said.")]),
        # Any verb after the speaker at the end counts as a verb of speech.
        (('"We won by a mile, he enthuses.', "Nobody cheered."), [(2, '"We won by a mile," he enthuses.')]),
        (
            ('"A bang, her friend Ann explained.', "They left."),
            [(2, '"A bang," her friend Ann explained.')],
        ),
        # A quotation that goes on after the name of the speaker ends with its segment.
        (
            ('"So," she said. "We won.', "The town was quiet.", 'He called it "odd".'),
            [(2, '"So," she said. "We won."')],
        ),
        # The line in between is a caption, not a sentence, so it is no speech.
        (
            ('She said: "We won.', "The captain with the trophy", '"I am glad of it."'),
            [(2, 'She said: "We won."')],
        ),
        # Never opened.
        (('We won," she said.', "They left."), [(2, '"We won," she said.')]),
        (('He said: We won."', "They left."), [(2, 'He said: "We won."')]),
    ],
)
def test_a_missing_mark_is_found_and_put_where_it_belongs(
    texts: tuple[str, ...], expected: list[tuple[int, str]]
) -> None:
    assert lines_and_suggestions(findings_in(HEAD, *texts, category=QUOTES)) == expected


def test_the_convention_of_newspapers_is_told_from_a_missing_end() -> None:
    """Each paragraph of a long quotation opens anew, the last closes: a finding of its own, and not a sure one."""
    convention = findings_in(HEAD, '"We won and I am glad.', '"My team was great."', category=QUOTES)
    assert [(finding.line, finding.sure, "convention" in finding.what) for finding in convention] == [(2, False, True)]
    missing = findings_in(HEAD, '"We won, and I am glad, she said.', '"My team was great."', category=QUOTES)
    assert [(finding.line, finding.sure, "never closed" in finding.what) for finding in missing] == [(2, True, True)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('The clients" files were lost.', "The clients' files were lost."),
        ('It"s late.', "It's late."),
        ('"We lost the clients" files," he said.', '"We lost the clients\' files," he said.'),
        ("The clients” files were lost.", "The clients’ files were lost."),
    ],
)
def test_an_apostrophe_that_became_a_quotation_mark(text: str, expected: str) -> None:
    findings = findings_in(HEAD, text, category="apostrophe")
    assert lines_and_suggestions(findings) == [(2, expected)]
    assert findings_in(HEAD, text, category=QUOTES) == []


def test_a_mark_glued_to_a_word_still_opens() -> None:
    """One finding for the missing blank, none for the end of the quotation."""
    findings = findings_in(HEAD, 'She is an"economist of great value", he said.', category=QUOTES)
    assert ["without a space" in finding.what for finding in findings] == [True]


def test_documents_are_followed_one_by_one() -> None:
    """A quotation that is open at the end of one document has nothing to do with the next."""
    assert len(findings_in(HEAD, 'He said: "I am glad.', category=QUOTES)) == 1
    assert findings_in(HEAD, "They met again.", category=QUOTES) == []


def test_single_marks_for_speech_are_noted_but_not_counted() -> None:
    assert [item.category for item in findings_in(HEAD, "'We won,' she said.")] == ["quote-style"]
    # Headlines have single marks by custom, and a document with double ones uses them for other things.
    assert findings_in("Mayor 'very sorry'", '"I am sorry," she said.', "The 'Old Boat' is closed.") == []


@pytest.mark.parametrize(
    ("texts", "lines"),
    [
        (("She said: 'We won.", "They left."), [2]),
        # The finding is on the last segment before the next opening mark, as for double marks.
        (("She said: 'We won.", "My team was great.", "'I am glad of it.'"), [3]),
        # No apostrophe stands behind a period.
        (("We won.'", "They left."), [2]),
        (("The girls' team and the boys' team met.", "It was the players' last match."), []),
    ],
)
def test_single_marks_without_a_partner(texts: tuple[str, ...], lines: list[int]) -> None:
    assert [item.line for item in findings_in(HEAD, *texts, category=QUOTES)] == lines
