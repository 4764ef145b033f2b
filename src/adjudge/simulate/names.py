"""Names of simulated things."""

from __future__ import annotations


def numbered(what: str, count: int) -> list[str]:
    """Names that sort as they count: `system-01`, `system-02`, ..."""
    width = max(2, len(str(count)))
    return [f"{what}-{i:0{width}d}" for i in range(1, count + 1)]


def human_names(count: int) -> list[str]:
    """`human-A`, `human-B`, ...: names that are recognised as human translations."""
    letters = [chr(ord("A") + i) for i in range(26)]
    return [f"human-{letters[i] if i < len(letters) else i}" for i in range(count)]
