"""General instructions and headings speak of what the campaign has, and of nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import expect

import adjudge.server
from adjudge.campaigns import guide
from adjudge.campaigns.campaign_file import load_campaign
from adjudge.server.commonmark import MARKDOWN_TAGS, render_commonmark
from adjudge.table.protocols import COLLECTED
from tests.helpers.campaigns import make_campaign
from tests.helpers.serving import Server
from tests.server.conftest import shoot

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LANGUAGES = guide.guide_languages()
TEXTS = {file.stem: json.loads(file.read_text("utf-8")) for file in Path(guide.__file__).parent.glob("guides/*.json")}

REFERENCE = '[context]\nshow = "reference"\n'
# By protocol: what the campaign file says, what the instructions say then, and what they must not mention.
CASES = {
    "sqm": ("[scale]\nlow = 1\nhigh = 5\nstep = 1\n", ["from 1 to 5.", "5 – All of the meaning"], ["0 to 6", "6 –"]),
    "ranking": ("[page]\nties = false\n", ["Each rank is given once."], ["equally good", "Equal ranks"]),
    "pairwise": ('[page]\nties = false\nnavigation = "strict"\n', ["cannot come back to a screen"], ["equally good"]),
    "esa": (
        f'{REFERENCE}[spans]\nmissing = false\nseverities = ["minor", "major", "critical"]\n',
        ["Read the reference", "critical (it does harm)", "Reference: English"],
        ["Read the source", "Something is missing", "neutral", "Source: German"],
    ),
}


def test_there_are_instructions_in_every_language_of_the_page() -> None:
    catalogues = Path(adjudge.server.__file__).parent / "static" / "collect" / "texts"
    assert set(LANGUAGES) == {file.stem for file in catalogues.glob("*.json")}


@pytest.mark.parametrize("language", LANGUAGES)
def test_instructions_are_complete_in(language: str) -> None:
    places = {key: set(re.findall(r"\{(\w+)\}", text)) for key, text in TEXTS[language].items()}
    assert places == {key: set(re.findall(r"\{(\w+)\}", text)) for key, text in TEXTS["en"].items()}
    assert all(text.strip() for text in TEXTS[language].values())
    # What stands in capitals of all languages is not translated: names and signs, no sentence.
    same = [key for key in TEXTS["en"] if language != "en" and TEXTS[language][key] == TEXTS["en"][key]]
    assert same == []


def text_of(nodes: Any) -> str:
    """What a reader sees of a tree."""
    return nodes if isinstance(nodes, str) else "".join(map(text_of, nodes[2:]))


@pytest.mark.parametrize("protocol", COLLECTED)
def test_every_protocol_has_instructions_in_every_language(protocol: str, tmp_path: Path) -> None:
    campaign = load_campaign(make_campaign(tmp_path, protocol))
    for language in LANGUAGES:
        texts, whole = TEXTS[language], guide.make_guide(campaign, language)
        assert not re.search(r"\{\w+\}", whole + guide.make_short_guide(campaign, language))
        for case in ("invented", "untranslated", "long"):
            assert texts[f"case_{case}"] in whole
        assert (texts["head_scores"] in whole) == (protocol in ("da", "sqm", "esa"))
        assert (texts["example_minor"] in whole) == (protocol in ("esa", "mqm"))
        # Bold words are bold also where no space follows them, as in Chinese.
        assert "**" not in text_of(["", "", *render_commonmark(whole)])


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("one\n\ntwo", [["p", "", "one"], ["p", "", "two"]]),
        ("# A *b*", [["h3", "", "A ", ["em", "", "b"]]]),
        ("- a\n- **b**", [["ul", "", ["li", "", "a"], ["li", "", ["strong", "", "b"]]]]),
        ("[x](https://a.org)", [["p", "", ["a", "https://a.org", "x"]]]),
        ("[x](javascript:1)", [["p", "", "[x](javascript:1)"]]),
        ("[x](/organise)", [["p", "", ["span", "", "x"]]]),
        ("<script>1</script>", [["p", "", "<script>1</script>"]]),
        ("![cat](https://a.org/c.png)", [["p", "", "cat"]]),
        ("`<b>`", [["p", "", ["code", "", "<b>"]]]),
        (
            "|a|\n|-|\n|1|",
            [["table", "", ["thead", "", ["tr", "", ["th", "", "a"]]], ["tbody", "", ["tr", "", ["td", "", "1"]]]]],
        ),
    ],
)
def test_what_commonmark_becomes(text: str, tree: list[Any]) -> None:
    # The expected trees follow from the specification of CommonMark (0.31) and its table extension.
    assert joined(render_commonmark(text)) == tree


def joined(nodes: list[Any]) -> list[Any]:
    """Neighbouring texts as one."""
    found: list[Any] = []
    for node in nodes:
        part = [*node[:2], *joined(node[2:])] if isinstance(node, list) else node
        if isinstance(part, str) and found and isinstance(found[-1], str):
            found[-1] += part
        elif part != "":
            found.append(part)
    return found


pieces = st.sampled_from(
    ["<script>", "</p>", "[a](", "javascript:x", "https://x", ")", "![", "]", "`", "```\n", "# ", "> ", "- ", "\n\n",
     "<a href=javascript:x>", "|", "|-|", "**", "_", "&lt;", "\\", "<https://x>", "[a]: javascript:x\n"]
)  # fmt: skip


@given(st.lists(st.one_of(pieces, st.text(max_size=5)), max_size=40))
def test_nothing_but_harmless_tags_whatever_organisers_write(parts: list[str]) -> None:
    def check(node: Any) -> None:
        if isinstance(node, list):
            assert node[0] in MARKDOWN_TAGS or node[0] == "span"
            assert node[1] == "" or (node[0] == "a" and node[1].startswith(("http://", "https://", "mailto:")))
            for child in node[2:]:
                check(child)

    for node in render_commonmark("".join(parts)):
        check(node)


@pytest.mark.browser
def test_own_instructions_and_a_short_version_that_stays_in_sight(page: Page, tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("# Rules\n\n- Read *all*.\n- See [the guide](https://example.org/g).\n")
    own = '[instructions.en]\nfile = "mine.md"\nshort = "Read all, then judge."\n'
    with Server(make_campaign(tmp_path, "esa", documents=1, more=own)) as server:
        page.goto(server.links["anna"])
        expect(page.locator("dialog li em")).to_have_text("all")
        link = page.locator("dialog li a")
        expect(link).to_have_attribute("href", "https://example.org/g")
        expect(link).to_have_attribute("rel", "noopener noreferrer")
        page.keyboard.press("Enter")
        expect(page.locator("button.short")).to_have_text("Read all, then judge.")
        page.locator("button.short").click()
        expect(page.locator("dialog h3")).to_have_text("Rules")


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_instructions_are_shown_in(language: str, browser: Browser, tmp_path: Path) -> None:
    context = browser.new_context(locale=language, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    with Server(make_campaign(tmp_path, "esa", documents=1)) as server:
        page.goto(server.links["anna"])
        expect(page.locator("dialog")).to_contain_text(TEXTS[language]["example_major"])
        shoot(page, f"instructions-{language}")
        page.keyboard.press("Enter")
        short = TEXTS[language]["short_esa"].replace("{low}", "0").replace("{high}", "100")
        expect(page.locator("button.short")).to_have_text(short)
    context.close()


@pytest.mark.browser
@pytest.mark.parametrize("protocol", CASES)
def test_instructions_name_what_there_is(protocol: str, page: Page, tmp_path: Path) -> None:
    more, said, not_said = CASES[protocol]
    campaign = make_campaign(tmp_path, protocol, documents=1, more=more)
    with_reference = '[files.references]\nrefA = "source.txt"\n\n[files.systems]'
    campaign.write_text(campaign.read_text().replace("[files.systems]", with_reference))
    with Server(campaign) as server:
        page.goto(server.links["anna"])
        expect(page.locator("dialog[open]")).to_contain_text("Every change is saved automatically.")
        for section in ("Special cases", "Invented:", "Untranslated:", "Too long:"):
            expect(page.locator("dialog[open]")).to_contain_text(section)
        text = page.locator("body").inner_text()
        assert [words for words in said if words not in text] == []
        assert [words for words in not_said if words in text] == []


@pytest.mark.browser
def test_what_numbers_mean_is_said_in_the_language_of_the_page(browser: Browser, tmp_path: Path) -> None:
    own = '[scale]\nlow = 0\nhigh = 6\nanchors = [{ at = 0, text = "very bad" }, { at = 6, text = "perfect" }]\n'
    context = browser.new_context(locale="de-DE")
    for more, meanings in (("", ["kein Sinn erhalten", "Sinn und Sprache perfekt"]), (own, ["very bad"])):
        page = context.new_page()
        with Server(make_campaign(tmp_path / str(len(more)), "sqm", documents=1, more=more)) as server:
            page.goto(server.links["anna"])
            for meaning in meanings:
                expect(page.locator(".anchors").first).to_contain_text(meaning)
            page.keyboard.press("Enter")
            page.keyboard.press("Home")
            expect(page.get_by_role("slider").first).to_have_attribute("aria-valuetext", f"0: {meanings[0]}")
    context.close()
