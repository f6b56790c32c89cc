"""The numbers of the protocol: feature counts, sizes of stages, ridges, limits."""

from __future__ import annotations

from dataclasses import dataclass

from ..base import Settings

TEST = 0.25  # share that is held out where data have no test part
COMPONENTS = 50  # of PCA before random features (App. A.2.1)
WIDTH = 3.0  # s, in units of the median squared distance: chosen on 4000 features of MNIST
INNER = 50  # logistic steps of a stage (Sec. 3.1)
PIXEL_INNER = 400  # and of the fits on raw features, which are one stage
CALIBRATIONS = 5  # steps of calibrated least squares in Table 1: more of them fit noise (see differences)
PIXEL_CALIBRATIONS = 30  # and on raw features, which are too few for that
LEAST = 3  # samples that a word has to be in (App. A.2.2)
BATCH, PASSES = 500, 2  # columns of a stage, and passes, on text
TEXT_LAM = 1e-4  # unit rows
RATE_LAM = 1e-4  # of the logistic fit that Theorem 1 is put beside
LINEAR, LOGISTIC, CALIBRATED = "linear", "logistic", "calibrated"
METHODS = (LINEAR, LOGISTIC, CALIBRATED)
STAGEWISE, VW = "stagewise", "VW (oaa)"
SVM, LOGISTIC_L2, MULTI = "liblinear SVM", "liblinear logistic", "liblinear multiclass"
PEERS = (SVM, LOGISTIC_L2, MULTI, VW)
RAW = "raw"


@dataclass(frozen=True)
class Limits:
    """features : of Table 1 · blocks : sizes of stages · most : features that stages go up to · peer_features : that
    the other programs are given · seconds : of each run, CPU · values : singular values · spectrum_features : of the
    spectrum of images · rate_samples, rate_steps : that Theorem 1 is put beside · lam : ridge on random features,
    raw_lam on the raw ones; logistic_lam of the logistic loss."""

    features: tuple[int, ...] = (4000, 8000)
    blocks: tuple[int, ...] = (512, 1024)
    most: int = 16_384
    peer_features: int = 2000
    seconds: float = 600.0
    values: int = 1000
    spectrum_features: int = 3000
    rate_samples: int = 10_000
    rate_steps: int = 500
    lam: float = 1e-8
    raw_lam: float = 1e-4
    logistic_lam: float = 1e-7


FULL = Limits()
QUICK = Limits(
    features=(200, 400),
    blocks=(50, 100),
    most=400,
    peer_features=200,
    seconds=6.0,
    values=300,
    spectrum_features=600,
    rate_steps=200,
    lam=1e-6,
    logistic_lam=1e-5,
)


def limits(settings: Settings) -> Limits:
    """The limits of these settings; ``settings.seconds`` replaces those of a run."""
    return settings.limits(QUICK, FULL)
