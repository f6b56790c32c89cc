"""Sweeps: many problems × λ × solvers × seeds, on this machine or on a cluster, as one table that grows."""

from __future__ import annotations

from .run import SweepRun, sweep
from .table import Sweep

__all__ = ["Sweep", "SweepRun", "sweep"]
