"""Texts of a lesson as notebooks show them."""

from __future__ import annotations

import html

from .base import Finding


class Told(str):
    """Text that a notebook shows as it is, without quotation marks and with long lines wrapped."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f'<pre style="white-space: pre-wrap">{html.escape(self)}</pre>'


class Reveal(Told):
    """Answer beside the measured one, as text.

    Attributes
    ----------
    right : whether the answer is right
    finding : the measured answer and the verdict on the claim
    """

    right: bool
    finding: Finding | None

    def __new__(cls, text: str, right: bool, finding: Finding | None = None) -> Reveal:
        made = super().__new__(cls, text)
        made.right, made.finding = right, finding
        return made
