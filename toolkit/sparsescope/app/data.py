"""Page: what the data are; uploaded files, the roles of their columns, and what was left out of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from .. import datasets, registry
from ..datasets.base import Dataset, class_sizes
from ..datasets.columns import ROLES, WORDS
from ..datasets.files import FORMATS
from ..datasets.uploads import DEFAULTS, PREFIX, VISIBLE, Shelf, Upload
from ..live.jobs import Jobs
from ..live.saying import brief
from ..registry import field
from ._names import DATASETS
from .base import Message, Page, number

MOST_COLUMNS = 200  # of a table that are shown; the others keep their roles
MOST_CLASSES = 30
MOST_FEATURES = 12
MOST_CORRELATED = 400  # features whose correlations are looked at: those that vary most
MOST_PRODUCTS = 40_000_000  # samples times features, at most
RARE = 5  # samples: features with fewer are rare
MOST_ROLES = 1000  # in one message


class DataPage(Page):
    """The data set on the page, and the files of this browser."""

    name = "data"
    title = "Data"
    menu_order = 80
    doc = "The data of all pages, and files of your own."

    dataset: ClassVar[Any] = field("pydocs", choices=DATASETS, doc="the data")
    test: ClassVar[Any] = field(0.25, 0.0, 0.9, "share of the samples held out for testing")
    seed: ClassVar[Any] = field(0, 0, 2**31 - 1, "of the split")
    words: ClassVar[Any] = field("tf-idf", choices=tuple(WORDS), doc="what becomes of columns of text")

    labels: ClassVar[dict[str, str]] = {"dataset": "data", "test": "held out", "words": "text as"}

    def __init__(self, data: Any = None, settings: Any = None) -> None:
        super().__init__(data, settings)
        self._jobs = Jobs("sparsescope-data")
        self._version = -1  # of the shelf that the browser has
        self._waits: list[Message] = []
        self._said: Message | None = None  # what the data are; None while they are being read
        self._wished: dict[str, dict[str, str]] = {}  # roles chosen on the page, by the file's name

    # ------------------------------------------------------------------------------------------------------- settings
    def start(self) -> None:
        """Read the data."""
        self._read({"dataset"})

    def changed(self, names: set[str]) -> None:
        """Read the data anew."""
        if names:
            self._read(names)

    def do(self, action: str) -> None:
        """``"remove"`` forgets the file on the page.

        Raises
        ------
        ValueError
            for another action, and where no file is on the page.
        """
        shelf, item = VISIBLE.get(), self._item()
        if action != "remove":
            raise ValueError(f"unknown action {brief(action)}; known: remove")
        if shelf is None or item is None:
            raise ValueError("the data on the page are no file of yours, so there is nothing to remove")
        shelf.remove(item.name)
        self._settings["dataset"] = type(self).fields[0].default
        self._read({"dataset"})

    def own_messages(self) -> dict[str, Callable[[Message], None]]:
        """Return what takes the columns' roles, and the choice of a file that makes no data set yet."""
        return {"roles": self._on_roles, "show": self._on_show}

    def _on_show(self, msg: Message) -> None:
        """A file was sent: it is what the page shows."""
        name, shelf = msg.get("name"), VISIBLE.get()
        item = shelf.get(name) if shelf is not None and isinstance(name, str) else None
        if item is None:
            raise ValueError(f"there is no file {brief(name)}")
        self._settings["dataset"] = item.name
        if self.settings_changed is not None and item.data is not None:
            self.settings_changed(self.settings)
        self._read({"dataset"})
        self._say_controls()

    def _on_roles(self, msg: Message) -> None:
        """Other roles of columns, as pairs of a column's number and its role."""
        pairs, item = msg.get("roles"), self._item()
        if item is None or item.table is None:
            raise ValueError("only the columns of an uploaded table have roles")
        if not isinstance(pairs, list) or not 0 < len(pairs) <= MOST_ROLES:
            raise ValueError(f"roles: a list of 1 to {MOST_ROLES} pairs of a column's number and its role is needed")
        roles = {}
        for pair in pairs:
            good = (
                isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], int) and not isinstance(pair[0], bool)
            )
            if not good or not 0 <= pair[0] < len(item.columns) or pair[1] not in ROLES:
                raise ValueError(f"a role is given by a column's number and one of {', '.join(ROLES)}")
            roles[item.columns[pair[0]].name] = pair[1]
        if "label" in roles.values():  # there is one label: the one before becomes what suits it
            chosen = next(name for name, role in roles.items() if role == "label")
            for column in item.columns:
                if column.name != chosen and "label" in (
                    item.roles[column.name],
                    self._wished.get(item.name, {}).get(column.name),
                ):
                    roles.setdefault(column.name, "feature" if column.role == "label" else column.role)
        self._rebuild(item, roles)

    # -------------------------------------------------------------------------------------------------------- reading
    def _item(self) -> Upload | None:
        shelf = VISIBLE.get()
        return None if shelf is None else shelf.get(self.settings["dataset"])

    def _rebuild(self, item: Upload, roles: dict[str, str]) -> None:
        """Make the data set of a table anew, in a thread, and show it."""
        shelf, options = VISIBLE.get(), self._options()
        assert shelf is not None
        # A table that is being read still has the roles before: all that were chosen are chosen again.
        roles = self._wished[item.name] = {**self._wished.get(item.name, {}), **roles}

        def build() -> Message:
            made = item.with_roles(roles, **options)
            shelf.exchange(made)
            return described(made.data)

        self._jobs.start(build)
        self._said = None
        self._waits = [{"type": "working", "text": "Reading the columns …"}]

    def _options(self) -> dict[str, Any]:
        return {"words": self.settings["words"], "test_size": self.settings["test"], "seed": self.settings["seed"]}

    def _read(self, names: set[str]) -> None:
        chosen, item, given = self.settings, self._item(), self.data
        self._version = -1
        if item is not None and item.splits and (names - {"dataset"} or item.options != self._options()):
            self._rebuild(item, {})
            return

        def load() -> Message:
            if item is not None:
                return described(item.data)
            if given is not None:
                return described(given)
            wished = {"test_size": chosen["test"], "seed": chosen["seed"]}
            options = {name: value for name, value in wished.items() if value != DEFAULTS[name]}
            return described(datasets.load(chosen["dataset"], **options))

        self._jobs.start(load)
        self._said = None
        self._waits = [{"type": "working", "text": "Reading the data …"}]

    # ------------------------------------------------------------------------------------------------------- pictures
    def picture(self) -> Message:
        """Return the files of this browser, and the columns of the one on the page."""
        shelf, item = VISIBLE.get(), self._item()
        return {
            "files": [] if shelf is None else [_file(upload) for upload in shelf.items],
            "limits": None if shelf is None else _limits(shelf),
            "shown": None if item is None else _shown(item),
            "roles": list(ROLES),
        }

    def look(self) -> list[tuple[Message, list[bytes]]]:
        """Return what was read, and the files when they have changed."""
        shelf = VISIBLE.get()
        messages, self._waits = self._waits, []
        outcome = self._jobs.collect()
        if outcome is not None:
            empty = {"type": "described", "none": outcome.error}
            self._said = outcome.value if outcome.value is not None else empty
            messages.append(self._said)
        version = -1 if shelf is None else shelf.version
        if outcome is not None or version != self._version:
            self._version = version
            messages += [self._controls_message(), {"type": "picture", **self.picture()}]
        return [(message, []) for message in messages]

    def _controls_message(self) -> Message:
        return {"type": "controls", "groups": self.controls(), "settings": self.settings}

    def shown_again(self) -> None:
        """Say again what the data are, to a browser that came back."""
        if self._said is not None:
            self._waits.append(self._said)

    def end(self) -> None:
        """Forget what is being read."""
        self._jobs.cancel()


