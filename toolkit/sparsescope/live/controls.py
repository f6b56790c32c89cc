"""The controls of the page: what all kinds of problems have, and between it what theirs brings.

A choice that does not fit the others stays in the list, disabled, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import datasets
from . import kinds, knobs
from . import settings as st


def schema(
    settings: Mapping[str, Any],
    *,
    reasons: knobs.Reasons | None = None,
    lam_reference: float | None = None,
    lam_finite: bool = True,
    lam_bound: bool = False,
    names: Sequence[str] | None = None,
    given: tuple[str, str] | None = None,
    chosen: str = "",
) -> list[dict[str, Any]]:
    """The groups of controls: a list of ``{"title", "controls"}``.

    ``names`` are the data sets to choose from (None: all), ``given`` the (name, title) of data handed over in Python.
    ``reasons`` gives for (kind, name) why a choice is impossible beside the others; what is missing is possible. For
    (setting, "") it gives the reason why a whole control has no effect.
    ``chosen``: the solver that ``auto`` chose, and why.
    """
    reasons, kind = reasons or {}, kinds.of(settings)
    handed = given is not None and settings["dataset"] == given[0]
    seen = [setting for setting in kind.all_settings if not (handed and setting.of_split)]

    def placed(place: str) -> list[dict[str, Any]]:
        shown = [setting for setting in seen if setting.place == place]
        return [knobs.setting_control(setting, settings, reasons, kind.words) for setting in shown]

    problem = [
        knobs.data_control(settings, list(names or datasets.names()), given, kind.words),
        *placed("first"),
        *kind.controls(settings, reasons),
        *placed("above"),
        kind.lam_control(settings, lam_reference, lam_finite, lam_bound),
        *placed("below"),
    ]
    solver = [knobs.part_select("solver", settings, reasons, chosen, words=kind.words, names=kind.solver_names())]
    for f in st.fields_of("solver", settings["solver"]):
        key = f"solver.{f.name}"
        reason = reasons.get((key, ""), "")
        solver.append({**knobs.field_control("solver", f, settings[key]), "disabled": bool(reason), "reason": reason})
    return [
        {"title": "Problem", "controls": problem},
        {"title": "Method", "controls": solver, "fold": 1},
        {"title": "Run", "controls": placed("run")},
    ]
