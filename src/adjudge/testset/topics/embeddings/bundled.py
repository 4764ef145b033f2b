"""The small model inside the package wordllama: vectors of pieces of words, averaged; English, 16 MB."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class BundledModel:
    """Loads the vectors when made; nothing is downloaded."""

    def __init__(self) -> None:
        import wordllama

        # The package looks for its tokeniser under another name than it ships; as the cache, its own folder is right.
        own = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(cache_dir=own, disable_download=True)

    @property
    def name(self) -> str:
        """The package and its version: the vectors are part of it."""
        return f"wordllama-{version('wordllama')}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for every text; an empty text gets zeros."""
        # The mask keeps at least one token of each text, so that no row divides by zero.
        filled = [text if text.strip() else "." for text in texts]
        vectors = np.array(self._model.embed(filled, norm=False), dtype=np.float32)
        vectors[[not text.strip() for text in texts]] = 0.0
        return vectors
