"""What a header says in words that nobody listed: stems of the words for systems, people, texts, scores and criteria.

`columns.py` knows whole names, which are sure. A stem is a guess, so it is heeded only where no column has such a name,
where one header alone has it, and where the column holds what its meaning needs (`contents.py` checks that).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Side = Literal["left", "right"]

# Stems by meaning: English first, then German, Dutch, French, Spanish, Italian, Portuguese, Czech, Polish, Russian,
# Chinese, Japanese, Korean. The longest stem in a header decides: `bewerter` is a person, `bewertung` a score.
STEMS: dict[str, tuple[str, ...]] = {
    "system": (
        "system", "engine", "model", "bot", "chatbot", "assistant", "llm", "summarizer", "summariser", "captioner",
        "vocoder", "synthesizer", "synthesiser", "tts", "asr", "mt", "provider", "maschine", "systeem", "système",
        "moteur", "modèle",
        "sistema", "motor", "modelo", "modello", "systém", "překladač", "silnik", "систем", "модел", "движок",
        "sistem", "rendszer", "järjestelmä", "σύστημα", "النظام", "प्रणाली", "hệ thống",
        "系统", "系統", "引擎", "模型", "システム", "エンジン", "モデル", "시스템", "엔진", "모델",
    ),
    "annotator": (
        "annotator", "rater", "worker", "evaluator", "assessor", "judge", "juror", "participant", "reviewer",
        "coder", "linguist", "labeler", "labeller", "listener", "subject", "respondent", "grader", "scorer",
        "crowdworker", "turker", "prolific", "email", "user", "voter", "evaluatorin", "testperson", "bedömare",
        "değerlendirici", "értékelő", "arvioija", "αξιολογητής", "оцінювач", "المقيم", "المقيّم", "मूल्यांकनकर्ता",
        "bewerter", "gutachter", "prüfer", "bearbeiter", "tester", "teacher", "nickname", "người chấm", "氏名",
        "teilnehmer", "proband", "versuchsperson", "hörer", "lehrkraft", "revisor", "lektor", "korrektor",
        "beoordelaar", "annotateur", "annotatrice", "évaluateur", "évaluatrice", "juge", "auditeur", "auditrice",
        "relecteur", "relectrice", "anotador", "evaluador", "oyente", "juez", "valutatore", "valutatrice",
        "annotatore", "ascoltatore", "avaliador", "anotátor", "hodnotitel", "posluchač", "oceniający", "anotator",
        "оценщик", "аннотатор", "эксперт", "слушатель", "标注", "评审", "评委", "评估者", "评估员", "評価者",
        "アノテ", "作業者", "被験者", "평가자", "작업자",
    ),
    "segment": (
        "segment", "sentence", "item", "stimulus", "utterance", "wav", "clip", "audio", "sample", "image", "picture",
        "prompt", "instruction", "string", "utt", "example", "beispiel", "mening", "cümle", "mondat", "lause",
        "πρόταση",
        "речення", "الجملة", "वाक्य", "câu", "article", "dialog", "dialogue", "conversation", "satz", "zin",
        "phrase", "énoncé",
        "frase", "oración", "enunciado", "segmento", "věta", "větu", "věty", "zdanie", "предложен", "сегмент",
        "фраза", "句子", "原文", "段落", "セグメント", "原文番号", "文番号", "문장", "세그먼트",
    ),
    "score": (
        "score", "rating", "grade", "mark", "response", "answer", "judgment", "judgement", "verdict", "opinion", "mos",
        "overall", "quality", "feedback", "bewertung", "beurteilung", "wertung", "urteil", "punkte", "punktzahl",
        "antwort", "qualität", "cijfer", "beoordeling", "kwaliteit", "évaluation", "appréciation",
        "qualité", "réponse", "puntuación", "puntaje", "calificación", "valoración", "calidad", "respuesta", "nota",
        "punteggio", "voto", "valutazione", "giudizio", "pontuação", "avaliação", "hodnocení", "skóre", "kvalita",
        "odpověď", "ocena", "wynik", "оценк", "балл", "ответ", "качеств", "分数", "得分", "评分", "打分", "质量",
        "評価", "評点", "スコア", "点数", "点", "回答", "점수", "평가", "품질", "betyg", "puan", "pontszám", "pisteet",
        "βαθμός", "оцінк", "الدرجة", "अंक", "điểm", "známka", "schulnote", "xsts",
    ),
    "criterion": (
        "criterion", "criteria", "dimension", "aspect", "question", "kriterium", "aspekt", "frage", "critère",
        "criterio", "pregunta", "kritérium", "otázka", "критери", "вопрос", "维度", "标准", "观点", "観点", "項目",
        "기준", "항목",
    ),
}  # fmt: skip
CRITERIA = (
    "accura", "adequa", "appropriate", "clarity", "cohere", "consisten", "correctness", "creativ", "engag", "expressiv",
    "factual", "faithful", "fidelity", "fluen", "grammar", "grammatical", "harmless", "helpful", "honest",
    "informativ", "intelligib", "natural", "prosod", "readab", "relevan", "safety", "simplicity", "terminolog",
    "tone", "understandab", "useful", "completeness", "conciseness", "humanlike", "truthful", "adäquat", "flüssig",
    "genauigkeit", "verständlich", "lesbar", "natürlich", "grammatik", "fluid", "précision", "fidélité", "lisib",
    "naturel", "compréhens", "adecua", "precisión", "naturalidad", "fidelidad", "přesnost", "plynul", "adekvát",
    "srozumiteln", "přirozen", "точност", "беглост", "адекватн", "忠实", "流畅", "准确", "通顺", "完整", "自然",
    "忠実", "流暢", "正確", "妥当", "정확", "유창",
)  # fmt: skip
LOWER = (
    "error", "mistake", "penalt", "severity", "defect", "badness", "distance", "fehler", "schwere",
    "mängel", "fout", "erreur", "faute", "gravité", "errores", "gravedad", "error", "errori", "erro", "chyb",
    "závažnost", "błąd", "błęd", "ошибк", "错误", "誤り", "エラー", "오류", "latency", "effort", "aufwand",
)  # fmt: skip
"""Stems of headers whose numbers are the better the lower they are."""
# What says more of people, texts or scores, and so is none of them.
ABOUT = (
    "type", "kind", "group", "level", "experience", "expertise", "lang", "language", "age", "gender", "sex", "country",
    "native", "comment", "comments", "remark", "confidence", "certainty", "time", "date", "rt", "duration", "seconds",
    "ms", "reaction", "trial", "index", "number", "count", "status", "gold", "golden", "expected", "trust", "tokens",
    "length", "position", "order", "cost", "price", "version", "domain", "genre", "topic", "role", "family", "size",
    "temperature", "settings", "seed", "text", "output", "translation", "hypothesis", "reference", "url", "path",
    "agreement", "on", "about", "notes", "which", "what", "why", "mean", "average", "sd", "std", "variance", "alter",
    "geschlecht", "sprache", "dauer", "zeit",
    "datum", "kommentar", "âge", "langue", "durée", "temps", "edad", "idioma", "tiempo", "fecha", "věk", "jazyk",
    "čas", "年龄", "性别", "时间", "语言", "年齢", "性別", "時間", "言語",
)  # fmt: skip
# Numbers of things, which stand in headers of things: `Segment-Nr.`, `Trial Number`.
_NUMBERS = ("number", "index", "trial")
_MADE = ("text", "output", "translation", "hypothesis", "reference")
_WORD = re.compile(r"[A-ZÀ-Þ]?[^\W\d_A-ZÀ-Þ]+|[A-ZÀ-Þ]+(?![^\W\d_A-ZÀ-Þ])|[^\W\d_]+")
_NOT_SPACED = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
_COMPOUND = 5
"""So long a stem is also found inside a word: `Übersetzungssystem`."""


@cache
def words_of(header: str) -> tuple[str, ...]:
    """The words of a header: of `workerId`, `MÜ-System`, `OUTPUT:score`."""
    return tuple(map(_fold, _WORD.findall(unicodedata.normalize("NFC", header))))


@cache
def _fold(text: str) -> str:
    """A word as it is compared: in small letters and without accents, which people leave out."""
    letters = unicodedata.normalize("NFD", text.casefold())
    return unicodedata.normalize("NFC", "".join(sign for sign in letters if unicodedata.category(sign) != "Mn"))


ABOUT_WORDS = frozenset(map(_fold, ABOUT))


def meaning_in(header: str) -> str | None:
    """What a header seems to name; None where it says more of something, or nothing that is known."""
    words = words_of(header)
    words = words[1:] if len(words) == 2 and words[0] in ("which", "what") else words
    # Some languages write one thing in two words.
    both = [" ".join(two) for two in pairwise(words)]
    lengths = {meaning: _longest((*words, *both), stems) for meaning, stems in STEMS.items()}
    longest = max(lengths.values())
    meanings = [name for name, length in lengths.items() if length == longest]
    meaning = meanings[0]
    # A `hypothesis system` is a system, but a `system output` is none.
    told = _NUMBERS if meaning == "segment" else _MADE if _longest(words[-1:], STEMS["system"]) else ()
    about = [word for word in words if word in ABOUT_WORDS and word not in told]
    # What is called after two things, as `judge_model` is, may be either.
    return None if about or not longest or len(meanings) > 1 else meaning


_SIDES = (
    ("left", "right"), ("a", "b"), ("1", "2"), ("first", "second"), ("links", "rechts"), ("linke", "rechte"),
    ("linkes", "rechtes"), ("gauche", "droite"), ("izquierda", "derecha"), ("levý", "pravý"), ("左", "右"),
)  # fmt: skip
_PART = re.compile(r"[^\W\d_]+|[0-9]+")


def side_of(header: str) -> Side | None:
    """The side that a header names: of `model_a`, `System links`, `score2`; None where it names none."""
    parts = set(_PART.findall(header.casefold()))
    left, right = (any(pair[place] in parts for pair in _SIDES) for place in (0, 1))
    return None if left == right else "left" if left else "right"


def without_side(header: str) -> str:
    """A header without the word for a side, so that `score_a` and `score_b` are the same."""
    words = {word for pair in _SIDES for word in pair}
    return " ".join(part for part in _PART.findall(header.casefold()) if part not in words)


def _longest(words: Iterable[str], stems: Iterable[str]) -> int:
    """The length of the longest stem in the words; signs of scripts without blanks say more than letters."""
    found = (stem for word in words for stem in map(_fold, stems) if _has_stem(word, stem))
    return max((len(stem) * (4 if _NOT_SPACED.search(stem) else 1) for stem in found), default=0)


def _has_stem(word: str, stem: str) -> bool:
    if _NOT_SPACED.search(stem):
        return stem in word
    if len(stem) >= _COMPOUND:
        return word.startswith(stem) or word.endswith(stem)
    return word in (stem, *(f"{stem}{ending}" for ending in ("s", "e", "en", "in")))


def has_stem(header: str, stems: Iterable[str]) -> bool:
    """Whether a word of a header begins with one of the stems, or ends in it as in `Gesamtfehler`."""
    words = words_of(header)
    return any(
        stem in word if _NOT_SPACED.search(stem) else word.startswith(stem) or (len(stem) > 4 and stem in word)
        for word in words
        for stem in map(_fold, stems)
    )


_WORD_OF_ALL = r"(?:scores?|ratings?|rank|rank of|bewertung|wertung|note|nota|punkte|answer)"
_AROUND = re.compile(
    rf"^{_WORD_OF_ALL}[ _.:-]+|[ _.:-]+{_WORD_OF_ALL}$|\s*[(\[][0-9][^()\[\]]*[)\]]$|\.[a-z0-9]{{3,4}}$", re.IGNORECASE
)
_ALIKE = 3
"""So many words that all names begin or end with are a sentence around them."""


def without_outer(names: Sequence[str]) -> list[str]:
    """Names without what all have in common.

    It is a field around them, as in `scores.Opus`, a word or a scale as in `Opus_score` and `Opus (0-100)`, the ending
    of files, or the sentence of a question.
    """
    outer = {name.rpartition(".")[0] for name in names}
    inner = [name.rpartition(".")[2] for name in names] if len(outer) == 1 else list(names)
    around = {match[0].casefold() if (match := _AROUND.search(name)) else "" for name in inner}
    inner = [_AROUND.sub("", name, count=1) for name in inner] if len(around) == 1 else inner
    words = [name.split() for name in inner]
    first, last = (count_same([row[::step] for row in words]) for step in (1, -1))
    short = [" ".join(row[first : len(row) - last]).rstrip(" ?:.,") for row in words]
    is_sentence = first + last >= _ALIKE and all(short)
    return short if is_sentence else inner


def count_same(rows: Iterable[Iterable[str]]) -> int:
    """Count the first words, or letters, that all rows share."""
    return sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, zip(*rows, strict=False)))


# Names of columns that join two things: `Sentence 3 [Opus]`, `item3_Opus`, `Opus / fluency`.
_BRACKETED = re.compile(r"^(.*\S)\s*\[([^\[\]]+)\]$")
_JOINTS = (" / ", " | ", " - ", ": ", "::", "__", "_", "/", ".", "-", " ")


def find_joined(names: Sequence[str]) -> tuple[list[str], list[str]] | None:
    """Both parts of names that join two things, all with all; None where they do not."""
    for split in split_in_two(names):
        joined = cross(split)
        if joined is not None and len(joined) == len(names):
            return [first for first, _ in joined.values()], [second for _, second in joined.values()]
    return None


def cross(split: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]] | None:
    """The names of which each part comes with several others, if both parts are crossed; None where they are not."""
    left = dict(split)
    while True:
        often = [Counter(parts[side] for parts in left.values()) for side in (0, 1)]
        kept = {name: (one, two) for name, (one, two) in left.items() if often[0][one] > 1 and often[1][two] > 1}
        if len(kept) == len(left):
            break
        left = kept
    one, two = ({parts[side] for parts in left.values()} for side in (0, 1))
    whole = len(left) == len(set(left.values())) == len(one) * len(two)
    return left if whole and len(one) > 1 and len(two) > 1 else None


def split_in_two(names: Sequence[str]) -> Iterator[dict[str, tuple[str, str]]]:
    """The ways to take names apart: at brackets, or at the last or first of some sign."""
    yield {name: (match[1], match[2]) for name in names if (match := _BRACKETED.match(name))}
    for joint in _JOINTS:
        for cut in (str.rpartition, str.partition):
            parts = {name: cut(name, joint) for name in names if joint in name}
            yield {name: (first.strip(), second.strip()) for name, (first, _, second) in parts.items()}
