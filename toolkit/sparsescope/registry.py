"""Names of the parts, and the parameters each part declares.

A part (loss, penalty, solver, view, data set) is known to users by its registry name. The registries are what menus,
command lines, URLs and the contract tests iterate over, so a part exists everywhere as soon as it is registered. A part
of the package is registered by its file: :func:`discover` imports every file of its folder.

Parameters are declared with :func:`field` (``fields.py``); refusals are in ``errors.py``.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import importlib.metadata
import inspect
import pkgutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .collecting import uncollected
from .errors import NotAllowed as NotAllowed
from .errors import SparsescopeError as SparsescopeError
from .errors import UnknownName as UnknownName
from .fields import PERCENT as PERCENT
from .fields import Column as Column
from .fields import Field as Field
from .fields import RowFunctions as RowFunctions
from .fields import check_whole as check_whole
from .fields import collect_fields as collect_fields
from .fields import documented as documented
from .fields import exampled as exampled
from .fields import field as field

LAST = 1000.0  # the place in menus of a part that declares none: behind those that do


def discover(package: str, base: type | None = None) -> dict[str, type]:
    """Import every module of a package, so that the parts defined there register themselves.

    Sub-packages and modules whose name begins with an underscore are left out: what parts share stands there.

    Parameters
    ----------
    package
        Full name of the package.
    base
        Class whose public subclasses are wanted.

    Returns
    -------
    dict
        The public subclasses of ``base`` that these modules define, by name; empty without ``base``.
    """
    found: dict[str, type] = {}
    for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
        if module.ispkg or module.name.startswith("_"):
            continue
        loaded = importlib.import_module(f"{package}.{module.name}")
        for value in vars(loaded).values():
            if base is not None and isinstance(value, type) and issubclass(value, base):
                name = getattr(value, "plain_name", value.__name__)
                if value.__module__ == loaded.__name__ and not name.startswith("_"):
                    found[name] = value
    return found


PACKAGES = "sparsescope.parts"  # the group of entry points under which other packages name their modules of parts
_asked: list[str] = []  # names of the entry points that were loaded, or failed to


@functools.cache  # every registry asks, and the files of all installed packages are read for it
def _entry_points() -> tuple[importlib.metadata.EntryPoint, ...]:
    return tuple(importlib.metadata.entry_points(group=PACKAGES))


def load_packages() -> None:
    """Import the modules that installed packages name as entry points ``sparsescope.parts``, each once.

    Such a module registers its parts as a notebook cell does: ``sparsescope.registry.losses.add("mine", Mine)``.

    Warns
    -----
    UserWarning
        naming the package and the error, if a module cannot be imported; the others are loaded all the same.
    """
    for point in _entry_points():
        if point.value in _asked:
            continue
        _asked.append(point.value)  # before the import: it may ask a registry
        try:
            point.load()
        except Exception as error:
            package = point.dist.name if point.dist is not None else point.value
            warnings.warn(
                f"the parts of the package {package} ({point.value}) are left out: {type(error).__name__}: {error}",
                stacklevel=4,
            )


@dataclass(frozen=True)
class Entry:
    """Registered part: the function or class that creates it, with its title and description for menus.

    Parameters
    ----------
    name
        registry name.
    make
        class or function that creates the part.
    title
        title in menus.
    doc
        one sentence.
    presets
        parameters that the name fixes.
    order
        place in menus.
    """

    name: str
    make: Callable[..., Any]
    title: str
    doc: str
    presets: dict[str, Any]
    order: float = LAST


class Registry:
    """Parts by name, ordered by their ``menu_order`` and then by registration.

    ``registry[name]`` returns what was registered, ``registry.create(name, **params)`` a validated part. An unknown
    name raises :class:`UnknownName` with a suggestion.

    Parameters
    ----------
    kind
        noun for messages, such as ``"loss"``.
    home
        package whose import registers the parts.
    example
        runnable lines that choose a part by its ``{name}``, for the docstrings of its classes; empty: none.

    Examples
    --------
    >>> "l1/l2" in ss.registry.penalties
    True
    >>> ss.registry.penalties.create("elastic-net", rho=0.3)
    ElasticNet(rho=0.3, nonnegative=False)
    """

    def __init__(self, kind: str, home: str | None = None, example: str = "") -> None:
        self.kind = kind
        self._example = example
        self._home = home  # the package whose import registers the parts; imported when a name is first asked for
        self._loaded = home is None
        self._known: dict[str, Entry] = {}

    @property
    def _entries(self) -> dict[str, Entry]:
        if not self._loaded:
            # Another thread that needs the list meanwhile waits here for the whole of it.
            with uncollected:
                importlib.import_module(str(self._home))
                load_packages()
            self._loaded = True
        return self._known

    @property
    def parts(self) -> Mapping[str, Entry]:
        """Entries by their names: another object after each change, so that what was derived from it can be kept."""
        return self._entries

    def add(self, name: str, make: Any, *, title: str | None = None, doc: str | None = None,
            menu_order: float | None = None, **presets: Any) -> Any:  # fmt: skip
        """Register a class or a function under a name.

        Registering a name again replaces the part, so that a notebook cell can be run twice.

        Parameters
        ----------
        name
            registry name.
        make
            class or function that creates the part.
        title, doc, menu_order
            default to the attributes of these names of ``make``.
        **presets
            parameters that this name fixes.

        Returns
        -------
        Any
            ``make`` itself.
        """
        text = doc if doc is not None else (getattr(make, "doc", None) or (getattr(make, "__doc__", None) or ""))
        first = " ".join(text.strip().split("\n\n")[0].split())
        order = float(getattr(make, "menu_order", LAST) if menu_order is None else menu_order)
        known = {
            **self._known,
            name: Entry(name, make, title or getattr(make, "title", None) or name, first, presets, order),
        }
        self._known = dict(sorted(known.items(), key=lambda item: item[1].order))  # a stable sort
        if self._example and inspect.isclass(make):
            make.__doc__ = exampled(make.__doc__, self._example.format(name=name))
        return make

    def entry(self, name: str) -> Entry:
        """Return the entry of a name.

        Parameters
        ----------
        name
            registry name.

        Returns
        -------
        Entry
            the entry.

        Raises
        ------
        UnknownName
            if there is none.
        """
        if not isinstance(name, str) or name not in self._entries:
            near = difflib.get_close_matches(str(name), list(self._entries), 1, cutoff=0.5)
            hint = f"; did you mean {near[0]!r}?" if near else ";"
            raise UnknownName(f"unknown {self.kind} {name!r}{hint} known: {', '.join(self._entries)}")
        return self._entries[name]

    def __getitem__(self, name: str) -> Any:
        found = self._known.get(name) if self._loaded and type(name) is str else None  # asked for at every iteration
        return (found or self.entry(name)).make

    def get(self, name: str) -> Any:
        """Return what was registered under a name; the same as ``registry[name]``.

        Parameters
        ----------
        name
            registry name.

        Returns
        -------
        Any
            the class or function.
        """
        return self.entry(name).make

    def create(self, name: str, **params: Any) -> Any:
        """Create a part with the given parameters.

        Parameters
        ----------
        name
            registry name.
        **params
            parameters of the part.

        Returns
        -------
        Any
            the part.

        Raises
        ------
        TypeError
            for a parameter that the part does not have.
        """
        entry = self.entry(name)
        known = [f.name for f in self.fields(name)] if params else []
        for key in params:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                allowed = ", ".join(known) if known else "none"
                raise TypeError(f"{self.kind} {name!r} has no parameter {key!r}{hint} (parameters: {allowed})")
        part = entry.make(**entry.presets, **params)
        return part

    def fields(self, name: str) -> tuple[Field, ...]:
        """Return the parameters that a user may set for a name (without those that the name fixes).

        Parameters
        ----------
        name
            registry name.

        Returns
        -------
        tuple[Field, ...]
            the declarations.
        """
        entry = self.entry(name)
        return tuple(f for f in getattr(entry.make, "fields", ()) if f.name not in entry.presets)

    def name_of(self, part: Any) -> str | None:
        """Return the name under which the class (and presets) of a part is registered.

        Parameters
        ----------
        part
            the part.

        Returns
        -------
        str | None
            the name, or ``None``.
        """
        for entry in self._entries.values():
            if type(part) is entry.make and all(getattr(part, k, None) == v for k, v in entry.presets.items()):
                return entry.name
        return None

    def title(self, name: str) -> str:
        """Return the title of a part.

        Parameters
        ----------
        name
            registry name.

        Returns
        -------
        str
            the title.
        """
        return self.entry(name).title

    def doc(self, name: str) -> str:
        """Return the description of a part.

        Parameters
        ----------
        name
            registry name.

        Returns
        -------
        str
            one or two sentences.
        """
        return self.entry(name).doc

    def names(self) -> list[str]:
        """Return all names, in the order of menus.

        Returns
        -------
        list[str]
            the names.
        """
        return list(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._entries))

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __repr__(self) -> str:
        return f"Registry({self.kind}: {', '.join(self._entries)})"


CREATE = """\
>>> part = ss.registry.{room}.create("{{name}}")  # with its defaults; the name alone does as well
>>> ss.registry.{room}.name_of(part)
'{{name}}'"""
DRAW = """\
>>> figure = ss.views.draw("{name}", ss.Recorder().trace)  # of a run: result.trace
>>> type(figure).__name__
'Figure'"""

losses = Registry("loss", "sparsescope.losses", CREATE.format(room="losses"))
penalties = Registry("penalty", "sparsescope.penalties", CREATE.format(room="penalties"))
problems = Registry("kind of problem", "sparsescope.problems")
solvers = Registry("solver", "sparsescope.solvers", CREATE.format(room="solvers"))
views = Registry("view", "sparsescope.views", DRAW)
datasets = Registry("data set", "sparsescope.datasets")
pages = Registry("page", "sparsescope.live.pages")  # of the explorer: one for each kind of problem
app_pages = Registry("page of the app", "sparsescope.app")
lessons = Registry("lesson", "sparsescope.lessons")
recordings = Registry("format of recordings", "sparsescope.live.recordings")
