"""The cautious reading of scores by accounts: decided as if there were as few people as their times allow.

If one person has F accounts, the model takes F copies of one taste for F independent ones, and the part of the
covariance C that comes from tastes is too small by that factor. With the variance tau^2 of tastes,

    C' = C + (F - 1) tau^2 dC/dtau^2,    df <= (fewest people - 1) (systems - 1)

dC/dtau^2 is exact (`mixed.effects.ContrastDegrees`). Grouping accounts by guesses instead is not valid: on the design
of ESA 2024 the groups are wrong often enough to call equal systems different.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from adjudge.mixed.fit import MixedFit, PartFit
from adjudge.people.accounts import ASK_FOR_MAP, AccountEvidence, account_evidence
from adjudge.table.protocols import RELATIVE
from adjudge.table.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adjudge.mixed.model import Refit
    from adjudge.table.judgments import Judgments
    from adjudge.table.maths import Floats


def suspected_accounts(judgments: Judgments) -> AccountEvidence | None:
    """The evidence that accounts are fewer people, if there is any."""
    evidence = account_evidence(judgments)
    return evidence if evidence is not None and evidence.suspected else None


def widen_mixed(fit: MixedFit, accounts: AccountEvidence | None) -> MixedFit:
    """The fit with the errors of as few people as there may be; the same fit if no accounts are suspected."""
    if accounts is None:
        return fit
    covariance, df = _widened(fit.covariance, fit.df, shared_tastes(fit), accounts)
    return replace(fit, covariance=covariance, df=df)


def widen_part(fit: Refit, whole: MixedFit, accounts: AccountEvidence | None) -> Refit:
    """The same for a fit to a part of the judgments, or without an annotator or document.

    A fit that does not know what tastes add to its errors takes that from the whole.
    """
    if accounts is None:
        return fit
    if isinstance(fit, MixedFit):
        return widen_mixed(fit, accounts)
    places = [whole.systems.index(name) for name in fit.systems]
    shared = shared_tastes(whole)[np.ix_(places, places)]
    return PartFit(fit.systems, fit.effects, *_widened(fit.covariance, fit.df, shared, accounts))


def shared_tastes(fit: MixedFit) -> Floats:
    """tau^2 dC/dtau^2: what tastes add to the covariance of the effects, in the unit of the scores."""
    of_tastes = fit.degrees.of_tastes
    if of_tastes is None:
        return np.zeros_like(fit.covariance)
    shared: Floats = of_tastes * fit.components[-1].sd ** 2
    return (shared + shared.T) / 2


def _widened(covariance: Floats, df: Floats, shared: Floats, accounts: AccountEvidence) -> tuple[Floats, Floats]:
    if accounts.fewest_people is None:
        return covariance, df
    most = max((accounts.fewest_people - 1) * (len(df) - 1), 1)
    return covariance + (accounts.factor - 1) * shared, np.where(np.isinf(df), df, np.minimum(df, most))


def account_notes(accounts: AccountEvidence, decided: int, otherwise: int, pairs: int) -> Iterator[str]:
    """Say that accounts were taken for fewer people, and what they decide taken for as many.

    Args:
        accounts: the evidence.
        decided: pairs that are decided by so few people.
        otherwise: pairs that would be decided if every account were a person.
        pairs: of systems.
    """
    instead = f"{otherwise} if every account were a person"
    yield _in_words(accounts, f": {decided} of {counted(pairs, 'pair')}, {instead}")


def account_note(judgments: Judgments) -> tuple[str, ...]:
    """Say that scores by accounts are taken for those of fewer people, without the pairs that this decides."""
    accounts = None if {*judgments.protocols} & {*RELATIVE} else suspected_accounts(judgments)
    return () if accounts is None else (_in_words(accounts, ""),)


def _in_words(accounts: AccountEvidence, decided: str) -> str:
    if accounts.fewest_people is None:
        return f"{accounts.in_words}; {ASK_FOR_MAP}"
    return f"{accounts.in_words}; decided as if they were{decided}; {ASK_FOR_MAP}"
