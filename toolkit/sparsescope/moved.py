"""Old module paths: they import the module's new place and warn, for one version.

Installed by the package's ``__init__``; it costs nothing until an old name is imported. Remove in 0.3.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

PACKAGE = __name__.rpartition(".")[0]

_ROOMS = {
    "jit": {"kernel_cache": "cache", "kernel_compiler": "compiler"},
    "inputs": {name: name for name in ("design", "labels", "blocks", "feature_maps", "transformers")},
    "problems": {
        "problem_base": "base",
        "problem": "prediction",
        "sequences": "sequence",
        **{
            name: name
            for name in (
                "certificate",
                "constants",
                "null_fits",
                "regulariser",
                "scalings",
                "objectives",
                "metrics",
                "spectrum",
                "covariance",
                "covariance_certificate",
                "covariance_input",
                "sequence_model",
            )
        },
    },
    "runs": {
        name: name
        for name in ("run", "event", "stopping", "trace", "watching", "changes", "session", "paths", "path_result")
    },
    "solvers.shared": {
        f"solvers.{name}": name
        for name in (
            "budget",
            "entries",
            "gradient_steps",
            "inverse_covariance",
            "leap",
            "low_rank",
            "metric",
            "newton",
            "proximal",
            "restriction",
            "sequence",
            "splitting",
            "stage_data",
            "step_search",
        )
    },
}
# Full old name -> full new name.
MOVED = {
    f"{PACKAGE}.{old}": f"{PACKAGE}.{room}.{new}" for room, modules in _ROOMS.items() for old, new in modules.items()
}

# Names of old modules that are in another module than the rest: {old module: {name: its module}}.
ELSEWHERE = {
    f"{PACKAGE}.run": {"solve": f"{PACKAGE}.runs.solving"},
    f"{PACKAGE}.paths": {"lam_grid": f"{PACKAGE}.runs.grids"},
}


class _Finder:
    """Finds the old names, and nothing else."""

    def __init__(self) -> None:
        self._specs: dict[str, ModuleSpec | None] = {}

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        return ModuleSpec(name, self) if name in MOVED else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        new = MOVED[spec.name]
        warnings.warn(
            f"the module {spec.name} is now {new}; the old name goes with version 0.3", DeprecationWarning, stacklevel=2
        )
        module = importlib.import_module(new)
        for name, home in ELSEWHERE.get(spec.name, {}).items():
            setattr(module, name, getattr(importlib.import_module(home), name))
        self._specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back; it was executed under its new name."""
        old = module.__spec__
        assert old is not None
        module.__spec__ = self._specs.pop(old.name)


def install() -> None:
    """Make the old names importable; calling it again changes nothing."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())  # type: ignore[arg-type]
