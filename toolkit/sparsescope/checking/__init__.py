"""Checks of single parts: what a loss, penalty, solver or view promises, tried out and answered in sentences."""

from .part import check
from .report import Report

__all__ = ["Report", "check"]
