"""Problems of so few numbers that what a step costs besides its arithmetic decides: `auto` begins with plain sweeps.

A sweep of ``bcd-ls`` over a thousand numbers takes microseconds, and what is done around any iteration takes more. The
solvers for larger data do several times as much around each of theirs, so they are left until sweeps do not end soon.
"""

from __future__ import annotations

from ...problems.prediction import Problem

# Entries of X times scores up to which sweeps begin, and up to which they do with λ from FAR λ_max on. Measured on 250
# drawn problems of 80 to 800 samples, 3 to 60 features and 1 to 10 scores, gaps 1e-2, 1e-4 and 1e-6. On 112 others that
# the rule applies to, `auto` takes .88 of its seconds without it, 2.1 times at most, and is more than 1.15 times slower
# than the best in 36 instead of 76.
FEW, MORE, FAR = 2048, 4096, 0.02
EACH = 2  # samples for a feature at least: fewer were not measured
SWEEPS = 20  # after more than these others go on: with 10 and with 40 the 250 problems take longer


def has_few_numbers(problem: Problem) -> bool:
    """Return whether sweeps are likely to end before a solver with more to do around each step."""
    if problem.loss.quadratic and not problem.penalty.zeroes_rows:  # a single factored step is the solution
        return False
    if problem.n < EACH * problem.d:
        return False
    numbers = problem.n * problem.d * problem.m
    return numbers <= FEW or (numbers <= MORE and problem.lam >= FAR * problem.lam_max)
