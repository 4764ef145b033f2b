"""Segments replaced inside WMT XML, by their places in the bytes of the file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class _Span:
    """The bytes between the tags of a segment of a source; `plain` where they hold nothing but text."""

    start: int
    end: int = -1
    plain: bool = True


def in_xml(raw: bytes, changes: dict[int, str]) -> bytes:
    """The file with these segments of its sources replaced; none of them may hold markup."""
    from adjudge.testset.rewrite import escaped

    spans, encoding = _source_segments(raw)
    for segment in sorted(changes, reverse=True):
        span = spans[segment]
        before = raw[span.start : span.end].decode(encoding)
        after = escaped(before, changes[segment]).encode(encoding, "xmlcharrefreplace")
        raw = raw[: span.start] + after + raw[span.end :]
    return raw


def segments_with_markup(raw: bytes) -> frozenset[int]:
    """The segments of sources that hold more than text. In UTF-16 all count as such: their bytes are not looked for."""
    spans, _ = _source_segments(raw)
    wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    return frozenset(i for i, span in enumerate(spans) if wide or not span.plain or b"<" in raw[span.start : span.end])


def _source_segments(raw: bytes) -> tuple[list[_Span], str]:
    """The places of all segments of sources, in order, and the encoding."""
    from xml.parsers import expat  # the file was read before, by a parser that refuses what is unsafe

    parser = expat.ParserCreate()
    spans: list[_Span] = []
    encodings = ["utf-8"]
    inside: list[str] = []

    def start(name: str, _: dict[str, str]) -> None:
        if "src" in inside and name == "seg":
            spans.append(_Span(_after_tag(raw, parser.CurrentByteIndex)))
        elif inside and inside[-1] == "seg" and "src" in inside:
            spans[-1].plain = False
        inside.append(name)

    def end(name: str) -> None:
        inside.pop()
        if "src" in inside and name == "seg":
            spans[-1].end = max(spans[-1].start, parser.CurrentByteIndex)

    def declaration(_: str, encoding: str | None, __: int) -> None:
        encodings.append(encoding or "utf-8")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.XmlDeclHandler = declaration
    parser.Parse(raw, True)
    return spans, encodings[-1]


def _after_tag(raw: bytes, position: int) -> int:
    """The place behind the tag that starts here; values of attributes may hold what else would end it."""
    quote = b""
    for index in range(position, len(raw)):
        character = raw[index : index + 1]
        if quote:
            quote = b"" if character == quote else quote
        elif character in (b'"', b"'"):
            quote = character
        elif character == b">":
            return index + 1
    return len(raw)
