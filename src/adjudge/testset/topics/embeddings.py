"""Documents as points in a space of meaning, by a model that is on this machine. `embed` is the function.

Needs the extra `embeddings`. Nothing is ever fetched: `sentences` is a small English model that comes with the extra,
and a folder holds a model that the user has, exported to ONNX, as those of the sentence-transformers project are.
The small one averages vectors of pieces of words (16 MB). A folder holds `model.onnx` or `onnx/model.onnx`, with
`tokenizer.json`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from adjudge.core.errors import InputError, UsageError
from adjudge.core.fingerprint import fingerprint_of_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.core.arrays import Floats, Ints
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
            return BundledModel()
        folder = Path(choice)
        if not folder.is_dir():
            raise UsageError(
                f"--embeddings '{choice}' is neither '{WORDS}' nor '{SENTENCES}' nor the folder of a model"
            )

        return OnnxModel.read(folder)
    except ModuleNotFoundError as fault:
        raise UsageError(
            f"--embeddings {choice} needs the package '{fault.name}', which comes with the extra: "
            "pip install 'adjudge[embeddings]'"
        ) from fault


def embed(documents: Sequence[Document], encoder: Encoder) -> Floats:
    """A point of length 1 for every document: the mean of its segments' vectors, each scaled to length 1."""
    counts = [len(document.segments) for document in documents]
    vectors = encoder.encode([text for document in documents for text in document.texts])
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    sums = np.add.reduceat(_scale_to_unit(vectors.astype(np.float64)), starts, axis=0)
    return _scale_to_unit(sums)


def _scale_to_unit(vectors: Floats) -> Floats:
    """Every row scaled to length 1; a row of zeros, an empty text, stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Floats = vectors / np.where(lengths > 0, lengths, 1)
    return scaled


class BundledModel:
    """Loads the vectors when made; nothing is downloaded."""

    def __init__(self) -> None:
        import wordllama

        # The package looks for its tokeniser under another name than it ships; its own folder as cache has it.
        folder = Path(wordllama.__file__).parent
        self._model = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)

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


MODEL_FILES = ("onnx/model.onnx", "model.onnx")
BATCH = 64
LONGEST = 512
POOLED = "sentence_embedding"
"""Exports that pool by themselves name their output so."""


@dataclass(frozen=True, eq=False)
class OnnxModel:
    """A model, its tokeniser, and how vectors of tokens become one of the sentence."""

    name: str
    session: Any
    tokenizer: Any
    first_token: bool
    """Whether the first token stands for the sentence, instead of the mean of all."""

    @classmethod
    def read(cls, folder: Path) -> OnnxModel:
        """The model in the folder."""
        import onnxruntime
        from tokenizers import Tokenizer

        path = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
        if path is None:
            raise InputError(
                f"holds neither {MODEL_FILES[0]} nor {MODEL_FILES[1]}; export the model to ONNX first", file=folder
            )
        if not (folder / "tokenizer.json").is_file():
            raise InputError("holds no tokenizer.json, which a model needs to cut texts into tokens", file=folder)
        try:
            session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
            tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as fault:  # both libraries raise bare exceptions of their own making
            raise InputError(f"cannot be loaded as a sentence model ({_one_line(fault)})", file=folder) from fault
        stated = _setting(folder / "sentence_bert_config.json", "max_seq_length")
        tokenizer.enable_truncation(min(LONGEST, int(stated)) if stated else LONGEST)
        tokenizer.enable_padding()
        name = f"{folder.resolve().name}-{fingerprint_of_file(path)}"
        first_token = bool(_setting(folder / "1_Pooling" / "config.json", "pooling_mode_cls_token"))
        return cls(name, session, tokenizer, first_token)

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row for every text; texts of like length share a batch, so that little is padded."""
        order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
        rows: dict[int, NDArray[np.float32]] = {}
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            vectors = self._encode_batch([texts[i] for i in chosen])
            rows |= dict(zip(chosen, vectors, strict=True))
        return np.stack([rows[i] for i in range(len(texts))])

    def _encode_batch(self, texts: list[str]) -> NDArray[np.float32]:
        encoded = self.tokenizer.encode_batch(texts)
        mask = np.array([tokens.attention_mask for tokens in encoded], dtype=np.int64)
        given = {
            "input_ids": np.array([tokens.ids for tokens in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([tokens.type_ids for tokens in encoded], dtype=np.int64),
        }
        wanted = {argument.name for argument in self.session.get_inputs()}
        names = [argument.name for argument in self.session.get_outputs()]
        output = POOLED if POOLED in names else names[0]
        vectors = self.session.run([output], {name: value for name, value in given.items() if name in wanted})[0]
        return self._pool(np.asarray(vectors, dtype=np.float32), mask)

    def _pool(self, vectors: NDArray[np.float32], mask: Ints) -> NDArray[np.float32]:
        if vectors.ndim == 2:  # the model pooled by itself
            return vectors
        if self.first_token:
            first: NDArray[np.float32] = vectors[:, 0, :]
            return first
        weights = mask[:, :, None].astype(np.float32)
        mean: NDArray[np.float32] = (vectors * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
        return mean


def _setting(path: Path, key: str) -> Any:
    if not path.is_file():
        return None
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as fault:
        raise InputError(f"is not JSON ({_one_line(fault)})", file=path) from fault
    return read.get(key) if isinstance(read, dict) else None


def _one_line(fault: Exception) -> str:
    return " ".join(str(fault).split())[:120]
