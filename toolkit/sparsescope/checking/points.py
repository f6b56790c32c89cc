"""Points at which parts are tried: scores with targets, rows with thresholds, and differences between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def target(rng: np.random.Generator, m: int, kind: str) -> Any:
    """A random class, or a random set of labels: one in seven is empty or full."""
    if kind == "classes":
        return int(rng.integers(max(m, 2)))
    inside = rng.integers(1, m) if rng.random() < 6 / 7 else rng.choice([0, m])
    return (rng.permutation(m) < inside).astype(np.uint8)


def single(c: int, m: int, kind: str) -> Any:
    """Class c, or the set of c alone."""
    return c if kind == "classes" else np.eye(m, dtype=np.uint8)[c]


def samples(m: int, kind: str, count: int = 40, scale: float = 2.0, seed: int = 0) -> list[tuple[np.ndarray, Any]]:
    """Random scores with random targets; a few large ones among them."""
    rng = np.random.default_rng(seed + m)
    return [(scale * rng.standard_normal(m) * rng.choice([0.2, 1.0, 4.0]), target(rng, m, kind)) for _ in range(count)]


def scores_of_interest(m: int, kind: str) -> list[tuple[np.ndarray, Any]]:
    """Random scores, zero, and scores where one competitor is level with the true class and the others far behind."""
    found = [*samples(m, kind, 20), *samples(m, kind, 10, scale=0.2, seed=9)]
    found += [(np.zeros(m), single(c, m, kind)) for c in {0, m - 1}]
    for level in np.linspace(-12, 12, 97):
        z = np.full(m, -50.0)
        z[:2] = [0.0, level][-m:]
        found.append((z, single(0, m, kind)))
    return found


def rows(m: int, count: int = 30, seed: int = 0) -> list[tuple[np.ndarray, float]]:
    """Random rows with random thresholds; zero rows, zeros in rows and ties among them."""
    rng = np.random.default_rng(seed + m)
    found = [(np.zeros(m), 0.7), (np.ones(m), 0.3), (-np.ones(m), 5.0)]
    for _ in range(count):
        v = rng.standard_normal(m) * rng.choice([0.1, 1.0, 10.0])
        found.append((v * (rng.random(m) < 0.8), float(rng.choice([0.01, 0.3, 1.0, 4.0]))))
    return found


def slope(f: Callable[[np.ndarray], Any], z: np.ndarray, k: int, h: float) -> Any:
    """Central difference of f along entry k."""
    step = np.zeros(z.size)
    step[k] = h
    return (f(z + step) - f(z - step)) / (2 * h)


def away_from_kinks(f: Callable[[np.ndarray], Any], z: np.ndarray, k: int, h: float, tol: float) -> Any:
    """The central difference, or None where two step sizes disagree: there is a kink in between."""
    fine, coarse = slope(f, z, k, h), slope(f, z, k, 4 * h)
    return fine if np.all(np.abs(fine - coarse) <= tol * (1 + np.abs(fine))) else None


def values_of(field: Any) -> list[Any]:
    """Values of a field that are worth a test: the default, both bounds, and one in between."""
    if field.kind == "choice":
        return list(field.choices)
    if field.kind == "bool":
        return [False, True]
    found = [field.default]
    if field.low is not None and field.high is not None:
        found += [field.low, field.high]
        if field.kind == "float":
            found.append(field.low + 0.3 * (field.high - field.low))
    return list(dict.fromkeys(found))
