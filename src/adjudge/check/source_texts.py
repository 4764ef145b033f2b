"""Source texts for agreement by length: plain files, line n being segment n."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.check.agree_options import ANY_LANGUAGE
from adjudge.core.errors import InputError, UsageError
from adjudge.core.files import read_text
from adjudge.core.languages import language_code

if TYPE_CHECKING:
    from collections.abc import Iterable


def read_source_texts(named: Iterable[str]) -> dict[str, list[str]]:
    """The lines of `LANG=FILE` by language, and of a plain `FILE` for every language that has none of its own."""
    texts: dict[str, list[str]] = {}
    for one in named:
        language, equals, file = one.partition("=")
        code = language_code(language) if equals else ANY_LANGUAGE
        if code in texts:
            raise UsageError(f"two source texts are given for '{code or 'all languages'}' ('{one}'); give one")
        texts[code] = _lines(Path(file if equals else one))
    return texts


def _lines(path: Path) -> list[str]:
    # Only line feeds end a line: other separators of Unicode occur inside segments.
    text = read_text(path)
    if not text.strip():
        raise InputError("is empty; a source text with one segment per line is needed", file=path)
    return text.removesuffix("\n").split("\n")
