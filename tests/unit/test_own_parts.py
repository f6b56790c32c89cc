"""Parts of a user: derived from other parts, and written in plain Python that numba cannot compile."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.jit import callbacks, disabled
from sparsescope.registry import NotAllowed

compiled = pytest.mark.skipif(disabled(), reason="nothing is compiled")


@ss.part
class Half(ss.penalties.SparseGroup):
    """A penalty with a field more than the one that it is derived from."""

    factor: float = ss.field(0.5, 0.0, 1.0, "multiple")

    def value(self, w):
        return self.factor * abs(w).sum() + self.rho


@ss.part
class Third(Half):
    """Another default for a field that it inherits."""

    rho = 0.25


def test_a_part_derived_from_a_part_keeps_its_fields_and_adds_its_own() -> None:
    made = Half(rho=0.25, factor=1.0)
    assert [f.name for f in Half.fields] == ["rho", "factor"] == list(Half._fields)
    assert (made.rho, made.factor) == (0.25, 1.0) == tuple(made)
    assert Half() == Half(rho=0.5) != Half(rho=0.5, factor=0.25)
    assert made._replace(rho=1.0) == Half(rho=1.0, factor=1.0)
    assert made.value(np.ones(3)) == 3.25
    with pytest.raises(NotAllowed, match="factor is 2"):
        Half(factor=2.0)
    with pytest.raises(NotAllowed, match="rho is 2"):
        Half(rho=2.0)


def test_a_plain_value_is_another_default_of_an_inherited_field() -> None:
    assert Third() == Third(rho=0.25, factor=0.5)
    with pytest.raises(NotAllowed, match="rho is 2"):

        @ss.part
        class Wrong(Half):
            rho = 2.0


def test_a_derived_part_is_solved_like_its_base() -> None:
    @ss.part
    class Same(ss.penalties.SparseGroup):
        unused: float = ss.field(1.0, 0.0, 2.0, "nothing")

    problems = [ss.Problem(ss.datasets.load("iris"), penalty=penalty, lam_ratio=0.1)
                for penalty in (ss.penalties.SparseGroup(rho=0.25), Same(rho=0.25))]  # fmt: skip
    found = [ss.solve(problem, "ista", tol=1e-6) for problem in problems]
    np.testing.assert_array_equal(found[0].W, found[1].W)


@ss.part
class Sorted(ss.penalties.L1Linf):
    """ℓ1/ℓ∞ with the textbook's prox, in Python that numba does not compile."""

    def prox(self, v, tau, out):
        sizes = sorted((abs(entry) for entry in v.tolist()), reverse=True)
        theta = max((s - tau) / k for k, s in enumerate(accumulate(sizes), 1))
        out[:] = np.clip(v, -theta, theta) if theta > 0.0 else 0.0


@compiled
def test_functions_that_numba_cannot_compile_run_as_plain_python_with_a_note() -> None:
    problem = ss.Problem(ss.datasets.load("iris"), penalty=Sorted(), lam_ratio=0.1)
    with pytest.warns(UserWarning, match=r"Sorted: numba cannot compile prox.*plain Python"):
        found = ss.solve(problem, "ista", tol=1e-6)
    assert callbacks(Sorted) == ("prox",) and callbacks(ss.penalties.L1Linf) == ()
    known = ss.solve(problem.with_(penalty="l1/linf"), "ista", tol=1e-6)
    np.testing.assert_allclose(found.W, known.W, atol=1e-9)
    with ss.Session(problem, "ista") as session:
        session.step(1)
        assert session.wait_idle(120)
        assert any("plain Python" in mark.text for mark in session.trace.marks)


@compiled
def test_an_error_in_a_function_of_plain_python_is_its_own() -> None:
    @ss.part
    class Failing(ss.penalties.L1Linf):  # whose other functions numba compiles sooner than those of ℓ1
        def prox(self, v, tau, out):
            raise LookupError("; ".join(str(entry) for entry in [tau]))

    problem = ss.Problem(ss.datasets.load("iris"), penalty=Failing(), lam_ratio=0.1)
    with pytest.warns(UserWarning, match="Failing"), pytest.raises(LookupError, match=r"^\d"):
        ss.solve(problem, "ista", tol=1e-6)
