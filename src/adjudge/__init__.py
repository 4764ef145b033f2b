"""adjudge turns human judgments of translations into a ranking you can defend.

Data flow one way, and each arrow is a folder with one main function named after its verb:

    testset -> design -> collect |
                        simulate |-> judgments -> check -> rank -> audit -> meta -> report
                   formats(read) |

    import adjudge

    judgments = adjudge.read(["judgments.csv"], format="wmt-ranking").for_pair("en-cs")
    ranking = adjudge.rank(judgments)
    print(ranking.signature)
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from adjudge._version import __version__

if TYPE_CHECKING:
    from adjudge.agree import agree
    from adjudge.audit import audit
    from adjudge.audit.parity import parity
    from adjudge.core.judgments import Judgments
    from adjudge.design import design, load_campaign
    from adjudge.formats import read
    from adjudge.look import look
    from adjudge.meta import meta
    from adjudge.meta.gold import gold
    from adjudge.meta.quality_estimation import qe
    from adjudge.plan import plan
    from adjudge.rank import rank
    from adjudge.results.rank import Ranking
    from adjudge.testset import testset

# The public names and where they live: imported when first used, so that `import adjudge` is fast.
_PUBLIC = {
    "Judgments": "adjudge.core.judgments",
    "Ranking": "adjudge.results.rank",
    "agree": "adjudge.agree",
    "audit": "adjudge.audit",
    "gold": "adjudge.meta.gold",
    "look": "adjudge.look",
    "meta": "adjudge.meta",
    "qe": "adjudge.meta.quality_estimation",
    "parity": "adjudge.audit.parity",
    "testset": "adjudge.testset",
    "design": "adjudge.design",
    "load_campaign": "adjudge.design",
    "read": "adjudge.formats",
    "plan": "adjudge.plan",
    "rank": "adjudge.rank",
}

__all__ = [
    "Judgments",
    "Ranking",
    "__version__",
    "agree",
    "audit",
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
    "testset",
]


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'adjudge' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """A public function wins over the folder of the same name, whichever was asked for first."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _PUBLIC and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
