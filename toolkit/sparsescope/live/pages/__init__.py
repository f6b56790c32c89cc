"""The pages: one file for each kind of problem that the explorer shows, registered by being in this folder."""

from __future__ import annotations

from ...registry import discover

discover(__name__)
