"""Sentence models as the space of topics: the one of the extra, and one in a folder, made here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from adjudge.table.errors import InputError, UsageError, explain_missing_module
from adjudge.testsets.documents import Document, Segment
from adjudge.testsets.topics import BundledModel, compare_topics, embed, load
from tests.testsets.test_topics import EVEN, documents

WORDS = ("[PAD]", "[UNK]", "[CLS]", "match", "goal", "bank", "loan", "rain")
VECTORS = np.random.default_rng(5).standard_normal((len(WORDS), 6)).astype(np.float32)


def make_model(folder: Path, *, file_name: str = "model.onnx", pooled: bool = False) -> Path:
    """A model that looks up the vector of each token; `pooled` exports the sum as the sentence's own vector."""
    folder.mkdir(parents=True, exist_ok=True)
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    outputs = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["n", "t", 6])]
    if pooled:
        nodes.append(helper.make_node("ReduceSum", ["last_hidden_state", "axes"], ["sentence_embedding"], keepdims=0))
        outputs.append(helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["n", 6]))
    graph = helper.make_graph(
        nodes,
        "lookup",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["n", "t"])],
        outputs,
        [numpy_helper.from_array(VECTORS, "table"), numpy_helper.from_array(np.array([1]), "axes")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    (folder / file_name).parent.mkdir(exist_ok=True)
    onnx.save(model, folder / file_name)
    tokenizer = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A", special_tokens=[("[CLS]", 2)])
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def vectors_of(text: str) -> NDArray[np.float32]:
    return np.stack([VECTORS[WORDS.index(word)] for word in ("[CLS]", *text.split())])


TEXTS = ("match goal goal", "rain", "bank loan")


@pytest.mark.parametrize("file_name", ["model.onnx", "onnx/model.onnx"])
def test_a_model_in_a_folder_gives_the_mean_of_its_tokens(tmp_path: Path, file_name: str) -> None:
    """Padding does not count: the same text alone and beside a longer one has the same vector."""
    model = load(str(make_model(tmp_path / "mine", file_name=file_name)))
    expected = np.stack([vectors_of(text).mean(axis=0) for text in TEXTS])
    np.testing.assert_allclose(model.encode(TEXTS), expected, atol=1e-6)
    np.testing.assert_allclose(model.encode(TEXTS[1:2]), expected[1:2], atol=1e-6)
    assert model.name.startswith("mine-")


def test_the_first_token_stands_for_the_sentence_where_the_model_says_so(tmp_path: Path) -> None:
    folder = make_model(tmp_path)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    np.testing.assert_allclose(load(str(folder)).encode(TEXTS), [VECTORS[2]] * 3, atol=1e-6)


def test_a_model_that_pools_by_itself_is_taken_at_its_word(tmp_path: Path) -> None:
    """The sum counts padding too, so texts of one length are compared."""
    model = load(str(make_model(tmp_path, pooled=True)))
    texts = ["match goal", "bank loan"]
    np.testing.assert_allclose(model.encode(texts), [vectors_of(text).sum(axis=0) for text in texts], atol=1e-6)


def test_texts_longer_than_the_model_takes_are_cut(tmp_path: Path) -> None:
    folder = make_model(tmp_path)
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 2}))
    model = load(str(folder))
    np.testing.assert_allclose(model.encode(["match goal goal"]), model.encode(["match"]), atol=1e-6)


def test_hundreds_of_texts_keep_their_order(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    texts = [" ".join(random.choice(WORDS[3:], random.integers(1, 9))) for _ in range(200)]
    expected = np.stack([vectors_of(text).mean(axis=0) for text in texts])
    np.testing.assert_allclose(load(str(make_model(tmp_path))).encode(texts), expected, atol=1e-6)


def test_a_document_is_the_mean_direction_of_its_segments(tmp_path: Path) -> None:
    model = load(str(make_model(tmp_path)))
    segments = tuple(Segment(i, text) for i, text in enumerate(TEXTS))
    vectors = embed([Document("f", "a", segments[:2]), Document("f", "b", segments[2:])], model)
    units = [vector / np.linalg.norm(vector) for vector in model.encode(TEXTS)]
    expected = (units[0] + units[1]) / np.linalg.norm(units[0] + units[1])
    np.testing.assert_allclose(vectors, np.stack([expected, units[2]]), atol=1e-6)


def test_the_model_of_the_extra_knows_meaning_and_needs_no_network() -> None:
    """Another mix is found by meaning though not one word is shared; the words themselves could not tell."""
    model = BundledModel()
    cat, feline, shares, empty = model.encode(["a cat on the mat", "the kitten sat on a rug", "shares fell", ""])
    assert cat @ feline > 2 * abs(cat @ shares)
    assert not empty.any()


def test_another_mix_is_found_by_a_model() -> None:
    kwargs = {"topics": 3, "labels": (), "seed": 1, "embeddings": "sentences"}
    much_sport = documents({"sport": 30, "money": 3, "weather": 3}, 1)
    comparison = compare_topics(much_sport, documents(EVEN, 101), **kwargs)  # type: ignore[arg-type]
    assert comparison.p < 0.01
    assert comparison.embeddings.startswith("wordllama-")
    assert comparison.embeddings in comparison.tables()[0].note
    assert compare_topics(documents(EVEN, 1), documents(EVEN, 101), **kwargs).p > 0.05  # type: ignore[arg-type]


def test_faults_say_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="neither 'words' nor 'sentences' nor the folder"):
        load("sentence")
    with pytest.raises(InputError, match="export the model to ONNX"):
        load(str(tmp_path))
    folder = make_model(tmp_path / "broken")
    (folder / "model.onnx").write_bytes(b"nothing of the kind")
    with pytest.raises(InputError, match="cannot be loaded as a sentence model"):
        load(str(folder))
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"no tokenizer\.json"):
        load(str(folder))
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(ModuleNotFoundError) as missing:
        load("sentences")
    assert "pip install 'adjudge[embeddings]'" in str(explain_missing_module(missing.value))
