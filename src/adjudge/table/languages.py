"""Language names and codes: `Czech`, `cs`, `ces`, `cze` and `cz` are the same language.

Also the direction of texts, which depends on their letters: a language may be written in several scripts.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

UNKNOWN = "und"

# code: other codes and names in use in released files
_LANGUAGES = {
    "af": "afr afrikaans", "am": "amh amharic", "ar": "ara arb arabic", "as": "asm assamese",
    "be": "bel belarusian", "bg": "bul bulgarian", "bn": "ben bengali bangla", "bs": "bos bosnian", "ca": "cat catalan",
    "cs": "ces cze cz czech", "cy": "cym wel welsh", "da": "dan danish", "de": "deu ger german",
    "el": "ell gre greek", "en": "eng english", "eo": "epo esperanto", "es": "spa esn spanish", "et": "est estonian",
    "eu": "eus baq basque", "fa": "fas per pes persian farsi", "fi": "fin finnish", "fr": "fra fre french",
    "ga": "gle irish", "gd": "gla scottish-gaelic", "gl": "glg galician", "gu": "guj gujarati", "ha": "hau hausa",
    "he": "heb hebrew", "hi": "hin hindi", "hr": "hrv croatian", "ht": "hat haitian haitian-creole",
    "hu": "hun hungarian", "hy": "hye arm armenian", "id": "ind indonesian", "ig": "ibo igbo",
    "is": "isl ice icelandic", "it": "ita italian", "iu": "iku inuktitut", "ja": "jpn japanese", "jv": "jav javanese",
    "ka": "kat geo georgian", "kk": "kaz kazakh", "km": "khm khmer", "kn": "kan kannada", "ko": "kor korean",
    "ky": "kir kyrgyz", "lb": "ltz luxembourgish", "lo": "lao", "lt": "lit lithuanian", "lv": "lav latvian",
    "mg": "mlg malagasy", "mi": "mri mao maori", "mk": "mkd mac macedonian", "ml": "mal malayalam",
    "mn": "mon khk mongolian", "mr": "mar marathi", "ms": "msa may zsm malay", "mt": "mlt maltese",
    "my": "mya bur burmese", "nb": "nob norwegian-bokmal", "ne": "nep npi nepali", "nl": "nld dut dutch",
    "nn": "nno norwegian-nynorsk", "no": "nor norwegian", "or": "ori ory odia oriya", "pa": "pan punjabi",
    "pl": "pol polish", "ps": "pus pbt pushto pashto", "pt": "por ptb portuguese", "ro": "ron rum romanian",
    "ru": "rus russian", "rw": "kin kinyarwanda", "sa": "san sanskrit", "si": "sin sinhala", "sk": "slk slo slovak",
    "sl": "slv slovenian slovene", "so": "som somali", "sq": "sqi alb albanian", "sr": "srp serbian",
    "sv": "swe swedish", "sw": "swa swh swahili", "ta": "tam tamil", "te": "tel telugu", "tg": "tgk tajik",
    "th": "tha thai", "ti": "tir tigrinya", "tl": "tgl fil tagalog filipino", "tr": "tur turkish",
    "uk": "ukr ukrainian", "ur": "urd urdu", "uz": "uzb uzn uzbek", "vi": "vie vietnamese", "xh": "xho xhosa",
    "yo": "yor yoruba", "zh": "zho chi cmn chinese mandarin", "zu": "zul zulu",
    "hsb": "upper-sorbian", "dsb": "lower-sorbian", "liv": "livonian", "sah": "yakut", "bho": "bhojpuri",
    "mas": "maasai masai", "xx": "multisource multi",
}  # fmt: skip
_CODES = {name: code for code, names in _LANGUAGES.items() for name in (code, *names.split())}
_VARIANT = re.compile(r"^(?P<base>[^()]+?)\s*\((?P<variant>[^()]+)\)$")
# What follows a language in `pt-BR`, `zh-Hans`, `es-419`.
_REGION = re.compile(r"^(?P<base>[A-Za-z]+)(?:_(?P<any>.+)|-(?P<region>[A-Z]{2}|[A-Z][a-z]{3}|[0-9]{3}))$")
# What stands between two languages, the surest first: an underscore may also stand before a variant, as in `zh_CN`.
_BETWEEN = (r"-", r"\s*(?:=?>|/|\||–|\sto\s)\s*", r"_")


def language_code(name: str | None) -> str:
    """The short code of a language given by name or code; a variant in brackets or after `_` is kept (`ht_raw`).

    An unknown language keeps its name in lower case. A value without any letter, such as `-1` in files that leave
    the language out, is unknown.
    """
    if name is None or not any(character.isalpha() for character in name):
        return UNKNOWN
    text = name.strip()
    if bracketed := _VARIANT.match(text):
        # Drop the joining underscore, so that `Ger_(raw)` and `Ger (raw)` have the same code.
        return f"{language_code(bracketed['base'].rstrip('_'))}_{_slug(bracketed['variant'])}"
    region = _REGION.match(text)
    if region and region["base"].lower() in _CODES:
        return f"{_CODES[region['base'].lower()]}_{region['any'] or region['region']}"
    slug = _slug(text)
    return _CODES.get(slug, slug)


def is_language(name: str) -> bool:
    """Whether this is a name or code of a language that adjudge knows, with or without a variant."""
    return re.split(r"[_(]", language_code(name))[0] in _LANGUAGES


def three_letter_code(code: str) -> str:
    """The three-letter code of a language given by its short code, as some formats want it: `de` is `deu`."""
    base, _, variant = code.partition("_")
    longer = next((name for name in _LANGUAGES.get(base, "").split() if len(name) == 3), base)
    return f"{longer}_{variant}" if variant else longer


def _slug(text: str) -> str:
    return re.sub(r"[\s-]+", "-", text.strip().lower())


def pair_name(source: str, target: str) -> str:
    """The written form of a language pair: `cs-en`."""
    return f"{source}-{target}"


def is_unknown_pair(name: str) -> bool:
    """Whether both languages are unknown in a name such as `cs-en` or `campaign/cs-en`."""
    return name.rpartition("/")[2] == pair_name(UNKNOWN, UNKNOWN)


def pair_title(name: str) -> str:
    """The name as shown in a title: unknown languages are dropped, so that only the campaign is left."""
    return name.rpartition("/")[0] if is_unknown_pair(name) else name


def part_word(names: Iterable[str]) -> str:
    """What the parts of judgments are called: rankings, where they are criteria or campaigns of one language pair."""
    return "language pair" if len({name.rpartition("/")[2] for name in names}) > 1 else "ranking"


def parse_pair(text: str) -> str:
    """The written form of a pair that a user typed: `cs-en`, `ces-eng`, `Czech-English`, `cs,en`."""
    return pair_name(*split_pair(text))


def split_pair(text: str) -> tuple[str, str]:
    """The codes of the two languages of a pair that a user typed."""
    parts = re.split(r"\s*(?:,|->|→|:)\s*", text.strip())
    if len(parts) != 2:
        parts = _two_languages(text.strip()) or [*text.strip().split("-", 1), ""]
    return language_code(parts[0]), language_code(parts[1])


def find_pair(text: str) -> tuple[str, str] | None:
    """The codes of the two languages of a pair as files write it; None where it is none."""
    codes = split_pair(text)
    return None if UNKNOWN in codes else codes


def _two_languages(text: str) -> list[str] | None:
    """Split a text between two languages: `zh-Hans-en` at the second hyphen, `ende` in the middle."""
    halves = [text[:2], text[2:]]
    if all(half.lower() in _LANGUAGES and len(half) == 2 for half in halves):
        return halves
    signs = [match for pattern in _BETWEEN for match in re.finditer(pattern, text)]
    ways = ([text[: sign.start()], text[sign.end() :]] for sign in signs)
    return next((way for way in ways if is_language(way[0]) and is_language(way[1])), None)


def pair_in_name(text: str) -> tuple[str, str] | None:
    """The language pair in a file name, if both languages are known: `wmt10.Czech,English`."""
    for separator in (",", "-", "_"):
        # The second word is a lookahead, so that it may be the first word of the next match: `test-cs-en`.
        pattern = rf"(?<![A-Za-z])([A-Za-z]{{2,}}){separator}(?=([A-Za-z]{{2,}})(?![A-Za-z]))"
        for match in re.finditer(pattern, text):
            source, target = match[1].lower(), match[2].lower()
            if source in _CODES and target in _CODES and source != target:
                return _CODES[source], _CODES[target]
    return None


def text_direction(texts: Iterable[str]) -> str:
    """`rtl` if most letters with a direction run from right to left, else `ltr`."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(unicodedata.bidirectional(character) for character in text)
    return "rtl" if counts["R"] + counts["AL"] > counts["L"] else "ltr"


def notes_about(pair: str, pairs: Iterable[str], notes: Iterable[str]) -> tuple[str, ...]:
    """The notes about a pair: all except those that name only other pairs."""

    def names(note: str, name: str) -> bool:
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", note) is not None

    others = [other for other in pairs if other != pair]
    return tuple(note for note in notes if names(note, pair) or not any(names(note, other) for other in others))
