"""Positions of the nodes of a network: computed once per problem, from S alone, so that no node moves while Θ does.

Features that are strongly correlated stand near each other. Of the complete graph of correlations a sparse one is kept
(a spanning tree of the strongest and the strongest few of each feature); its shortest paths are the distances that the
plane should have, and stress majorisation (de Leeuw 1977; Gansner, Koren and North 2004) comes as near as it can.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path

PARTNERS = 3  # strongest ones of each feature that count as neighbours
FAR, NEAR = 1.3, 1.0  # length of an edge: FAR − NEAR·|correlation|
WORK = 16_000  # nodes × rounds of stress majorisation, and of pushing apart, within these numbers of rounds
ROUNDS, PUSHES = (20, 80), (10, 40)
APART = 1.1  # distance of nodes, in units of half the side of each node's share of the square


def places(S: np.ndarray) -> np.ndarray:
    """Places (p, 2) in the square from −1 to 1 for the features of a symmetric S (p, p); the same S gives the same."""
    p = S.shape[0]
    if p < 3:
        return np.array([[-0.5, 0.0], [0.5, 0.0]])[:p] if p > 1 else np.zeros((p, 2))
    distance = distances(S)
    at = settled(distance, start(distance))
    return fitted(pushed_apart(fitted(at)))


def distances(S: np.ndarray) -> np.ndarray:
    """Lengths of the shortest paths between features, (p, p)."""
    scale = np.sqrt(np.maximum(np.diag(S), np.finfo(float).tiny))
    strength = np.clip(np.abs(S) / scale / scale[:, None], 0.0, 1.0)
    np.fill_diagonal(strength, -1.0)
    length = FAR - NEAR * strength
    near = np.argsort(-strength, axis=1, kind="stable")[:, :PARTNERS]
    keep = np.zeros(S.shape, dtype=bool)
    np.put_along_axis(keep, near, True, axis=1)
    keep |= minimum_spanning_tree(length).toarray() > 0.0  # no length is zero
    keep |= keep.T
    np.fill_diagonal(keep, False)
    return np.asarray(shortest_path(sp.csr_array(np.where(keep, length, 0.0)), directed=False))


def start(distance: np.ndarray) -> np.ndarray:
    """Places by classical scaling, (p, 2), with a spiral's small share so that no two coincide; turned so that the
    result does not depend on the signs that an eigensolver happens to give."""
    p = distance.shape[0]
    centred = -0.5 * np.square(distance)
    centred -= centred.mean(axis=0)
    centred -= centred.mean(axis=1)[:, None]
    values, vectors = np.linalg.eigh(centred)
    at = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0.0))
    for axis in range(2):
        if at[np.abs(at[:, axis]).argmax(), axis] < 0.0:
            at[:, axis] *= -1.0
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(p)  # the golden angle
    spiral = np.sqrt(np.arange(p) / p)[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.asarray(at + 0.05 * distance.mean() * spiral)


def settled(distance: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Places after stress majorisation with weights 1/distance²."""
    p = distance.shape[0]
    weight = np.divide(1.0, np.square(distance), out=np.zeros_like(distance), where=distance > 0.0)
    laplace = np.diag(weight.sum(axis=1)) - weight
    back = np.linalg.inv(laplace + 1.0 / p)  # its null space is that of equal shifts, which the places do not have
    pull = weight * distance
    for _ in range(rounds(p, ROUNDS)):
        ratio = np.divide(pull, between(at), out=np.zeros_like(pull), where=pull > 0.0)
        at = back @ (ratio.sum(axis=1)[:, None] * at - ratio @ at)
    return at


def rounds(p: int, bounds: tuple[int, int]) -> int:
    """Fewer where there are many nodes, each of which costs p² then."""
    return min(bounds[1], max(bounds[0], WORK // p))


def between(at: np.ndarray) -> np.ndarray:
    """Distances of all places, (p, p), never zero."""
    squares = np.square(at).sum(axis=1)
    return np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * at @ at.T, 1e-12))


def pushed_apart(at: np.ndarray) -> np.ndarray:
    """Places that keep their distance, so that nodes and names do not cover each other."""
    least = APART / np.sqrt(at.shape[0])
    for _ in range(rounds(at.shape[0], PUSHES)):
        gap = between(at)
        np.fill_diagonal(gap, np.inf)
        push = np.maximum(least - gap, 0.0) / gap
        if not push.any():
            break
        at = at + 0.3 * (push.sum(axis=1)[:, None] * at - push @ at)
    return at


def fitted(at: np.ndarray) -> np.ndarray:
    """The middle at 0, the farther side at ±1."""
    low, high = at.min(axis=0), at.max(axis=0)
    return (at - 0.5 * (low + high)) / max(float((high - low).max()) / 2.0, 1e-12)
