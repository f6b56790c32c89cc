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


MEASURED = (
    "radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity", "concave points", "symmetry",
    "fractal dimension",
)  # fmt: skip
# File of each table in scikit-learn's folder, and the names of its columns, which that holds in its loaders.
TABLES: dict[str, tuple[str, list[str]]] = {
    "iris": ("iris.csv", [f"{part} {what} (cm)" for part in ("sepal", "petal") for what in ("length", "width")]),
    "wine": (
        "wine_data.csv",
        [
            "alcohol",
            "malic_acid",
            "ash",
            "alcalinity_of_ash",
            "magnesium",
            "total_phenols",
            "flavanoids",
            "nonflavanoid_phenols",
            "proanthocyanins",
            "color_intensity",
            "hue",
            "od280/od315_of_diluted_wines",
            "proline",
        ],
    ),
    "breast_cancer": (
        "breast_cancer.csv",
        [*(f"mean {name}" for name in MEASURED), *(f"{name} error" for name in MEASURED)]
        + [f"worst {name}" for name in MEASURED],
    ),
}


def _file(name: str) -> Path | None:
    """A file in scikit-learn's folder of data, which is not imported for it: that takes long; ``None``: not there."""
    package = importlib.util.find_spec("sklearn")
    if package is None or package.origin is None:
        return None
    found = Path(package.origin).parent / "datasets" / "data" / name
    return found if found.is_file() else None


def _digits() -> tuple[np.ndarray, np.ndarray]:
    """Pixels and classes of the digits: the table in scikit-learn's folder, or what its loader gives."""
    if (table := _file("digits.csv.gz")) is not None:
        values = np.loadtxt(table, delimiter=",")
        return values[:, :-1], values[:, -1].astype(np.int64)
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return bunch.data, bunch.target


def _measured(name: str) -> tuple[np.ndarray, np.ndarray, list[str], list[str]]:
    """Columns, classes, names of the classes and of the columns of a table, from the same places."""
    file, names = TABLES[name]
    if (table := _file(file)) is not None:
        head = table.read_text(encoding="utf-8").split("\n", 1)[0].strip().split(",")
        values = np.loadtxt(table, delimiter=",", skiprows=1, ndmin=2)
        if values.shape == (int(head[0]), len(names) + 1):
            return np.ascontiguousarray(values[:, :-1]), values[:, -1].astype(np.int64), head[2:], names
    import sklearn.datasets

    bunch: Any = getattr(sklearn.datasets, f"load_{name}")()
    return bunch.data, bunch.target, [str(c) for c in bunch.target_names], [str(f) for f in bunch.feature_names]


def digits(*, test_size: float = 0.25, seed: int = 0, scale: str | None = None, dtype: str = "float64") -> Dataset:
    """Handwritten digits, 8 x 8 pixels: 1797 images, 10 classes. By default pixels (0 to 16) are divided by 16."""
    X, y = _digits()
    raw = Raw(
        X, y, class_names=[str(k) for k in range(10)], feature_names=pixel_names(8, 8),
        image_shape=(8, 8), title="Handwritten digits, 8 × 8", description="Grey images of handwritten digits.",
        source=f"Optical Recognition of Handwritten Digits, {UCI}", licence=LICENCE,
    )  # fmt: skip
    return finish(raw, "digits", test_size=test_size, seed=seed, scale=scale or "max", dtype=dtype)


def _table(name: str, title: str, description: str, origin: str) -> Callable[..., Dataset]:
    """A loader for one of scikit-learn's numeric tables; the default scaling is "standard"."""

    def load(*, test_size: float = 0.25, seed: int = 0, scale: str | None = None, dtype: str = "float64") -> Dataset:
        X, y, classes, features = _measured(name)
        raw = Raw(
            X, y, class_names=classes, feature_names=features, title=title, description=description,
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
iris = _table("iris", "Iris flowers", "150 flowers of 3 kinds, 4 lengths in cm.", "Iris (R. A. Fisher)")
wine = _table("wine", "Wine", "178 wines from 3 growers, 13 chemical measurements.", "Wine")
breast_cancer = _table(
    "breast_cancer",
    "Breast cancer (Wisconsin, diagnostic)",
    "569 tumours, malignant or benign, 30 measurements of cell nuclei.",
    "Breast Cancer Wisconsin (Diagnostic)",
)
