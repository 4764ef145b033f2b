"""Published figures, kept as data files beside the modules that recompute them.

A file `published.json` holds `paper` (citation) and `tables`: of each its name, title, page, cells as printed (so that
the number of decimals is known), notes on cells that cannot match, and which follow from other printed figures
(`from_print`); `source` and `origin` where they stand in another file than the paper.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from adjudge.core.errors import InputError
from adjudge.core.fingerprint import fingerprint_of_parts
from adjudge.results.replication import NotRecomputed, ReplicatedCell, ReplicatedTable, Source

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Published:
    """The content of a file of published figures."""

    paper: str
    content: Mapping[str, Any]

    def cells(self, table: str) -> Mapping[str, str]:
        """The cells of one table, as printed."""
        cells: Mapping[str, str] = self._table(table)["cells"]
        return cells

    def compared(
        self,
        table: str,
        recomputed: Mapping[str, float],
        notes: Mapping[str, str] | None = None,
        other_data: Container[str] = (),
        *,
        absent: Container[str] = (),
    ) -> ReplicatedTable:
        """One table with every printed cell beside the recomputed one.

        Args:
            table: its name.
            recomputed: the figures by the names of their cells.
            notes: what is to be known of a cell.
            other_data: cells that were recomputed from other data than the paper's.
            absent: cells whose data were released, but are not in the folder; others without a recomputed figure were
                not released.
        """
        entry = self._table(table)
        notes = {**entry.get("notes", {}), **(notes or {})}
        cells = tuple(
            ReplicatedCell(
                name,
                float(printed),
                count_decimals(printed),
                recomputed.get(name),
                notes.get(name, ""),
                comparable=name not in other_data,
                released=name in recomputed or name in absent,
                from_print=name in entry.get("from_print", ()),
            )
            for name, printed in entry["cells"].items()
        )
        source = Source(entry.get("source", Source.PAPER))
        return ReplicatedTable(
            entry["table"], entry["title"], entry.get("page"), cells, source, entry.get("origin", "")
        )

    def not_recomputed(self, drawn: Container[str] = ()) -> tuple[NotRecomputed, ...]:
        """What the data do not allow, and why; figures that were drawn after all are not among it."""
        left_out = self.content["not_recomputed"].items()
        return tuple(NotRecomputed(what, why) for what, why in left_out if what not in drawn)

    def _table(self, name: str) -> Mapping[str, Any]:
        table: Mapping[str, Any] = next(entry for entry in self.content["tables"] if entry["table"] == name)
        return table


def read_published(name: str) -> Published:
    """Read the published figures of the paper with this folder."""
    content = json.loads(files("adjudge.replicate").joinpath(name, "published.json").read_text(encoding="utf-8"))
    return Published(content["paper"], content)


def count_decimals(printed: str) -> int:
    """How many decimals a figure is printed with."""
    return len(printed.partition(".")[2])


def find_file(folder: Path, name: str) -> Path:
    """The file of this name in the folder or in a folder directly inside it."""
    path = look_for_file(folder, name)
    if path is None:
        raise missing_data(folder, f"no '{name}'")
    return path


def look_for_file(folder: Path, name: str) -> Path | None:
    """The file of this name in the folder or in a folder directly inside it; None where there is none."""
    if (folder / name).is_file():
        return folder / name
    paths = sorted(folder.glob(f"*/{name}"))
    if len(paths) > 1:
        raise missing_data(folder, f"{len(paths)} files called '{name}'")
    return paths[0] if paths else None


def missing_data(folder: Path, what: str) -> InputError:
    """The error where a folder holds something else (`what`) than the data of a paper."""
    return input_fault(folder, f"holds {what}; name the folder that has the paper's data")


def input_fault(path: Path, what: str) -> InputError:
    """The error where a file or folder is not as it should be."""
    return InputError(what, file=path)


def sign_data(fingerprints: Iterable[str]) -> str:
    """One fingerprint for all judgments of a replication, from theirs."""
    return fingerprint_of_parts(fingerprints)
