"""Columns that several families of solvers report."""

from __future__ import annotations

from ...registry import Column

# What a step worked on, and how far it went.
WORKING_SET = Column(
    "working_set",
    "rows that the step worked on; of Θ the entries on and above the diagonal",
    of_step=False,
    drawn=True,
    momentary=True,
)
STEP_SIZE = Column("step_size", "step size; of a sweep the mean of the rows that moved", drawn=True, momentary=True)
TRIALS = Column("trials", "trials of the line search; of a sweep for each row that moved", drawn=True, momentary=True)
STEP_COLUMNS: tuple[Column, ...] = (WORKING_SET, STEP_SIZE, TRIALS)
FIXED_STEP_COLUMNS: tuple[Column, ...] = (WORKING_SET, STEP_SIZE)  # of solvers without a line search
# Accelerated solvers.
RESTARTS = Column("restarts", "how often the momentum was dropped so far", of_step=False)
# Solvers with an inner problem (Tang and Scheinberg 2013, Eq. 28, where κ_o is the number of iterations).
INNER_COLUMNS = (
    Column("inner_sweeps", "sweeps of this iteration over its working set (κ_i)", status="κ"),
    Column("coordinate_steps", "coordinates looked at in these sweeps", status="coordinates"),
    Column("step_flops", "flops for each of them", status="flops each"),
)
NO_DUAL = "this solver keeps no dual point"
# Solvers that keep a dual point.
DUAL_COLUMNS = (
    Column(
        "active_share",
        "share of the samples whose hinge is active (above 1e-6 of the margin)",
        "share",
        of_step=False,
        drawn=True,
        label="active samples",
        short="active",
        colour="purple",
        dash="longdashdot",
        absent=f"{NO_DUAL} (active samples, dual non-zeros)",
    ),
    Column(
        "dual_entries",
        "mean number of non-zeros of a dual row off the true class",
        of_step=False,
        drawn=True,
        label="active labels a sample (k_A)",
        short="k_A",
        status="dual non-zeros",
        colour="ink",
        absent=f"{NO_DUAL} (active labels)",
    ),
)
# Solvers that search for labels.
SEARCH_COLUMNS = (
    Column(
        "search_share",
        "share of the work that went into searches for what to work on",
        "share",
        drawn=True,
        label="searching",
        short="search",
        status="searching",
        colour="green",
        absent="this solver does not search for labels",
    ),
    Column("search_seconds", "CPU seconds so far of passes that search", "s", of_step=False),
    Column("update_seconds", "CPU seconds so far of passes over what is active already", "s", of_step=False),
)
# Solvers that sweep over rows (Blondel et al. 2013, Eq. 9 and 10).
SEEN_COLUMNS = (
    Column(
        "seen_violation",
        "largest violation (Eq. 9) over the rows visited, each at the moment of its visit",
        of_gradient=True,
    ),
    Column(
        "seen_violation_sum",
        "sum of the violations (Eq. 9) over the rows visited, each at its visit",
        of_gradient=True,
    ),
)
# Solvers that can be watched within a sweep (``every="rows:64"``).
CURSOR_COLUMNS = (
    Column(
        "row_cursor",
        "number of the row that the sweep under way visited last; none between two sweeps",
        momentary=True,
        label="row cursor",
        status="row",
    ),
)
