"""`sparsescope` with parts of a user that fail: a solver at its third step, and views in Python and on the page."""

from __future__ import annotations

import sys
from typing import Any

from sparsescope import cli, registry
from sparsescope.solvers import ISTA
from sparsescope.solvers.base import settings
from sparsescope.views.base import View

REASON = "this step fails on purpose"
LINE = {"column": "step_size", "label": "step size", "short": "step", "colour": "blue", "dash": "solid", "axis": "left"}


@settings
class Failing(ISTA):
    """Fails at its third step."""

    def step(self, problem: Any, state: Any) -> None:
        """One iteration of ISTA, or the failure."""
        if state.iteration >= 2:
            raise ArithmeticError(REASON)
        super().step(problem, state)


class Steps(View):
    """Step sizes over time."""

    name, title, doc, needs, empty = "steps", "Step size", "Step sizes.", "a step", "Nothing to draw yet."

    def spec(self, problem: Any) -> dict[str, Any]:
        left = {"title": "step size", "log": True}
        return {"id": self.name, "title": self.title, "kind": "lines", "y": [LINE], "left": left, "right": None,
                "empty": self.empty}  # fmt: skip

    def _draw(self, trace: Any, problem: Any) -> Any:
        raise NotImplementedError("the page draws the spec")


class Undescribed(Steps):
    """A view whose description fails."""

    name, title = "undescribed", "Undescribed"

    def spec(self, problem: Any) -> dict[str, Any]:
        raise ZeroDivisionError("this spec fails on purpose")


class Undrawable(Steps):
    """A view whose description is plain JSON, and lacks its lines."""

    name, title = "undrawable", "Undrawable"

    def spec(self, problem: Any) -> dict[str, Any]:
        return {key: value for key, value in super().spec(problem).items() if key != "y"}


registry.solvers.add("failing", Failing, title="fails at its third step")
for view in (Undescribed, Undrawable, Steps):
    registry.views.add(view.name, view)
sys.exit(cli.main(sys.argv[1:]))
