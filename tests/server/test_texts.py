"""The catalogues of the interface: every language has all texts with the same placeholders, and pages use no others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import adjudge.server
from adjudge.campaigns.questions import SCALES

STATIC = Path(adjudge.server.__file__).parent / "static" / "collect"
CATALOGUES = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in (STATIC / "texts").glob("*.json")}
ORGANISERS = {file.stem: json.loads(file.read_text("utf-8")) for file in (STATIC / "texts" / "organise").glob("*.json")}
SCRIPTS = "\n".join(file.read_text(encoding="utf-8") for file in STATIC.rglob("*.js"))
# Texts whose names are put together in the scripts.
COMPOSED = (
    "kind_",
    "screen_",
    "link_",
    "key_",
    "severity_",
    "enter_person",
    "enter_too",
    "attention_",
    "action_",
    "column_",
    "state_",
    "warn_",
    "paused",
    "closed",
    "anchor_",
)

# The forms that `Intl.PluralRules` chooses from; a misspelt one would never be shown.
PLURAL_FORMS = {"zero", "one", "two", "few", "many", "other"}


def forms(text: Any) -> list[str]:
    return list(text.values()) if isinstance(text, dict) else [text]


def places_of(*texts: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", " ".join(texts)))


@pytest.mark.parametrize("language", sorted(CATALOGUES))
def test_a_catalogue_has_every_text_with_its_places(language: str) -> None:
    catalogue, english = CATALOGUES[language], CATALOGUES["en"]
    assert list(catalogue) == list(english)
    assert catalogue["direction"] in ("ltr", "rtl")
    for key, text in english.items():
        translated = catalogue[key]
        assert all(form.strip() for form in forms(translated)), key
        # Forms for one or two things may say the number in words; the form for any other number may not.
        assert all(places_of(form) <= places_of(*forms(text)) for form in forms(translated)), key
        general = translated["other"] if isinstance(translated, dict) else translated
        assert places_of(general) == places_of(*forms(text)), key
        assert isinstance(translated, str) or set(translated) <= PLURAL_FORMS, key


@pytest.mark.parametrize("language", sorted(CATALOGUES))
def test_the_further_texts_of_organisers_are_complete(language: str) -> None:
    assert list(ORGANISERS[language]) == list(ORGANISERS["en"])
    assert all(text.strip() for text in ORGANISERS[language].values())
    assert not set(ORGANISERS["en"]) & set(CATALOGUES["en"])


def test_the_scripts_use_only_texts_that_there_are() -> None:
    used = set(re.findall(r'\bt\(\s*"(\w+)"', SCRIPTS))
    assert used - set(CATALOGUES["en"]) - set(ORGANISERS["en"]) == set()
    unused = {
        key
        for key in CATALOGUES["en"]
        if f'"{key}"' not in SCRIPTS and not key.startswith(COMPOSED) and key not in ("name", "direction")
    }
    assert unused == set()


def test_the_meanings_of_the_protocols_own_scales_are_in_every_language() -> None:
    for protocol in ("sqm", "esa"):
        for anchor in SCALES[protocol].anchors:
            key = f"anchor_{protocol}_{anchor.at:g}"
            assert CATALOGUES["en"][key] == anchor.text
            assert len({catalogue[key] for catalogue in CATALOGUES.values()}) == len(CATALOGUES)


def test_texts_become_text_nodes_only() -> None:
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
        assert word not in SCRIPTS


def test_every_change_is_sent_within_a_second() -> None:
    waits = dict(re.findall(r"^const (\w+_MS) = (\d+);", (STATIC / "saving" / "queue.js").read_text(), re.MULTILINE))
    assert int(waits["WAIT_MS"]) <= int(waits["LONGEST_WAIT_MS"]) < 1000


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(text: str, other: str) -> float:
    """The contrast of two colours as the accessibility guidelines (WCAG 2.2, success criterion 1.4.3) define it."""
    light, dark = sorted((_luminance(text), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def themes() -> list[dict[str, str]]:
    blocks = re.findall(r":root[^{]*\{([^}]+)\}", (STATIC / "styles" / "palette.css").read_text())
    return [dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block)) for block in blocks]


@pytest.mark.parametrize("theme", range(2), ids=["light", "dark"])
def test_text_and_controls_have_the_contrast_that_the_guidelines_ask_for(theme: int) -> None:
    colours = themes()[theme]
    for ink in ("ink", "muted", "accent", "good", "warn"):
        for ground in ("paper", "ground"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    assert contrast(colours["accent-ink"], colours["accent"]) >= 4.5
    assert contrast(colours["warn"], colours["warn-soft"]) >= 4.5
    assert contrast(colours["ink"], colours["accent-soft"]) >= 4.5
    assert contrast(colours["accent"], colours["accent-soft"]) >= 4.5
    for ground in ("paper", "ground"):
        assert contrast(colours["control"], colours[ground]) >= 3


def test_every_colour_is_stated_once_per_theme() -> None:
    light, dark = themes()
    assert light.keys() == dark.keys()
    others = [file for file in STATIC.rglob("*.css") if file.name != "palette.css"]
    assert others
    assert [file.name for file in others if "data-theme" in file.read_text() or "#" in file.read_text()] == []


@pytest.mark.parametrize("theme", range(2), ids=["light", "dark"])
def test_marks_and_their_letters_have_the_contrast_that_the_guidelines_ask_for(theme: int) -> None:
    colours = marks = themes()[theme]
    for severity in ("neutral", "minor", "major", "critical"):
        assert contrast(colours["ink"], marks[f"{severity}-soft"]) >= 4.5, severity
        assert contrast(marks[severity], colours["paper"]) >= 4.5, severity
        # The letter in a button that is chosen, and the underline of a mark.
        assert contrast(marks[severity], marks[f"{severity}-soft"]) >= 4.5, severity
