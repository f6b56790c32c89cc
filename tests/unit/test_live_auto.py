"""Messages to the page about solvers that choose: `auto` says what it chose, a working set can be watched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sparsescope import registry
from sparsescope.live import controls
from sparsescope.live import settings as st
from sparsescope.live.packer import Block, Packer
from sparsescope.live.preparing import load, prepare
from sparsescope.runs.session import Session


def solver_control(**chosen: Any) -> dict[str, Any]:
    """The menu of solvers as the page gets it, for a prepared problem."""
    settings, notices = st.clean({"dataset": "iris", **chosen})
    assert not notices
    prepared = prepare(settings, load(settings), None)
    groups = controls.schema(prepared.settings, reasons=prepared.reasons, chosen=prepared.chosen)
    return next(c for group in groups for c in group["controls"] if c["id"] == "solver")


def test_auto_says_under_the_menu_what_it_chose_and_why() -> None:
    said = solver_control(solver="auto", dataset="digits")["about_formula"]
    assert said.startswith(f"chosen here: {registry.solvers.title('working-set')}. ") and len(said) > 60
    assert solver_control(solver="auto", dataset="digits", penalty="ridge")["about_formula"] != said, (
        "the reason is that of the problem"
    )
    assert "chosen" not in solver_control(solver="bcd-ls")["about_formula"]


def test_a_page_can_follow_the_working_set_of_a_session() -> None:
    settings, _ = st.clean({"dataset": "planted-text", "solver": "working-set", "lam_ratio": 0.3})
    prepared = prepare(settings, load(settings), None)
    with Session(prepared.problem, prepared.solver) as session:
        packer = Packer(session.trace, prepared.problem.d)
        working: set[int] = set()
        for _ in range(4):
            session.step(2)
            assert session.wait_idle(120.0)
            block = Block()
            header = packer.columns(block)
            if header["working"]:
                data = b"".join(block.buffers())
                cut = {
                    name: np.frombuffer(data, dtype=dtype, count=size, offset=at)
                    for name, (dtype, at, size) in header["working"].items()
                }
                working = (working | set(cut["entered"].tolist())) - set(cut["left"].tolist())
            assert working == set(session.trace.working().tolist())
        assert 0 < len(working) < prepared.problem.d


@pytest.mark.parametrize("solver", ["bcd-ls", "fista-cst"])
def test_solvers_that_work_on_all_rows_send_no_working_set(solver: str) -> None:
    settings, _ = st.clean({"dataset": "iris", "solver": solver})
    prepared = prepare(settings, load(settings), None)
    with Session(prepared.problem, prepared.solver) as session:
        session.step(3)
        assert session.wait_idle(120.0)
        assert Packer(session.trace, prepared.problem.d).columns(Block())["working"] is None


def test_a_method_whose_gap_stays_open_at_a_loss_with_kinks_says_so_and_names_those_that_close_it() -> None:
    def told(solver: str, old: Any = None, before: str = "") -> list[str]:
        wanted = {"dataset": "iris", "solver": solver, "loss": "crammer-singer", "penalty": "elastic-net"}
        return prepare(st.clean(wanted)[0], source, old, before).notices

    source = load(st.clean({"dataset": "iris"})[0])
    smooth = prepare(st.clean({"dataset": "iris"})[0], source, None).problem
    kinked = smooth.with_(loss="crammer-singer", penalty="elastic-net")
    for solver in ("auto", "fbpd", "pd-sparse"):
        assert told(solver, smooth, "bcd-ls") == told(solver, kinked, "fobos") == []
    large = {"dataset": "digits", "solver": "auto", "loss": "crammer-singer"}
    (said,) = prepare(st.clean(large)[0], load(st.clean(large)[0]), None).notices
    assert said.endswith("λ_max is only an upper bound")
    (said,) = told("fobos", kinked, "auto")
    assert "with fobos it is true but stays open" in said and "fbpd or" in said and "pd-sparse" in said
    assert told("fobos", kinked, "fobos") == [], "once is enough"
