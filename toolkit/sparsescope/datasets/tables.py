"""Readers for tables (CSV, by pandas; Parquet, by pyarrow) and svmlight/libsvm (scikit-learn), plain or compressed."""

from __future__ import annotations

import bz2
import gzip
import itertools
import re
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from .. import extras
from ..inputs.archives import check_memory
from .raw import Raw

TARGET_NAMES = ("label", "class", "target", "y")
MAX_CATEGORIES = 50  # a text column with more values is an identifier or free text, not a category
DELIMITERS = ",;\t|"
MOST_NAMED = 10  # columns in one sentence
MAX_LINE = 2**26  # characters
PARQUET_SUFFIX = ".parquet"
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
SVMLIGHT_LINE = re.compile(r"^\S+(\s+qid:\d+)?(\s+\d+:\S+)*\s*(#.*)?$")


def open_text(path: Path) -> IO[str]:
    """The file as UTF-8 text; .gz and .bz2 are unpacked on the way."""
    opener: Any = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)
    return opener(path, "rt", encoding="utf-8-sig")


def lines_of(path: Path) -> Iterator[str]:
    """The lines of a text file one by one, with their ends; ValueError for what is damaged, no text, or too much.

    A few kilobytes of gzip can hold gigabytes: lines and their sum are bounded before they fill the memory.
    """
    total, checked = 0, 0
    try:
        with open_text(path) as file:
            for number in itertools.count(1):
                line = file.readline(MAX_LINE)
                if not line:
                    return
                if len(line) == MAX_LINE:
                    raise ValueError(f"{path}: line {number} has {MAX_LINE} characters or more; lines are shorter")
                total += len(line)
                if total > checked:
                    check_memory(path, total, f"it unpacks to more than {total} characters")
                    checked = total + MAX_LINE
                yield line
    except (UnicodeDecodeError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} cannot be read as text ({error})") from error


def first_line(path: Path, comments: bool = False) -> str:
    """The first line that is not empty (nor a # comment, if `comments`); ValueError when there is none or no text."""
    for line in lines_of(path):
        if line.strip() and not (comments and line.startswith("#")):
            return line.rstrip("\r\n")
    raise ValueError(f"{path} is empty: no line of data")


def read_table(path: Path, check: Callable[[int, int], None] = lambda rows, cells: None, labelled: bool = True) -> Any:
    """A Parquet table, or a CSV table with a header line, as a data frame, missing values included.

    check : called with upper bounds of the rows and the cells of the file before it is parsed
    labelled : whether a label column is needed beside a feature
    Raises ValueError for a file without a header, a damaged one, and one that needs too much memory.
    """
    table = _read_parquet(path, check) if path.name.lower().endswith(PARQUET_SUFFIX) else _read_csv(path, check)
    table.columns = [str(c).strip() for c in table.columns]
    if table.shape[0] == 0 or table.shape[1] < 1 + labelled:
        raise ValueError(f"{path} has {table.shape[0]} row(s) and {table.shape[1]} column(s); needed: at least one "
                         + ("row, a label column and a feature column" if labelled else "row and column"))  # fmt: skip
    return table


def _read_parquet(path: Path, check: Callable[[int, int], None]) -> Any:
    extras.package("pandas", "Reading a Parquet file")
    parquet = extras.package("pyarrow.parquet", "Reading a Parquet file")
    try:
        with parquet.ParquetFile(path) as file:
            told, names = file.metadata, file.schema_arrow.names
            rows, columns = int(told.num_rows), len(names)
            size = sum(int(told.row_group(k).total_byte_size) for k in range(told.num_row_groups))
            check(rows, rows * columns)
            check_memory(path, max(size, 8 * rows * columns), f"{rows} rows of {columns} columns with 8 bytes each")
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise ValueError(f"column {twice!r} is there twice")
            table = file.read().to_pandas().reset_index(drop=True)
    except (ValueError, OSError, ArithmeticError, NotImplementedError) as error:  # pyarrow's errors are of these kinds
        if "of memory" in str(error) or "are taken here" in str(error):
            raise
        raise ValueError(f"{path} is not a readable Parquet table ({error})") from error
    return table


