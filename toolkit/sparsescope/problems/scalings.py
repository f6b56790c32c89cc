"""Conversions between the scalings of the papers and of other programs, and our (1/n)Σℓ + λΩ (MATH §1)."""

from __future__ import annotations

from dataclasses import dataclass

NAMES = ("liblinear", "lightning", "paper-3", "paper-4")


@dataclass(frozen=True)
class Scaling:
    """λ of our problem that corresponds to another program's parameters.

    Parameters
    ----------
    lam
        our λ.
    factor
        ``factor``·(our objective) is the other program's objective.
    rho
        ρ of our elastic net, where the convention has one.
    """

    lam: float
    factor: float
    rho: float | None = None


def convert(
    name: str,
    n: float,
    *,
    C: float = 1.0,
    alpha: float | None = None,
    lam3: float | None = None,
    lam4: float = 0.0,
    ridge: bool = False,
) -> Scaling:
    """Return our λ for another program's parameters.

    ==============  =====================================================================================
    ``liblinear``   Ω + C Σℓ (also with ½‖w‖²):   ``C``
    ``lightning``   C Σℓ + alpha Ω:               ``C``, ``alpha``
    ``paper-3``     Ω + λ₃ Σℓ:                    ``lam3``; ``ridge=True`` for its ‖W‖² without the ½
    ``paper-4``     ½‖W‖² + λ₄‖W‖₁ + C Σℓ:        ``C``, ``lam4`` (an elastic net with ρ = λ₄/(1+λ₄))
    ==============  =====================================================================================

    Parameters
    ----------
    name
        one of these conventions.
    n
        number of samples, or the sum of their weights.
    C, alpha, lam3, lam4, ridge
        the other program's parameters, see the table.

    Returns
    -------
    Scaling
        our λ.

    Raises
    ------
    ValueError
        for an unknown name or a parameter that is not positive.

    Examples
    --------
    >>> ss.scalings.convert("liblinear", 100, C=1.0).lam > 0
    True
    """
    if name not in NAMES:
        raise ValueError(f"unknown scaling {name!r}; known: {', '.join(NAMES)}")
    if not C > 0:
        raise ValueError(f"C is {C!r}; it must be positive")
    if name == "lightning":
        if alpha is None or not alpha > 0:
            raise ValueError(f"the lightning scaling needs a positive alpha, got {alpha!r}")
        return Scaling(alpha / (n * C), n * C)
    if name == "paper-3":
        if lam3 is None or not lam3 > 0:
            raise ValueError(f"the scaling of paper 3 needs a positive lam3, got {lam3!r}")
        return Scaling((2.0 if ridge else 1.0) / (n * lam3), n * lam3)
    if name == "paper-4":
        if lam4 < 0:
            raise ValueError(f"lam4 is {lam4!r}; it must not be negative")
        return Scaling((1.0 + lam4) / (n * C), n * C, lam4 / (1.0 + lam4))
    return Scaling(1.0 / (n * C), n * C)
