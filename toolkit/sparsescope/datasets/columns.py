"""Roles of the columns of a table (label, feature, text, ignored), and the data set that follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..inputs.archives import check_memory
from .base import Dataset, encode_labels
from .raw import check_options, stratified_split
from .scaling import apply_scale, default_scale
from .tables import MAX_CATEGORIES, TARGET_NAMES, encode_columns, labels_of

ROLES = ("label", "feature", "text", "ignored")
WORDS = {
    "tf-idf": "words weighted by tf-idf (1 + ln count), rows of length 1",
    "counts": "how often each word occurs",
    "presence": "whether each word occurs",
}
NUMBERS_OF_ROWS = ("id", "index", "unnamed: 0", "row", "rownames")
MOST_CLASSES = 1000
MOST_WORDS = 20_000
MANY_ROWS = 50  # from this number of rows on a word has to occur in two of them
WORDS_OF_TEXT = 3.0  # mean number of words from which on a column holds text
MOST_LOOKED_AT = 2000  # rows that tell whether a column holds text
MOSTLY = 0.5  # share of missing values from which on a column is ignored
NAMED = 5  # columns that a sentence names


@dataclass(frozen=True)
class Column:
    """A column of a table.

    name · kind: ``"number"``, ``"category"`` or ``"text"`` · missing, distinct: numbers of values · example · role:
    the one that suits it
    """

    name: str
    kind: str
    missing: int
    distinct: int
    example: str
    role: str


def look_at(table: Any) -> list[Column]:
    """Describe the columns of a table, with the role that suits each: one label, features, texts, the rest ignored."""
    found = [_describe(table.iloc[:, k]) for k in range(table.shape[1])]
    label = _label(table, found)
    return [
        Column(**{**vars(column), "role": "label" if k == label else column.role}) for k, column in enumerate(found)
    ]


def _describe(values: Any) -> Column:
    missing, distinct = int(values.isna().sum()), int(values.nunique())
    there = values.dropna()
    example = str(there.iloc[0]) if len(there) else ""
    if values.dtype.kind in "buif":
        kind = "number"
    else:
        looked = there.iloc[:MOST_LOOKED_AT].astype(str)
        mean = float(looked.str.split().str.len().mean()) if len(looked) else 0.0
        kind = "text" if mean >= WORDS_OF_TEXT and distinct > min(MAX_CATEGORIES, len(values) // 2) else "category"
    role = "text" if kind == "text" else "feature"
    identifier = str(values.name).lower() in NUMBERS_OF_ROWS or (kind == "category" and distinct > MAX_CATEGORIES)
    if identifier or missing > MOSTLY * len(values) or distinct == 0:
        role = "ignored"
    return Column(str(values.name), kind, missing, distinct, example[:200], role)


def _label(table: Any, columns: list[Column]) -> int:
    """The number of the column that is most likely the label: by its name, else the last one that can be one."""
    names = [column.name.lower() for column in columns]
    for wanted in TARGET_NAMES:
        if wanted in names:
            return names.index(wanted)
    fits = [k for k, column in enumerate(columns) if _can_be_label(table.iloc[:, k], column)]
    return fits[-1] if fits else len(columns) - 1


def _can_be_label(values: Any, column: Column) -> bool:
    if not 2 <= column.distinct <= min(MAX_CATEGORIES, max(len(values) // 2, 2)) or column.kind == "text":
        return False
    return column.kind == "category" or bool((values.dropna() % 1 == 0).all())


def check_roles(roles: Mapping[str, str], columns: list[Column]) -> None:
    """Raise ValueError unless every column has one of :data:`ROLES`, one of them the label and one something to learn
    from."""
    wrong = next((role for role in roles.values() if role not in ROLES), None)
    if wrong is not None:
        raise ValueError(f"{wrong!r} is not a role of a column; the roles are {', '.join(ROLES)}")
    labels = [column.name for column in columns if roles[column.name] == "label"]
    if len(labels) != 1:
        raise ValueError(f"{len(labels)} columns are the label; exactly one is needed")
    if not any(roles[column.name] in ("feature", "text") for column in columns):
        raise ValueError("every column but the label is ignored; at least one feature or text is needed")


def from_table(
    table: Any,
    roles: Mapping[str, str],
    *,
    words: str = "tf-idf",
    name: str = "table",
    title: str = "",
    test_size: float = 0.25,
    seed: int = 0,
) -> tuple[Dataset, list[str]]:
    """Make a data set of a table, and sentences that say what was left out and why.

    Rows with a missing label or feature are left out, and so are constant columns. The vectorisers of scikit-learn
    learn their words and weights from the training part. Raises ValueError where nothing can be made of the table.
    """
    check_options(test_size, seed, None, "float64")
    chosen: dict[str, list[str]] = {role: [c for c in table.columns if roles[c] == role] for role in ROLES}
    report: list[str] = []
    table = _complete_rows(table, chosen, report)
    label = chosen["label"][0]
    y, _, class_names = encode_labels(labels_of(table[label]), None, None, f"{title}: column {label!r}")
    if len(class_names) > min(MOST_CLASSES, max(len(y) // 2, 2)):
        raise ValueError(
            f"column {label!r} has {len(class_names)} different values in {len(y)} rows; choose a column with fewer "
            "as the label"
        )
    train, test = stratified_split(y, test_size, seed) if test_size > 0 else (np.arange(len(y)), np.arange(0))
    blocks, names = [], []
    if features := _varying(table, chosen["feature"], train, report):
        X, found = encode_columns(table[features], Path(title or name))
        blocks.append(_scaled(X, train, sparse=bool(chosen["text"])))
        names += found
    for column in chosen["text"]:
        counts, found = _words(table[column], train, words, report)
        blocks.append(counts)
        names += [f"{column}: {word}" for word in found] if len(chosen["text"]) > 1 or features else list(found)
    if not blocks:
        raise ValueError("no feature varies in the training rows; choose other columns")
    whole = blocks[0] if len(blocks) == 1 else sp.csr_array(sp.hstack(blocks))
    if chosen["ignored"]:
        report.append(f"{_columns(chosen['ignored'])} ignored.")
    rare = [class_names[k] for k in np.flatnonzero(np.bincount(y) < 2)]
    if rare:
        report.append(f"Classes of one row, which have none for testing: {_listed(rare)}.")
    return Dataset(
        name=name,
        title=title or name,
        X=whole[train],
        y=y[train],
        X_test=whole[test] if len(test) else None,
        y_test=y[test] if len(test) else None,
        feature_names=names,
        class_names=class_names,
        scaling="by column",
        own_split=True,
        source=f"file {title}, labels in column {label!r}",
    ), report


def _complete_rows(table: Any, chosen: dict[str, list[str]], report: list[str]) -> Any:
    needed = [*chosen["label"], *chosen["feature"]]
    missing = table[needed].isna().to_numpy()
    bad = missing.any(axis=1)
    if bad.any():
        counts = missing.sum(axis=0)
        where = _listed([f"{needed[k]}: {counts[k]}" for k in np.argsort(-counts, kind="stable") if counts[k]])
        first = int(np.flatnonzero(bad)[0]) + 1
        report.append(
            f"{int(bad.sum())} of {len(table)} rows were left out: a value is missing ({where}), first in row {first}."
        )
        table = table[~bad]
    if not len(table):
        raise ValueError("every row has a missing value in a column in use; ignore the columns with most of them")
    return table


def _varying(table: Any, features: list[str], train: np.ndarray, report: list[str]) -> list[str]:
    constant = [c for c in features if table[c].iloc[train].nunique() < 2]
    if constant:
        report.append(f"{_columns(constant)} left out: constant in the training rows.")
    return [c for c in features if c not in set(constant)]


def _scaled(X: np.ndarray, train: np.ndarray, sparse: bool) -> Any:
    """Features by the rule of the default scaling, or beside words by their largest values."""
    scale = "max" if sparse else default_scale(X[train], False)
    scaled = apply_scale(scale, X[train], X, False, np.dtype(float))[1]  # X[train] is a copy, X is not used again
    return sp.csr_array(scaled) if sparse else scaled


def _words(texts: Any, train: np.ndarray, words: str, report: list[str]) -> tuple[Any, list[str]]:
    """Texts as a sparse matrix of words, and the words."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

    if words not in WORDS:
        raise ValueError(f"words is {words!r}; allowed: {', '.join(WORDS)}")
    least = 2 if len(train) >= MANY_ROWS else 1
    options: dict[str, Any] = {"min_df": least, "max_features": MOST_WORDS, "dtype": np.float64}
    made = (
        TfidfVectorizer(sublinear_tf=True, **options)
        if words == "tf-idf"
        else CountVectorizer(binary=words == "presence", **options)
    )
    plain = texts.fillna("").astype(str).tolist()
    try:
        made.fit([plain[i] for i in train])
    except ValueError:
        raise ValueError(
            f"column {texts.name!r} holds no word that occurs in {least} or more rows; give it another role"
        ) from None
    X = sp.csr_array(made.transform(plain))
    check_memory(str(texts.name), 12 * X.nnz, f"{X.nnz} words")
    empty = int((np.diff(X.indptr) == 0).sum())
    kept = "the most frequent ones" if X.shape[1] == MOST_WORDS else f"those in {least} or more training rows"
    report.append(f"Column {texts.name!r}: {X.shape[1]} words, {kept}; {WORDS[words]}.")
    if empty:
        report.append(f"Column {texts.name!r}: {empty} rows have none of these words.")
    return X, list(made.get_feature_names_out())


def _columns(names: list[str]) -> str:
    """'Column a was' or 'Columns a, b and 3 more were'."""
    return f"Column {names[0]!r} was" if len(names) == 1 else f"{len(names)} columns ({_listed(names)}) were"


def _listed(names: list[str]) -> str:
    """'a, b and 3 more'."""
    return ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
