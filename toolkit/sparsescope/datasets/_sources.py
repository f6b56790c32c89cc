"""Sources of the sets of :func:`sparsescope.datasets.fetch`: scikit-learn's fetchers, which check what arrives.

Each source turns what its fetcher gives into :class:`Raw`; the fetchers keep what they downloaded in ``data_home``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import extras
from .bundled import pixel_names
from .raw import Raw


@dataclass(frozen=True)
class Source:
    """A set that can be fetched.

    Parameters
    ----------
    title, doc
        as for registered sets.
    origin
        who serves it, for messages.
    megabytes
        size of the download, rounded.
    read
        fetches it (into the folder that is given) and returns it.
    """

    title: str
    doc: str
    origin: str
    megabytes: int
    read: Callable[[str], Raw]


def _images(openml: str, version: int, side: int, title: str, source: str, licence: str) -> Callable[[str], Raw]:
    """A set of square images of OpenML whose last 10 000 rows are the usual test part."""

    def read(data_home: str) -> Raw:
        from sklearn.datasets import fetch_openml

        reading: dict[str, Any] = {"parser": "liac-arff"}
        if extras.is_installed(
            "pandas"
        ):  # the same table, read quicker; pandas 3 would take the class "7" for a number
            reading = {"parser": "pandas", "read_csv_kwargs": {"dtype": {side * side: "str"}}}
        found: Any = fetch_openml(openml, version=version, as_frame=False, data_home=data_home, **reading)
        X, y = np.asarray(found.data, dtype=np.uint8), np.asarray(found.target).astype(str)
        cut = max(len(y) - 10_000, len(y) * 6 // 7)
        return Raw(
            X[:cut], y[:cut], X[cut:], y[cut:], feature_names=pixel_names(side, side), image_shape=(side, side),
            title=title, description=f"Grey images, {side} × {side} pixels.", source=source, licence=licence,
        )  # fmt: skip

    return read


def _newsgroups(data_home: str) -> Raw:
    from sklearn.datasets import fetch_20newsgroups_vectorized

    train: Any = fetch_20newsgroups_vectorized(subset="train", data_home=data_home)
    test: Any = fetch_20newsgroups_vectorized(subset="test", data_home=data_home)
    names = [str(name) for name in train.target_names]
    return Raw(
        train.data.tocsr(), np.asarray(train.target), test.data.tocsr(), np.asarray(test.target),
        feature_names=[str(name) for name in train.feature_names], class_names=names, title="20 newsgroups",
        description="Messages to twenty newsgroups; counts of all words, each message of length 1.",
        source="20 Newsgroups (K. Lang), scikit-learn's copy", licence="unknown; for research",
    )  # fmt: skip


def _reuters(data_home: str) -> Raw:
    from sklearn.datasets import fetch_rcv1

    found: Any = fetch_rcv1(subset="train", data_home=data_home)
    topics = [str(name) for name in found.target_names]
    used = np.flatnonzero(np.asarray(found.target.sum(axis=0)).ravel())
    return Raw(
        sp.csr_matrix(found.data), sp.csr_matrix(found.target)[:, used], class_names=[topics[k] for k in used],
        title="Reuters news, RCV1-v2", description="The 23 149 articles of the training part, with sets of topics.",
        source="RCV1-v2 (Lewis et al. 2004), LYRL2004 vectors",
        licence="vectors free for research",
    )  # fmt: skip


def _covertype(data_home: str) -> Raw:
    from sklearn.datasets import fetch_covtype

    found: Any = fetch_covtype(data_home=data_home)
    kinds = ["spruce/fir", "lodgepole pine", "ponderosa pine", "cottonwood/willow", "aspen", "douglas-fir", "krummholz"]
    return Raw(
        found.data, np.asarray(found.target) - 1, feature_names=[str(name) for name in found.feature_names],
        class_names=kinds, title="Forest cover types", description="Patches of forest of 30 × 30 m, 7 kinds of cover.",
        source="Covertype (J. A. Blackard), UCI Machine Learning Repository", licence="CC BY 4.0",
    )  # fmt: skip


SOURCES: dict[str, Source] = {
    "mnist": Source(
        "Handwritten digits, 28 × 28 (MNIST)", "70 000 grey images of handwritten digits, 784 pixels, 10 classes.",
        "OpenML (mnist_784)", 16,
        _images("mnist_784", 1, 28, "Handwritten digits, 28 × 28 (MNIST)", "MNIST (LeCun, Cortes, Burges), OpenML 554",
                "CC BY-SA 3.0"),
    ),
    "fashion-mnist": Source(
        "Clothes, 28 × 28 (Fashion-MNIST)", "70 000 grey images of clothes, 784 pixels, 10 classes.",
        "OpenML (Fashion-MNIST)", 31,
        _images("Fashion-MNIST", 1, 28, "Clothes, 28 × 28 (Fashion-MNIST)", "Fashion-MNIST (Zalando), OpenML 40996",
                "MIT"),
    ),
    "news20": Source(
        "20 newsgroups", "18 846 messages to 20 newsgroups, 130 107 words.", "figshare (scikit-learn's copy)", 14,
        _newsgroups,
    ),
    "rcv1": Source(
        "Reuters news, RCV1-v2", "23 149 news articles, 47 236 words, sets of 101 topics.",
        "figshare (scikit-learn's copy)", 656, _reuters,
    ),
    "covtype": Source(
        "Forest cover types", "581 012 patches of forest, 54 measurements, 7 classes.", "UCI (scikit-learn's copy)", 11,
        _covertype,
    ),
}  # fmt: skip
