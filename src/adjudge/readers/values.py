"""What answers are worth as scores: words of a scale, percentages, marks out of five; which end is better."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import polars as pl

from adjudge.readers.columns import MISSING, plain
from adjudge.readers.headers import LOWER as LOWER_STEMS
from adjudge.readers.headers import has_stem, words_of
from adjudge.readers.parsing import SCORE_SCALE
from adjudge.table.errors import Source, UsageError, param, shown
from adjudge.table.protocols import ON_SCALE
from adjudge.table.wording import as_argument, counted, short_list

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from adjudge.readers.options import ReadOptions
    from adjudge.readers.parsing import BadRows

# Scales in words, from the worst answer, which is worth `first`; words between bars are worth the same.
_MIDDLE = "neutral|neither agree nor disagree|neither|undecided"
_FAIR = "fair|average|acceptable|ok|okay|neutral|medium|moderate|so-so|adequate"
_NO = (
    "no|false|n|nein|nee|non|ne|нет|否|いいえ|not acceptable|unacceptable|fail|failed|incorrect|wrong|falsch|faux|"
    "incorrecto|špatně|错误|不正确|不正解|inakzeptabel"
)
_YES = (
    "yes|true|y|ja|oui|sí|si|ano|да|是|はい|acceptable|pass|passed|correct|right|richtig|vrai|correcto|správně|正确|"
    "正解|akzeptabel"
)
SCALES: tuple[tuple[int, tuple[str, ...]], ...] = (
    (1, ("pessimo", "scarso|cattivo", "sufficiente|discreto", "buono", "ottimo")),
    (1, ("péssimo|muito ruim", "ruim|mau", "regular|razoável", "bom", "ótimo|muito bom")),
    (1, ("bardzo źle|bardzo zła", "źle|zła", "średnio|średnia", "dobrze|dobra", "bardzo dobrze|bardzo dobra")),
    (1, ("очень плохо", "плохо", "средне|удовлетворительно", "хорошо", "отлично|очень хорошо")),
    (1, ("매우 나쁨", "나쁨", "보통", "좋음", "매우 좋음")),
    (0, (_NO, _YES)),
    (0, ("👎|thumbs down|thumbs_down|down|dislike", "👍|thumbs up|thumbs_up|up|like")),
    (1, ("strongly disagree", "disagree", _MIDDLE, "agree", "strongly agree")),
    (1, ("trifft gar nicht zu|trifft überhaupt nicht zu|stimme gar nicht zu|stimme überhaupt nicht zu",
         "trifft eher nicht zu|trifft nicht zu|stimme eher nicht zu|stimme nicht zu",
         "teils/teils|teils teils|teils-teils|weder noch|neutral", "trifft eher zu|trifft zu|stimme eher zu|stimme zu",
         "trifft voll zu|trifft völlig zu|trifft voll und ganz zu|stimme voll zu|stimme voll und ganz zu")),
    (1, ("pas du tout d'accord", "pas d'accord|plutôt pas d'accord", "ni d'accord ni pas d'accord|neutre",
         "d'accord|plutôt d'accord", "tout à fait d'accord")),
    (1, ("totalmente en desacuerdo|muy en desacuerdo", "en desacuerdo", "neutral|ni de acuerdo ni en desacuerdo",
         "de acuerdo", "totalmente de acuerdo|muy de acuerdo")),
    (1, ("rozhodně nesouhlasím", "spíše nesouhlasím|nesouhlasím", "nevím|neutrální", "spíše souhlasím|souhlasím",
         "rozhodně souhlasím")),
    (1, ("非常不同意|完全不同意", "不同意", "中立|一般|不确定", "同意", "非常同意|完全同意")),
    (1, ("全くそう思わない|まったくそう思わない", "そう思わない|あまりそう思わない",
         "どちらともいえない|どちらでもない", "そう思う|ややそう思う", "とてもそう思う|非常にそう思う|強くそう思う")),
    (1, ("😡|😠|😭", "🙁|☹|☹️|😕|😟", "😐|😶", "🙂|😊|😀|😃", "😍|😄|🤩|😁")),
    (1, ("strongly disagree", "disagree", "somewhat disagree|slightly disagree", _MIDDLE,
         "somewhat agree|slightly agree", "agree", "strongly agree")),
    (1, ("bad", "poor", "fair", "good", "excellent")),
    (1, ("very poor", "poor", _FAIR, "good", "very good|excellent")),
    (1, ("extremely bad", "somewhat bad", "neither good nor bad", "somewhat good", "extremely good")),
    (1, ("very bad|terrible|awful", "bad", _FAIR, "good", "very good|excellent|great|perfect")),
    (1, ("poor", "fair", "good", "very good", "excellent")),
    (1, ("very dissatisfied", "dissatisfied", _MIDDLE, "satisfied", "very satisfied")),
    (1, ("very low", "low", "medium|moderate|average|neutral", "high", "very high")),
    (1, ("never", "rarely", "sometimes", "often", "always")),
    (1, ("none|not at all", "slightly|a little", "moderately|somewhat", "very|mostly", "extremely|completely")),
    (1, ("sehr schlecht", "schlecht", "mittel|mittelmäßig|befriedigend|neutral", "gut", "sehr gut")),
    (1, ("très mauvais", "mauvais", "moyen|passable", "bon", "très bon|excellent")),
    (1, ("muy malo", "malo", "regular", "bueno", "muy bueno|excelente")),
    (1, ("velmi špatné|velmi špatně", "špatné|špatně", "průměrné|průměrně", "dobré|dobře", "velmi dobré|velmi dobře")),
    (1, ("很差|非常差", "差|较差", "一般|中等", "好|较好", "很好|非常好")),
    (1, ("とても悪い|非常に悪い", "悪い", "普通|どちらでもない", "良い", "とても良い|非常に良い")),
    (0, ("f", "d", "c", "b", "a")),
    (0, ("f", "e", "d", "c", "b", "a")),
)  # fmt: skip
# Numbers with something besides: 45%, 4/5, 4 out of 5, 5 - excellent, (3) fair; and stars.
_DRESSED = re.compile(
    r"^\(?([+-]?[0-9]+(?:[.,][0-9]+)?)\)?\s*(?:%|(?:/|out of|von|sur|de|su|van|z|из|av)\s*[0-9]+|"
    r"(?:stars?|points?|[-–—:.=(,]|\s)\s*[^0-9]*)$|^[^0-9(]+\(([0-9]{1,2})\)$",
    re.IGNORECASE,
)
_STARS = re.compile("^(★+)☆*$|^(⭐+)$")
_ONE_NUMBER = re.compile(r"^[\[{][^0-9]*?([+-]?[0-9]+(?:\.[0-9]+)?)[^0-9.]*$")
# Short words in headers whose numbers are the better the lower they are; `headers.py` has the stems of longer ones.
LOWER = ("hter", "ter", "wer", "cer", "mer", "mcd", "edits", "cost")

# The usual way to show standardised scores, and beyond what nothing is one.
Z_MEAN, Z_DEVIATION, LARGEST_Z = 50, 10, 5
SMALL_SCALE, ROUND_SCALES = 10, (1000, 10_000)


_SIGNS = {"--": 1.0, "-": 2.0, "0": 3.0, "o": 3.0, "+/-": 3.0, "±": 3.0, "+": 4.0, "++": 5.0}


def parse_values(given: Sequence[str]) -> dict[str, float]:
    """`("good=3", ...)` as the worth of every word."""
    worth: dict[str, float] = {}
    for entry in given:
        word, equals, number = (part.strip() for part in entry.rpartition("="))
        try:
            worth[plain(word)] = float(number)
        except ValueError:
            equals = ""
        if not equals or not word:
            raise UsageError(f"{param('values')} has '{shown(entry)}', WORD=NUMBER is needed, as in good=3")
    return worth


def parse_scale(scale: Sequence[str]) -> tuple[float, float] | None:
    """`("1", "5")` as the lowest and the highest score; None where none is given."""
    if not scale:
        return None
    try:
        low, high = map(float, scale)
    except ValueError:
        low = high = 0.0
    if not low < high:
        raise UsageError(f"{param('scale')} is '{shown(','.join(scale))}', LOW,HIGH is needed, as in 1,5")
    return low, high


def replace_words(scores: pl.Series, options: ReadOptions, source: Source, header: str) -> tuple[pl.Series, list[str]]:
    """Scores that are written in words as numbers in text, and a note on what each word is worth.

    Words that no scale has are refused with the option that says their worth; a few among numbers stay broken cells.
    """
    said = parse_values(options.values)
    different = scores.unique(maintain_order=True).drop_nulls().str.strip_chars().unique(maintain_order=True)
    # Among plus signs, a minus is an answer.
    signs = {*different} <= {*_SIGNS} and {"+", "++"} & {*different}
    cells = [word for word in different if signs or word.casefold() not in MISSING]
    others = [word for word in cells if plain(word) not in said and not _is_number(word)]
    if not others and not said:
        return scores, []
    words = scores.str.strip_chars()
    strange = words.is_in(others).sum()
    worth = {word: said[plain(word)] for word in cells if plain(word) in said} | _read_dressed(others)
    if signs and not said:
        worth = {word: _SIGNS[word] for word in cells}
    left = [word for word in others if word not in worth]
    scale = _find_scale(left) if not said else None
    if scale is not None and len(left) == len(cells):
        worth |= scale
    elif left and strange > len(words) / 2 and len(left) > 1:
        column = source.column("score", 0)
        example = as_argument([*options.values, *(f"{word}=NUMBER" for word in left[:8])])
        held = short_list([shown(word, 20) for word in left])
        what = f"column '{shown(header if column == 'score' else column)}' holds words ({held})"
        raise source.fault(f"{what}, numbers are needed; say what they are worth, as {param('values')} {example}")
    if not worth:
        return scores, []
    by_worth = sorted(worth, key=lambda word: (worth[word], word))
    shown_worth = short_list([f"{shown(word, 20)} = {worth[word]:g}" for word in by_worth])
    note = f"scores in words are taken for numbers: {shown_worth}; --values says otherwise"
    return words.replace({word: f"{number:g}" for word, number in worth.items()}), [note]


def _is_number(word: str) -> bool:
    """Whether a cell is a number, or would be but for commas, of which others take care."""
    try:
        float(word.replace(",", ""))
    except ValueError:
        return False
    return True


def _read_dressed(words: Sequence[str]) -> dict[str, float]:
    """The numbers of `45%`, `4/5`, `5 - excellent`, stars and `[{"rating": 4}]`, if all words are such."""
    worth: dict[str, float] = {}
    for word in words:
        if stars := _STARS.match(word):
            worth[word] = len(stars[1] or stars[2])
        elif inside := _ONE_NUMBER.match(word):
            worth[word] = float(inside[1])
        elif (number := _DRESSED.match(word)) and not re.fullmatch(r"[+-]?[0-9]+[.,][0-9.,]+", word):
            worth[word] = float((number[1] or number[2]).replace(",", "."))
    return worth if len(worth) == len(words) else {}


def _find_scale(words: Sequence[str]) -> dict[str, float] | None:
    """The worth of words on the first scale that has them all; one word alone says nothing of its scale."""
    for first, steps in SCALES if len(words) > 1 else ():
        worth: dict[str, float] = {
            word.casefold(): first + step for step, same in enumerate(steps) for word in same.split("|")
        }
        if first == 0 and "f" in worth:
            # Letter grades with a sign are worth a little more, or less.
            worth |= {f"{word}{sign}": worth[word] + by for word in "dcba" for sign, by in (("+", 0.3), ("-", -0.3))}
        if all(word.casefold() in worth for word in words):
            return {word: float(worth[word.casefold()]) for word in words}
    return None


def is_scale(words: pl.Series) -> bool:
    """Whether words are all answers on one of the usual scales, or stars."""
    cells = [word for word in words.unique() if word.casefold() not in MISSING]
    dressed = [word for word in cells if not _is_number(word)]
    return len(cells) > 1 and (_find_scale(cells) is not None or len(_read_dressed(dressed)) == len(cells))


_STANDARDISED = re.compile(r"(?<![a-z])(z|z[ _-]?scores?|z[ _-]?wert|standardi[sz]ed)(?![a-z])", re.IGNORECASE)


def says_standardised(header: str) -> bool:
    """Whether a header says that numbers are standardised: `z`, `z_score`, `score.z`, `Z-Wert`."""
    return _STANDARDISED.search(header) is not None


# What statistics programs write where nothing was answered; they take care that it is no answer.
_MARKS = (-9.0, -99.0, -999.0, -9999.0, 99.0, 999.0, 9999.0)


def empty_marks(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The frame without scores such as -99 far from all others, and a note: they mark that nobody answered.

    All others are 0 or more, and if the mark is above them, whole numbers of a small scale.
    """
    scores = frame["score"] if "score" in frame.columns else pl.Series([], dtype=pl.Float64)
    different = scores.drop_nulls().unique().sort().to_list()
    far = [different[place] for place in (0, -1) if len(different) > 2 and different[place] in _MARKS]
    others = [score for score in different if score not in far]
    small = all(score.is_integer() for score in others) and max(others, default=0) <= SMALL_SCALE
    if len(far) != 1 or min(others) < 0 or (far[0] > 0 and not small):
        return frame, []
    rows = int((scores == far[0]).sum())
    marked = f"{far[0]:g} stands for no answer in {rows:,} of {counted(len(scores), 'row')}"
    return frame.with_columns(pl.when(pl.col("score") != far[0]).then("score").alias("score")), [marked]


