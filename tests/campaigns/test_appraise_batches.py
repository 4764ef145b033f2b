"""Batches as Appraise takes them, checked against how its code reads, shows and exports them.

Appraise (AppraiseDev/Appraise, EvalData/models, commits 054e27c and 040e466): items are shown in their order; what has
the same `documentID` up to an item with `isCompleteDocument` is a document; a result names `targetID`, split at `+`,
`itemID`, `itemType` and, for documents, `documentID`; `itemType` has at most 5 characters and `itemID` is positive.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from adjudge import read
from adjudge.campaigns.appraise import to_batches
from adjudge.campaigns.design import design
from adjudge.table.errors import DataError
from tests.helpers.texts import make_campaign, make_texts

ITEM_KEYS = {"itemID", "itemType", "sourceID", "sourceText", "targetID", "targetText"}


def batches_of(protocol: str = "da", *, systems: int = 4, **parts: Any) -> list[dict[str, Any]]:
    return to_batches(design(make_campaign(protocol, **parts), make_texts(documents=[9] * 12, systems=systems)))


def shown_documents(items: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The pages as Appraise's document view cuts them."""
    pages: list[list[dict[str, Any]]] = []
    for name in dict.fromkeys(item["documentID"] for item in items):
        page: list[dict[str, Any]] = []
        for item in items:
            if item["documentID"] == name:
                page.append(item)
                if item["isCompleteDocument"]:
                    pages.append(page)
                    page = []
        assert not page, "nothing is left behind the last end of a document"
    return pages


def test_items_hold_what_appraise_reads() -> None:
    for batch in batches_of(controls={"degraded": 5, "references": 2, "repeats": 3}):
        assert set(batch["task"]) >= {"batchNo", "requiredAnnotations", "sourceLanguage", "targetLanguage"}
        assert len(batch["items"]) == 100
        for item in batch["items"]:
            assert set(item) >= ITEM_KEYS
            assert item["itemType"] in ("TGT", "BAD", "REF", "CHK")
            assert item["itemID"] > 0


def test_a_page_ends_with_an_item_for_the_whole_document() -> None:
    for batch in batches_of(design={"structure": "pages-all-systems"}, controls={"degraded": 9}):
        items = batch["items"]
        assert sum(not item["isCompleteDocument"] for item in items) == 100
        for page in shown_documents(items):
            assert len({item["targetID"] for item in page}) == 1, "never two systems on one page"
            assert sum(item["isCompleteDocument"] for item in page) == 1
            assert len({item["itemType"] for item in page}) == 1
            assert page[-1]["targetText"] == " ".join(item["targetText"] for item in page[:-1])


@pytest.mark.parametrize("structure", ["mixed", "pages"])
def test_a_segment_has_the_same_number_in_every_task(structure: str) -> None:
    numbers: dict[tuple[str, int], set[str]] = {}
    batches = batches_of(design={"structure": structure}, controls={"repeats": 9})
    for item in (item for batch in batches for item in batch["items"] if not item.get("isCompleteDocument")):
        document = item.get("documentID", "").partition("#")[0]
        numbers.setdefault((document, item["itemID"]), set()).add(item["sourceID"])
    assert len(numbers) == 12 * 9
    assert all(len(names) == 1 for names in numbers.values())


@pytest.mark.parametrize("structure", ["mixed", "pages"])
def test_results_of_appraise_lead_back_to_segments_and_systems(tmp_path: Path, structure: str) -> None:
    campaign = make_campaign(design={"structure": structure}, controls={"degraded": 9})
    testset = make_texts(documents=[9] * 12, systems=4, same=0.1)
    if structure == "mixed":
        # Such results name no document: only numbers of the whole test set lead back.
        source = tuple(
            type(segment)(segment.document, str(i), segment.text) for i, segment in enumerate(testset.source, start=1)
        )
        testset = type(testset)(source, testset.references, testset.systems)
    tasks = design(campaign, testset)
    with (tmp_path / "results.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        for batch in to_batches(tasks):
            for second, item in enumerate(batch["items"]):
                document = [item["documentID"], item["isCompleteDocument"]] if "documentID" in item else []
                score = item["itemID"] % 101
                for system in item["targetID"].split("+"):
                    account = f"engdeu{batch['task']['batchNo']:02x}"
                    row = [account, system, item["itemID"], item["itemType"], "eng", "deu", score]
                    writer.writerow([*row, *document, 10 * second, 10 * second + 9])
    table = read([tmp_path / "results.csv"], format="appraise").table
    wanted = {
        (item.segment, system, output.kind)
        for task in tasks.tasks
        for _, item, output in task.outputs()
        for system in output.systems
    }
    rows = set(table.select("segment", "system", "kind").iter_rows())
    assert {row for row in rows if row[2] != "repeat"} == wanted


def test_a_system_whose_name_appraise_would_split_is_refused() -> None:
    testset = make_texts(documents=[9], systems=2)
    systems = dict(zip(["a+b", "c"], testset.systems.values(), strict=True))
    named = type(testset)(testset.source, testset.references, systems)
    with pytest.raises(DataError, match=r"'a\+b' has a '\+' in its name"):
        to_batches(design(make_campaign(), named))


def test_segments_without_numbers_of_their_own_are_numbered_through() -> None:
    testset = make_texts(documents=[9] * 3, systems=3)
    source = tuple(
        type(segment)(segment.document, f"p{i % 9}", segment.text) for i, segment in enumerate(testset.source)
    )
    [batch] = to_batches(design(make_campaign(), type(testset)(source, testset.references, testset.systems)))
    assert {item["itemID"] for item in batch["items"]} == set(range(1, 28))
