"""Marked-up texts as a tree of the few harmless tags: strict, by allow-list. Nothing is ever handed on as HTML.

The page builds elements from the tree itself, so that no browser parses what a text contains.
"""

from __future__ import annotations

from html.parser import HTMLParser

# Tags without behaviour: they change how text looks or reads, and load or run nothing.
_STYLE = ["b", "code", "del", "em", "i", "ins", "mark", "q", "s", "small", "span", "strong", "sub", "sup", "u"]
_STRUCTURE = ["bdi", "br", "li", "ol", "p", "pre", "rp", "rt", "ruby", "ul"]
TAGS = frozenset([*_STYLE, *_STRUCTURE])
VOID = frozenset(["br"])
# The content of these elements is not text for readers.
DROPPED_WITH_CONTENT = frozenset(
    ["script", "style", "template", "noscript", "iframe", "object", "svg", "math", "title"]
)
DIRECTIONS = frozenset(["ltr", "rtl", "auto"])
MAX_DEPTH = 20

Node = str | list["Node"]
"""A text, or `[tag, direction, child, ...]` where direction is `ltr`, `rtl`, `auto` or empty."""


def sanitise(markup: str) -> list[Node]:
    """The harmless part of marked-up text: known tags without attributes (but for `dir`), and all readable text."""
    parser = _Parser()
    parser.feed(markup)
    parser.close()
    return parser.root[2:]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root: list[Node] = ["", ""]
        self._open: list[list[Node]] = [self.root]
        self._dropping: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._dropping or tag in DROPPED_WITH_CONTENT:
            if tag in DROPPED_WITH_CONTENT:
                self._dropping.append(tag)
            return
        if tag not in TAGS or len(self._open) > MAX_DEPTH:
            return
        direction = (dict(attrs).get("dir") or "").lower()
        node: list[Node] = [tag, direction if direction in DIRECTIONS else ""]
        self._open[-1].append(node)
        if tag not in VOID:
            self._open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._dropping:
            if tag == self._dropping[-1]:
                self._dropping.pop()
            return
        names = [node[0] for node in self._open[1:]]
        if tag in names:
            # Closes the innermost element of this name and whatever was left open inside it.
            del self._open[len(self._open) - 1 - names[::-1].index(tag) :]

    def handle_data(self, data: str) -> None:
        if not self._dropping:
            self._open[-1].append(data)
