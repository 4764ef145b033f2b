"""Relative rankings as the translation workshops release them since 2010: a row is a block of up to five systems.

The header decides: any number of `systemNId`/`systemNrank` columns. Where a `rankingID` is given and its rows are all
pairs of one block (as in later years), the block is put together again. A rank of -1 was left blank and becomes null;
the system called `blank` pads a block and is set aside. A name that joins others of the same file by `+` or a comma
stands for systems with the same output: each of them gets the rank.

Where and by whom a row was judged stands in the same columns in the workshops' files of edits and acceptability, whose
readers ask here.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from adjudge.readers import parsing
from adjudge.readers.columns import USUAL_LABELS, parse_ranks, scale_of
from adjudge.table.errors import InputError, Source, param, shown
from adjudge.table.files import read_text
from adjudge.table.judgments import ColumnUse, Judgments, SetAside, concat, language_codes
from adjudge.table.languages import UNKNOWN, is_language, language_code
from adjudge.table.participants import human_columns
from adjudge.table.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from adjudge.readers.options import ReadOptions


PADDING = "blank"
_NAME = re.compile(r"system[ _]?([0-9]{1,9})[ _]?(?:id|name)")
_RANK = re.compile(r"system[ _]?([0-9]{1,9})[ _]?rank")
CONTEXT = ("source_lang", "target_lang", "document", "segment", "annotator")
ANNOTATOR = ("judgeId", "annotatorId", "judge", "annotator", "user", "worker")


def read_wmt_rankings(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; each becomes a campaign named after it."""
    return parsing.read_each(paths, options, _read_file)


def _read_file(path: Path, campaign: str, options: ReadOptions) -> Judgments:
    table = parsing.read_delimited(path, None, options=options)
    if not table.rows:
        raise InputError("holds a header but no ranking; check that the file is complete", file=path)
    ranking = clear_unused(table.texts(table.find("rankingId"))).alias("ranking")
    rows = context_columns(table, options, annotator=ANNOTATOR).with_columns(ranking)
    notes = [f"{path.name} does not say who judged"] if rows["annotator"].is_null().all() else []
    slots = _slots(table)
    labels, set_aside = _read_labels(table, slots, options)
    bad, row_notes = table.bad.settle()
    labels, shared = _one_label_per_system(labels, rows)
    labels = _add_blocks(labels, rows)
    if labels.height == 0:
        raise InputError("holds no label of any system; check that the file is complete", file=path)
    columns = rows[labels["row"]].select(*CONTEXT).with_columns(
        labels["system"],
        labels["rank"],
        labels["block"].rank("dense").cast(pl.String).alias("screen"),
        campaign=pl.lit(campaign),
        protocol=pl.lit("ranking"),
        **human_columns(labels["system"], options.human),
    )  # fmt: skip
    taken: dict[str, int | list[int] | None] = {
        **context_uses(table, annotator=ANNOTATOR),
        "system": [name for name, _ in slots],
        "rank": [rank for _, rank in slots],
        "screen": table.find("rankingId"),
    }
    return Judgments.from_columns(
        columns,
        set_aside=[*bad, *set_aside],
        notes=[*notes, *row_notes, *shared],
        source=str(path),
        uses=parsing.column_uses(path, table.header, taken),
    )


def _read_labels(
    table: parsing.Delimited, slots: Sequence[tuple[int, int]], options: ReadOptions
) -> tuple[pl.DataFrame, list[SetAside]]:
    """One row per output shown, in the order shown."""
    scale = scale_of(options, max(len(slots), USUAL_LABELS))
    parts = []
    for name, rank in slots:
        system = table.texts(name)
        ranks = parse_ranks(table.texts(rank), scale=scale, bad=table.bad)
        parts.append(pl.DataFrame({"system": system, "rank": ranks}).with_row_index("row"))
    labels = pl.concat(parts).sort("row", maintain_order=True)
    labels = labels.filter(~pl.col("row").is_in(list(table.bad.problems)))
    nameless, padding = pl.col("system") == "", pl.col("system") == PADDING
    set_aside = [
        SetAside(f"padding: the system called '{PADDING}'", labels.filter(padding).height),
        SetAside("place in a block without a system", labels.filter(nameless).height),
    ]
    return labels.filter(~nameless & ~padding), set_aside


