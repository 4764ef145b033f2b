"""Two versions of a test set, from design through the server and the export to parity."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from tests.conftest import Run
from tests.helpers.serving import Server, new_save
from tests.helpers.texts import campaign_file, write_texts

PEOPLE = [f"annotator-{i:02d}" for i in range(1, 7)]


def test_from_texts_to_the_change_of_parity(tmp_path: Path, adjudge: Callable[..., Run]) -> None:
    """S0 gains 20 points where its source was corrected, and nothing elsewhere."""
    before, after = write_texts(tmp_path)
    worth = {
        text: (70 if name == "refA" else 50) + 20 * (name == "S0" and text.endswith("corrected"))
        for version in (before, after)
        for name, texts in version.systems.items()
        for text in texts
    }
    campaign = campaign_file(tmp_path)
    rng = np.random.default_rng(8)
    with Server(campaign) as server:
        for i, name in enumerate(PEOPLE):
            client = server.client(name)
            work = client.work()
            while work["task"]:
                # Nothing on the page says which version a text is of, or of which document.
                assert "version" not in json.dumps(work["task"])
                assert '"document"' not in json.dumps(work["task"])
                for number, screen in enumerate(work["task"]["screens"]):
                    changes = [
                        {"output": output["id"], "score": round(worth[output["text"]] + 4 * i + rng.normal(0, 2))}
                        for item in screen["items"]
                        for output in item["outputs"]
                    ]
                    assert client.post("/api/saves", new_save(work, number, changes)).status == 200
                assert client.post(f"/api/tasks/{work['task']['id']}/finish").json["finished"]
                work = client.work()
    exported = tmp_path / "judgments.parquet"
    assert adjudge("export", campaign, "-o", exported).code == 0
    table = pl.read_parquet(exported)
    assert set(table["version"].to_list()) == {"before", "after"}
    corrected = {(row[0], row[1]) for row in table.filter("corrected").select("document", "segment").iter_rows()}
    assert corrected == {(str(d), str(4 * (d - 1) + 1)) for d in (1, 3, 5, 7)}
    answer = adjudge("parity", exported, "--human", "refA", "--json").json
    modelled = {(own["system"], own["part"]): own for own in answer["model_change"]}
    for part in ("contaminated", "beyond untouched"):
        # Eight judgments in each cell with an error of 2: three standard errors of the change are 4.2.
        assert abs(modelled["S0", part]["change"] - 20) < 4.5
        assert modelled["S0", part]["p_holm"] < 0.001
    assert modelled["S1", "beyond untouched"]["p_holm"] > 0.05
    assert abs(modelled["S0", "untouched"]["change"]) < 3
    assert {change["part"] for change in answer["difference_in_differences"]} == {"beyond untouched"}
    by_version = adjudge("rank", exported, "--by", "version", "--json").json["breakdown"]["columns"][0]
    assert by_version["levels"] == ["after", "before"]
