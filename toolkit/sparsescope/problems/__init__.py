"""Objectives of every kind, with what can be proved about a point: certificates, constants, λ_max, metrics.

A kind of problem is one class, registered by its file.
"""

from __future__ import annotations

from ..registry import discover

discover(__name__)
