"""Packages that only some doors need: the explorer, pictures, tables. The core does without them.

Which extra of the distribution brings a package is read from the distribution's own metadata, so ``pyproject.toml`` is
the only place that lists them.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Iterator
from types import ModuleType

from .collecting import uncollected
from .registry import SparsescopeError

# Modules that come with another package: name of the module -> name of the package that somebody would install.
COMES_WITH = {
    "bokeh": "panel",
    "param": "panel",
    "tornado": "panel",
    "panel_material_ui": "panel-material-ui",
    "traitlets": "anywidget",
    "IPython": "ipywidgets",
}
_OPTIONAL = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)[^;]*;\s*extra\s*==\s*['\"](?P<extra>[\w-]+)['\"]")


class MissingPackage(SparsescopeError, ModuleNotFoundError):
    """Error for a package that is not installed; the message holds the command that installs it."""


def extras() -> dict[str, tuple[str, ...]]:
    """Return which extras of this distribution bring which package.

    Returns
    -------
    dict
        name of a package, in small letters -> the extras that list it, in the order of the metadata; empty where the
        package runs from its source without having been installed.
    """
    try:
        lines = importlib.metadata.requires("sparsescope") or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for match in filter(None, map(_OPTIONAL.match, lines)):
        name = match["name"].lower()
        found[name] = (*found.get(name, ()), match["extra"])
    return found


def missing(module: str, purpose: str = "this") -> MissingPackage:
    """Return the error for a module that cannot be imported: what needs it, and the commands that install it.

    Parameters
    ----------
    module
        full name of the module.
    purpose
        what needs it: the beginning of the sentence.

    Returns
    -------
    MissingPackage
        the error, to be raised.
    """
    top = module.partition(".")[0]
    package = COMES_WITH.get(top, top)
    brought = extras().get(package.lower(), ())
    command = f"pip install {package}"
    if brought:
        command = f'pip install "sparsescope[{brought[0]}]" (or only: {command})'
    return MissingPackage(f"{purpose} needs the package {package}, which is not installed: {command}", name=module)


def package(module: str, purpose: str) -> ModuleType:
    """Import a package that is not part of the core.

    Parameters
    ----------
    module
        full name of the module.
    purpose
        what needs it, for the message: ``"Trace.to_frame"``.

    Returns
    -------
    types.ModuleType
        the module.

    Raises
    ------
    MissingPackage
        if it is not installed; the message holds the command that installs it.
    """
    with needed_by(purpose):
        return importlib.import_module(module)


@contextlib.contextmanager
def needed_by(purpose: str) -> Iterator[None]:
    """Turn the failure of an import in the body into a sentence with what to install.

    Parameters
    ----------
    purpose
        what needs the package, for the message: ``"The explorer"``.

    Raises
    ------
    MissingPackage
        if a package is not installed; the message holds the command that installs it.
    """
    try:
        with uncollected:
            yield
    except ModuleNotFoundError as error:
        if is_own(error):
            raise
        raise missing(error.name or "", purpose) from error


def is_own(error: ModuleNotFoundError) -> bool:
    """Return whether what could not be imported is a module of this package: a mistake here, not a missing package."""
    return isinstance(error, MissingPackage) or (error.name or "").partition(".")[0] in {"", "sparsescope"}


def is_installed(module: str) -> bool:
    """Return whether a top-level module can be imported, without importing it."""
    return importlib.util.find_spec(module) is not None
