"""adjudge turns human judgments of translations into a ranking you can defend.

    import adjudge

    ranking = adjudge.rank("scores.csv")
    print(ranking)
    ranking.plot()

Every verb takes a path, several paths, a polars or pandas data frame, or judgments. `docs/python.md` shows more.
Data flow one way, and each arrow is a folder with one main function named after its verb:

    testset -> design -> collect |
                        simulate |-> judgments -> check -> rank -> audit -> meta -> report
                   formats(read) |

`adjudge.rank` is always the function, `from adjudge.rank import RankSettings` always the folder of the same name.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from adjudge._version import __version__

if TYPE_CHECKING:
    from adjudge.api.comparing import compare, gold, meta, parity, qe, replicate
    from adjudge.api.look import look
    from adjudge.api.planning import design, plan, read, simulate, testset
    from adjudge.api.ranking import agree, audit, check, rank, tournament
    from adjudge.api.report import report
    from adjudge.core.errors import AdjudgeError
    from adjudge.core.judgments import Judgments
    from adjudge.design import load_campaign
    from adjudge.results.rank import Ranking

# Otherwise polars adds the numbers of a group in as many parts as it has threads, so that the last digit of a sum would
# depend on the number of cores. It asks for this when it groups, so it may be imported already.
os.environ.setdefault("POLARS_NO_PARTITION", "1")

# The public names and where they live: imported when first used, so that `import adjudge` is fast.
# To add a verb, write it in `api/`, and name it here, above and in `__all__`.
_PUBLIC = {
    "AdjudgeError": "adjudge.core.errors",
    "Judgments": "adjudge.core.judgments",
    "Ranking": "adjudge.results.rank",
    "agree": "adjudge.api.ranking",
    "audit": "adjudge.api.ranking",
    "check": "adjudge.api.ranking",
    "compare": "adjudge.api.comparing",
    "design": "adjudge.api.planning",
    "gold": "adjudge.api.comparing",
    "load_campaign": "adjudge.design",
    "look": "adjudge.api.look",
    "meta": "adjudge.api.comparing",
    "parity": "adjudge.api.comparing",
    "plan": "adjudge.api.planning",
    "qe": "adjudge.api.comparing",
    "rank": "adjudge.api.ranking",
    "read": "adjudge.api.planning",
    "replicate": "adjudge.api.comparing",
    "report": "adjudge.api.report",
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
    "check",
    "compare",
    "design",
    "gold",
    "load_campaign",
    "look",
    "meta",
    "parity",
    "plan",
    "qe",
    "rank",
    "read",
    "replicate",
    "report",
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
    """A public function wins over the folder of the same name, whichever was asked for first.

    Importing `adjudge.rank` as a folder would otherwise replace the function `adjudge.rank`.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _PUBLIC and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
