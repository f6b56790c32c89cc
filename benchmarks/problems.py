"""The data and the problems that are measured: the same matrices, labels and λ for every script and every peer.

Real data that do not ship with the project are looked for in the folders of ``SPARSESCOPE_DATA`` and in
``../shared/data``; without them a problem is left out, and the reason is said (:class:`Missing`).

Needed there: mnist.npz, news20_bydate_tfidf.npz, rcv1_ccat_small.npz, letter.npz, nakayama_sarcoma.npz (keys as in
docs/own-data.md).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
from common import Missing

import sparsescope as ss


def file_of(name: str) -> Path:
    """A file of the data folders; :class:`Missing` if there is none."""
    for folder in common.data_folders():
        if (folder / name).is_file():
            return folder / name
    looked = ", ".join(str(folder) for folder in common.data_folders()) or "nowhere: SPARSESCOPE_DATA names no folder"
    raise Missing(f"{name} is not here (looked in {looked})")


@functools.cache
def dataset(name: str) -> Any:
    """A data set of this list, all rows for training, float64; :class:`Missing` if its file is not here."""
    return DATA[name]()


def _digits() -> Any:
    return ss.datasets.load("digits", test_size=0.0)


def _mnist10k() -> Any:
    """10 000 random training images, pixels divided by 255, sparse: 19 % of them are not black."""
    import scipy.sparse as sp

    with np.load(file_of("mnist.npz")) as z:
        rows = np.sort(np.random.default_rng(0).choice(len(z["y_train"]), 10_000, replace=False))
        X, y = z["X_train"][rows] / 255.0, z["y_train"][rows].astype(np.int64)
    return ss.datasets.from_arrays(sp.csr_matrix(X), y, name="mnist10k")


def _pooled() -> Any:
    """The same images with means of 2 × 2 pixels, standardized: 196 features, dense."""
    X = _mnist10k().X.toarray().reshape(-1, 14, 2, 14, 2).mean(axis=(2, 4)).reshape(-1, 196)
    return ss.datasets.from_arrays(X, _mnist10k().y, name="pooled", scale="standard")


def _news20() -> Any:
    return ss.datasets.load(file_of("news20_bydate_tfidf.npz"), scale="none")


def _letter() -> Any:
    return ss.datasets.load(file_of("letter.npz"), scale="standard")


def _nakayama() -> Any:
    with np.load(file_of("nakayama_sarcoma.npz")) as z:
        X, y = np.log2(z["X_train"].astype(np.float64)), z["y_train"].astype(np.int64)
    return ss.datasets.from_arrays(X, y, name="nakayama", scale="standard")


def _news20_binary() -> Any:
    """comp.* and sci.* against all other groups."""
    data = _news20()
    wanted = [k for k, name in enumerate(data.class_names) if name.startswith(("comp.", "sci."))]
    return ss.datasets.from_arrays(data.X, np.isin(data.y, wanted).astype(np.int64), name="news20-binary")


def _rcv1() -> Any:
    return ss.datasets.load(file_of("rcv1_ccat_small.npz"), scale="none")


def _mnist_pair(a: int, b: int) -> Any:
    """All training images of two digits, as for mnist10k."""
    import scipy.sparse as sp

    with np.load(file_of("mnist.npz")) as z:
        rows = np.isin(z["y_train"], (a, b))
        X, y = z["X_train"][rows] / 255.0, (z["y_train"][rows] == b).astype(np.int64)
    return ss.datasets.from_arrays(sp.csr_matrix(X), y, name=f"mnist-{a}{b}")


def _text50k() -> Any:
    return ss.datasets.make_text(50_000, 200_000, 20, test_size=0.0, seed=0, name="text50k")


DATA: dict[str, Any] = {
    "digits": _digits,
    "mnist10k": _mnist10k,
    "pooled": _pooled,
    "news20": _news20,
    "letter": _letter,
    "nakayama": _nakayama,
    "text50k": _text50k,
    "news20-binary": _news20_binary,
    "rcv1": _rcv1,
    "mnist-49": functools.partial(_mnist_pair, 4, 9),
    "mnist-38": functools.partial(_mnist_pair, 3, 8),
}


@dataclass(frozen=True)
class Case:
    """A problem by name: data, λ as a share of λ_max, loss and penalty."""

    name: str
    data: str
    ratio: float
    loss: str = "multiclass-squared-hinge"
    penalty: str = "l1/l2"

    def problem(self) -> ss.Problem:
        """The problem; :class:`Missing` if its data are not here."""
        made = ss.Problem(dataset(self.data), loss=self.loss, penalty=self.penalty)
        return made.with_lam(self.ratio * made.lam_max)


# ℓ1/ℓ2 multiclass squared hinge. The percentage is the share of non-zero rows at the optimum; the λ that give it were
# found once by certified solutions along a path, and are fixed here as shares of λ_max (exact shares: optima.json).
PAPER1 = [
    Case("digits 30 %", "digits", 0.25),
    Case("MNIST-10k 1 %", "mnist10k", 0.72),
    Case("MNIST-10k 5 %", "mnist10k", 0.38),
    Case("MNIST-10k 28 %", "mnist10k", 0.0165),
    Case("news20 0.9 %", "news20", 0.0265),
    Case("news20 4.8 %", "news20", 0.0012),
    Case("letter 69 %", "letter", 0.15),
    Case("nakayama 0.5 %", "nakayama", 0.12),
    Case("text50k 0.2 %", "text50k", 0.0015),
]
# ℓ1/ℓ2 multinomial logistic. The number is λ as a share of λ_max.
LOGISTIC = [
    Case("digits .3", "digits", 0.3, loss="logistic"),
    Case("MNIST-10k .3", "mnist10k", 0.3, loss="logistic"),
    Case("MNIST pooled .1", "pooled", 0.1, loss="logistic"),
    Case("news20 .2", "news20", 0.2, loss="logistic"),
    Case("news20 .05", "news20", 0.05, loss="logistic"),
]
# ℓ1 binary logistic without intercept.
SECOND_ORDER = [
    Case(f"{data} {ratio:g}", data, ratio, loss="binary-logistic", penalty="l1")
    for data in ("news20-binary", "rcv1", "mnist-49", "mnist-38")
    for ratio in (0.1, 0.02, 0.005)
]


def case(name: str) -> Case:
    """A case of :data:`PAPER1`, :data:`LOGISTIC` or :data:`SECOND_ORDER` by its name."""
    return next(c for c in [*PAPER1, *LOGISTIC, *SECOND_ORDER] if c.name == name)
