"""The numbers of the protocol: as in the paper where it gives them, our choice where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..base import Settings

EPSILONS = (1e-2, 1e-5)  # Table 1: the violation, relative to that at zero weights
SIZES = (500, 1000, 2000, 2500, 3000, 5000)  # Table 1: samples of RCV1 and Gisette
SHARE = 0.02  # λ/λ_max of the races; the paper does not say its λ
FISTA, GLMNET, LHAC = "FISTA", "newGLMNET", "LHAC"
RACERS = {FISTA: "fista-ls", GLMNET: "newglmnet", LHAC: "lhac"}
# Settings of the methods as they were published.
PUBLISHED: dict[str, dict[str, Any]] = {GLMNET: {"cg_steps": 0, "gram": False}}
GISETTE = ("4", "9")  # its digits

LAM = 0.5  # Sec. 4.2, after Li and Toh
PRECISIONS = (1e-2, 1e-6)  # Table 2
QUIC = "QUIC"
# QUIC as in its paper: without the conjugate gradients that this package adds.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {QUIC: ("quic", {"cg_steps": 0}), LHAC: ("lhac-covariance", {})}


@dataclass(frozen=True)
class Limits:
    """Limits of a run.

    seconds : of a run at most · sizes : candidates for the number of samples; where fewer than three of them fit, a
    quarter, a half and all samples are taken · features : those of largest variance, at most, for a covariance
    """

    seconds: float
    sizes: tuple[int, ...]
    features: int


QUICK = Limits(seconds=2.0, sizes=(), features=150)
FULL = Limits(seconds=120.0, sizes=SIZES, features=1000)


def limits(settings: Settings) -> Limits:
    """The limits that these settings ask for."""
    return settings.limits(QUICK, FULL)