def _read_csv(path: Path, check: Callable[[int, int], None]) -> Any:
    pd = extras.package("pandas", "Reading a CSV file")
    header = first_line(path)
    delimiter = max(DELIMITERS, key=header.count)
    if all(_is_number(cell) for cell in header.split(delimiter)):
        raise ValueError(f"{path}: the first line holds numbers only; a header line with column names is needed")
    rows, columns, delimiters = 0, header.count(delimiter) + 1, 0
    for line in lines_of(path):
        rows += 1
        delimiters += line.count(delimiter)
    check(rows - 1, max(rows * columns, rows + delimiters))
    check_memory(path, 8 * rows * columns, f"{rows} lines of {columns} cells with 8 bytes each")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # lines longer than the header would be cut
            return pd.read_csv(
                path, sep=delimiter, skipinitialspace=True, encoding="utf-8-sig", index_col=False, low_memory=False
            )
    except (ValueError, OverflowError, pd.errors.ParserWarning) as error:  # parser errors are ValueErrors
        raise ValueError(f"{path} is not a readable CSV table ({error})") from error


def read_labelled(path: Path, target: str | int | None = None) -> Raw:
    """A table, CSV with a header line or Parquet; one column holds the labels, the others are features.

    target : name (or position) of the label column; default: the column called label, class, target or y (any case),
    else the last one. Columns of text become one 0/1 column per value ("colour=red"), up to 50 values.
    Raises ValueError for missing values, text columns with more values, numbers with a decimal comma, no header, an
    unknown `target`.
    """
    table = read_table(path)
    check_complete(table, path)
    label = target_column(list(table.columns), target, path)
    y = table.pop(label)
    X, feature_names = encode_columns(table, path)
    source = f"file {path.name}, labels in column {label!r}"
    return Raw(X, labels_of(y), feature_names=feature_names, title=path.name, source=source)


def check_complete(table: Any, path: Path) -> None:
    """Raise ValueError that names the columns with missing values."""
    missing = table.isna().sum()
    if missing.any():
        listed = [f"{column!r} ({count} of {len(table)} rows)" for column, count in missing.items() if count]
        found = ", ".join(listed[:MOST_NAMED]) + (f" and {len(listed) - MOST_NAMED} more" * (len(listed) > MOST_NAMED))
        raise ValueError(f"{path} has missing values in column {found}; remove these rows or fill them first")


def labels_of(y: Any) -> np.ndarray:
    """A column as labels: numbers as they are, everything else as text."""
    return y.to_numpy() if y.dtype.kind in "buif" else np.array([str(v) for v in y])


def target_column(columns: list[str], target: str | int | None, path: Path) -> str:
    """Name of the label column by the rule of :func:`read_labelled`."""
    if target is None:
        named = [c for wanted in TARGET_NAMES for c in columns if c.lower() == wanted]
        return named[0] if named else columns[-1]
    if isinstance(target, int) and -len(columns) <= target < len(columns):
        return columns[target]
    if target not in columns:
        shown = ", ".join(map(repr, columns[:20])) + (" …" if len(columns) > 20 else "")
        raise ValueError(f"{path} has no column {target!r} for target=; its columns: {shown}")
    return str(target)


