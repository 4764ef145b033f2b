"""The types of the page's scripts, made from the server's own OpenAPI description.

`python -m tests.page.types > tests/page/server.d.ts` writes them anew; `test_types.py` says when that is needed.
"""

from __future__ import annotations

import sys
from typing import Any

HEAD = """// Made by `python -m tests.page.types` from the server's own description. Do not edit.
declare namespace Server {
"""


def description() -> dict[str, Any]:
    """The OpenAPI description, as the server publishes it. Configures Django: once per process."""
    import django
    from django.conf import settings

    settings.configure(
        INSTALLED_APPS=["adjudge.server"],
        SESSION_COOKIE_NAME="session",
        ROOT_URLCONF="adjudge.server.endpoints",
        USE_TZ=True,
    )
    django.setup()
    from adjudge.server.endpoints import api

    schema: dict[str, Any] = api.get_openapi_schema()
    return schema


def declarations(schemas: dict[str, Any]) -> str:
    """Every schema of the description as a TypeScript type."""
    return HEAD + "".join(_declaration(name, schemas[name]) for name in sorted(schemas)) + "}\n"


def _declaration(name: str, schema: dict[str, Any]) -> str:
    required = set(schema.get("required", ()))
    # Fields with a default need not be sent; they are absent from answers where nothing was set.
    lines = [
        f"    {key}{'' if key in required else '?'}: {_type(value)};\n"
        for key, value in schema.get("properties", {}).items()
    ]
    return f"  interface {name} {{\n{''.join(lines)}  }}\n"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    for key in ("anyOf", "allOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(_type(part) for part in schema[key]))
    if "enum" in schema:
        return " | ".join(f'"{value}"' for value in schema["enum"])
    if "prefixItems" in schema:
        return f"[{', '.join(_type(part) for part in schema['prefixItems'])}]"
    kind = schema.get("type")
    if kind == "array":
        return f"({_type(schema.get('items', {}))})[]"
    if kind == "object":
        return f"Record<string, {_type(schema.get('additionalProperties', {}))}>"
    plain = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null"}
    return plain.get(str(kind), "any")


if __name__ == "__main__":
    sys.stdout.write(declarations(description()["components"]["schemas"]))