def _file(upload: Upload) -> Message:
    return {"name": upload.name, "title": upload.title, "usable": upload.data is not None}


def _limits(shelf: Shelf) -> Message:
    limits = shelf.limits
    return {
        "bytes": limits.bytes,
        "rows": limits.rows,
        "columns": limits.columns,
        "cells": limits.cells,
        "files": limits.files,
        "formats": FORMATS,
    }


def _shown(item: Upload) -> Message:
    columns = [
        {
            "name": column.name,
            "kind": column.kind,
            "missing": column.missing,
            "distinct": column.distinct,
            "example": column.example,
            "role": item.roles[column.name],
        }
        for column in item.columns[:MOST_COLUMNS]
    ]
    return {
        "name": item.name,
        "title": item.title,
        "error": item.error,
        "report": list(item.report),
        "columns": columns,
        "more": max(len(item.columns) - MOST_COLUMNS, 0),
        "rows": 0 if item.table is None else len(item.table),
    }


def described(data: Any) -> Message:
    """Return what a browser shows of a data set; of other data only that they were handed over."""
    if data is None:
        return {"type": "described", "none": "The columns do not form a data set yet; see the report above."}
    if not isinstance(data, Dataset):
        return {"type": "described", "none": "These data were handed over in Python; the other pages show them."}
    X, m = data.X, data.m
    sizes, tests = class_sizes(data.y, m), None if data.y_test is None else class_sizes(data.y_test, m)
    used = np.asarray(X.getnnz(axis=0)).ravel() if sp.issparse(X) else np.count_nonzero(X, axis=0)
    names = data.feature_names or [f"feature {j}" for j in range(data.d)]
    order = np.argsort(-sizes, kind="stable")[:MOST_CLASSES]
    frequent = np.argsort(-used, kind="stable")[:MOST_FEATURES]
    return {
        "type": "described",
        "none": "",
        "name": data.name,
        "title": data.title,
        "about": data.description,
        "source": data.source.removeprefix(PREFIX),
        "licence": data.licence,
        "n": data.n,
        "n_test": 0 if data.y_test is None else int(data.y_test.shape[0]),
        "d": data.d,
        "m": m,
        "sets": bool(data.multilabel),
        "sparse": bool(sp.issparse(X)),
        "density": number(data.nnz / (data.n * data.d), 3),
        "scaling": data.scaling,
        "split": _split(data),
        "classes": [
            {"name": data.class_names[k], "train": int(sizes[k]), "test": None if tests is None else int(tests[k])}
            for k in order
        ],
        "more_classes": max(m - MOST_CLASSES, 0),
        "frequent": [{"name": str(names[j]), "share": number(used[j] / data.n, 3)} for j in frequent],
        "correlations": correlations(X, names),
        "unused": int(np.count_nonzero(used == 0)),
        "rare": int(np.count_nonzero((used > 0) & (used < RARE))),
        "few": RARE,
    }


