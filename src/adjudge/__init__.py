"""adjudge turns human judgments of translations into a ranking you can defend.

    import adjudge

    ranking = adjudge.rank("scores.csv")
    print(ranking)
    ranking.plot()

Every function takes a path, several paths, a polars or pandas data frame, or judgments. `docs/python.md` shows more.
Data flow in one direction:

    testsets -> campaigns -> server |
                           planning |-> table -> people -> ranking -> evidence -> metrics -> reports
                            readers |
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from adjudge._version import __version__

if TYPE_CHECKING:
    from adjudge.campaigns.campaign_file import load_campaign
    from adjudge.ranking.ranking import Ranking
    from adjudge.shell.campaigns import backup, extend, init, judge, move, restore
    from adjudge.shell.evidence import audit, compare, look, parity, reaudit
    from adjudge.shell.metrics import gold, meta, qe, replicate
    from adjudge.shell.planning import design, plan, read, simulate, testset
    from adjudge.shell.ranking import agree, check, rank, tournament
    from adjudge.shell.reporting import report
    from adjudge.table.errors import AdjudgeError
    from adjudge.table.judgments import Judgments

# Otherwise polars sums a group in as many parts as it has threads, so that the last digit of a sum would depend on the
# number of cores. polars reads this setting when it groups, so it may be imported already.
os.environ.setdefault("POLARS_NO_PARTITION", "1")

# The public names and the modules that define them. They are imported on first use, so that `import adjudge` is fast.
# To add a function, declare it in `shell/`, and add it here, above and in `__all__`.
_PUBLIC = {
    "AdjudgeError": "adjudge.table.errors",
    "Judgments": "adjudge.table.judgments",
    "Ranking": "adjudge.ranking.ranking",
    "agree": "adjudge.shell.ranking",
    "audit": "adjudge.shell.evidence",
    "backup": "adjudge.shell.campaigns",
    "check": "adjudge.shell.ranking",
    "compare": "adjudge.shell.evidence",
    "design": "adjudge.shell.planning",
    "extend": "adjudge.shell.campaigns",
    "gold": "adjudge.shell.metrics",
    "init": "adjudge.shell.campaigns",
    "judge": "adjudge.shell.campaigns",
    "load_campaign": "adjudge.campaigns.campaign_file",
    "look": "adjudge.shell.evidence",
    "meta": "adjudge.shell.metrics",
    "move": "adjudge.shell.campaigns",
    "parity": "adjudge.shell.evidence",
    "plan": "adjudge.shell.planning",
    "qe": "adjudge.shell.metrics",
    "rank": "adjudge.shell.ranking",
    "read": "adjudge.shell.planning",
    "reaudit": "adjudge.shell.evidence",
    "replicate": "adjudge.shell.metrics",
    "report": "adjudge.shell.reporting",
    "restore": "adjudge.shell.campaigns",
    "simulate": "adjudge.shell.planning",
    "testset": "adjudge.shell.planning",
    "tournament": "adjudge.shell.ranking",
}

__all__ = [
    "AdjudgeError",
    "Judgments",
    "Ranking",
    "__version__",
    "agree",
    "audit",
    "backup",
    "check",
    "compare",
    "design",
    "extend",
    "gold",
    "init",
    "judge",
    "load_campaign",
    "look",
    "meta",
    "move",
    "parity",
    "plan",
    "qe",
    "rank",
    "read",
    "reaudit",
    "replicate",
    "report",
    "restore",
    "simulate",
    "testset",
    "tournament",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'adjudge' has no attribute '{name}'")
    from importlib import import_module

    found = getattr(import_module(_PUBLIC[name]), name)
    if not _PUBLIC[name].startswith("adjudge.shell."):
        return found
    from adjudge.shell.declare import described

    return described(found)


def __dir__() -> list[str]:
    return sorted(__all__)
