"""The contract of losses, run over the registry: derivatives, conjugates, constants, repairs, compiled = interpreted.

The functions of one row are called interpreted here (parts are ordinary Python objects); another test
holds the compiled kernels to the same results.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from helpers import LOSSES, SMOOTH_LOSSES, gradient_rows, interpreted, loss_rows, usual
from sparsescope.checking import losses as checking
from sparsescope.checking.losses import grad, hessian, star
from sparsescope.checking.points import samples, scores_of_interest, single, target
from sparsescope.checking.report import LeftOut
from sparsescope.inputs.design import Design
from sparsescope.kernels.rows import conjugate_sum, loss_gradient, loss_sum, repair_dual, repaired_conjugate_sum
from sparsescope.problems.constants import block_constants
from sparsescope.registry import losses

CLASSES = (2, 3, 6)


def with_targets(found: list[Any]) -> list[Any]:
    """Each loss with each kind of target that it takes: one class a sample, or a set of labels."""
    return [pytest.param(p.values[0], kind, id=f"{p.id}-{kind}") for p in found for kind in p.values[0].target_types]


def with_sizes(found: list[Any]) -> list[Any]:
    """The same with several numbers of scores m: a loss with one score has m = 1, for two classes.

    The functions with other parameters than the usual ones are the same: one number m is enough for the fast tests.
    """
    return [
        pytest.param(*p.values, m, id=f"{p.id}-{m}", marks=() if fast else pytest.mark.slow)
        for p in with_targets(found)
        for m in ((1,) if p.values[0].one_score else CLASSES)
        for fast in (usual(p.values[0]) or m in (1, CLASSES[1]),)
    ]


every_loss = pytest.mark.parametrize(("loss", "kind"), with_targets(LOSSES))
every_smooth_loss = pytest.mark.parametrize(("loss", "kind"), with_targets(SMOOTH_LOSSES))
every_size = pytest.mark.parametrize(("loss", "kind", "m"), with_sizes(LOSSES))
every_smooth_size = pytest.mark.parametrize(("loss", "kind", "m"), with_sizes(SMOOTH_LOSSES))


def targets(rng: np.random.Generator, n: int, m: int, kind: str) -> np.ndarray:
    """The same for n samples, as in a problem."""
    return np.array([target(rng, m, kind) for _ in range(n)], dtype=np.int64 if kind == "classes" else np.uint8)


@every_size
def test_value_and_gradient_follow_the_formula(loss: Any, kind: str, m: int) -> None:
    Z, y = (np.array(a) for a in zip(*samples(m, kind), strict=True))
    values = [loss.value(z, c) for z, c in zip(Z, y, strict=True)]
    gradients = [grad(loss, z, c) for z, c in zip(Z, y, strict=True)]
    np.testing.assert_allclose(values, loss_rows(loss, Z, y), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(gradients, gradient_rows(loss, Z, y), rtol=1e-12, atol=1e-12)


@every_size
def test_many_samples_at_once_are_what_each_is(loss: Any, kind: str, m: int) -> None:
    Z, y = (np.array(a) for a in zip(*samples(m, kind), strict=True))
    work, sums, U = np.full(Z.size, np.nan), np.full(len(Z), np.nan), np.full_like(Z, np.nan)
    expected = sum(float(loss.value(z, c)) for z, c in zip(Z, y, strict=True))
    assert loss.values(Z, y, work, sums) == pytest.approx(expected, rel=1e-12)
    assert loss.gradients(Z, y, U, work, sums) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(U, [grad(loss, z, c) for z, c in zip(Z, y, strict=True)], rtol=1e-12, atol=1e-13)


@every_smooth_size
def test_dual_values_of_many_samples_at_once_are_what_each_is(loss: Any, kind: str, m: int) -> None:
    Z, y = (np.array(a) for a in zip(*samples(m, kind), strict=True))
    U = np.array([grad(loss, z, c) for z, c in zip(Z, y, strict=True)])
    rng, rows = np.random.default_rng(6), np.zeros((3, m))
    for scale, kept in ((1.0, np.ones(1)), (0.7, rng.random(len(Z)))):
        shares = np.broadcast_to(kept, len(Z))
        each = [loss.gradient_conjugate(*given, rows) for given in zip(Z, U, y, scale * shares, strict=True)]
        found = loss.gradient_conjugates(
            Z, U, y, scale, kept, np.full(max(len(Z), 3) * m, np.nan), np.full(len(Z), np.nan)
        )
        assert found == pytest.approx(sum(each), rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("margin", [0.0, 1.0])
@pytest.mark.parametrize("m", [2, 3, 5, 11, 12, 30])
@pytest.mark.parametrize("spread", [1e-3, 1.0, 30.0, 900.0])
def test_dual_value_of_the_logistic_loss_at_its_own_gradients(m: int, margin: float, spread: float) -> None:
    loss, rng = losses.create("logistic", margin=margin), np.random.default_rng(5)
    for scale in (0.0, 0.3, 0.999, 1.0):
        for _ in range(10):
            z, y = spread * rng.standard_normal(m), int(rng.integers(m))
            u = grad(loss, z, y)
            found = loss.gradient_conjugate(z, u, y, scale, np.empty((2, m)))
            q = scale * u
            q[y] += 1.0  # Σ q log q, the own share as 1 − Σ of the others
            if scale == 1.0:
                expected = float(u @ z) - loss.value(z, y)  # Fenchel and Young
            else:
                expected = float(sum(p * np.log(p) for p in q if p > 0.0)) - margin * scale * (u.sum() - u[y])
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12 * max(1.0, spread))


@pytest.mark.parametrize("check", list(checking.CHECKS))
@every_size
def test_what_a_user_may_check_holds(loss: Any, kind: str, m: int, check: str) -> None:
    with suppress(LeftOut):  # what does not apply to smooth losses, or to others
        checking.CHECKS[check](loss, kind, m)


@every_smooth_size
def test_moving_a_sample_leaves_scores_gradient_and_value_of_the_new_point(loss: Any, kind: str, m: int) -> None:
    rng = np.random.default_rng(2)
    for z, y in samples(m, kind, 20):
        delta, x = rng.standard_normal(m), float(rng.normal())
        moved, u = z.copy(), np.full(m, np.nan)
        value = loss.update_scores(moved, y, x, delta, u, np.zeros((2, m)))
        np.testing.assert_allclose(moved, z + x * delta, rtol=1e-15, atol=1e-15)
        np.testing.assert_allclose(u, grad(loss, moved, y), rtol=1e-12, atol=1e-13)
        assert value == pytest.approx(loss.value(moved, y), rel=1e-12, abs=1e-13)


@every_smooth_size
def test_curvature_from_a_known_gradient_is_that_of_the_derivatives(loss: Any, kind: str, m: int) -> None:
    rng = np.random.default_rng(3)
    for z, y in samples(m, kind, 20):
        x = float(rng.normal())
        first, whole = rng.standard_normal((2, m)), np.zeros(m)
        h = first.copy()
        loss.derivatives(z, y, x, np.zeros(m), whole, np.empty(m))
        loss.hessian_diag(z, grad(loss, z, y), y, x, h, np.zeros((2, m)))
        np.testing.assert_allclose((h - first).sum(axis=0), whole, rtol=1e-12, atol=1e-13)


@every_smooth_size
def test_idle_samples_have_neither_gradient_nor_curvature(loss: Any, kind: str, m: int) -> None:
    found = 0
    clear = [
        (np.where(np.arange(m) == y, 2.0, -2.0) if kind == "classes" else 4.0 * y - 2.0, y)
        for _, y in samples(m, kind, 10)
    ]
    for z, y in [*clear, *samples(m, kind, 40)]:
        g, h = np.zeros(m), np.zeros(m)
        loss.derivatives(z, y, 1.0, g, h, np.empty(m))
        u = np.full(m, np.nan)
        value = loss.update_scores(z.copy(), y, 0.3, np.zeros(m), u, np.zeros((2, m)))
        if loss.is_inactive(u, y):
            found += 1
            assert np.abs(g).max() <= 1e-14 and np.abs(h).max() <= 1e-14
            assert value <= 1e-15 * (1.0 + 2.0 * (z**2).sum()), "more than the rounding of the terms that cancel"
        elif loss.hinges:
            assert value > 0 and np.abs(g).max() > 0, "a sample without an active hinge is idle"
    assert (found > 5) == loss.hinges, "only losses with hinges have idle samples"


def product(loss: Any, z: np.ndarray, y: Any, v: np.ndarray) -> np.ndarray:
    """∇²ℓ(z, y)·v."""
    out = np.full(z.size, np.nan)  # the function assigns, whatever was there
    loss.hessian_product(z, y, v, out)
    return out


every_hessian_size = pytest.mark.parametrize(
    ("loss", "kind", "m"), with_sizes([p for p in SMOOTH_LOSSES if hasattr(p.values[0], "hessian_product")])
)


@every_hessian_size
def test_hessian_product_is_the_derivative_of_the_gradient(loss: Any, kind: str, m: int) -> None:
    rng = np.random.default_rng(5)
    compared = 0
    for z, y in samples(m, kind):
        v = rng.standard_normal(m)
        exact = product(loss, z, y, v)
        fine, coarse = ((grad(loss, z + h * v, y) - grad(loss, z - h * v, y)) / (2 * h) for h in (1e-6, 4e-6))
        if np.all(np.abs(fine - coarse) <= 1e-6 * (1 + np.abs(fine))):  # no kink in between
            compared += 1
            np.testing.assert_allclose(exact, fine, rtol=1e-5, atol=1e-5)
    assert compared > 20


@every_hessian_size
def test_hessian_product_from_the_gradient_is_the_same(loss: Any, kind: str, m: int) -> None:
    rng = np.random.default_rng(7)
    for z, y in samples(m, kind):
        v, u = rng.standard_normal(m), grad(loss, z, y)
        exact = product(loss, z, y, v)
        apart, into = np.full(m, np.nan), u.copy()
        loss.hessian_product_from(z, u, y, v, apart)
        loss.hessian_product_from(z, into, y, v, into)
        for found in (apart, into):
            np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-13 * np.abs(v).max())


@every_hessian_size
def test_hessian_is_symmetric_and_semidefinite_with_the_diagonal_of_derivatives(loss: Any, kind: str, m: int) -> None:
    for z, y in samples(m, kind, 15):
        H = np.column_stack([product(loss, z, y, e) for e in np.eye(m)])
        h = np.zeros(m)
        loss.derivatives(z, y, 1.0, np.zeros(m), h, np.empty(m))
        np.testing.assert_allclose(np.diag(H), h, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(H, H.T, atol=1e-12)
        eigenvalues = np.linalg.eigvalsh(H)
        assert eigenvalues[0] >= -1e-12 and eigenvalues[-1] <= loss.curvature(m) * (1 + 1e-12)


@every_size
def test_the_bound_on_the_conjugate_is_tight_enough_to_close_a_gap(loss: Any, kind: str, m: int) -> None:
    """ℓ* is convex, exact at 0 (the least loss is 0) and at gradients: between them it lies below the chord."""
    for z, y in samples(m, kind, 25):
        u = grad(loss, z, y)
        at_gradient = float(z @ u) - loss.value(z, y)
        assert loss.conjugate(0.0 * u, y) == pytest.approx(0.0, abs=1e-12)
        for scale in (0.1, 0.5, 0.9, 0.999):
            chord = scale * at_gradient + 1e-9 * (1 + abs(at_gradient))
            assert star(loss, z, u, y, scale) <= chord, "true, but too loose to be of use"
            # Without z, flows between sets of several labels are only bounded.
            assert loss.conjugate(scale * u, y) <= chord or (kind == "sets" and min(y.sum(), m - y.sum()) > 1)


@every_size
def test_conjugate_is_infinite_exactly_where_the_supremum_is(loss: Any, kind: str, m: int) -> None:
    rng = np.random.default_rng(3)
    directions = [s * e for e in [*np.eye(m), np.ones(m)] for s in (-1.0, 1.0)]
    directions += [a - b for a in np.eye(m) for b in np.eye(m) if (a != b).any()]
    inside = 0
    for i, (z, y) in enumerate(samples(m, kind, 40)):
        u = 0.8 * grad(loss, z, y)
        if i % 2:
            u = u + rng.choice([-0.3, 0.0, 0.3], size=m)
        found = loss.conjugate(u, y)
        reached, further = (max(float(far * d @ u) - loss.value(far * d, y) for d in directions) for far in (1e5, 1e8))
        if np.isinf(found):  # a point may leave the domain by little, and ⟨z,u⟩ − ℓ(z) then grows slowly
            assert found > 0 and further > 1e2, f"ℓ* is infinite at {u}, but no direction is unbounded"
        else:
            inside += 1
            assert reached <= found + 1e-6, f"ℓ* is {found} at {u}, but ⟨z,u⟩ − ℓ(z) reaches {reached}"
    assert inside >= 20


@every_smooth_size
def test_curvature_bounds_the_hessian_and_is_reached(loss: Any, kind: str, m: int) -> None:
    c = loss.curvature(m)
    largest = max(float(np.linalg.eigvalsh(hessian(loss, z, y))[-1]) for z, y in scores_of_interest(m, kind))
    assert largest <= c * (1 + 1e-5)
    assert (largest >= 0.985 * c) == loss.tight


@every_smooth_size
def test_a_quadratic_loss_has_the_identity_for_a_hessian_and_no_other_has(loss: Any, kind: str, m: int) -> None:
    found = [np.abs(hessian(loss, z, y) - np.eye(m)).max() for z, y in scores_of_interest(m, kind)]
    assert (max(found) < 1e-6) == loss.quadratic


@every_smooth_size
def test_a_loss_that_is_a_sum_over_scores_has_diagonal_hessians_and_no_other_has(loss: Any, kind: str, m: int) -> None:
    found = [np.abs(H - np.diag(np.diag(H))).max() for H in (hessian(loss, *at) for at in scores_of_interest(m, kind))]
    assert (max(found) < 1e-6) == (loss.separable or m == 1)


@every_smooth_size
def test_factors_of_a_hessian_make_it(loss: Any, kind: str, m: int) -> None:
    compared = 0
    for z, y in scores_of_interest(m, kind):
        u, a, b = grad(loss, z, y), np.full(m, np.nan), np.full(m, np.nan)
        loss.hessian_factors(z, u, y, a, b)
        into = u.copy()
        loss.hessian_factors(z, into, y, into, b)
        np.testing.assert_array_equal(into, a)
        if loss.factored:
            compared += 1
            exact = np.column_stack([product(loss, z, y, e) for e in np.eye(m)])
            np.testing.assert_allclose(np.diag(a) - np.outer(b, b), exact, rtol=1e-9, atol=1e-13)
        else:
            assert not a.any() and not b.any(), "a loss that has them says so by `factored`"
    assert bool(compared) == loss.factored


def test_the_papers_step_for_the_multiclass_hinge_is_too_short_by_a_known_factor() -> None:
    loss = losses.create("multiclass-squared-hinge")
    for m in (2, 3, 10, 100):
        assert loss.paper_curvature(m) / loss.curvature(m) == pytest.approx(2 * (1 - 1 / m))


@every_smooth_loss
@pytest.mark.parametrize("intercept", [False, True])
def test_block_constants_are_ordered_and_above_the_true_ones(loss: Any, kind: str, intercept: bool) -> None:
    rng = np.random.default_rng(0)
    n, d, m = 24, 5, 1 if loss.one_score else 4
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    y = np.minimum(rng.geometric(0.4, n) - 1, max(m, 2) - 1)  # unbalanced classes
    y[: max(m, 2)] = np.arange(max(m, 2))
    if kind == "sets":
        y = targets(rng, n, m, kind)
    found = [block_constants(Design(X), y, m, loss, intercept, name) for name in ("class-aware", "tight", "paper")]
    assert all(k.shape == (d + intercept,) for k in found)
    assert (found[0] <= found[1] * (1 + 1e-12)).all() and (found[1] <= found[2] * (1 + 1e-12)).all()
    columns = np.column_stack([X, np.ones(n)]) if intercept else X
    for scale in (0.0, 0.3, 2.0):
        H = np.array([hessian(loss, scale * rng.standard_normal(m), c) for c in y])
        for j, column in enumerate(columns.T):
            exact = np.linalg.eigvalsh(np.einsum("i,ikl->kl", column**2, H) / n)[-1]
            assert exact <= found[0][j] * (1 + 1e-5)


def test_class_aware_bound_of_balanced_classes_does_not_grow_with_their_number() -> None:
    loss = losses.create("multiclass-squared-hinge")
    for m in (4, 20):
        sums = np.full((3, m), 6.0 / m)
        np.testing.assert_allclose(loss.class_aware(sums), 4 * 6.0)


@every_size
def test_everything_is_finite_at_large_scores(loss: Any, kind: str, m: int) -> None:
    rng = np.random.default_rng(0)
    for c in range(m):
        y = single(c, m, kind) if c else target(rng, m, kind)
        for z in (1e3 * rng.choice([-1.0, 1.0], m), np.full(m, 1e3), np.full(m, -1e3), 1e3 * np.eye(m)[c]):
            g, h = np.zeros(m), np.zeros(m)
            values = [
                loss.value(z, y),
                loss.derivatives(z, y, 1.0, g, h, np.empty(m)),
                loss.conjugate(g, y),
                star(loss, z, g, y),
            ]
            assert np.isfinite(values).all() and np.isfinite(g).all() and np.isfinite(h).all()
            assert values[0] >= 0.0 and (h >= 0.0).all()


@every_loss
@pytest.mark.parametrize("what", ["balanced", "unbalanced", "absent class", "large scores"])
def test_repair_keeps_the_rows_in_the_domain_and_makes_columns_sum_to_zero(loss: Any, kind: str, what: str) -> None:
    rng = np.random.default_rng(2)
    n, m = 30, 1 if loss.one_score else 4
    y = np.arange(n) % max(m, 2)
    if what == "unbalanced":
        y = np.minimum(rng.geometric(0.6, n) - 1, max(m, 2) - 1)
    elif what == "absent class":
        y = y % max(m - 1, 1)
    if kind == "sets":
        y = np.maximum(targets(rng, n, m, kind), np.eye(m, dtype=np.uint8)[y])
        y[:, m - 1] *= what != "absent class"
    Z = (50.0 if what == "large scores" else 1.0) * rng.standard_normal((n, m)) + rng.standard_normal(m)
    U = gradient_rows(loss, Z, y)
    assert np.abs(U.sum(axis=0)).max() > 1e-3
    size = np.abs(U).sum()
    repair_dual(U, y, loss)
    assert np.abs(U.sum(axis=0)).max() <= 1e-13 * size
    assert all(np.isfinite(loss.conjugate(u, c)) for u, c in zip(U, y, strict=True))
    again = U.copy()
    repair_dual(again, y, loss)
    np.testing.assert_allclose(again, U, atol=1e-12 * (1 + np.abs(U).max()), err_msg="a repaired point needs no repair")


# Each type of number costs a compilation; in single precision two losses stand for all.
SINGLE = [
    (next(p.values[0] for p in SMOOTH_LOSSES if p.values[0].hinges == hinges), "classes", np.float32)
    for hinges in (True, False)
]


@pytest.mark.parametrize(("loss", "kind", "dtype"), [*((*p.values, np.float64) for p in with_targets(LOSSES)), *SINGLE])
def test_compiled_kernels_do_what_the_interpreted_functions_do(loss: Any, kind: str, dtype: type) -> None:
    rng = np.random.default_rng(4)
    n, m = 12, 1 if loss.one_score else 5
    Z = (3 * rng.standard_normal((n, m))).astype(dtype)
    y = np.arange(n) % max(m, 2) if kind == "classes" else targets(rng, n, m, kind)
    tol = {"rtol": 1e-12 if dtype is np.float64 else 2e-6, "atol": 1e-12 if dtype is np.float64 else 2e-6}
    U, V = np.empty_like(Z), np.empty_like(Z)
    np.testing.assert_allclose(loss_sum(Z, y, loss), interpreted(loss_sum)(Z, y, loss), **tol)
    np.testing.assert_allclose(loss_gradient(Z, y, loss, U), interpreted(loss_gradient)(Z, y, loss, V), **tol)
    np.testing.assert_allclose(U, V, **tol)
    np.testing.assert_allclose(conjugate_sum(Z, U, 0.7, y, loss), interpreted(conjugate_sum)(Z, U, 0.7, y, loss), **tol)
    repair_dual(U, y, loss)
    interpreted(repair_dual)(V, y, loss)
    np.testing.assert_allclose(U, V, **tol)
    found = [f(Z, U, 0.7, y, loss) for f in (repaired_conjugate_sum, interpreted(repaired_conjugate_sum))]
    np.testing.assert_allclose(*found, **tol)


def test_margin_of_the_logistic_loss_shifts_the_other_classes() -> None:
    plain, shifted = losses.create("logistic"), losses.create("logistic", margin=1.5)
    for z, y in samples(4, "classes"):
        moved = z + 1.5
        moved[y] -= 1.5
        assert shifted.value(z, y) == pytest.approx(plain.value(moved, y))
        np.testing.assert_allclose(grad(shifted, z, y), grad(plain, moved, y), atol=1e-12)


@every_size
def test_losses_of_differences_ignore_a_constant_and_others_do_not(loss: Any, kind: str, m: int) -> None:
    rng = np.random.default_rng(m)
    Z, y = rng.normal(size=(20, m)), targets(rng, 20, m, kind)
    found = loss_rows(loss, Z, y), loss_rows(loss, Z + 0.7, y)
    assert np.allclose(*found, rtol=1e-12) == loss.of_differences
    if loss.of_differences and loss.smooth:  # then ∇²ℓ·1 = 0, which gives the factor m/(m−1) of a first trial
        np.testing.assert_allclose(gradient_rows(loss, Z, y).sum(axis=1), 0.0, atol=1e-12)