def name_protocol(frame: pl.DataFrame, header: str) -> tuple[pl.DataFrame, list[str]]:
    """The frame with the protocol `mqm` where the header says so and points are lost, so that none is above 0."""
    scores = frame["score"] if "score" in frame.columns else pl.Series([], dtype=pl.Float64)
    lost = (scores < 0).any() and not (scores > 0).any()
    if "protocol" in frame.columns or not lost or "mqm" not in words_of(header):
        return frame, []
    note = f"'{shown(header)}' is taken for points lost in MQM, since none is above 0"
    return frame.with_columns(pl.lit("mqm").alias("protocol")), [note]


_AT_SCHOOL, _BEST_MARK, _WORST_MARK = ("schulnote", "známk", "zensur"), 1, 6
"""Marks at schools of which 1 is the best."""


def says_lower(header: str, scores: pl.Series) -> bool:
    """Whether a header says that lower numbers are better: `Error count`, `HTER`; of marks the numbers say it, too."""
    said = least_is_best(header)
    if said is not None:
        return said
    named = bool({*words_of(header), plain(header)} & set(LOWER)) or has_stem(header, LOWER_STEMS)
    return named or (has_stem(header, _AT_SCHOOL) and are_marks(scores))


def are_marks(scores: pl.Series) -> bool:
    """Whether numbers may be marks at school."""
    numbers = scores.cast(pl.String).str.replace(",", ".").cast(pl.Float64, strict=False).drop_nulls()
    return bool(numbers.is_between(_BEST_MARK, _WORST_MARK).all())


