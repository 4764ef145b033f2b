"""The mixed model at the size of a large language pair and at a million scores: CPU seconds and peak memory.

python -m bench.bench_mixed
"""

from __future__ import annotations

import resource
import time

import numpy as np

from adjudge.mixed.design import MixedDesign, combine
from adjudge.mixed.fit import fit, refit

SYSTEMS = 20
# Standard deviations of annotators, tasks, documents, segments, systems by documents, pages, and the residual.
SPREAD = (11.0, 5.8, 2.0, 6.2, 4.4, 3.2, 18.5)


def campaign(documents: int, pages: int, annotators: int, tasks: int, seed: int = 1) -> MixedDesign:
    """Pages of whole documents (13 segments on average), handed out at random; `pages` are per document."""
    rng = np.random.default_rng(seed)
    length = rng.poisson(13, documents).clip(2)
    start = np.cumsum(length) - length
    document = rng.permutation(np.repeat(np.arange(documents), pages))
    count = len(document)
    rows = length[document]
    page = np.repeat(np.arange(count), rows)
    segment = start[document[page]] + np.arange(len(page)) - np.repeat(np.cumsum(rows) - rows, rows)
    task = (np.arange(count) * tasks // count)[page]
    system = rng.integers(SYSTEMS, size=count)[page]
    own = document[page]
    codes = (task * annotators // tasks, task, own, segment, combine(system, own), page)
    score = 70 + 0.5 * system + SPREAD[-1] * rng.standard_normal(len(page))
    for code, spread in zip(codes, SPREAD, strict=False):
        score += spread * rng.standard_normal(int(code.max()) + 1)[code]
    names = tuple(f"system-{i:02d}" for i in range(SYSTEMS))
    human = np.zeros(SYSTEMS, dtype=bool)
    annotator, task, own, segment, _, page = (np.unique(code, return_inverse=True)[1] for code in codes)
    return MixedDesign(score, names, human, system, annotator, task, own, segment, page, np.arange(len(page)))


def main() -> None:
    for shape in ((64, 34, 180, 376), (300, 40, 300, 900), (2000, 38, 1000, 3000), (2400, 32, 4000, 12000)):
        design = campaign(*shape)
        start = time.process_time()
        model = fit(design)
        fitted = time.process_time() - start
        start = time.process_time()
        refit(design, model.ratios)
        again = time.process_time() - start
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        how = "exact" if model.exact else "conjugate gradients"
        print(f"{len(design):9,} rows, {shape[3]:6,} tasks: fit {fitted:6.2f} s, at known variances {again:6.2f} s, "
              f"{peak:,} MB, {model.iterations} steps, {how}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
