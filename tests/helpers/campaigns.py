"""Small campaigns for tests: texts made up here, one per protocol and direction."""

from __future__ import annotations

from pathlib import Path

PROTOCOLS = ("da", "sqm", "ranking", "pairwise")

SENTENCES = {
    "de": (
        "Der Zug nach Hamburg fährt heute von Gleis sieben ab.",
        "Wegen Bauarbeiten verspätet sich die Abfahrt um etwa zwanzig Minuten.",
        "Reisende werden gebeten, auf die Anzeigen am Bahnsteig zu achten.",
    ),
    "en": (
        "The train to Hamburg leaves from platform seven today.",
        "Because of construction work, the departure is delayed by about twenty minutes.",
        "Passengers are asked to watch the displays on the platform.",
    ),
    "ar": (
        "يغادر القطار المتجه إلى هامبورغ اليوم من الرصيف رقم ٧.",
        "بسبب أعمال البناء يتأخر موعد المغادرة نحو 20 دقيقة (حسب موقع DB).",
        "يرجى من المسافرين الانتباه إلى الشاشات على الرصيف.",
    ),
    "ja": (
        "ハンブルク行きの列車は本日7番線から発車します。",
        "工事のため、出発は約20分遅れます。",
        "ご乗車の方はホームの表示をご確認ください。",
    ),
}
# How the made-up systems spoil a sentence; the first leaves it as it is.
SYSTEMS = {"alpha": 0, "beta": 1, "gamma": 2, "delta": 3, "epsilon": 4}


def spoilt(sentence: str, how: int) -> str:
    """A sentence in which some words, or characters where there are no spaces, are turned round; more with `how`."""
    if how == 0:
        return sentence
    separator = " " if " " in sentence else ""
    parts = sentence.split(" ") if separator else list(sentence)
    return separator.join([parts[0], *reversed(parts[1 : 2 + how]), *parts[2 + how :]])


def make_campaign(
    folder: Path,
    protocol: str = "da",
    *,
    source: str = "de",
    target: str = "en",
    documents: int = 2,
    task_size: int = 6,
    annotators: str = '["anna"]',
    more: str = "",
    systems: int | None = None,
    design: str = "",
) -> Path:
    """Write a campaign and its texts; returns the campaign file."""
    folder.mkdir(parents=True, exist_ok=True)
    count = systems or (2 if protocol == "pairwise" else 5 if protocol == "ranking" else 3)
    names = list(SYSTEMS)[:count]
    _write(folder / "source.txt", source, documents, 0)
    for name in names:
        _write(folder / f"{name}.txt", target, documents, SYSTEMS[name])
    structure = 'structure = "pages"\n' if protocol == "sqm" else ""
    named = "\n".join(f'{name} = "{name}.txt"' for name in names)
    text = f"""name = "Test {protocol} {source}-{target}"
protocol = "{protocol}"

[languages]
source = "{source}"
target = "{target}"

[files]
source = "source.txt"

[files.systems]
{named}

[design]
{structure}task_size = {task_size}
annotators = {annotators}
{design}
{more}
"""
    file = folder / "campaign.toml"
    file.write_text(text, encoding="utf-8")
    return file


def _write(file: Path, language: str, documents: int, how: int) -> None:
    texts = [
        "\n".join(f"{spoilt(sentence, how)} [{document}.{i}]" for i, sentence in enumerate(SENTENCES[language], 1))
        for document in range(1, documents + 1)
    ]
    file.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
