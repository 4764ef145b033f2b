"""Import packages in a process of their own, so that one that breaks takes nothing else with it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from adjudge.core.errors import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

SECONDS = 120
# Packages for Django can only be imported where Django has settings.
_CHILD = """
import importlib, json, sys
try:
    from django.conf import settings
    settings.configure()
except Exception:
    pass
for name, module in json.loads(sys.argv[1]).items():
    print(json.dumps([name, "ends the interpreter"]), flush=True)
    try:
        importlib.import_module(module)
        reason = ""
    except BaseException as fault:
        reason = f"{type(fault).__name__}: {fault}"
    print(json.dumps([name, reason]), flush=True)
"""


def importing(modules: Mapping[str, str]) -> dict[str, str]:
    """By name of a package, why its module cannot be imported; nothing for those that can."""
    call = [sys.executable, "-c", _CHILD, json.dumps(dict(modules))]
    try:
        printed = subprocess.run(call, capture_output=True, text=True, check=False, timeout=SECONDS).stdout
    except subprocess.TimeoutExpired as late:
        printed = (late.stdout or b"").decode()
    # The last word on a package counts: it is written before the import is tried, and again afterwards.
    last: dict[str, str] = dict(json.loads(line) for line in printed.splitlines() if line.startswith("["))
    return {name: shown(" ".join(reason.split()), 160) for name, reason in last.items() if reason}
