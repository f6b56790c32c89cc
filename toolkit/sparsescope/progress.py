"""Progress on standard error: a bar where somebody watches; nothing elsewhere, and without tqdm."""

from __future__ import annotations

import sys
from typing import Any

from . import extras


class Silent:
    """Stand-in for a bar that nobody would see."""

    def __init__(self, total: int = 0) -> None:
        self.total, self.n = total, 0  # what is to be done and what is done, as tqdm keeps them

    def __enter__(self) -> Silent:
        return self

    def __exit__(self, *error: object) -> None:
        """Leave errors to others."""

    def update(self, count: int = 1) -> None:
        """Count what is done."""
        self.n += count

    def set_postfix_str(self, text: str, refresh: bool = True) -> None:
        """Show nothing of what is being done."""

    def refresh(self) -> None:
        """Draw nothing."""

    def close(self) -> None:
        """End."""


def progress(total: int, unit: str = "it", **options: Any) -> Any:
    """Return a progress bar on standard error, of tqdm's options; a silent one where that is no terminal."""
    if not sys.stderr.isatty() or not extras.is_installed("tqdm"):
        return Silent(total)
    from tqdm import tqdm

    return tqdm(total=total, unit=unit, file=sys.stderr, **{"leave": False, **options})
