"""Documents as points in a space of meaning, by a model that is on this machine. `embed` is the function.

Needs the extra `embeddings`. Nothing is ever fetched: `sentences` is a small English model that comes with the extra,
and a folder holds a model that the user has, exported to ONNX, as those of the sentence-transformers project are.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from adjudge.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.testset.document import Document

WORDS = "words"
SENTENCES = "sentences"


class Encoder(Protocol):
    """A model that gives every text a vector."""

    @property
    def name(self) -> str:
        """What identifies the model and its version, for the settings of a result."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for every text."""


def load(choice: str) -> Encoder:
    """The model that comes with the extra, or the one in a folder."""
    try:
        if choice == SENTENCES:
            from adjudge.testset.topics.embeddings.models import BundledModel

            return BundledModel()
        folder = Path(choice)
        if not folder.is_dir():
            raise UsageError(
                f"--embeddings '{choice}' is neither '{WORDS}' nor '{SENTENCES}' nor the folder of a model"
            )
        from adjudge.testset.topics.embeddings.models import OnnxModel

        return OnnxModel.read(folder)
    except ModuleNotFoundError as fault:
        raise UsageError(
            f"--embeddings {choice} needs the package '{fault.name}', which comes with the extra: "
            "pip install 'adjudge[embeddings]'"
        ) from fault


def embed(documents: Sequence[Document], encoder: Encoder) -> NDArray[np.float64]:
    """A point of length 1 for every document: the mean of its segments' vectors, each scaled to length 1."""
    counts = [len(document.segments) for document in documents]
    vectors = encoder.encode([text for document in documents for text in document.texts])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    sums = np.add.reduceat(_unit(vectors.astype(np.float64)), starts, axis=0)
    return _unit(sums)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Every row scaled to length 1; a row of zeros, an empty text, stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: NDArray[np.float64] = vectors / np.where(lengths > 0, lengths, 1)
    return scaled
