"""What readers share about files before they look inside: folders, names of campaigns, language pairs in names."""

from __future__ import annotations

import codecs
from collections import Counter
from typing import TYPE_CHECKING

from adjudge.core.errors import InputError, shown
from adjudge.core.files import read_bytes
from adjudge.core.judgments import concat
from adjudge.core.languages import UNKNOWN, find_pair, pair_in_name, split_pair
from adjudge.core.wording import agreeing, counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    import polars as pl

    from adjudge.core.judgments import Judgments
    from adjudge.formats.options import ReadOptions

# A name such as `2011.Czech,English.combo` has no ending in this sense: all of it says what the file is.
_ENDINGS = (".gz", ".csv", ".tsv", ".txt", ".tab", ".json", ".jsonl", ".parquet")


def stem(path: Path) -> str:
    """The name of a file without the endings that say how it is written."""
    name = path.name
    while name.lower().endswith(_ENDINGS) and "." in name[1:]:
        name = name[: name.rindex(".")]
    return name


def files_in(paths: Sequence[Path]) -> list[Path]:
    """The files named, and those directly inside the folders named, in order of name; hidden ones are left alone."""
    files: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        try:
            inside = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        except OSError as fault:
            raise InputError(f"cannot be listed ({fault.strerror}); check its permissions", file=path) from fault
        if not inside:
            raise InputError("this folder holds no files; name another", file=path)
        files += inside
    for file, times in Counter(file.resolve() for file in files).items():
        if times > 1:
            raise InputError("is given twice, its judgments would count twice; name it once", file=file)
    return files


def refuse_empty(path: Path) -> None:
    """Say of an empty file that it is empty, before saying what it is not."""
    if not read_bytes(path).removeprefix(codecs.BOM_UTF8).strip():
        raise InputError("is empty; check that the file is complete", file=path)


def campaign_names(paths: Sequence[Path]) -> list[str]:
    """One name per file: its stem, with its ending and its folders where those are needed to tell files apart."""
    full = [path.resolve() for path in paths]
    for depth in range(max(len(path.parts) for path in full)):
        for last in ([stem(path) for path in full], [path.name for path in full]):
            folders = [path.parts[len(path.parts) - 1 - min(depth, len(path.parts) - 2) : -1] for path in full]
            names = ["/".join([*before, name]) for before, name in zip(folders, last, strict=True)]
            if len(set(names)) == len(names):
                return names
    return [str(path) for path in full]


def read_each(
    paths: Sequence[Path], options: ReadOptions, read_file: Callable[[Path, str, ReadOptions], Judgments]
) -> Judgments:
    """Read files, each of which is a campaign named after it, by a function of path, campaign and options."""
    return concat([read_file(path, name, options) for path, name in zip(paths, campaign_names(paths), strict=True)])


def pair_of(path: Path, options: ReadOptions) -> tuple[str, str]:
    """The languages of a file that does not say them: from its name, else from --pair, else unknown.

    The name comes first, so that --pair chooses among several files instead of renaming them all.
    """
    if languages := pair_in_name(path.name):
        return languages
    return split_pair(options.pair) if options.pair else (UNKNOWN, UNKNOWN)


def with_languages(frame: pl.DataFrame) -> tuple[pl.DataFrame, list[str]]:
    """The frame with the languages of its column `pair` in columns of their own, and a note on what is no pair."""
    import polars as pl

    if "pair" not in frame.columns or {"source_lang", "target_lang"} & set(frame.columns):
        return frame, []
    given = frame["pair"].cast(pl.String)
    pairs = {text: find_pair(text) for text in given.unique(maintain_order=True).drop_nulls()}
    sides = [{text: codes[side] for text, codes in pairs.items() if codes} for side in range(2)]
    columns = [
        given.replace_strict(codes, default=None, return_dtype=pl.String).alias(name)
        for name, codes in zip(("source_lang", "target_lang"), sides, strict=True)
    ]
    strange = [text for text, codes in pairs.items() if codes is None and text.strip()]
    rows = int(given.is_in(strange).sum())
    what = f"{counted(rows, 'row')} {agreeing(rows, 'has', 'have')} no language pair in the column of pairs"
    notes = [f"{what}, such as '{shown(strange[0])}'; write en-cs"] if strange else []
    return frame.with_columns(columns), notes
