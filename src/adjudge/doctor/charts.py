"""Charts and their letters: a small chart is really drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjudge.doctor.diagnosis import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHART = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "data": {"values": [{"x": 1, "y": 2}]},
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
}
_SCRIPTS = {"Latin": "A", "Greek": "Ω", "Cyrillic": "Ж", "Arabic": "ع", "Hindi": "क", "Chinese": "中", "Korean": "한"}
# Not assigned to any script: drawn as what a font shows for letters that it lacks.
_NO_LETTER = "\u0378"
_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="60" height="30">'
    '<text x="5" y="20" font-family="sans-serif" font-size="16">{}</text></svg>'
)
FONTS = "install fonts for them, on Debian fonts-noto-core and fonts-noto-cjk; pages in a browser are not concerned"


def charts() -> Iterator[Finding]:
    """Charts as SVG and PNG, and the scripts that can be drawn in PNG."""
    import vl_convert

    svg = vl_convert.vegalite_to_svg(_CHART)
    if not svg.startswith("<svg") or not vl_convert.svg_to_png(svg).startswith(b"\x89PNG"):
        yield Finding("charts", "fault", "a small chart does not come out", "install vl-convert-python again")
        return
    yield Finding("charts", "ok", "a small chart was drawn as SVG and PNG")
    missing = missing_scripts()
    if missing:
        yield Finding("letters in PNG charts", "warning", f"none for {', '.join(missing)}", FONTS)
    else:
        yield Finding("letters in PNG charts", "ok", ", ".join(_SCRIPTS))


def missing_scripts() -> list[str]:
    """Scripts whose letters look like a letter that no font has."""
    none = _drawn(_NO_LETTER)
    return [script for script, letter in _SCRIPTS.items() if _drawn(letter) in (none, _drawn(""))]


def _drawn(letters: str) -> bytes:
    import vl_convert

    return bytes(vl_convert.svg_to_png(_SVG.format(letters)))
