"""The public names: a name that goes needs a DeprecationWarning for one version and a line under *Breaking*."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import sparsescope as ss
from sparsescope import registry

PINNED = Path(__file__).with_name("public_names.txt")
ROOMS = ("datasets", "estimators", "losses", "penalties", "races", "solvers", "views")


def public() -> list[str]:
    """``ss.__all__``, the names of the public rooms, and the public members of what is called most."""
    found = [f"ss.{name}" for name in ss.__all__]
    for room in ROOMS:
        found += [f"ss.{room}.{name}" for name in importlib.import_module(f"sparsescope.{room}").__all__]
    for name in ("Problem", "Run", "Session", "Result", "Trace", "Path"):
        members = inspect.getmembers(getattr(ss, name))
        found += [f"ss.{name}.{member}" for member, _ in members if not member.startswith("_")]
    for kind in ("losses", "penalties", "solvers", "views", "datasets"):
        found += [f"registry.{kind}:{name}" for name in getattr(registry, kind)]
    return sorted(set(found))


def test_no_public_name_is_gone() -> None:
    """New names come into the file before a version: ``python tests/unit/test_public_names.py``."""
    pinned = PINNED.read_text(encoding="utf-8").split()
    gone = sorted(set(pinned) - set(public()))
    assert len(pinned) > 200 and not gone, f"gone without a warning for one version: {', '.join(gone)}"


def own_errors() -> list[type[Exception]]:
    found = []
    for module in pkgutil.walk_packages(ss.__path__, "sparsescope."):
        if module.name.rpartition(".")[2] == "__main__":
            continue
        for value in vars(importlib.import_module(module.name)).values():
            own = inspect.isclass(value) and value.__module__ == module.name
            if own and issubclass(value, Exception) and not issubclass(value, Warning):
                found.append(value)
    return found


def test_the_package_s_errors_have_one_base_and_a_built_in_one() -> None:
    errors = own_errors()
    assert registry.UnknownName in errors and len(errors) >= 5
    for error in errors:
        assert issubclass(error, ss.SparsescopeError), error


def test_refusals_are_errors_of_the_package_and_value_errors() -> None:
    problem = ss.Problem([[0.0, 1.0], [1.0, 0.0]], [0, 1], loss="crammer-singer")
    refused = (
        lambda: registry.losses.create("logstic"),
        lambda: ss.losses.Logistic(margin=-1.0),
        lambda: ss.Run(problem, "bcd-ls"),
        lambda: problem.with_lam(-1.0),
    )
    for refuse in refused:
        with pytest.raises(ss.SparsescopeError) as caught:
            refuse()
        assert isinstance(caught.value, ValueError)


if __name__ == "__main__":
    PINNED.write_text("\n".join(public()) + "\n", encoding="utf-8")
