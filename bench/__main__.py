"""Run all benches, or those named: every module `bench_NAME`, by its function `run` or else `main`."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path

# Timings are of one thread, and must not depend on how many the machine has.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

SKIPPED_UNLESS_NAMED = (
    "adaptive", "breakdown", "chosen_segments", "cluster", "evidence", "growth", "helpers", "large_report", "look",
    "mutations", "oracle", "people", "recipes", "released", "shared_documents", "verdicts",
)  # fmt: skip


def main() -> None:
    names = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    chosen = sys.argv[1:] or [name for name in names if name not in SKIPPED_UNLESS_NAMED]
    unknown = [name for name in chosen if name not in names]
    if unknown:
        print(f"unknown bench '{unknown[0]}'; choose from {', '.join(names)}", file=sys.stderr)
        sys.exit(2)
    # Modules that read options of their own must not take our names for theirs.
    del sys.argv[1:]
    for name in chosen:
        print(f"== {name}", flush=True)
        module = import_module(f"bench.bench_{name}")
        (module.run if hasattr(module, "run") else module.main)()
        print()


if __name__ == "__main__":
    main()
