"""Races: several solvers on one problem, in turns, against one certified optimum."""

from .run import RaceRun, race
from .table import Race

__all__ = ["Race", "RaceRun", "race"]
