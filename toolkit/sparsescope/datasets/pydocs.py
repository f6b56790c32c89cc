"""``pydocs``: docstrings of the Python standard library as a text set whose features are words one can read."""

from __future__ import annotations

from pathlib import Path

from ..registry import datasets as registry
from .base import Dataset
from .npz import read_npz
from .raw import finish

FILE = Path(__file__).with_name("shipped") / "pydocs.npz"
TITLE = "Docstrings of the Python standard library"


def pydocs(*, test_size: float = 0.25, seed: int = 0, scale: str | None = None, dtype: str = "float64") -> Dataset:
    """Docstrings of the Python standard library: which area of the library is each about? Words, tf-idf, unit rows.

    The test part is the one stored with the set (other classes and functions than the training part), so `test_size`
    and `seed` have no effect. ``data/build_pydocs.py`` makes the file and states every choice.
    """
    # Stored as float32 to keep the file small; normalising again makes the rows exactly of length 1 in float64.
    return finish(read_npz(FILE), "pydocs", test_size=test_size, seed=seed, scale=scale or "unit-rows", dtype=dtype)


registry.add(
    "pydocs",
    pydocs,
    title=TITLE,
    doc="Docstrings of the Python standard library as bags of words (tf-idf); the classes are 20 areas of the library.",
    menu_order=40,
)