_END = (
    r"(best|beste|besser|top|excellent|sehr gut|meilleur|mejor|nejlepší|最好|最良|"
    r"worst|schlecht\w*|pire|peor|nejhorší|最差)"
)
_ENDS = re.compile(rf"([0-9]+)\s*(?:=|is|:|ist|→)?\s*{_END}|{_END}\s*(?:=|is|:|ist)\s*([0-9]+)", re.IGNORECASE)
_LOWER_IN_WORDS = ("lower is better", "less is better", "niedriger ist besser", "weniger ist besser", "menos es mejor")
_WORST = ("worst", "schlecht", "pire", "peor", "nejhorší", "最差")
# German marks are called like French scores, but 1 is the best of them.
_GERMAN = ("satz", "bewerter", "bewerterin", "prüfer", "prüferin", "gutachter", "lehrer", "lehrerin", "übersetzung")


def least_is_best(header: str) -> bool | None:
    """Whether a header says that the lowest number is the best, as `Rank (1 = best)`; None where it does not say."""
    if any(words in header.casefold() for words in _LOWER_IN_WORDS):
        return True
    found = _ENDS.search(header)
    if found is None:
        return None
    number, end = int(found[1] or found[4]), (found[2] or found[3]).casefold()
    return (number <= 1) != end.startswith(_WORST)


