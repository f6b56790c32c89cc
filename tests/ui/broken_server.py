"""`sparsescope` with one more solver, which fails at its third step, to see what the page does then."""

from __future__ import annotations

import sys
from typing import Any

from sparsescope import cli, registry
from sparsescope.solvers import ISTA
from sparsescope.solvers.base import settings

REASON = "this step fails on purpose"


@settings
class Failing(ISTA):
    """Fails at its third step."""

    def step(self, problem: Any, state: Any) -> None:
        """One iteration of ISTA, or the failure."""
        if state.iteration >= 2:
            raise ArithmeticError(REASON)
        super().step(problem, state)


registry.solvers.add("failing", Failing, title="fails at its third step")
sys.exit(cli.main(sys.argv[1:]))
