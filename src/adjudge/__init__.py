"""adjudge turns human judgments of translations into a ranking you can defend.

    import adjudge

    ranking = adjudge.rank("scores.csv")
    print(ranking)
    ranking.plot()

Every function takes a path, several paths, a polars or pandas data frame, or judgments. `docs/python.md` shows more.
Data flow in one direction, and each stage is a folder with a main function of the same name:

    testset -> design -> collect |
                        simulate |-> judgments -> check -> rank -> audit -> meta -> report
                   formats(read) |

`adjudge.rank` is always the function; `from adjudge.rank import RankSettings` imports from the folder of that name.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from adjudge._version import __version__

if TYPE_CHECKING:
    from adjudge.api.campaigns import backup, extend, init, move, restore
    from adjudge.api.comparing import compare, gold, meta, parity, qe, replicate
    from adjudge.api.judging import judge
    from adjudge.api.look import look
    from adjudge.api.planning import design, plan, read, simulate, testset
    from adjudge.api.ranking import agree, audit, check, rank, tournament
    from adjudge.api.report import report
    from adjudge.core.errors import AdjudgeError
    from adjudge.core.judgments import Judgments
    from adjudge.design.campaign.toml_file import load_campaign
    from adjudge.results.rank import Ranking

# Otherwise polars sums a group in as many parts as it has threads, so that the last digit of a sum would depend on the
# number of cores. polars reads this setting when it groups, so it may be imported already.
os.environ.setdefault("POLARS_NO_PARTITION", "1")

# The public names and the modules that define them. They are imported on first use, so that `import adjudge` is fast.
# To add a function, write it in `api/`, and add it here, above and in `__all__`.
_PUBLIC = {
    "AdjudgeError": "adjudge.core.errors",
    "Judgments": "adjudge.core.judgments",
    "Ranking": "adjudge.results.rank",
    "agree": "adjudge.api.ranking",
    "audit": "adjudge.api.ranking",
    "backup": "adjudge.api.campaigns",
    "check": "adjudge.api.ranking",
    "compare": "adjudge.api.comparing",
    "design": "adjudge.api.planning",
    "extend": "adjudge.api.campaigns",
    "gold": "adjudge.api.comparing",
    "init": "adjudge.api.campaigns",
    "judge": "adjudge.api.judging",
    "load_campaign": "adjudge.design.campaign.toml_file",
    "look": "adjudge.api.look",
    "meta": "adjudge.api.comparing",
    "move": "adjudge.api.campaigns",
    "parity": "adjudge.api.comparing",
    "plan": "adjudge.api.planning",
    "qe": "adjudge.api.comparing",
    "rank": "adjudge.api.ranking",
    "read": "adjudge.api.planning",
    "replicate": "adjudge.api.comparing",
    "report": "adjudge.api.report",
    "restore": "adjudge.api.campaigns",
    "simulate": "adjudge.api.planning",
    "testset": "adjudge.api.planning",
    "tournament": "adjudge.api.ranking",
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

    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """Keep a public function in place when the subpackage of the same name is imported.

    Importing the subpackage `adjudge.rank` would otherwise replace the function `adjudge.rank`.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _PUBLIC and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
