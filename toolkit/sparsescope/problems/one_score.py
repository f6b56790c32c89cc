"""Problems of two classes as problems of one score; see :mod:`sparsescope.solvers.one_score`."""

from __future__ import annotations

import math
from weakref import WeakKeyDictionary

import numpy as np

from ..penalties import L1, ElasticNet, Penalty, Ridge
from .penalty_norms import terms_of
from .prediction import Problem

MADE: WeakKeyDictionary[Problem, Problem | None] = WeakKeyDictionary()  # by the problem of two classes


def of_difference(penalty: Penalty) -> tuple[Penalty, float] | None:
    """Return (Ω̃, f) with Ω((−v/2, v/2)) = f·Ω̃(v); ``None`` if Ω is no sum of norms and squares."""
    terms = terms_of(penalty)
    if terms is None or any(np.ndim(term) for term in terms):  # weights of single entries
        return None
    sums, lengths, heights, squares = terms
    kink, curve = sums + lengths / math.sqrt(2.0) + heights / 2.0, squares / 2.0
    if curve == 0.0:
        return L1(), kink
    return (ElasticNet(rho=kink / (kink + curve)) if kink > 0.0 else Ridge()), kink + curve


def in_one_score(problem: Problem) -> Problem | None:
    """Return the problem of one score that is solved in place of one of two classes; ``None`` if there is none."""
    if problem not in MADE:
        MADE[problem] = _in_one_score(problem)
    return MADE[problem]


def _in_one_score(problem: Problem) -> Problem | None:
    if problem.m != 2 or problem.multilabel or problem.partitioned or not problem.loss.of_differences:
        return None
    loss = problem.loss.in_one_score()
    if loss is None or problem.regulariser.blocks is not None or (found := of_difference(problem.penalty)) is None:
        return None
    penalty, factor = found
    return problem.with_(loss=loss, penalty=penalty, lam=problem.lam * factor)
