"""The types of the page's scripts are those of the server. `make pages` checks the scripts against them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.helpers.warm_command import PATIENCE
from tests.page.types import declarations

HERE = Path(__file__).parent


def test_the_types_are_those_that_the_server_describes() -> None:
    """In a process of its own, because Django is configured once per process."""
    command = [sys.executable, "-m", "tests.page.types"]
    made = subprocess.run(
        command, cwd=HERE.parents[1], check=True, capture_output=True, text=True, timeout=PATIENCE
    ).stdout
    assert (HERE / "server.d.ts").read_text() == made, f"run: {' '.join(command[1:])} > tests/page/server.d.ts"


def test_every_kind_of_schema_has_its_type() -> None:
    schema = {
        "properties": {
            "name": {"type": "string"},
            "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "several": {"type": "array", "items": {"$ref": "#/components/schemas/Other"}},
            "named": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "kind": {"enum": ["a", "b"]},
            "pair": {"prefixItems": [{"type": "number"}, {"type": "number"}]},
            "anything": {},
        },
        "required": ["name", "kind"],
    }
    lines = declarations({"Thing": schema}).splitlines()
    assert [line.strip() for line in lines[3:-2]] == [
        "name: string;",
        "maybe?: number | null;",
        "several?: (Other)[];",
        "named?: Record<string, boolean>;",
        'kind: "a" | "b";',
        "pair?: [number, number];",
        "anything?: any;",
    ]
