"""Organisers' texts, CommonMark, as a tree of harmless tags. Nothing is ever handed on as HTML.

The page builds elements from the tree itself (`server.answers` explains the form), so that nothing in a text can become
a script: HTML in it is shown as text, pictures by their description, and links lead to other pages only.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from adjudge.campaigns.guide import make_guide, make_short_guide
from adjudge.server.served_campaign import get_served

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from adjudge.server.answers import Node

# Headings below those of the dialog in which they stand.
_HEADINGS = {"h1": "h3", "h2": "h3", "h3": "h4", "h4": "h4", "h5": "h4", "h6": "h4"}
_KEPT = ("p", "ul", "ol", "li", "em", "strong", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "a")
MARKDOWN_TAGS = frozenset([*_KEPT, "h3", "h4", "br", "hr", "code", "pre"])


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable("table")


# The same few texts are asked for by everybody who comes.
@lru_cache(maxsize=100)
def render_commonmark(text: str) -> list[Node]:
    """A text as a tree: strings and `[tag, "", child, ...]`; of a link the second part is its address."""
    root: list[Any] = ["", ""]
    _add(root, _parser().parse(text))
    return root[2:]


def _add(parent: list[Any], tokens: Sequence[Token]) -> None:
    stack = [parent]
    for token in tokens:
        if token.hidden:  # paragraphs of tight lists
            continue
        if token.nesting == 1:
            node = _open(token)
            stack[-1].append(node)
            stack.append(node)
        elif token.nesting == -1:
            stack.pop()
        elif token.type == "inline":
            _add(stack[-1], token.children or [])
        else:
            stack[-1].extend(_leaf(token))


def _open(token: Token) -> list[Any]:
    tag = _HEADINGS.get(token.tag, token.tag)
    address = str(token.attrGet("href") or "") if tag == "a" else ""
    if tag == "a" and not address.startswith(("http://", "https://", "mailto:")):
        return ["span", ""]
    return [tag if tag in MARKDOWN_TAGS else "span", address]


def _leaf(token: Token) -> list[Any]:
    if token.type in ("code_inline", "code_block", "fence"):
        code = ["code", "", token.content]
        return [code if token.type == "code_inline" else ["pre", "", code]]
    if token.type in ("hardbreak", "hr"):
        return [["br" if token.type == "hardbreak" else "hr", ""]]
    return ["\n" if token.type == "softbreak" else token.content]


def describe_instructions(language: str) -> dict[str, Any]:
    """What annotators are told, for the page: the campaign's own words, or those that come with the protocol.

    A campaign's own instructions are shown in the language of the page if they are there, else in English, else in the
    language that they are in.
    """
    campaign = get_served().campaign
    own = campaign.instructions
    chosen = own.get(language) or own.get("en") or next(iter(own.values()), None)
    body = make_guide(campaign, language) if chosen is None else chosen.text or ""
    short = None if chosen is None else chosen.short
    return {"short": short or make_short_guide(campaign, language), "body": render_commonmark(body)}
