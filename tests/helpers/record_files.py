"""A file of forty records in every format: each record has a segment of its own, so that its loss shows.

The tests double the records; the fuzzing bench damages single ones.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

ITEMS = 40
PEOPLE = ("ann", "bob", "cat")
SYSTEMS = ("x", "y", "refA")
chance = random.Random(7)


class File(NamedTuple):
    """A file of a format: its header (or none), one row per judgment or block, and how it is read."""

    format: str
    header: str
    rows: list[str]
    reading: Mapping[str, Any] = MappingProxyType({})
    method: str | None = None
    name: str = "data.csv"


def person(item: int) -> str:
    return PEOPLE[item % len(PEOPLE)]


def score(system: str) -> int:
    return min(100, SYSTEMS.index(system) * 9 + chance.randrange(70))


def ranks() -> list[int]:
    return chance.choice([[1, 2, 3], [2, 1, 3], [1, 1, 2], [3, 2, 1], [2, 3, 1], [1, 3, 2]])


def of_scores(row: Callable[[int, str], str]) -> list[str]:
    return [row(item, system) for item in range(ITEMS) for system in SYSTEMS]


def of_pairs(row: Callable[[int, str, str, str], str]) -> list[str]:
    pairs = [("x", "y"), ("x", "refA"), ("y", "refA")]
    return [row(item, *pair, chance.choice([*pair, "tie"])) for item in range(ITEMS) for pair in pairs]


def of_ranks(row: Callable[[int, list[int]], str]) -> list[str]:
    return [row(item, ranks()) for item in range(ITEMS)]


def moment(number: int) -> str:
    return f"16657{number:05}.0"


NATIVE = "annotator,segment,system,score"
FILES = {
    "judgments": File("judgments", NATIVE, of_scores(lambda i, s: f"{person(i)},{i},{s},{score(s)}")),
    "judgments of pairs": File(
        "judgments",
        "user,question_id,model_a,model_b,winner",
        of_pairs(lambda i, a, b, w: f"{person(i)},{i},{a},{b},{w}"),
    ),
    "judgments of pairs by nobody known": File(
        "judgments", "question_id,model_a,model_b,winner", of_pairs(lambda i, a, b, w: f"{i},{a},{b},{w}")
    ),
    "wide scores": File(
        "judgments",
        "annotator,segment,x,y,refA",
        of_ranks(lambda i, _: f"{person(i)},{i},{score('x')},{score('y')},{score('refA')}"),
        {"systems": SYSTEMS},
    ),
    "wide ranks": File(
        "judgments",
        "annotator,segment,x,y,refA",
        of_ranks(lambda i, r: f"{person(i)},{i},{r[0]},{r[1]},{r[2]}"),
        {"systems": SYSTEMS},
    ),
    "wmt-ranking": File(
        "wmt-ranking",
        "srclang,trglang,srcIndex,judgeId,system1Id,system2Id,system3Id,system1rank,system2rank,system3rank",
        of_ranks(lambda i, r: f"cs,en,{i},{person(i)},x,y,refA,{r[0]},{r[1]},{r[2]}"),
    ),
    "wmt-ranking-2007": File(
        "wmt-ranking-2007",
        "TASK,TYPE,ITEM_ID,ANNOTATOR_ID,TIME,SYSTEM_0,SCORE_0_A,SYSTEM_1,SCORE_1_A,SYSTEM_2,SCORE_2_A",
        of_ranks(lambda i, r: f"Test Czech-English News,RANK,{i},{person(i)},9,x,{r[0]},y,{r[1]},refA,{r[2]}"),
    ),
    "wmt-acceptability": File(
        "wmt-acceptability",
        "srclang,trglang,srcIndex,judgeId,systemId,editId,judgment",
        of_scores(lambda i, s: f"cs,en,{i},{person(i)},{s},{i},{chance.choice(['YES', 'NO'])}"),
    ),
    "wmt-edits": File(
        "wmt-edits",
        "editId\tsrclang\ttrglang\tsrcIndex\teditorId\tsystem1Id\tsystem1actionVal\tsystem1edit",
        of_scores(lambda i, s: f"{3 * i + SYSTEMS.index(s)}\tcs\ten\t{i}\t{person(i)}\t{s}\t1\tthat"),
    ),
    "pairwise-counts": File("pairwise-counts", "", ["x y 30 4 22", "x refA 21 9 33", "refA y 40 2 12"]),
    "pairwise-table": File(
        "pairwise-table", "worker,item,left,right,winner", of_pairs(lambda i, a, b, w: f"{person(i)},{i},{a},{b},{w}")
    ),
    "rank-table": File(
        "rank-table",
        "segment,x,y,refA",
        of_ranks(lambda i, r: f"{i},{r[0]},{r[1]},{r[2]}"),
        {"rank_columns": SYSTEMS},
        "wins",
    ),
    "wmt-da": File(
        "wmt-da",
        "HITId WorkerId Input.src Input.trg Input.item hit sys_id rid type sid score time",
        of_scores(lambda i, s: f"H{i} {person(i)} cs en ad {i} {s} {i} SYSTEM {i} {score(s)} 9"),
    ),
    "mturk-da": File(
        "mturk-da",
        "HITId,WorkerId,Input.src,Input.trg,Answer.Q1",
        [
            f"H{i},{person(i)},en,es,{'|'.join(f'{s}_{i}_SYSTEM_{j}__{score(s)}' for j, s in enumerate(SYSTEMS))}"
            for i in range(ITEMS)
        ],
    ),
    "appraise": File(
        "appraise",
        "",
        of_scores(lambda i, s: f"engces010{i % 3},{s},{i},TGT,eng,ces,{score(s)},{moment(i)},{moment(i + 9)}"),
    ),
    "wmt-humeval": File(
        "wmt-humeval",
        "",
        [
            json.dumps(
                {
                    "doc_id": f"en-cs_CZ_#_news_#_d_#_{i}",
                    "scores": {s: [{"score": score(s), "annotator": person(i), "errors": []}] for s in SYSTEMS},
                }
            )
            for i in range(ITEMS)
        ],
        name="data.jsonl",
    ),
    "mqm": File(
        "mqm",
        "system\tdoc\tseg_id\trater\tsource\ttarget\tcategory\tseverity",
        of_scores(
            lambda i, s: f"{s}\td\t{i}\t{person(i)}\ta\t<v>b</v>\tStyle\t{chance.choice(['Minor', 'Major', 'Neutral'])}"
        ),
    ),
    "pearmut": File(
        "pearmut",
        "",
        [
            json.dumps(
                {
                    "user_id": person(i),
                    "item_i": i,
                    "annotation": [{s: {"score": score(s), "error_spans": []} for s in SYSTEMS}],
                    "actions": [{"time": 1771311126.0 + i, "action": "load"}],
                    "item": [{"item_id": f"en-es_#_doc_#_{i}", "src": "a", "tgt": dict.fromkeys(SYSTEMS, "b")}],
                }
            )
            for i in range(ITEMS)
        ],
        name="data.jsonl",
    ),
    "metric-scores": File(
        "metric-scores",
        "",
        [f"{s}\t{score(s)}" for s in SYSTEMS for _ in range(ITEMS)],
        {},
        "raw",
        "en-cs.mqm.seg.score",
    ),
}