def refuse_turned_ranks(header: str, source: Source) -> None:
    """Refuse ranks of which the header says that the highest is the best."""
    if least_is_best(header) is False:
        what = f"takes '{shown(header)}' for the rank, of which 1 is the best, but the header says otherwise"
        raise source.fault(f"{what}; say {param('columns')} {as_argument([f'score={header}'])}")


def refuse_lower(frame: pl.DataFrame, columns: Mapping[str, str], options: ReadOptions, source: Source) -> None:
    """Refuse scores whose header says that lower is better, unless the user says so too."""
    header = columns.get("score", "score")
    scores = frame[header] if header in frame.columns else pl.Series(dtype=pl.Float64)
    if "rank" in columns:
        refuse_turned_ranks(columns["rank"], source)
    is_mark = plain(header) in ("note", "noten") and set(_GERMAN) & set(map(plain, columns.values()))
    if ((is_mark and are_marks(scores)) or says_lower(header, scores)) and not options.lower_is_better:
        what = f"takes '{shown(header)}' for the score, of which lower seems to be better"
        raise source.fault(f"{what}; add {param('lower_is_better')}, or rename the column if higher is better")


def show_standardised(frame: pl.DataFrame, options: ReadOptions) -> tuple[pl.DataFrame, list[str]]:
    """Standardised scores with mean 50 and standard deviation 10, so that they lie on the scale of scores."""
    scores = frame["score"].drop_nulls()
    if options.scale or not (scores < 0).any() or (scores.abs() > LARGEST_Z).any():
        return frame, []
    shown_as = f"z-scores are shown as {Z_MEAN} + {Z_DEVIATION} times the number in the file"
    return frame.with_columns((pl.col("score") * Z_DEVIATION + Z_MEAN).alias("score")), [shown_as]


