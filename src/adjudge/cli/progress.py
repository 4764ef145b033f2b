"""What those who wait see: which language pair and step is at work. Nothing where no terminal watches."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


@contextmanager
def waiting(names: Sequence[str]) -> Iterator[tuple[Callable[[str], None], Callable[[], None]]]:
    """Two functions: one says what is being done, the other goes on to the next of the names."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True)
    done = -1

    with console.status("starting") as status:

        def go_on() -> None:
            nonlocal done
            done += 1

        def tell(what: str) -> None:
            place = f"{names[done]} ({done + 1} of {len(names)}): " if 0 <= done < len(names) > 1 else ""
            status.update(escape(f"{place}{what}"))

        yield tell, go_on
