"""Tables 1 and 2 in the paper's layout, with the paper's numbers where the data are the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .protocol import METHODS, RAW, STAGEWISE, SVM, VW

if TYPE_CHECKING:
    import pandas as pd

# Table 1: errors in percent, linear, logistic, calibrated; Table 2, 20 newsgroups.
PAPER_MNIST = {RAW: (14.1, 7.8, 8.1), "4000": (1.83, 1.48, 1.54), "8000": (1.48, 1.33, 1.36)}
PAPER_NEWS = {VW: 12.4, SVM: 13.8, STAGEWISE: 11.7}


def is_mnist(part: pd.DataFrame) -> bool:
    """Return whether a table's rows are of the 60 000 and 10 000 images of MNIST."""
    first = part.iloc[0]
    return int(first["samples"]) == 60_000 and int(first["tests"]) == 10_000


def table1(frame: pd.DataFrame) -> pd.DataFrame:
    """A line for each set of features: test error in percent of the three methods, and the paper's on MNIST."""
    import pandas as pd

    lines = []
    for (data, features), part in frame.groupby(["data", "set"], sort=False):
        line: dict[str, Any] = {"data": data, "features": "raw" if features == RAW else f"{features} dims"}
        errors = part.set_index("method")["error"]
        known = PAPER_MNIST.get(str(features)) if is_mnist(part) else None
        for k, method in enumerate(METHODS):
            line[f"{method} [%]"] = float(errors.get(method, np.nan))
            line[f"{method} of the paper [%]"] = np.nan if known is None else known[k]
        lines.append(line)
    return pd.DataFrame(lines)


def table2(frame: pd.DataFrame) -> pd.DataFrame:
    """A line for each method: seconds and test error in percent."""
    import pandas as pd

    rows = [
        {
            "data": row["data"],
            "method": row["method"],
            "time [s]": row["seconds"],
            "error [%]": row["error"],
            "paper, 20 newsgroups [%]": PAPER_NEWS.get(str(row["method"]), np.nan),
            "note": row["note"],
        }
        for _, row in frame.iterrows()
    ]
    return pd.DataFrame(rows)