def propose_scale(scores: pl.Series) -> str:
    """The scale on which scores seem to lie, as the option that says it."""
    given = scores.filter(scores.is_finite()).to_list() or [0]
    low, high = math.floor(min(given)), math.ceil(max(given))
    if high <= 0:
        return f"{param('scale')}={min(low, -1)},0"
    if low < 0 < high and max(-low, high) <= SMALL_SCALE:
        low, high = -max(-low, high), max(-low, high)
    elif low >= 0:
        low, high = 0, next((top for top in ROUND_SCALES if high <= top), high)
    return f"{param('scale')}={low},{high}"


def put_on_scale(frame: pl.DataFrame, options: ReadOptions, bad: BadRows) -> tuple[pl.DataFrame, list[str]]:
    """Scores so that higher is better, and on 0 to 100 where the user's scale goes beyond that.

    Args:
        frame: the table with its columns `score` and `protocol` in their types.
        options: the scale, and whether lower is better.
        bad: where scores off the scale are recorded.
    """
    scale, notes, score = parse_scale(options.scale), [], pl.col("score")
    if not frame["score"].is_not_null().any():
        option = param("scale" if scale else "lower_is_better")
        raise UsageError(f"{option} is for scores, which this table does not have; leave it out")
    low, high = scale or SCORE_SCALE
    if scale is not None:
        off = ~frame["score"].is_between(low, high)
        what = f"it must lie on the scale from {low:g} to {high:g}; correct it, or {param('scale')}"
        bad.mark(off, lambda row: f"score is {frame['score'][row]:g}, {what}", "score off the scale")
    on_scale = pl.col("protocol").is_in(list(ON_SCALE)) | pl.lit(scale is not None)
    if options.lower_is_better:
        turned = pl.when(on_scale).then(low + high - score).otherwise(-score)
        frame = frame.with_columns(turned.alias("score"))
        how = f"{low + high:g} minus the score in the file" if frame.select(on_scale.any()).item() else "negative"
        notes.append(f"lower scores are better, so they are shown as {how}")
    if low < SCORE_SCALE[0] or high > SCORE_SCALE[1]:
        frame = frame.with_columns(((score - low) / (high - low) * SCORE_SCALE[1]).alias("score"))
        notes.append(f"scores from {low:g} to {high:g} are shown on a scale from 0 to {SCORE_SCALE[1]:g}")
    return frame, notes
