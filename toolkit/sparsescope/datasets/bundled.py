"""The four classification sets that come with scikit-learn: digits, iris, wine, breast_cancer."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..registry import datasets as registry
from .base import Dataset
from .raw import Raw, finish

UCI = "UCI Machine Learning Repository; copy shipped with scikit-learn"
LICENCE = "CC BY 4.0 (UCI); scikit-learn's copy: BSD-3-Clause"


def pixel_names(height: int, width: int) -> list[str]:
    """Names "pixel r,c" of the pixels of an image stored row by row, counted from 0."""
    return [f"pixel {r},{c}" for r in range(height) for c in range(width)]


def _digits() -> tuple[np.ndarray, np.ndarray]:
    """Pixels and classes of the digits: the table in scikit-learn's folder, or what its loader gives.

    The explorer and the first lines of the docs begin with these, and to import scikit-learn takes long.
    """
    package = importlib.util.find_spec("sklearn")
    if package is not None and package.origin is not None:
        table = Path(package.origin).parent / "datasets" / "data" / "digits.csv.gz"
        if table.is_file():
            values = np.loadtxt(table, delimiter=",")
            return values[:, :-1], values[:, -1].astype(np.int64)
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return bunch.data, bunch.target


def digits(*, test_size: float = 0.25, seed: int = 0, scale: str | None = None, dtype: str = "float64") -> Dataset:
    """Handwritten digits, 8 x 8 pixels: 1797 images, 10 classes. By default pixels (0 to 16) are divided by 16."""
    X, y = _digits()
    raw = Raw(
        X, y, class_names=[str(k) for k in range(10)], feature_names=pixel_names(8, 8),
        image_shape=(8, 8), title="Handwritten digits, 8 × 8", description="Grey images of handwritten digits.",
        source=f"Optical Recognition of Handwritten Digits, {UCI}", licence=LICENCE,
    )  # fmt: skip
    return finish(raw, "digits", test_size=test_size, seed=seed, scale=scale or "max", dtype=dtype)


def _table(loader_name: str, name: str, title: str, description: str, origin: str) -> Callable[..., Dataset]:
    """A loader for one of scikit-learn's numeric tables; the default scaling is "standard"."""

    def load(*, test_size: float = 0.25, seed: int = 0, scale: str | None = None, dtype: str = "float64") -> Dataset:
        import sklearn.datasets

        bunch: Any = getattr(sklearn.datasets, loader_name)()
        raw = Raw(
            bunch.data, bunch.target, class_names=[str(c) for c in bunch.target_names],
            feature_names=[str(f) for f in bunch.feature_names], title=title, description=description,
            source=f"{origin}, {UCI}", licence=LICENCE,
        )  # fmt: skip
        return finish(raw, name, test_size=test_size, seed=seed, scale=scale or "standard", dtype=dtype)

    load.__name__ = name
    load.__doc__ = f"{title}. {description} Columns are standardised by default."
    registry.add(name, load, title=title, doc=description, menu_order=10)
    return load


registry.add(
    "digits",
    digits,
    title="Handwritten digits, 8 × 8",
    doc="1797 grey images of handwritten digits, 64 pixels, 10 classes.",
    menu_order=10,
)
iris = _table("load_iris", "iris", "Iris flowers", "150 flowers of 3 kinds, 4 lengths in cm.", "Iris (R. A. Fisher)")
wine = _table("load_wine", "wine", "Wine", "178 wines from 3 growers, 13 chemical measurements.", "Wine")
breast_cancer = _table(
    "load_breast_cancer",
    "breast_cancer",
    "Breast cancer (Wisconsin, diagnostic)",
    "569 tumours, malignant or benign, 30 measurements of cell nuclei.",
    "Breast Cancer Wisconsin (Diagnostic)",
)
