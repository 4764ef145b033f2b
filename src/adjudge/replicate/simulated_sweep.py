"""The weight sweep and Williams' test on simulated post-editions, where a paper's own were never released.

Nothing here is about the paper's systems: texts and systems are invented, and the truth behind them is known. It shows
that the computation is there, and that the effect the paper describes follows from the weighting alone.
"""

from __future__ import annotations

from adjudge.meta.quality_estimation import estimate
from adjudge.replicate.replication import ReplicatedCell, ReplicatedTable
from adjudge.simulate.post_edits import simulate_post_edits

WEIGHTS = (0.0, 1.0, 50.0)
SEED = 1
_NOTE = "simulated, see docs/qe.md"


def simulated_sweep(weight: float) -> ReplicatedTable:
    """Every invented system's correlation at some weights, how many rankings there are, and the tests."""
    made = simulate_post_edits(documents=62, segments=6, seed=SEED)
    result = estimate(made.documents, made.predictions, weight=weight)
    cells = [
        ReplicatedCell(f"{one.system}, weight {at:g}: r", None, 3, one.by_weight[result.weights.index(at)], _NOTE)
        for one in result.systems
        for at in sorted({*WEIGHTS, float(weight)})
    ]
    cells.append(ReplicatedCell("rankings of systems along the sweep", None, 0, float(len(result.orders)), _NOTE))
    cells += [
        ReplicatedCell(f"{one.better} better than {one.worse}: Williams' p", None, 6, one.p, _NOTE)
        for one in result.comparisons
    ]
    title = f"Weight sweep and Williams' test at weight {weight:g} on simulated post-editions; seed {SEED}"
    return ReplicatedTable("Figure 1, simulated", title, None, tuple(cells))
