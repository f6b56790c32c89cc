"""Numbers in sentences."""

from __future__ import annotations

import numpy as np

from sparsescope.wording import plural


def test_one_of_a_thing_is_not_called_many() -> None:
    assert [plural(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert plural(1.0, "pass", "passes") == "1 pass" and plural(np.float64(3.0), "pass", "passes") == "3 passes"
    assert plural(1, "row is", "rows are") == "1 row is" and plural(12000, "row is", "rows are") == "12000 rows are"
