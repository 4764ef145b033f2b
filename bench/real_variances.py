"""How scores vary in released campaigns, as settings of simulated ones; read from the folder in ADJUDGE_DATA."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from adjudge.mixed.design import design_from
from adjudge.mixed.fit import fit
from adjudge.readers.registry import read
from adjudge.table.judgments import Judgments

DATA = Path(os.environ.get("ADJUDGE_DATA", "../shared/data"))
EFFECTS = {
    "annotator": "annotator_sd",
    "annotator:system": "taste_sd",
    "document": "document_sd",
    "segment": "segment_sd",
    "system:document": "system_document_sd",
    "page": "page_sd",
    "residual": "residual_sd",
}


def _esa() -> Judgments:
    folder = DATA / "esa-study"
    return read(folder / "240520rc6ESA.scores.csv", format="appraise", annotators=folder / "Annotators_mapping.csv")


def _da() -> Judgments:
    return read(DATA / "wmt21" / "newstest2021-toen", format="wmt-da").for_pair("de-en")


def _mqm() -> Judgments:
    return read(DATA / "mqm" / "mqm_ted_ende.tsv", format="mqm")


CAMPAIGNS: dict[str, Callable[[], Judgments]] = {"esa": _esa, "da": _da, "mqm": _mqm}


@lru_cache
def standard_deviations(campaign: str) -> dict[str, float]:
    """By setting of `GrowingCampaign`, the standard deviation that the mixed model finds; tasks are left out."""
    components = fit(design_from(CAMPAIGNS[campaign](), model="mixed-points")).components
    by_effect = {component.effect: component.sd for component in components}
    return {setting: by_effect.get(effect, 0.0) for effect, setting in EFFECTS.items()}