def _slots(table: parsing.Delimited) -> list[tuple[int, int]]:
    """The places of (name, rank) of every output shown."""
    folded = [name.casefold() for name in table.header]
    names, ranks = (
        {int(match[1]): index for index, name in enumerate(folded) if (match := shape.fullmatch(name))}
        for shape in (_NAME, _RANK)
    )
    if not names:
        table.need("system1Id")
    for number in sorted(names.keys() ^ ranks.keys()):
        # A misspelt header would lose all that stands in its partner's column.
        table.need(f"system{number}rank" if number in names else f"system{number}Id")
    return [(names[number], ranks[number]) for number in sorted(names)]


def _one_label_per_system(labels: pl.DataFrame, rows: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Take names such as `a+b` apart where `a` and `b` are systems of the same language pair on their own."""
    joined = labels["system"].str.contains("[+,]")
    if not joined.any():
        return labels, []
    languages = rows.select(pl.concat_str("source_lang", pl.lit(" "), "target_lang").alias("pair"))["pair"]
    labels = labels.with_columns(languages.gather(labels["row"]).alias("pair"))
    alone = set(labels.filter(~joined).select("pair", "system").unique().rows())
    parts: dict[tuple[str, str], list[str]] = {}
    for pair, name in labels.filter(joined).select("pair", "system").unique(maintain_order=True).rows():
        systems = [system.strip() for system in re.split("[+,]", name)]
        if all((pair, system) in alone for system in systems):
            parts[pair, name] = systems
    if not parts:
        return labels.drop("pair"), []
    shared = [parts.get(key, [key[1]]) for key in labels.select("pair", "system").rows()]
    count = sum(len(systems) > 1 for systems in shared)
    example = next(name for _, name in parts)
    are = agreeing(count, "is", "are")
    note = f"{counted(count, 'output')} that systems share, such as '{example}', {are} counted for each of the systems"
    return labels.drop("pair").with_columns(pl.Series("system", shared)).explode("system"), [note]


def _add_blocks(labels: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Add `block`: the first row of the ranking that a pair belongs to, or the row itself.

    Pairs are put together where the file says which they are, all of them are there, and they agree on the ranks.
    """
    if rows["ranking"].is_null().all():
        return labels.with_columns(pl.col("row").alias("block"))
    first = rows.with_row_index("row").select(
        "row", pl.col("row").min().over([*CONTEXT, "ranking"]).alias("first"), ranked=pl.col("ranking").is_not_null()
    )
    labels = labels.join(first, on="row", how="left", maintain_order="left")
    whole = _find_whole_rankings(labels.filter("ranked"))
    labels = labels.with_columns(whole=pl.col("first").is_in(whole.implode()) & pl.col("ranked"))
    labels = labels.with_columns(block=pl.when("whole").then("first").otherwise("row"))
    again = pl.col("whole") & pl.struct("block", "system").is_first_distinct().not_()
    return labels.filter(~again).sort("block", maintain_order=True)


def _find_whole_rankings(labels: pl.DataFrame) -> pl.Series:
    """The rankings (by their first row) whose rows are every pair of their systems once, each system with one rank."""
    pairs = labels.group_by("first", "row").agg(
        pl.len().alias("size"), pl.col("system").min().alias("low"), pl.col("system").max().alias("high")
    )
    shape = pairs.group_by("first").agg(
        pl.len().alias("pairs"),
        pl.struct("low", "high").n_unique().alias("distinct"),
        ((pl.col("size") == 2) & (pl.col("low") != pl.col("high"))).all().alias("all_pairs"),
    )
    systems = labels.group_by("first").agg(
        pl.col("system").n_unique().alias("systems"), pl.struct("system", "rank").n_unique().alias("labels")
    )
    wanted = pl.col("systems") * (pl.col("systems") - 1) // 2
    return (
        shape.join(systems, on="first")
        .filter(pl.col("all_pairs"), pl.col("labels") == pl.col("systems"))
        .filter(pl.col("pairs") == wanted, pl.col("distinct") == wanted)["first"]
    )


def context_uses(table: parsing.Delimited, *, annotator: tuple[str, ...]) -> dict[str, int | None]:
    """The index of every column of `CONTEXT` in a file."""
    segment = table.find("srcIndex")
    return {
        "source_lang": table.find("srclang", "source_lang"),
        "target_lang": table.find("trglang", "tgtlang", "target_lang"),
        "document": table.find("documentId"),
        "segment": table.need("segmentId") if segment is None else segment,
        "annotator": table.find(*annotator),
    }


def context_columns(table: parsing.Delimited, options: ReadOptions, *, annotator: tuple[str, ...]) -> pl.DataFrame:
    """The columns of `CONTEXT`, one row per row of the file; `annotator` lists the names that column may have."""
    columns = context_uses(table, annotator=annotator)
    source, target = columns["source_lang"], columns["target_lang"]
    if source is None or target is None:
        languages = [
            pl.repeat(code, len(table.rows), dtype=pl.String, eager=True)
            for code in parsing.pair_of(table.path, options)
        ]
    else:
        languages = [language_codes(table.texts(column)) for column in (source, target)]
    return pl.DataFrame(
        {
            "source_lang": languages[0],
            "target_lang": languages[1],
            "document": clear_unused(table.texts(columns["document"])),
            "segment": table.texts(columns["segment"]),
            "annotator": clear_unused(table.texts(columns["annotator"])),
        }
    )


def clear_unused(texts: pl.Series) -> pl.Series:
    """Null where a file does not use a column, which it then fills with nothing or with -1."""
    return pl.select(pl.when(~texts.is_in(["", "-1"])).then(texts)).to_series()


# The first releases of the translation workshops: one file with judgments of many types, distinguished by `TYPE`.
# Rows are shorter than the header where fewer systems were shown. `TASK` names campaign, language pair and domain in
# one string (`WMT09 Czech-English News`); what remains of it without the pair becomes the campaign, so that the test
# sets of one pair are not pooled. Rows of type `RANK` become blocks, the other types are set aside and counted by
# type. `TIME` is that of the whole block: each of its systems gets an equal share.

RANKING = "RANK"
_CUT = "row of another length than the header"
_LEADING = ("TASK", "TYPE", "ITEM_ID", "ANNOTATOR_ID", "TIME")
_LEADING_LATER = ("JUDGEMENT_ID", "TASK", "TYPE", "ITEM_ID", "ANNOTATOR_ID", "ANNOTATOR_TYPE_COUNT", "TIME")
_SYSTEMS = tuple(
    f"{name}_{i}{end}" for i in range(USUAL_LABELS) for name, end in (("SYSTEM", ""), ("SCORE", "_A"), ("SCORE", "_B"))
)


class Task(NamedTuple):
    """What a `TASK` string says: campaign with domain, and the two languages."""

    campaign: str
    source_lang: str
    target_lang: str


def read_wmt_rankings_2007(paths: Sequence[Path], options: ReadOptions) -> Judgments:
    """Read the files; the campaign is what `TASK` says besides the language pair."""
    files = parsing.files_in(paths)
    screens = parsing.campaign_names(files) if len(files) > 1 else [""]
    return concat([_read_file_of_2007(path, prefix, options) for path, prefix in zip(files, screens, strict=True)])


def parse_task(text: str) -> Task:
    """Take a `TASK` string apart at the hyphen between two languages, which may have names of several words."""
    words = text.strip()
    for hyphen in re.finditer("-", words):
        before, after = words[: hyphen.start()].split(), words[hyphen.end() :].split()
        for left, right in _possible_lengths(len(before), len(after)):
            source, target = " ".join(before[-left:]), " ".join(after[:right])
            if is_language(source) and is_language(target):
                other_words = " ".join([*before[:-left], *after[right:]])
                return Task(other_words, language_code(source), language_code(target))
    return _parse_half_known(words)


def _possible_lengths(before: int, after: int) -> Iterator[tuple[int, int]]:
    """List how many words the two languages may have, the longest names first."""
    return ((left, right) for left in range(min(3, before), 0, -1) for right in range(min(3, after), 0, -1))


def _parse_half_known(words: str) -> Task:
    """A pair of which one language is known is still a pair; without any, the whole string is the campaign."""
    for match in re.finditer(r"(?<!\S)([^\s-]+)-([^\s-]+)(?!\S)", words):
        if is_language(match[1]) or is_language(match[2]):
            other_words = f"{words[: match.start()]} {words[match.end() :]}"
            return Task(" ".join(other_words.split()), language_code(match[1]), language_code(match[2]))
    return Task(words, UNKNOWN, UNKNOWN)


def _read_file_of_2007(path: Path, prefix: str, options: ReadOptions) -> Judgments:
    text = read_text(path)
    if not text.strip():
        raise InputError("is empty; judgments with TASK and TYPE are needed", file=path)
    header, rows, bad = _read_rows(text, path, options)
    types = Counter(fields[header["TYPE"]] for row, (_, fields) in enumerate(rows) if row not in bad.problems)
    if not rows:
        raise InputError("holds a header but no judgment; check that the file is complete", file=path)
    rankings = [row for row, (_, fields) in enumerate(rows) if fields[header["TYPE"]] == RANKING]
    if not rankings:
        bad.settle()
        existing = shown(", ".join(sorted(types)))
        raise InputError(f"holds no row of type {RANKING}, only {existing}; check {param('format')}", file=path)
    labels, nameless = _read_labels_of_2007(header, rows, rankings, bad, options)
    spoilt, row_notes = bad.settle()
    if labels.height == 0:
        raise InputError(f"holds rows of type {RANKING} without any system; check {param('format')}", file=path)
    columns, notes = _add_tasks(labels)
    # Rankings of one system compare nothing.
    if alone := labels.group_by("screen").len().filter(pl.col("len") < 2).height:
        one, several = "ranking names one system only; it may be cut", "rankings name one system only; they may be cut"
        notes.append(f"{counted(alone, one, several)}, and {agreeing(alone, 'compares', 'compare')} nothing")
    columns = columns.with_columns(
        screen=pl.lit(f"{prefix}:" if prefix else "") + pl.col("screen"),
        protocol=pl.lit("ranking"),
        **human_columns(labels["system"], options.human),
    )
    others = sorted((name, count) for name, count in types.items() if name != RANKING)
    set_aside = [SetAside(f"not a ranking: type {shown(name)}", count) for name, count in others]
    set_aside += [*spoilt, SetAside("rank without a system", nameless)]
    uses = _list_uses(header, path)
    return Judgments.from_columns(columns, set_aside=set_aside, notes=[*notes, *row_notes], source=str(path), uses=uses)


def _list_uses(header: dict[str, int], path: Path) -> tuple[ColumnUse, ...]:
    def named(pattern: str) -> list[int]:
        return [index for name, index in header.items() if re.fullmatch(pattern, name)]

    by_index = {index: name for name, index in header.items()}
    names = [by_index.get(index, "") for index in range(max(by_index) + 1)]
    taken = {
        "campaign, source_lang, target_lang": header["TASK"],
        "which rows are rankings": header["TYPE"],
        "segment": header["ITEM_ID"],
        "annotator": header["ANNOTATOR_ID"],
        "active_seconds": header.get("TIME"),
        "system": named(r"SYSTEM_\d{1,3}"),
        "rank": named(r"SCORE_\d{1,3}_A"),
    }
    return parsing.column_uses(path, names, taken)


def _add_tasks(labels: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """Replace `task_name` by the campaign and the languages that it names."""
    tasks = {name: parse_task(name) for name in labels["task_name"].unique(maintain_order=True)}
    columns = [
        labels["task_name"].replace_strict(list(tasks), meanings, return_dtype=pl.String).alias(column)
        for column, meanings in zip(Task._fields, zip(*tasks.values(), strict=True), strict=True)
    ]
    unknown = [name for name, task in tasks.items() if task.source_lang == task.target_lang == UNKNOWN]
    notes = [f"no language pair found in TASK '{shown(name)}'" for name in unknown]
    return labels.drop("task_name").with_columns(columns), notes


def _read_rows(
    text: str, path: Path, options: ReadOptions
) -> tuple[dict[str, int], list[tuple[int, list[str]]], parsing.BadRows]:
    """The places of the columns, the rows filled up to the length of the header, and those that cannot be used."""
    delimiter = parsing.detect_delimiter(text)
    rows = [(number, _split_line(line, delimiter, path, number)) for number, line in parsing.numbered_lines(text)]
    names = [name.upper() for name in rows[0][1]]
    if "TASK" in names and "TYPE" in names:
        rows = rows[1:]
    else:
        names = _choose_header(rows[0][1], path)
    header = {name: index for index, name in reversed(list(enumerate(names)))}
    for name in ("TASK", "TYPE", "ITEM_ID", "ANNOTATOR_ID", "SYSTEM_0", "SCORE_0_A"):
        if name not in header:
            raise InputError(f"has no column '{name}'; check {param('format')}", file=path, line=1)
    _refuse_unpaired(header, path)
    bad = parsing.BadRows(Source(str(path), lambda row: rows[row][0]), options, len(rows))
    return header, [(line, _fit_to_header(fields, header, bad, row)) for row, (line, fields) in enumerate(rows)], bad


def _refuse_unpaired(header: dict[str, int], path: Path) -> None:
    """A misspelt header would lose all that stands in its partner's column."""
    systems = {match[1] for name in header if (match := re.fullmatch(r"SYSTEM_(\d{1,3})", name))}
    scores = {match[1] for name in header if (match := re.fullmatch(r"SCORE_(\d{1,3})_A", name))}
    for number in sorted(systems ^ scores):
        missing = f"SCORE_{number}_A" if number in systems else f"SYSTEM_{number}"
        raise InputError(f"has no column '{missing}'; check the header and {param('format')}", file=path, line=1)


def _fit_to_header(fields: list[str], header: dict[str, int], bad: parsing.BadRows, row: int) -> list[str]:
    """A row as long as the header. Only in rankings too long a row is a fault: other types end in free text."""
    length = max(header.values()) + 1
    kind = fields[header["TYPE"]] if len(fields) > header["TYPE"] else None
    # A row that ends in the name of a system was cut before its rank.
    ends = {header["TYPE"], *(index for name, index in header.items() if name.startswith("SYSTEM_"))}
    if kind is None or (kind == RANKING and len(fields) - 1 in ends and fields[-1]):
        bad.row(row, f"only {counted(len(fields), 'field')}; the file may be cut", _CUT)
    if kind == RANKING and len(fields) > length:
        problem = f"{counted(len(fields), 'field')} where the header has {length}"
        bad.row(row, f"{problem}; the file may be damaged or not what {param('format')} says", _CUT)
        fields = fields[:length]
    return fields + [""] * (length - len(fields))


def _split_line(line: str, delimiter: str, path: Path, number: int) -> list[str]:
    """One line's fields. No field spans lines, so a quote without its partner is an ordinary character."""
    if delimiter != "," or line.count('"') % 2 or '"' not in line:
        return [field.strip() for field in line.split(delimiter)]
    try:
        return [field.strip() for field in next(csv.reader([line]))]
    except csv.Error as fault:
        raise InputError(f"cannot be read as a table ({fault}); check quotes", file=path, line=number) from fault


def _choose_header(fields: list[str], path: Path) -> list[str]:
    """The header of a file without one, recognised by where the type stands."""
    for leading in (_LEADING, _LEADING_LATER):
        index = leading.index("TYPE")
        if len(fields) > index and re.fullmatch(r"[A-Z][A-Z_]+", fields[index]):
            return [*leading, *_SYSTEMS, "EXTRA"]
    raise InputError(f"has no header with TASK and TYPE; check {param('format')}", file=path, line=1)


def _read_labels_of_2007(
    header: dict[str, int],
    rows: list[tuple[int, list[str]]],
    rankings: list[int],
    bad: parsing.BadRows,
    options: ReadOptions,
) -> tuple[pl.DataFrame, int]:
    """One row per output shown, and how many ranks were given to no system."""
    numbers = sorted(int(match[1]) for name in header if (match := re.fullmatch(r"SYSTEM_(\d{1,3})", name)))
    frame = pl.DataFrame(
        {name: [fields[index] for _, fields in rows] for name, index in header.items()},
        schema=dict.fromkeys(header, pl.String),
    )
    ranking = pl.int_range(frame.height, eager=True).is_in(rankings)
    seconds = _parse_seconds(frame["TIME"], ranking, bad) if "TIME" in header else pl.lit(None, dtype=pl.Float64)
    scale = scale_of(options, max(len(numbers), USUAL_LABELS))
    parts = []
    for number in numbers:
        # Rows of other types hold other things in the same columns.
        ranks = frame.select(pl.when(ranking).then(f"SCORE_{number}_A")).to_series()
        parts.append(
            frame.select(
                pl.col("TASK").alias("task_name"),
                pl.col("ITEM_ID").alias("segment"),
                pl.col("ANNOTATOR_ID").alias("annotator"),
                seconds.alias("active_seconds"),
                pl.int_range(pl.len()).alias("row"),
                pl.col(f"SYSTEM_{number}").alias("system"),
                (pl.col(f"SCORE_{number}_A") != "").alias("labelled"),
                parse_ranks(ranks, scale=scale, bad=bad),
            ).filter(ranking)
        )
    return _drop_nameless(pl.concat(parts).sort("row", maintain_order=True), bad)


def _drop_nameless(labels: pl.DataFrame, bad: parsing.BadRows) -> tuple[pl.DataFrame, int]:
    """The labels that name a system, each with its share of the block's time, and how many ranks name none."""
    labels = labels.with_columns((pl.col("row").rank("dense")).cast(pl.String).alias("screen"))
    for row in labels.group_by("row").agg((pl.col("system") == "").all()).filter("system")["row"]:
        bad.row(row, "is a ranking without any system; check quotes and columns", "ranking without any system")
    labels = labels.filter(~pl.col("row").is_in(list(bad.problems)))
    nameless = labels.filter((pl.col("system") == "") & pl.col("labelled")).height
    labels = labels.filter(pl.col("system") != "")
    share = pl.col("active_seconds") / pl.len().over("row")
    return labels.with_columns(share.alias("active_seconds")).drop("row", "labelled"), nameless


def _parse_seconds(texts: pl.Series, ranking: pl.Series, bad: parsing.BadRows) -> pl.Series:
    """The time of a block; nothing needs it, so that a broken one is left empty."""
    number = texts.str.strip_chars().cast(pl.Float64, strict=False)
    broken = ranking & (texts != "") & ~number.is_finite().fill_null(value=False)
    bad.empty(broken, "TIME", lambda row: f"TIME is '{shown(texts[row])}', a number is needed; correct it")
    return pl.select(pl.when(~broken & (number >= 0)).then(number)).to_series()
