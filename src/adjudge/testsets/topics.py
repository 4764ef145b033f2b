"""Topical contaminants: does a test set have the mix of topics of a reference corpus? `compare_topics` is the function.

Documents are points in a space of word use (TF-IDF, reduced by latent semantic analysis), test set and corpus together;
or in the space of a sentence model, where the user has one and asks for it.
The two clouds are compared by their energy distance, with a permutation test over documents. Groups of documents are
made for people to look at; no test is made on them, because where their borders run depends on the seed.

G. Székely and M. Rizzo (2004): Testing for equal distributions in high dimension.
S. Deerwester and others (1990): Indexing by latent semantic analysis.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import regex

from adjudge.table.errors import DataError, InputError, UsageError, param
from adjudge.table.judgments import fingerprint_of_file
from adjudge.table.rng import generator
from adjudge.table.wording import counted
from adjudge.testsets.findings import DocumentTopic, NearPair, Topic, Topics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from adjudge.table.maths import Bools, Floats, Ints
    from adjudge.testsets.documents import Document


# Documents as points, and groups of them.
# Points are weights of words (TF-IDF), reduced to the main directions of their variation (LSA). Topics are groups of
# points (k-means); two sets of documents are compared by their energy distance (permutation test).

_WORD = regex.compile(r"\p{L}{3,}")
TOO_COMMON = 0.4
"""Words in more documents than this share say nothing of a topic."""
DIMENSIONS = 50
NO_LENGTH = 1e-9
"""Documents have length 1 before they are reduced; a length below this is rounding error."""
_CHUNK = 200


@dataclass(frozen=True, eq=False)
class Space:
    """`points` are documents by dimensions, of length 1; `weights` documents by words, of length 1, sparse."""

    words: tuple[str, ...]
    weights: Any
    points: Floats

    def terms_of(self, chosen: Bools, number: int) -> tuple[str, ...]:
        """The words that tell these documents from the others best."""
        inside = np.asarray(self.weights[chosen].mean(axis=0)).ravel()
        outside = np.asarray(self.weights[~chosen].mean(axis=0)).ravel() if (~chosen).any() else 0.0
        return tuple(self.words[i] for i in np.argsort(-(inside - outside), kind="stable")[:number])


def make_space(texts: Sequence[str], seed: int) -> Space:
    """The space of all texts together."""
    counted = [Counter(_WORD.findall(text.lower())) for text in texts]
    spread = Counter(word for counts in counted for word in counts)
    words = sorted(word for word, times in spread.items() if 1 < times <= max(2, TOO_COMMON * len(texts)))
    weights = _tf_idf(counted, words, spread)
    return Space(tuple(words), weights, _reduce(weights, seed))


def _tf_idf(counted: list[Counter[str]], words: list[str], spread: Counter[str]) -> Any:
    from scipy.sparse import csr_array

    code = {word: i for i, word in enumerate(words)}
    rarity = np.array([np.log((1 + len(counted)) / (1 + spread[word])) + 1 for word in words])
    rows, columns, values = [], [], []
    for row, counts in enumerate(counted):
        for word, times in counts.items():
            if word in code:
                rows.append(row)
                columns.append(code[word])
                values.append((1 + np.log(times)) * rarity[code[word]])
    table = csr_array((values, (rows, columns)), shape=(len(counted), max(1, len(words))), dtype=np.float64)
    lengths = np.sqrt(np.asarray(table.multiply(table).sum(axis=1)).ravel())
    return csr_array(table.multiply(1 / np.where(lengths > 0, lengths, 1)[:, None]))


def _reduce(weights: Any, seed: int) -> Floats:
    """Latent semantic analysis: the largest singular vectors; documents are scaled to length 1 again."""
    from scipy.sparse.linalg import svds

    most = min(DIMENSIONS, min(weights.shape) - 1)
    if most < 1:
        return np.asarray(weights.todense(), dtype=np.float64)
    start = generator(seed, 72).standard_normal(min(weights.shape))
    left, values, _ = svds(weights, k=most, v0=start)
    points = left * values
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    # A document without any word of the space lies at the origin: what the decomposition leaves there is rounding
    # error, which must not be scaled up to a direction.
    known = lengths > NO_LENGTH
    return np.where(known, points / np.where(known, lengths, 1), 0.0)


def energy_test(points: Floats, first: Bools, *, permutations: int, seed: int) -> tuple[float, float]:
    """The energy distance of the marked points to the others, and the share of permutations with one as large."""
    distances = _distances(points)
    observed = float(_energy(distances, first[None, :].astype(np.float64))[0])
    random = generator(seed, 73)
    larger = 0
    for start in range(0, permutations, _CHUNK):
        size = min(_CHUNK, permutations - start)
        marked = random.permuted(np.tile(first.astype(np.float64), (size, 1)), axis=1)
        larger += int((_energy(distances, marked) >= observed - 1e-12).sum())
    return observed, (1 + larger) / (1 + permutations)


def _distances(points: Floats) -> Floats:
    squares = (points**2).sum(axis=1)
    between: Floats = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * points @ points.T, 0.0))
    return between


def _energy(distances: Floats, marked: Floats) -> Floats:
    """2 E|X - Y| - E|X - X'| - E|Y - Y'|, for every row of marks."""
    others = 1 - marked
    x, y = marked.sum(axis=1), others.sum(axis=1)
    to_marked = marked @ distances
    between = (to_marked * others).sum(axis=1) / (x * y)
    within_x = (to_marked * marked).sum(axis=1) / x**2
    within_y = ((others @ distances) * others).sum(axis=1) / y**2
    return np.asarray(2 * between - within_x - within_y, dtype=np.float64)


STARTS = 10
STEPS = 50


def group(points: Floats, number: int, seed: int) -> Ints:
    """The group of every point: the best of several starts."""
    random = generator(seed, 74)
    best: tuple[float, Ints] | None = None
    for _ in range(STARTS):
        spread, member = _cluster_once(points, number, random)
        if best is None or spread < best[0]:
            best = spread, member
    assert best is not None
    return best[1]


def _cluster_once(points: Floats, number: int, random: np.random.Generator) -> tuple[float, Ints]:
    centres = points[random.choice(len(points), number, replace=False)]
    member = np.zeros(len(points), dtype=np.int64)
    spread = np.inf
    for _ in range(STEPS):
        squares = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
        member = squares.argmin(axis=1)
        now = float(squares[np.arange(len(points)), member].sum())
        if now >= spread - 1e-9:
            break
        spread = now
        centres = np.array(
            [points[member == i].mean(axis=0) if (member == i).any() else centres[i] for i in range(number)]
        )
    return spread, member


# Documents as points in a space of meaning, by a model that is on this machine. `embed` is the function.
# Needs the extra `embeddings`. Nothing is ever fetched: `sentences` is a small English model that comes with the extra,
# and a folder holds a model that the user has, exported to ONNX, as those of the sentence-transformers project are.
# The small one averages vectors of pieces of words (16 MB). A folder holds `model.onnx` or `onnx/model.onnx`, with
# `tokenizer.json`.

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
    if choice == SENTENCES:
        return BundledModel()
    folder = Path(choice)
    if not folder.is_dir():
        raise UsageError(
            f"{param('embeddings')} '{choice}' is neither '{WORDS}' nor '{SENTENCES}' nor the folder of a model"
        )
    return OnnxModel.read(folder)


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


FEWEST_DOCUMENTS = 5
MOST_REFERENCE = 3000
PERMUTATIONS = 2000
NEAR = 0.5
TERMS = 6


def compare_topics(
    test: Sequence[Document],
    reference: Sequence[Document],
    *,
    topics: int,
    labels: Sequence[str],
    seed: int,
    embeddings: str = WORDS,
) -> Topics:
    """Compare the documents of a test set with those of a corpus."""
    if min(len(test), len(reference)) < FEWEST_DOCUMENTS:
        counts = f"{counted(len(test), 'document')} in the test set and {len(reference)} in the corpus"
        raise DataError(f"topics need {FEWEST_DOCUMENTS} documents or more on both sides, not {counts}")
    if labels and len(labels) != topics:
        names = f"{counted(len(labels), 'name')} for {counted(topics, 'topic')}"
        raise UsageError(f"{param('labels')} has {names}; give one for each, or change {param('topics')}")
    reference = _sample(reference, seed)
    space = make_space([" ".join(document.texts) for document in (*test, *reference)], seed)
    if embeddings != WORDS:
        encoder = load(embeddings)
        embeddings, space = encoder.name, replace(space, points=embed([*test, *reference], encoder))
    is_test = np.arange(len(test) + len(reference)) < len(test)
    member, named = _name_topics(space, is_test, topics, labels, seed)
    distance, p = energy_test(space.points, is_test, permutations=PERMUTATIONS, seed=seed)
    return Topics(
        documents_test=len(test),
        documents_reference=len(reference),
        energy_distance=distance,
        p=p,
        permutations=PERMUTATIONS,
        embeddings=embeddings,
        topics=tuple(named.values()),
        near_pairs=_near_pairs(space, test),
        by_document=tuple(
            DocumentTopic(document.name, named[topic].label)
            for document, topic in zip(test, member[: len(test)].tolist(), strict=True)
        ),
    )


def _sample(documents: Sequence[Document], seed: int) -> Sequence[Document]:
    """A large corpus is sampled: more documents than this tell no more."""
    if len(documents) <= MOST_REFERENCE:
        return documents
    chosen = generator(seed, 71).choice(len(documents), MOST_REFERENCE, replace=False)
    return [documents[i] for i in np.sort(chosen)]


def _name_topics(
    space: Space, is_test: Bools, number: int, labels: Sequence[str], seed: int
) -> tuple[Ints, dict[int, Topic]]:
    """The group of every document, and the groups by number, the largest first."""
    member = group(space.points, min(number, len(space.points)), seed)
    order = sorted(set(member.tolist()), key=lambda topic: -int((member == topic).sum()))
    topics: dict[int, Topic] = {}
    for index, topic in enumerate(order):
        terms = space.terms_of(member == topic, TERMS)
        label = labels[index] if index < len(labels) else " / ".join(terms[:2])
        shares = (float((member[side] == topic).mean()) for side in (is_test, ~is_test))
        topics[topic] = Topic(label, terms, *shares)
    return member, topics


def _near_pairs(space: Space, test: Sequence[Document]) -> tuple[NearPair, ...]:
    test_weights = space.weights[: len(test)]
    alike = np.asarray((test_weights @ test_weights.T).todense())
    first, second = np.nonzero(np.triu(alike >= NEAR, k=1))
    order = np.argsort(-alike[first, second], kind="stable")
    return tuple(
        NearPair(test[i].name, test[j].name, float(alike[i, j]), test[i].texts[0][:80], test[j].texts[0][:80])
        for i, j in zip(first[order], second[order], strict=True)
    )
