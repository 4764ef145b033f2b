"""The text of a new campaign file, with what its keys mean beside them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adjudge.core.protocols import PROTOCOLS, CollectedProtocol
from adjudge.design.campaign.parts import named_annotators

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_ITEMS = 100
"""Items of a task where there are enough: about an hour of scores."""
_MEANINGS = {
    "ranking": "several translations of a segment are put into order",
    "da": "every translation gets a score from 0 to 100",
    "pairwise": "two translations of a segment are compared",
    "sqm": "every translation gets a score from 0 to 6",
    "esa": "errors are marked, then every segment gets a score",
    "mqm": "errors are marked with their kind and severity",
    "postedit": "every translation is corrected",
}


@dataclass(frozen=True)
class Plan:
    """What the campaign file is to say."""

    name: str
    protocol: CollectedProtocol
    source_lang: str
    target_lang: str
    source: str
    systems: Mapping[str, str]
    annotators: int | tuple[str, ...]
    task_size: int = MOST_ITEMS
    controls: tuple[int, int] | None = None
    """Degraded copies and repeats per task; None where the texts are too few for them."""


def make_campaign_text(plan: Plan) -> str:
    """The campaign file, with what its keys mean beside them."""
    people = named_annotators(plan.annotators)
    parts = [
        f"""\
# A campaign of adjudge. Its documentation explains every key (docs/design.md); what follows a # has no effect.
name = {_quote(plan.name)}
protocol = "{plan.protocol}"{_remark(_MEANINGS[plan.protocol])}
seed = 1{_remark("the same seed and texts give the same tasks")}

[languages]
source = {_quote(plan.source_lang)}
target = {_quote(plan.target_lang)}

[files]{_remark("one segment per line, a blank line between documents")}
source = {_quote(plan.source)}

[files.systems]{_remark("their translations of the same lines")}
""",
        *(f"{_quote_key(name)} = {_quote(file)}\n" for name, file in plan.systems.items()),
        f"""
# [files.references]{_remark("human translations; controls and comparisons can use them")}
# refA = "refA.txt"

[design]
task_size = {plan.task_size}{_remark("items of one task, controls included")}
annotators = {_quote_people(plan.annotators)}{_remark('how many, or their names: ["Marie", "Jean"]')}
judgments = {min(2, len(people))}{_remark("so many different people judge each item")}
""",
        _make_context_part(plan),
        _make_controls_part(plan),
        f"""
[assignment]
policy = "fixed"{_remark('"pool": tasks are not planned for people, whoever is free takes the next one')}

# [page]
# comments = true{_remark("people can write a comment on each translation")}

# [instructions]{_remark("what people read first; without it, general words")}
# en = "Read the whole text before you judge it."
""",
    ]
    return "".join(parts)


def _make_context_part(plan: Plan) -> str:
    if not PROTOCOLS[plan.protocol].in_text:
        return ""
    return f"\n[context]\nmax_segments = 10{_remark('longer documents are cut into pages of about this length')}\n"


def _make_controls_part(plan: Plan) -> str:
    degraded, repeats = plan.controls or (10, 5)
    off = "" if plan.controls else "# "
    too_few = "" if plan.controls else "; the texts are too few for any so far"
    return (
        f"\n{off}[controls]{_remark(f'items of each task that check the people{too_few}')}\n"
        f"{off}degraded = {degraded}{_remark('copies made worse on purpose, which careful people notice')}\n"
        f"{off}repeats = {repeats}{_remark('items shown again, half a task later')}\n"
    )


def _remark(text: str) -> str:
    return f"  # {text}"


def _quote(text: str) -> str:
    """A text as TOML writes it; the escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _quote_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quote(name)


def _quote_people(annotators: int | tuple[str, ...]) -> str:
    return str(annotators) if isinstance(annotators, int) else f"[{', '.join(map(_quote, annotators))}]"