def encode_columns(table: Any, path: Path) -> tuple[np.ndarray, list[str]]:
    """Numeric columns as they are, text columns one-hot; shape (n, d) float64, and the d names."""
    blocks: list[np.ndarray] = []
    feature_names: list[str] = []
    for position, column in enumerate(table.columns):
        values = table.iloc[:, position]
        if values.dtype.kind in "buif":
            blocks.append(values.to_numpy(dtype=np.float64)[:, None])
            feature_names.append(column)
            continue
        text = np.array([str(v) for v in values])
        levels, codes = np.unique(text, return_inverse=True)
        comma = next(filter(DECIMAL_COMMA.fullmatch, levels), None)
        if comma is not None and all(_is_number(v.replace(",", ".")) for v in levels):
            raise ValueError(
                f"{path}: column {column!r} holds numbers with a comma, for example {str(comma)!r}; write them with "
                "a point and without separators of thousands (they would be read as text, each value a category)"
            )
        if len(levels) > MAX_CATEGORIES:
            odd = next(v for v in text if not _is_number(v)) if not all(map(_is_number, text)) else text[0]
            raise ValueError(
                f"{path}: column {column!r} is not numeric (for example {str(odd)!r}) and has {len(levels)} different "
                f"values; text of up to {MAX_CATEGORIES} values becomes 0/1 columns, remove or recode this column"
            )
        check_memory(
            path,
            8 * len(text) * (len(feature_names) + len(levels)),
            f"{len(text)} rows of {len(feature_names) + len(levels)} columns with 8 bytes each",
        )
        blocks.append((codes[:, None] == np.arange(len(levels))).astype(np.float64))
        feature_names += [f"{column}={level}" for level in levels]
    return np.hstack(blocks), feature_names


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip().strip('"'))
    except ValueError:
        return False
    return True


def looks_like_svmlight(path: Path) -> bool:
    """Return whether the first line of data reads "label index:value index:value ..."."""
    try:
        line = first_line(path, comments=True).strip()
        return bool(SVMLIGHT_LINE.match(line)) and line.replace("\t", " ").isprintable()  # an archive can be UTF-8 too
    except ValueError:
        return False


def look_through(path: Path) -> bool:
    """Return whether a line of an svmlight file has several labels, or none (it begins with index:value).

    Raises ValueError if the file would need more memory than allowed: the largest feature number is known from the last
    pair of each line (they are sorted), long before anything is built.
    """
    sets = False
    for number, line in enumerate(lines_of(path), 1):
        pairs = line.partition("#")[0].split()
        if not pairs:
            continue
        sets = sets or "," in pairs[0] or ":" in pairs[0]
        feature, colon, _ = pairs[-1].partition(":")
        if colon and len(feature) > 7 and feature.isdecimal():
            largest = int(feature[:30])
            check_memory(path, 8 * largest, f"feature {largest} in line {number}; each feature up to it takes 8 bytes")
    return sets


def read_svmlight(path: Path) -> Raw:
    """An svmlight/libsvm file; if a file of the same name plus ``.t`` lies beside it, that is the test part.

    Labels become 0..m-1 in the order of their values; the class names are the labels as written in the file. A line
    with several labels ("1,3,7 index:value ...") or without one makes the file a multilabel one.
    Raises ValueError for lines that do not parse.
    """
    from sklearn.datasets import load_svmlight_file, load_svmlight_files

    first_line(path, comments=True)  # an empty file is named as one
    test = path.with_name(path.name + ".t")
    parts = [path, test] if test.is_file() else [path]
    multilabel = max(look_through(part) for part in parts)  # all of them are looked through
    try:
        if len(parts) == 2:
            X, y, X_test, y_test = load_svmlight_files([str(part) for part in parts], multilabel=multilabel)
        else:
            (X, y), X_test, y_test = load_svmlight_file(str(path), multilabel=multilabel), None, None
    except (ValueError, OSError, EOFError, OverflowError, IndexError, TypeError, zlib.error) as error:
        raise ValueError(f"{path} is not a readable svmlight file ({error}); "
                         "each line must be: label index:value index:value ... (or label,label,... for label sets)"
                         ) from error  # fmt: skip
    if multilabel:
        y, y_test = ([set(labels) for labels in part] if part is not None else None for part in (y, y_test))
    return Raw(X, y, X_test, y_test, title=path.name, source=f"file {path.name}")
