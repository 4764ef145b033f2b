"""BLEU, chrF and TER from texts: what sacrebleu says, at both levels; all texts are invented.

Expected values come from sacrebleu itself (`corpus_bleu`, `sentence_chrf` and so on, through its plain functions).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sacrebleu

from adjudge.metrics.join import join, system_means
from adjudge.metrics.meta import Texts, read_texts, text_metrics
from adjudge.planning.truth import draw_texts
from adjudge.readers.metric_scores import MetricScore
from adjudge.table.errors import InputError, UsageError
from adjudge.table.rng import generator
from tests.conftest import Run, assert_explained

SYSTEMS = {"good": 0.1, "fair": 0.3, "poor": 0.5, "bad": 0.7}


def made(segments: int = 12) -> Texts:
    """Two references, and outputs that keep all but a share of the first one's words."""
    rng = generator(4)
    reference = draw_texts(segments, rng)
    second = tuple(_spoiled(text, 0.2, rng) for text in reference)
    outputs = {name: tuple(_spoiled(text, share, rng) for text in reference) for name, share in SYSTEMS.items()}
    names = tuple(str(i + 1) for i in range(segments))
    return Texts(names, (None,) * segments, (reference, second), outputs)


def _spoiled(text: str, share: float, rng: np.random.Generator) -> str:
    return " ".join("x" if rng.random() < share else word for word in text.split())


def write(folder: Path, texts: Texts) -> tuple[Path, list[str]]:
    (folder / "ref.txt").write_text("\n".join(texts.references[0]) + "\n")
    for name, lines in texts.outputs.items():
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    rows = ["system\tsegment\thuman"]
    rows += [f"{name}\t{segment}\t{-share}" for name, share in SYSTEMS.items() for segment in texts.segments]
    (folder / "human.tsv").write_text("\n".join(rows) + "\n")
    outputs = [word for name in texts.outputs for word in ("--outputs", f"{name}={folder / name}.txt")]
    return folder / "human.tsv", ["--references", str(folder / "ref.txt"), *outputs]


def test_scores_are_sacrebleus_own() -> None:
    texts = made(6)
    scores = {(score.metric, score.system, score.segment): score.score for score in text_metrics(texts)[0]}
    references = [list(reference) for reference in texts.references]
    for system, lines in texts.outputs.items():
        output = list(lines)
        assert scores["BLEU", system, None] == pytest.approx(sacrebleu.corpus_bleu(output, references).score)
        assert scores["chrF", system, None] == pytest.approx(sacrebleu.corpus_chrf(output, references).score)
        assert scores["TER", system, None] == pytest.approx(-sacrebleu.corpus_ter(output, references).score)
        for i in (0, 5):
            own = [reference[i] for reference in texts.references]
            assert scores["BLEU", system, str(i + 1)] == pytest.approx(sacrebleu.sentence_bleu(output[i], own).score)
            assert scores["chrF", system, str(i + 1)] == pytest.approx(sacrebleu.sentence_chrf(output[i], own).score)
            assert scores["TER", system, str(i + 1)] == pytest.approx(-sacrebleu.sentence_ter(output[i], own).score)


def test_scores_of_the_whole_count_at_system_level() -> None:
    """Corpus BLEU is no mean of sentence BLEU: at system level the former is correlated."""
    human = [MetricScore("human", s, g, None, float(i)) for i, s in enumerate("abc") for g in "12"]
    metric = [MetricScore("m", s, g, None, 5.0) for s in "abc" for g in "12"]
    whole = [MetricScore("m", s, None, None, value) for s, value in zip("abc", (10.0, 30.0, 20.0), strict=True)]
    scores, _ = join(human, [*metric, *whole])
    assert scores.system_scores("m").tolist() == [10.0, 30.0, 20.0]
    assert scores.without({"b"}).system_scores("m").tolist() == [10.0, 20.0]
    assert system_means([*metric, *whole]) == {"m": {"a": 10.0, "b": 30.0, "c": 20.0}}
    partly, _ = join(human, [*metric, *whole[:2]])
    assert partly.system_scores("m").tolist() == [5.0, 5.0, 5.0]


@pytest.mark.slow
def test_the_command(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    human, options = write(tmp_path, made())
    quick = ["--permutations", "50", "--resamples", "30"]
    result = adjudge("meta", human, *options, *quick, "--report", tmp_path / "meta.html", "--json").json
    assert set(result["metrics"]) == {"BLEU", "chrF", "TER"}
    for levels in result["metrics"].values():
        assert levels["system"]["spearman"] == pytest.approx(1)
        assert levels["system"]["intervals"] == {}
        assert levels["segment"]["pearson"] > 0.5
    assert "tok=13a" in result["settings"]["BLEU"]
    assert any("its sign is reversed" in note for note in result["notes"])
    assert "Which metric is better than which" in (tmp_path / "meta.html").read_text()
    beside = tmp_path / "own.tsv"
    rows = [f"{name}\t{i}\t{i}" for name in SYSTEMS for i in range(1, 13)]
    beside.write_text("system\tsegment\town\n" + "\n".join(rows) + "\n")
    joined = adjudge("meta", human, beside, *options, *quick, "--json").json
    assert set(joined["metrics"]) == {"BLEU", "chrF", "TER", "own"}


def test_texts_are_read_with_the_names_they_give(tmp_path: Path) -> None:
    reference = tmp_path / "ref.tsv"
    reference.write_text("document\tsegment\treference\nd1\ta\talo bena\nd2\tb\tciro\n")
    output = tmp_path / "one.tsv"
    output.write_text("document\tsegment\tmt\nd2\tb\tciro\nd1\ta\talo\n")
    texts = read_texts([reference], {"one": output})
    assert (texts.segments, texts.documents) == (("a", "b"), ("d1", "d2"))
    assert texts.outputs["one"] == ("alo", "ciro")
    again = tmp_path / "again.tsv"
    again.write_text("document\tsegment\treference\nd1\t1\talo\nd2\t1\tciro\n")
    assert read_texts([again], {}).segments == ("1", "2")


def test_wrong_calls_are_explained(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    human, options = write(tmp_path, made())
    assert_explained(adjudge("meta", human), code=2, names=("there is no metric",))
    assert_explained(adjudge("meta", human, *options[:2]), code=2, names=("belong together",))
    twice = ["--outputs", options[3]]
    assert_explained(adjudge("meta", human, *options, *twice), code=2, names=("a system twice",))
    short = tmp_path / "short.txt"
    short.write_text("alo\n")
    with pytest.raises(InputError, match=r"short\.txt: has 1 segment where the reference .* has 12"):
        read_texts([tmp_path / "ref.txt"], {"short": short})
    with pytest.raises(UsageError, match="unknown tokenizer '13b'"):
        text_metrics(made(), tokenize="13b")