def correlations(X: Any, names: Sequence[str]) -> list[Message]:
    """Return the pairs of features with the largest correlations in size, of the features that vary most.

    Parameters
    ----------
    X
        training samples (n, d), dense or sparse.
    names
        of the features.
    """
    n = X.shape[0]
    mean = np.asarray(X.mean(axis=0)).ravel()
    square = np.asarray((X.multiply(X) if sp.issparse(X) else X * X).mean(axis=0)).ravel()
    spread = np.sqrt(np.maximum(square - mean**2, 0.0))
    varies = np.flatnonzero(spread > 1e-9 * np.sqrt(square))
    shown = varies[np.argsort(-spread[varies], kind="stable")[: min(MOST_CORRELATED, MOST_PRODUCTS // max(n, 1))]]
    part = X[:, shown]
    products = part.T @ part
    products = np.asarray(products.toarray() if sp.issparse(products) else products) / n
    found = (products - np.outer(mean[shown], mean[shown])) / np.outer(spread[shown], spread[shown])
    i, j = np.triu_indices(len(shown), 1)
    order = np.argsort(-np.abs(found[i, j]), kind="stable")[:MOST_FEATURES]
    return [
        {
            "first": str(names[shown[i[k]]]),
            "second": str(names[shown[j[k]]]),
            "value": number(float(np.clip(found[i[k], j[k]], -1, 1)), 3),
        }
        for k in order
    ]


def _split(data: Dataset) -> str:
    if data.name.startswith(PREFIX):
        return "by the share and the seed at the left, unless the file has a test part"
    return "came with the data" if data.own_split else "by the share and the seed at the left"


registry.app_pages.add(DataPage.name, DataPage)
