"""Careless people found without controls, and false claims where one person has several accounts.

Careless people: ten people, two of them careless, 6 systems (standard deviation 4), pages of four segments. Standard
deviations: annotators 7, tastes 2.5, documents 3, segments 3.5, system in document 3, page 2.5, residual 10. Ordinary
people differ in scale and noise (standard deviation of the logarithm .25).

Accounts: the design of ESA 2024 (`ADJUDGE_DATA`), equal systems, everything that belongs to a person drawn by person.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from adjudge.evidence.annotator_fit import relative_fits, score_fits, verdict_on
from adjudge.mixed.agreement import PersonFit
from adjudge.mixed.design import MixedDesign, design_from
from adjudge.mixed.model import forget_models, model_of
from adjudge.ranking.decisions import holm
from adjudge.ranking.scores import widen_mixed
from adjudge.readers.registry import read
from adjudge.table.comparisons import comparisons
from adjudge.table.judgments import Judgments
from adjudge.table.maths import contrasts, student_quantile
from adjudge.table.participants import account_evidence

PEOPLE, SYSTEMS, PAGE = 10, 6, 4
KINDS = {
    "none": None,
    "random around 78": lambda rng, n: rng.normal(78, 10, n),
    "line 80 ± 3": lambda rng, n: rng.normal(80, 3, n),
    "uniform": lambda rng, n: rng.uniform(0, 100, n),
}


@dataclass(frozen=True)
class Campaign:
    """How much each person judges, and how many see the same page."""

    each: int
    together: int
    differ: float = 0.25

    def drawn(self, kind: str, rng: np.random.Generator) -> Judgments:
        """Scores of ten people; the first two are careless unless the kind is `none`."""
        pages = PEOPLE * self.each // PAGE // self.together
        page = np.arange(pages)
        system, document = page % SYSTEMS, page // SYSTEMS
        # Everybody gets as many pages, in random order, nobody one page twice.
        person = np.stack([(rng.permutation(pages) + k) % PEOPLE for k in range(self.together)])
        for k in range(1, self.together):
            person[k] = np.where(person[k] == person[0], (person[k] + 1) % PEOPLE, person[k])
        who, shown = person.ravel(), np.tile(page, self.together)
        rows, segment = np.repeat(np.arange(len(who)), PAGE), np.tile(np.arange(PAGE), len(who))
        who, shown = who[rows], shown[rows]
        what, text = system[shown], document[shown]
        quality = (
            rng.normal(0, 4, SYSTEMS)[what]
            + rng.normal(0, 2.5, (PEOPLE, SYSTEMS))[who, what]
            + rng.normal(0, 3, document.max() + 1)[text]
            + rng.normal(0, 3.5, (document.max() + 1, PAGE))[text, segment]
            + rng.normal(0, 3, (document.max() + 1, SYSTEMS))[text, what]
            + rng.normal(0, 2.5, len(person.ravel()))[rows]
        )
        scale, noise = np.exp(rng.normal(0, self.differ, (2, PEOPLE)))
        score = 75 + rng.normal(0, 7, PEOPLE)[who] + scale[who] * quality + noise[who] * rng.normal(0, 10, len(rows))
        draw = KINDS[kind]
        if draw is not None:
            score = np.where(who < 2, draw(rng, len(rows)), score)
        return Judgments.from_columns(
            {
                "annotator": [f"p{code}" for code in who],
                "system": [f"s{code}" for code in what],
                "document": [f"d{code}" for code in text],
                "segment": [str(code) for code in segment],
                "screen": [str(code) for code in rows],
                "score": np.clip(np.round(score), 0, 100),
                "protocol": ["esa"] * len(rows),
            }
        )


def fits_in(judgments: Judgments) -> dict[str, PersonFit | None]:
    design = design_from(judgments)
    forget_models()
    return score_fits(design, {code: f"p{code}" for code in range(PEOPLE)})


def find_careless(campaigns: int) -> None:
    """Print how many careless people are named and how many others, by kind of campaign."""
    for campaign in (Campaign(100, 2), Campaign(200, 1), Campaign(200, 2), Campaign(100, 2, 0.35)):
        for kind in KINDS:
            found: dict[bool, list[tuple[str, float, float]]] = {True: [], False: []}
            alarms = 0
            for seed in range(campaigns):
                fits = fits_in(campaign.drawn(kind, np.random.default_rng([seed, campaign.each, campaign.together])))
                told = {name: (verdict_on(fit), fit) for name, fit in fits.items() if fit is not None}
                for name, (verdict, fit) in told.items():
                    careless = kind != "none" and name in ("p0", "p1")
                    found[careless].append((verdict, fit.agreement, float(np.sqrt(fit.information))))
                alarms += any(
                    verdict == "careless" and not (kind != "none" and name in ("p0", "p1"))
                    for name, (verdict, _) in told.items()
                )
            words = ""
            if careless_people := found[True]:
                mean = np.mean([r for _, r, _ in careless_people])
                shares = (
                    f"{_share(careless_people, 'careless')} named, {_share(careless_people, 'not shown')} not shown"
                )
                words = f"{shares}, r {mean:.2f}; "
            others = found[False]
            root = np.median([root for *_, root in others])
            print(
                f"{campaign} {kind}: {words}ordinary: {_share(others, 'careless')} named "
                f"(in {alarms / campaigns:.1%} of {campaigns} campaigns), {_share(others, 'not shown')} not shown, "
                f"{_share(others, 'too little to tell')} too little, r {np.mean([r for _, r, _ in others]):.2f}, "
                f"sqrt I {root:.1f}",
                flush=True,
            )


def _share(people: list[tuple[str, float, float]], verdict: str) -> str:
    return f"{np.mean([word == verdict for word, *_ in people]):.1%}"


def find_clickers(campaigns: int) -> None:
    """The same for pairs of systems: ten people, two of whom choose at random, strengths of standard deviation .6."""
    for each in (100, 200, 400):
        named: list[str] = []
        others: list[str] = []
        root: list[float] = []
        for seed in range(campaigns):
            rng = np.random.default_rng([seed, each])
            person = np.repeat(np.arange(PEOPLE), each)
            pairs = np.argsort(rng.random((len(person), SYSTEMS)), axis=1)[:, :2]
            liking = rng.normal(0, 0.6, SYSTEMS) + rng.normal(0, 0.15, (PEOPLE, SYSTEMS))
            ahead = liking[person, pairs[:, 0]] - liking[person, pairs[:, 1]]
            won = rng.random(len(person)) < 1 / (1 + np.exp(-np.where(person < 2, 0.0, ahead)))
            table = Judgments.from_columns(
                {
                    "annotator": [f"p{code}" for code in np.repeat(person, 2)],
                    "screen": [str(code) for code in np.repeat(np.arange(len(person)), 2)],
                    "segment": [str(code) for code in np.repeat(np.arange(len(person)), 2)],
                    "system": [f"s{code}" for code in pairs.ravel()],
                    "rank": np.column_stack([2 - won, 1 + won]).ravel(),
                    "protocol": ["pairwise"] * (2 * len(person)),
                }
            )
            for name, fit in relative_fits(comparisons(table)).items():
                if fit is not None:
                    (named if name in ("p0", "p1") else others).append(verdict_on(fit))
                    root.append(float(np.sqrt(fit.information)))
        shares = [f"{np.mean([word == 'careless' for word in part]):.1%}" for part in (named, others)]
        print(
            f"{each} pairs a person: {shares[0]} of clickers named, {shares[1]} of others; sqrt I {np.median(root):.1f}"
        )


SDS = {"annotator": 7.0, "taste": 2.7, "document": 3.0, "segment": 3.5, "cell": 3.0, "page": 2.5, "residual": 9.0}


def _drawn_scores(people: MixedDesign, rng: np.random.Generator) -> np.ndarray:
    """Scores of equal systems: whatever belongs to a person is the same under all accounts."""
    assert people.annotator is not None
    assert people.annotator_system is not None
    assert people.document is not None
    assert people.segment is not None
    assert people.page is not None
    cell = people.system * (people.document.max() + 1) + people.document
    score = 80 + rng.normal(0, SDS["residual"], len(people))
    for name, codes in (
        ("annotator", people.annotator), ("taste", people.annotator_system), ("document", people.document),
        ("segment", people.segment), ("cell", cell), ("page", people.page),
    ):  # fmt: skip
        score += rng.normal(0, SDS[name], codes.max() + 1)[codes]
    return score


def compare_accounts(campaigns: int) -> None:
    """Print false claims by people, by accounts, and by accounts taken for as few people as there may be."""
    folder = Path(os.environ["ADJUDGE_DATA"]) / "wmt24esa"
    file, known = folder / "esa_generalMT2024_wave3.csv", folder / "annotator_mapping.json"
    for pair in ("en-zh", "en-ja"):
        by_account = read([file], format="appraise").for_pair(pair)
        by_person = read([file], format="appraise", annotators=known).for_pair(pair)
        evidence = account_evidence(by_account)
        people, accounts = (design_from(part, model="mixed-points") for part in (by_person, by_account))
        assert (people.row == accounts.row).all()
        upper = np.triu_indices(len(people.systems), 1)
        totals: dict[str, list[tuple[bool, float, np.ndarray, np.ndarray]]] = {}
        for seed in range(campaigns):
            score = _drawn_scores(people, np.random.default_rng(seed))
            fits = {"by people": model_of(people.with_scores(score)).fitted}
            plain = model_of(accounts.with_scores(score)).fitted
            fits |= {"by accounts": plain, "cautious": widen_mixed(plain, evidence)}
            for name, fit in fits.items():
                compared = contrasts(fit.effects, fit.covariance, fit.df)
                difference, se, df = (part[upper] for part in (compared.difference, compared.se, compared.df))
                inside = np.abs(difference) <= se * student_quantile(0.025, df)
                false = bool((holm(compared.two_sided[upper]) < 0.05).any())
                totals.setdefault(name, []).append((false, float(inside.mean()), difference, se))
            forget_models()
        for name, runs in totals.items():
            spread = np.sqrt(np.mean([np.mean(run[2] ** 2) for run in runs]))
            share, cover = np.mean([run[0] for run in runs]), np.mean([run[1] for run in runs])
            print(
                f"{pair} {name}: some pair different in {share:.1%} ± {np.sqrt(share * (1 - share) / campaigns):.1%}, "
                f"cover {cover:.1%}, SE / true {np.mean([run[3].mean() for run in runs]) / spread:.2f}",
                flush=True,
            )


def main() -> None:
    campaigns = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    compare_accounts(campaigns)
    find_clickers(campaigns)
    find_careless(campaigns)


if __name__ == "__main__":
    main()
