"""Marked-up texts: only harmless tags are left, whatever comes in, and no readable text is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.server.answers import DIRECTIONS, MAX_DEPTH, TAGS, Node, sanitise


@pytest.mark.parametrize(
    ("markup", "tree"),
    [
        ("plain & simple", ["plain & simple"]),
        ("a &lt;b&gt; c", ["a <b> c"]),
        ("<b>bold</b> and <i>slanted</i>", [["b", "", "bold"], " and ", ["i", "", "slanted"]]),
        ("line<br>line", ["line", ["br", ""], "line"]),
        ('<span dir="rtl" onclick="x()" style="color:red">שלום</span>', [["span", "rtl", "שלום"]]),
        ('<b dir="javascript:1">x</b>', [["b", "", "x"]]),
        ("<script>alert(1)</script>after", ["after"]),
        ("<scr<script>ipt>alert(1)</script>", ["ipt>alert(1)"]),
        ("<svg><a href='x'>t</a></svg>u", ["u"]),
        ("<img src=x onerror=alert(1)>seen", ["seen"]),
        ("<a href='javascript:alert(1)'>link</a>", ["link"]),
        ("<b>open <i>both", [["b", "", "open ", ["i", "", "both"]]]),
        ("</b>stray", ["stray"]),
        ("<b>one<i>two</b>three", [["b", "", "one", ["i", "", "two"]], "three"]),
        ("<!-- gone -->kept", ["kept"]),
        ("1 < 2 and 3 > 2", ["1 < 2 and 3 > 2"]),
    ],
)
def test_what_is_left(markup: str, tree: list[Node]) -> None:
    assert _joined(sanitise(markup)) == tree


def _joined(nodes: list[Node]) -> list[Node]:
    """Neighbouring texts as one: how the parser cuts them does not matter."""
    joined: list[Node] = []
    for node in nodes:
        part: Node = [*node[:2], *_joined(node[2:])] if isinstance(node, list) else node
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        else:
            joined.append(part)
    return joined


pieces = st.sampled_from(
    ["<script>", "</script>", "<b>", "</b>", "<p onload=x>", "<svg/onload=x>", "text", "&lt;script&gt;", "<!--", "-->",
     "<a href=javascript:x>", "<style>", "</style>", "<ruby><rt>", '"', ">", "<", "<i dir=rtl>", "<iframe src=x>"]
)  # fmt: skip


def test_no_tag_that_is_kept_can_load_or_run_anything() -> None:
    """Elements of the HTML standard that load, run, submit, lead elsewhere, or read their content as something else."""
    active = (
        "a applet area audio base body button canvas details dialog embed fieldset form frame frameset head html "
        "iframe img input link map math meta noscript object option param plaintext portal script select slot "
        "source style summary svg table template textarea title track video xmp"
    )
    assert TAGS.isdisjoint(active.split())


@given(st.lists(st.one_of(pieces, st.text(max_size=5)), max_size=40))
def test_nothing_but_harmless_tags_whatever_comes_in(parts: list[str]) -> None:
    def check(node: Node, depth: int) -> None:
        if isinstance(node, list):
            assert node[0] in TAGS
            assert node[1] in {"", *DIRECTIONS}
            assert depth <= MAX_DEPTH
            for child in node[2:]:
                check(child, depth + 1)

    for node in sanitise("".join(parts)):
        check(node, 1)
