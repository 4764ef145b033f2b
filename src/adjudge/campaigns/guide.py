"""What annotators are told if the campaign says nothing itself: instructions per protocol, in ten languages.

The texts are CommonMark, made of the sentences in `guides/`, one file per language, and speak only of what the campaign
has. `adjudge design --instructions FOLDER` writes them down, to be edited.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from adjudge.campaigns.questions import in_language
from adjudge.table.protocols import PROTOCOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.campaigns.campaign_file import Campaign
    from adjudge.campaigns.questions import Asked

_FOLDER = Path(__file__).resolve().parent / "guides"
# Where on the scale the four levels of quality lie.
_LEVELS = {"score_0": 0.0, "score_33": 1 / 3, "score_66": 2 / 3, "score_100": 1.0}
_CASES = ("invented", "untranslated", "missing", "long", "unrelated", "source")


@cache
def guide_languages() -> tuple[str, ...]:
    """The languages that there are instructions in."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.json")))


@cache
def _sentences(language: str) -> dict[str, str]:
    texts: dict[str, str] = json.loads((_FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    return texts


def make_guide(campaign: Campaign, language: str) -> str:
    """The whole instructions as CommonMark; in English if there are none in the language."""
    texts = _sentences(language if language in guide_languages() else "en")
    parts = [_first_words(campaign, texts), *_sections(campaign, texts, language)]
    order = {"free": "", "back-only": texts["howto_back_only"], "strict": texts["howto_strict"]}
    skip = texts["howto_skip"] if campaign.page.skip else ""
    page = [
        texts["own_judgment"],
        " ".join(filter(None, (skip, texts["howto_saved"], order[campaign.page.navigation]))),
    ]
    return "\n\n".join([*parts, f"## {texts['head_page']}", *page]) + "\n"


def make_short_guide(campaign: Campaign, language: str) -> str:
    """The instructions in a sentence that stays in sight while people judge."""
    texts = _sentences(language if language in guide_languages() else "en")
    named = _name_questions(campaign, texts)
    return named if named is not None else _fill(texts[f"short_{_kind_of(campaign)}"], campaign)


def _kind_of(campaign: Campaign) -> str:
    """How people judge, by which the sentences are named."""
    protocol = PROTOCOLS[campaign.protocol]
    if protocol.marked:
        return "mqm" if protocol.categories else "esa"
    if protocol.relative:
        return "pairwise" if protocol.in_pairs else "ranking"
    return "postedit" if protocol.edited else "acceptability" if protocol.answer == "verdict" else "score"


def _name_questions(campaign: Campaign, texts: dict[str, str]) -> str | None:
    """What is asked, where the campaign names it itself: criteria, or labels instead of ranks."""
    if campaign.page.rank_labels:
        return texts["howto_labels"].replace("{labels}", "; ".join(campaign.page.rank_labels))
    if not campaign.criteria:
        return None
    of_document = {"document": f" ({texts['criterion_document']})", "segment": ""}
    names = (f"{asked.name}{of_document[asked.of]}" for asked in campaign.asked)
    return texts["howto_criteria"].replace("{criteria}", ", ".join(names))


def _fill(text: str, campaign: Campaign) -> str:
    scale = campaign.score_scale
    return text.replace("{low}", f"{scale.low:g}").replace("{high}", f"{scale.high:g}")


def _first_words(campaign: Campaign, texts: dict[str, str]) -> str:
    """What is read, and what is done with it."""
    kind, protocol = _kind_of(campaign), campaign.protocol
    read = texts[f"howto_{'several' if campaign.side_by_side > 1 else 'one'}_{campaign.context.show}"]
    own = _name_questions(campaign, texts)
    if own is None:
        own = _fill(texts.get(f"howto_{protocol}", texts["howto_da"]), campaign)
    if kind in ("esa", "mqm"):
        marks = [
            texts["howto_mark"],
            texts["howto_kind"] if PROTOCOLS[protocol].categories else "",
            texts["howto_missing"] if campaign.spans.missing else "",
        ]
        return f"{read} {' '.join(filter(None, marks))}\n\n{own}"
    if kind in ("ranking", "pairwise"):
        apart = campaign.page.ties == "good-or-bad"
        ties = texts[f"howto_{kind}_{'apart' if apart else 'ties' if campaign.page.ties else 'once'}"]
        return f"{read} {own} {ties}\n\n{texts['meaning_first']}"
    return f"{read} {own}" + (f"\n\n{texts['edit_little']}" if kind == "postedit" else "")


def _sections(campaign: Campaign, texts: dict[str, str], language: str) -> Iterator[str]:
    """What the scores mean, how serious errors are, and what to do in special cases."""
    kind = _kind_of(campaign)
    if campaign.criteria:
        yield f"## {texts['head_scores']}"
        yield "\n".join(f"- {_describe_criterion(asked, language)}" for asked in campaign.asked)
    elif PROTOCOLS[campaign.protocol].on_scale:
        yield f"## {texts['head_scores']}"
        yield "\n".join(f"- **{number:g}** – {meaning}" for number, meaning in _meanings(campaign, texts))
    severities = campaign.spans.rules(campaign.protocol).severities
    if kind in ("esa", "mqm") and len(severities) > 1:
        yield f"## {texts['head_errors']}"
        lines = (f"- **{texts[f'howto_severity_{name}']}** – {texts[f'example_{name}']}" for name in severities)
        yield "\n".join(lines)
    yield f"## {texts['head_cases']}"
    by_kind = {"esa": "marked", "mqm": "marked", "ranking": "compared", "pairwise": "compared", "postedit": "edited"}
    by_kind["acceptability"] = "accepted"
    yield texts[f"cases_{by_kind.get(kind, 'scored')}"]
    yield "\n".join(f"- {texts[f'case_{name}']}" for name in _CASES)


def _describe_criterion(asked: Asked, language: str) -> str:
    """A criterion with its scale, in the campaign's own words."""
    scale = asked.scale
    meanings = (
        "; ".join(f"{anchor.at:g} = {anchor.text}" for anchor in scale.anchors) or f"{scale.low:g}–{scale.high:g}"
    )
    question = "" if asked.question is None else f" – {in_language(asked.question, language)}"
    return f"**{asked.name}**{question} ({meanings})"


def _meanings(campaign: Campaign, texts: dict[str, str]) -> list[tuple[float, str]]:
    """What numbers of the scale mean: in the campaign's own words, or by four levels of quality."""
    scale = campaign.score_scale
    if campaign.scale is not None and scale.anchors:
        return [(anchor.at, anchor.text) for anchor in scale.anchors]
    if campaign.scale is None and len(scale.anchors) == len(_LEVELS):
        return [(anchor.at, texts[key]) for anchor, key in zip(scale.anchors, _LEVELS, strict=True)]
    steps = (scale.high - scale.low) / scale.step
    # Rounded down: between two meanings of a coarse scale, the better one must be earned.
    places = {key: scale.low + round(share * steps - 0.01) * scale.step for key, share in _LEVELS.items()}
    return [(round(place, 6), texts[key]) for key, place in places.items()]


def write_guides(campaign: Campaign, folder: Path) -> list[Path]:
    """Write the instructions in every language into a folder, one file each; files that are there stay."""
    from adjudge.table.errors import InputError
    from adjudge.table.files import write_text

    folder.mkdir(parents=True, exist_ok=True)
    files = {folder / f"instructions.{language}.md": language for language in guide_languages()}
    for file in files:
        if file.exists():
            raise InputError("is there already; remove it, or name another folder", file=file)
    for file, language in files.items():
        write_text(file, make_guide(campaign, language))
    return list(files)
