"""English words that are words, but not the ones meant: `though` for `through`, and forms that do not go together.

No dictionary finds them, so each is known by the words beside it. A pattern names one wrong word, as its only group,
and is narrow enough to be silent in correct text: what it misses is listed as not checked.
"""

# ruff: noqa: E501 - a pattern is read best on one line.

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import regex

from adjudge.testsets.findings import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.testsets.documents import Document
    from adjudge.testsets.findings import Finding

_DETERMINER = "the|a|an|his|her|their|its|our|my|your|this|that|these|those|some|all|any|every"
_PERSON = "he|she|it|they|we|I|you"
_NOT = "did not|didn['’]t|does not|doesn['’]t|do not|don['’]t"
_MODAL = "should|could|would|must|might"
_STARTS = r"(?:^|[.!?;:]\s+|,\s+|\b(?:and|but|because|so)\s)[\"“'‘]?"
_KIN = "name|names|family|father|mother|son|daughter|wife|husband|parents|brother|sister|children|career|death"

# The wrong word is the group; the patterns of one line mean the same word.
_CONFUSED: tuple[tuple[str, str], ...] = (
    (r"\b(?:more|less|better|worse|rather|bigger|smaller|higher|lower|older|younger|greater|fewer|faster|longer|larger|stronger|cheaper|easier|other|earlier) (then)\b(?! again\b)", "than"),
    (r"\b(?:since|until|back|by|even) (than)\b(?=[,.;]| (?:he|she|it|they|we|the)\b)", "then"),
    (r"\b(?:away|far|apart|aside|came|comes?|coming|different|ranging|suffer(?:s|ed|ing)?|recover(?:s|ed|ing)?|escaped?|returned|arrived?|resigned|stems?|stemmed|people|someone) (form)\b", "from"),
    (
        (r"\b(?:went|go|goes|going|gone|pass(?:ed|es|ing)?|walk(?:ed|s|ing)?|drove|driven|ran|runs?|running|broke|break(?:s|ing)?|came|comes?|coming|got|gets?|getting|look(?:ed|ing)?|lived?|sift(?:ed|ing)?|cut(?:ting)?|travell?(?:ed|ing)|move[sd]?|moving|flew|fell|halfway|midway|way|right|only|them|him|it)"
        rf" (though) (?=(?:{_DETERMINER})\s\p{{Ll}}+)(?!(?:that|it|this|these|those) (?:is|was|were|are|has|had|will)\b)"),
        "through",
    ),
    (
        (rf"(?<!,|\b(?:as|even|and|but)) (though) (?=(?:{_DETERMINER}) (?:[\p{{L}}-]+ ){{0,2}}"
        r"(?!\p{L}*(?:ed|s)\b|(?:fell|rose|came|went|did|is|grew|won|lost|hurt|broke|began|lay|hung|stood|had|could)\b)\p{L}+[.!?]$)"),
        "through",
    ),
    (rf"\b(?:even|as) (through) (?=(?:{_PERSON}|there)\b)", "though"),
    (r"\b(?:an?|the|he|she|had|had never|never) (though) (?=(?:that|about|of|it was|he|she)\b)", "thought"),
    (r"\b(there) (?=(?:own|families|children|homes|houses|lives|jobs|parents|neighbou?rs|husbands|wives|cars|country|countries|citizens|members|fans|friends|team|teammates|leader|leaders)\b)", "their"),
    (r"\b(their) (?=(?:is|are|was|were|isn['’]t|aren['’]t|has been|have been|had been|will be|would be|may be|might be|should be|must be)\b)", "there"),
    (r"\b(its) (?=(?:been|not (?:a|an|the|that|just|only)|going to|because|hard to|easy to|possible to|impossible to|time (?:to|for))\b)", "it's"),
    (r"\b(it['’]s) (?=(?:own|peak|lowest|neighbou?rs?|headquarters|workers|employees|customers|users|population|economy|citizens|members|leaders|borders?|subsidiary|subsidiaries|shareholders)\b)", "its"),
    (rf"\b(?:{_MODAL})(?:n['’]t| not)? (of)\b(?! (?:course|the|his|her|their|its|all)\b)", "have"),
    (r"\b(?:is|was|are|were|be|been|it['’]s|that['’]s|far|way) (to) (?=(?:late|much|many|expensive|dangerous|soon|big|small|young|old|weak|easily|often|quickly)\b(?!-))", "too"),
    (r"\b(?:want(?:s|ed)?|going|able|need(?:s|ed)|tr(?:y|ies|ied|ying)|according|due|likely|decided|order|plans|planned|refused) (too)\b(?! (?:much|many|far|fast|well|slowly|early|late|hard|long|soon|quickly|little))", "to"),
    (
        (r"\b(?:to|will|would|could|may|might|can|cannot|not|won['’]t|didn['’]t|don['’]t|can['’]t) (loose) "
        rf"(?=(?:{_DETERMINER}|control|money|weight|ground|more|everything|power|votes|jobs|patience|hope)\b)"),
        "lose",
    ),
    (r"\b(?:has|have|had|been|was|were|is) (lead) (?=(?:to|by|the)\b)", "led"),
    (r"\b(?:will|would|could|may|might|can|not|does|did|doesn['’]t|didn['’]t|won['’]t) (effect) (?=(?:his|her|their|its|our|my|people|us|them|him|you|everyone|how|millions|thousands)\b)", "affect"),
    (r"\b(?:an|no|negative|positive|side|little|great|adverse|lasting|the) (affects?)\b(?= (?:of|on|that|was|is)\b)", "effect"),
    (r"(?<!\b(?:the|this|that|bad|good|of|hot|cold|winter|summer) )\b(weather) (?=(?:or not|he|she|to)\b)", "whether"),
    (rf"\b(who['’]s) (?=(?:{_KIN})\b)", "whose"),
    (r"\b(your) (?=(?:going to|not (?:a|an|the|going|allowed|supposed)|a lot)\b)", "you're"),
    (r"\b(you['’]re) (?=(?:own|name|life|job|money|children|phone|data|account|body)\b)", "your"),
    (r"\b(quiet) (?=(?:a few|a lot|a bit|often|likely|different|possible|sure|some time)\b)", "quite"),
    (r"\b(?:keep|kept|stay(?:ed|s)?|remain(?:ed|s)?) (quite)\b(?=[.,;]|$)", "quiet"),
    (r"\b(peace) (?=of (?:cake|paper|land|advice|evidence|wood|metal|bread|information|legislation|music|art)\b)", "piece"),
    (r"\b(?:to|can['’]t|cannot|could(?:n['’]t| not)?) (breath)\b(?! (?:of|tests?)\b|[\p{L}-])", "breathe"),
    (r"\b(?:to|would|will|should|strongly) (advice) (?=(?:him|her|them|the|people|you|against|that|anyone)\b)", "advise"),
    (r"\b(?:in|for|over|during) the (passed) (?=(?:few|two|three|four|five|ten|year|years|week|weeks|month|months|decade|decades|days)\b)", "past"),
    (r"\b(?:walk(?:ed|s)?|drove|ran|went|half|quarter) (passed)\b(?= (?:the|a|an|him|her|them|his|two|three|four|five|six|seven|eight|nine|ten)\b)", "past"),
    (r"\b(?:they|we|you|who|which|that) (where) (?=(?:not|also|all|being|still|already|told|given|taken|\p{Ll}{3,}ing)\b)", "were"),
    (r"\b(?:exactly|knows?|knew|place|idea) (were) (?=(?:he|she|it|they|we|the)\b)", "where"),
    (r"\b(?:don['’]t|didn['’]t|doesn['’]t|not|to) (now) (?=(?:how|what|why|who|where|whether|if)\b)", "know"),
    (r"\b(?:right|until|up to|by|just) (know)\b(?=[.,;]|$)", "now"),
    (r"\b(?:to|could|can|can['’]t|cannot|didn['’]t|did not) (here) (?=(?:the|that|it|him|her|them|about|what)\b)", "hear"),
    (r"\b(?:has|have|had|ever|never|be) (scene)\b(?= (?:as|in|by|the|a|that|it|him|her|them|since)\b|[.,;])", "seen"),
    (r"\b(maybe) (?=(?:able|due|required|needed) )", "may be"),
    (r"\b(the) (?=(?:are|were|have been|had been|had to|have to|went|came)\b(?! [-–]))(?<!\b(?:of|in) the )", "they"),
    (r"(?<!(?i:\b(?:the|an?|any|every|each|no|some|one|his|her|its|their|our|my|your|this|that|which|what|whatever|whose|and|or|\p{L}+['’]s|\d+) ))\b(other) (?=(?:man|woman|person|car|house|company|country|attempt|example|reason|option|problem|factor|study|report)\b)", "another"),
    (r"\b(?:is|are|was|were|been) (suppose) to\b", "supposed"),
    (rf"{_STARTS}(?:{_PERSON}) (use) to (?=(?:be|have|live|work|play|think|go)\b)", "used"),
    (r"\b(?:an?|on|in|with|from|by|to|of|and) (alot)\b", "a lot"),
)  # fmt: skip
_UNGRAMMATICAL: tuple[tuple[str, str], ...] = (
    (r"(?<=\s)(a) (?=(?:[aei]|o(?!nce|ne(?!rous)|uija)|u[lmn](?!i|anim|ary|é))\p{Ll}{2,})(?!eu|a\b|\p{Ll}+ [aà] )", "an"),
    (r"\b(an) (?=(?:[bcdfgjklmnprstvwz][aeiou]|[bcfgps]l|[bcdfgpt]r|[tcsw]h|s[tpkcnw]|tw|qu|kn|wr)\p{Ll}{2,})", "a"),
    (rf"{_STARTS}(?:[Hh]e|[Ss]he|[Ii]t) (have) (?=\p{{Ll}})", "has"),
    (rf"{_STARTS}(?:[Hh]e|[Ss]he|[Ii]t) (are) (?=\p{{Ll}})", "is"),
    (rf"{_STARTS}(?:[Hh]e|[Ss]he|[Ii]t) (don['’]t|do not)\b", "doesn't"),
    (rf"{_STARTS}(?:[Tt]hey|[Ww]e|[Yy]ou) (was) (?=\p{{Ll}})", "were"),
    (rf"{_STARTS}(?:[Tt]hey|[Ww]e|[Yy]ou) (has) (?=\p{{Ll}})", "have"),
    (rf"{_STARTS}(?:[Tt]hey|[Ww]e|[Yy]ou) (is) (?=\p{{Ll}})", "are"),
    (rf"\b(?:{_MODAL}) (been)\b", "have been"),
    (rf"\b(?:{_NOT}) (had)\b(?! (?:better|not)\b)", "have"),
    (rf"\b(?:{_NOT}) (went)\b", "go"),
    (rf"\b(?:{_NOT}) (came)\b", "come"),
    (rf"\b(?:{_NOT}) (took)\b", "take"),
    (rf"\b(?:{_NOT}) (knew)\b", "know"),
    (rf"\b(?:{_NOT}) (wanted)\b", "want"),
    (rf"\b(?:{_NOT}) (made)\b", "make"),
    (rf"\b(?:{_NOT}) (saw)\b", "see"),
    (r"\b(?:has|have|had) (went)\b", "gone"),
    (r"\b(?:has|have|had) (became)\b", "become"),
    (r"\b(?:has|have|had) (took)\b", "taken"),
    (r"\b(?:has|have|had) (began)\b", "begun"),
    (r"\b(?:has|have|had) (wrote)\b", "written"),
    (r"(?<!\b(?:of|in|to|for|with|by|all) )\b(?i:these|those) (is|was)\b(?! (?:a|an|the|how|what|why)\b)", "are"),
    (rf"{_STARTS}[Tt]his (are)\b", "is"),
    (r"\b(more) (?=(?:better|worse|easier|faster|cheaper|stronger)\b(?! and\b))", ""),
)  # fmt: skip
CONFUSED, UNGRAMMATICAL = 0.75, 0.7


@dataclass(frozen=True)
class _Pattern:
    """A wrong word among its neighbours, and the right one."""

    wrong: regex.Pattern[str]
    meant: str
    category: str
    confidence: float


_PATTERNS = tuple(
    _Pattern(regex.compile(pattern, flags), meant, category, confidence)
    for category, confidence, patterns, flags in (
        ("typo", CONFUSED, _CONFUSED, regex.IGNORECASE),
        ("grammar", UNGRAMMATICAL, _UNGRAMMATICAL, 0),
    )
    for pattern, meant in patterns
)


def find_confusions(document: Document) -> Iterator[Finding]:
    """Find words of an English document that stand for another one, and forms that do not go together."""
    for index, text in enumerate(document.texts):
        taken: set[int] = set()
        for pattern in _PATTERNS:
            for match in pattern.wrong.finditer(text):
                start, end = match.span(1)
                if start in taken or not match[1].islower():
                    continue
                taken.add(start)
                yield document.finding(
                    index,
                    pattern.category,
                    f"'{match[1]}': is '{pattern.meant}' meant?" if pattern.meant else f"'{match[1]}' is too much",
                    pattern.confidence,
                    edit=Edit(start, end if pattern.meant else end + 1, pattern.meant),
                )
