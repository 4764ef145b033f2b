"""Languages under one code, whatever a file calls them: `Czech`, `cs`, `ces`, `cze` and `cz` are one language."""

from __future__ import annotations

import re

UNKNOWN = "und"

# code: other codes and names in use in released files
_LANGUAGES = {
    "af": "afr afrikaans", "am": "amh amharic", "ar": "ara arb arabic", "as": "asm assamese",
    "be": "bel belarusian", "bg": "bul bulgarian", "bn": "ben bengali bangla", "bs": "bos bosnian", "ca": "cat catalan",
    "cs": "ces cze cz czech", "cy": "cym wel welsh", "da": "dan danish", "de": "deu ger german",
    "el": "ell gre greek", "en": "eng english", "eo": "epo esperanto", "es": "spa spanish", "et": "est estonian",
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
    "pl": "pol polish", "ps": "pus pbt pushto pashto", "pt": "por portuguese", "ro": "ron rum romanian",
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


def language_code(name: str | None) -> str:
    """The short code of a language given by name or code; a variant in brackets or after `_` is kept (`ht_raw`)."""
    if name is None or not name.strip():
        return UNKNOWN
    text = name.strip()
    if bracketed := _VARIANT.match(text):
        return f"{language_code(bracketed['base'])}_{_slug(bracketed['variant'])}"
    base, underscore, region = text.partition("_")
    if underscore and base.lower() in _CODES:
        return f"{_CODES[base.lower()]}_{region}"
    slug = _slug(text)
    return _CODES.get(slug, slug)


def _slug(text: str) -> str:
    return re.sub(r"[\s-]+", "-", text.strip().lower())


def pair_name(source: str, target: str) -> str:
    """The written form of a language pair: `cs-en`."""
    return f"{source}-{target}"


def parse_pair(text: str) -> str:
    """The written form of a pair that a user typed: `cs-en`, `ces-eng`, `Czech-English`, `cs,en`."""
    parts = re.split(r"\s*(?:,|->|→|:)\s*", text.strip())
    if len(parts) != 2:
        source, _, target = text.strip().partition("-")
        parts = [source, target]
    return pair_name(language_code(parts[0]), language_code(parts[1]))


def pair_in_name(text: str) -> tuple[str, str] | None:
    """The language pair that a file's name carries, if both sides are known languages: `wmt10.Czech,English`."""
    for separator in (",", "-", "_"):
        pattern = rf"(?<![A-Za-z])([A-Za-z]{{2,}}){separator}([A-Za-z]{{2,}})(?![A-Za-z])"
        for match in re.finditer(pattern, text):
            source, target = match[1].lower(), match[2].lower()
            if source in _CODES and target in _CODES and source != target:
                return _CODES[source], _CODES[target]
    return None
