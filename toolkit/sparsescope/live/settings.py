"""The settings of an explorer: one flat dict of plain JSON values, cleaned against the registries.

Settings come from people, from pages and from addresses that somebody sent, so nothing is taken as it is:
:func:`clean` clamps numbers, replaces what is unknown and reports what it did.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .. import datasets, registry
from ..problems import prediction as problem  # noqa: F401  (importing problem and solvers registers the parts)
from ..registry import Field, Registry, field
from .saying import LINE, brief
from .setting import LOOK, NO_CONTROL, RUN, Setting, read_field

VERSION = 1
MAX = "max"  # the speed without a cap
MOST_NOTICES = 10  # unknown settings that are named; the others are counted
# Most of a parameter on a page, where its part would take more: a stage costs features³ operations, features² numbers.
MOST = {"solver.features": 4000}


@dataclass(frozen=True)
class Part:
    """A setting that holds the name of a part: ``registry`` it is from, and the text of its menu."""

    name: str
    registry: Registry
    wished: str
    label: str
    doc: str
    formula: str


SHOWN = "F(W) = (1/n) Σ_i ℓ(x_iᵀW, y_i) + λ Ω(W)"
DATASET = Part(
    "dataset",
    registry.datasets,
    "pydocs",
    "data",
    "The samples, their classes and the names of the features. Another data set starts a new problem.",
    "X is n × d, one row a sample; y holds one of m classes for each, or a set of m labels",
)
PART_SETTINGS = {
    part.name: part
    for part in (
        Part(
            "loss",
            registry.losses,
            "multiclass-squared-hinge",
            "loss",
            "How a wrong or narrow decision is charged. Changed during a run, the weights stay (warm start).",
            SHOWN,
        ),
        Part(
            "penalty",
            registry.penalties,
            "l1/l2",
            "penalty",
            "What makes W sparse. Changed during a run, the weights stay (warm start).",
            SHOWN,
        ),
        Part(
            "solver",
            registry.solvers,
            "auto",  # for a task whose page names no other: Kind.default_solver
            "method",
            "The method that minimises F. Changed during a run, it goes on from the present weights.",
            "min_W F(W)",
        ),
    )
}
PARTS: dict[str, Registry] = {part.name: part.registry for part in PART_SETTINGS.values()}

LAM_RATIO = Setting(
    "lam_ratio",
    field(
        0.1,
        1e-4,
        1.0,
        "The weight of the penalty, as a part of λ_max: at 1 and above every penalised weight is zero. "
        "Move it during a run: the next step uses it.",
        log=True,
    ),
    label="λ / λ_max",
    formula="λ_max = max_j Ω°(G(0)_j), the largest dual norm of a gradient row at W = 0",
    effect=RUN,
    place="bar",
    fineness=2,
    tag="lam-slider",
)
SEED = Setting(
    "seed",
    field(0, 0, 2**31 - 1, "Which samples are held out for testing. Another seed makes a new problem."),
    label="split seed",
    of_split=True,
    tag="seed-input",
)
SPEED = Setting(
    "speed",
    field(
        30.0,
        0.2,
        1000.0,
        "A cap on the iterations in a second of wall time, so that one can follow. The solver's own clock does not "
        "count the waiting.",
    ),
    effect=RUN,
    place="run",
    word=MAX,
    caps=(1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 250.0, 500.0, 1000.0),
    unit="it/s",
    tag="speed-slider",
)
EVERY = Setting(
    "every",
    field("iteration", doc="When there is a new point in the charts."),
    label="watch",
    effect=RUN,
    place="run",
    menu={
        "iteration": ("every iteration", "A point after each iteration."),
        "rows:64": (
            "every 64 rows",
            "Slow motion for methods that sweep over rows (block coordinate descent, working sets): a point after 64 "
            "rows of a sweep. The iterates and their proofs stay the same.",
        ),
        "rows:8": ("every 8 rows", "As before, after 8 rows."),
        "rows:1": ("every row", "As before, after each row."),
    },
)
STOP = Setting(
    "stop",
    field("precision", doc="When the run ends by itself."),
    effect=RUN,
    place="run",
    menu={
        "precision": ("at full precision", "When the duality gap is as small as the numbers can tell."),
        "gap": ("gap of 1e-6", "When the relative duality gap, which proves how near the optimum is, is at most 1e-6."),
        "held-out": (
            "held-out data",
            "When three evaluations on held-out data in a row were no better than the best one; never without such "
            "data.",
        ),
    },
)
X_AXIS = Setting(
    "x",
    field("iterations", choices=("iterations", "passes", "seconds"), doc="What the horizontal axes show."),
    label="x axis",
    effect=LOOK,
    place=NO_CONTROL,
)
LOG_X = Setting("xlog", field(False, doc="Logarithmic x axis."), label="log x", effect=LOOK, place=NO_CONTROL)
LOG_Y = Setting("ylog", field(True, doc="Logarithmic y axis."), label="log y", effect=LOOK, place=NO_CONTROL)
OF_ALL = (LAM_RATIO, SEED, SPEED, STOP, X_AXIS, LOG_X, LOG_Y)  # of every page

OWN = "own"  # stands for arrays handed over in Python, which no address can name


def pages() -> list[Any]:
    """The pages of all kinds of problems; see :mod:`.kind`."""
    return [registry.pages[name] for name in registry.pages]


def task_setting() -> Setting:
    """Return the setting of the task: the tasks that have a page."""
    menu: dict[str, tuple[str, str]] = {}
    for page in pages():
        menu.setdefault(page.task, page.offer)
    return Setting(
        "task",
        field(next(iter(menu)), doc="What is done with these data. Another task makes a new problem."),
        formula="W: a weight for each feature and class. Θ: for each pair of features how they are tied, all others "
        "known",
        place="first",
        menu=menu,
        tag="task-select",
    )


def declared() -> dict[str, Setting]:
    """All settings that are no parts, by name: of the task, of every page, and of each one of them."""
    own = [setting for page in pages() for setting in page.settings]
    found: dict[str, Setting] = {}
    for setting in (task_setting(), *own, *OF_ALL):
        found.setdefault(setting.name, setting)
    return found


def light() -> frozenset[str]:
    """Settings that concern only how things are looked at, and those of the run that need no new problem."""
    return frozenset(name for name, setting in declared().items() if setting.effect in (LOOK, RUN))


def page_of(settings: Mapping[str, Any]) -> Any:
    """The page that settings mean: of those of the task, the first one whose problems the solver is for."""
    task, solver = settings.get("task", pages()[0].task), settings.get("solver", PART_SETTINGS["solver"].wished)
    of_task = [page for page in pages() if page.task == task]
    kinds = registry.solvers[solver].kinds
    return next((page for page in of_task if page.name in kinds), of_task[0])


def page_of_task(task: Any) -> Any:
    """The first page of a task; ``None`` if there is no such task."""
    return next((page for page in pages() if page.task == task), None)


def first_of(names: list[str], wished: str) -> str:
    """``wished`` if it is among ``names``, else the first name."""
    if not names:
        raise ValueError("nothing is registered to choose from")
    return wished if wished in names else names[0]


def fields_of(kind: str, name: str) -> tuple[Field, ...]:
    """The parameters that a user may set for the ``kind`` (``"loss"``, ``"penalty"``, ``"solver"``) called ``name``."""
    return tuple(
        replace(f, high=MOST[f"{kind}.{f.name}"]) if f"{kind}.{f.name}" in MOST else f for f in PARTS[kind].fields(name)
    )


def part_params(settings: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The parameters of the chosen part, read from keys like ``"loss.margin"``."""
    prefix = kind + "."
    return {key[len(prefix) :]: value for key, value in settings.items() if key.startswith(prefix)}


def make_part(settings: Mapping[str, Any], kind: str) -> Any:
    """The chosen loss, penalty or solver with its parameters."""
    return PARTS[kind].create(settings[kind], **part_params(settings, kind))


def defaults(names: Sequence[str] | None = None) -> dict[str, Any]:
    """The settings of a first visit."""
    return clean({}, names)[0]


def clean(raw: Mapping[str, Any], names: Sequence[str] | None = None) -> tuple[dict[str, Any], list[str]]:
    """Complete and correct settings, and sentences that say what was corrected.

    ``raw`` may come from anywhere; values may be text. ``names`` are the data sets to choose from, the default first;
    without them those of :func:`sparsescope.datasets.names`.
    """
    notices: list[str] = []
    out: dict[str, Any] = {"version": VERSION}
    seen = {"version"}
    if str(raw.get("version", VERSION)) != str(VERSION):
        notices.append(f"these settings have version {brief(raw['version'])}; this page writes version {VERSION}")
    out["dataset"] = _dataset(raw, names, notices)
    seen.add("dataset")
    first = page_of_task(raw.get("task", task_setting().default))
    wished = {part.name: part.wished for part in PART_SETTINGS.values()}
    wished["solver"] = (first or pages()[0]).default_solver
    for kind, parts in PARTS.items():
        out[kind] = _named(kind, raw.get(kind), parts.names(), wished[kind], notices)
        seen.add(kind)
        for parameter in fields_of(kind, out[kind]):
            key = f"{kind}.{parameter.name}"
            out[key] = read_field(key, raw.get(key), parameter, notices)
            seen.add(key)
    for key, setting in declared().items():
        out[key] = setting.read(raw.get(key), notices)
        seen.add(key)
    instead, why = page_of(out).stops_instead.get(out["stop"], (out["stop"], ""))
    if why:
        out["stop"] = instead
        notices.append(why)
    notices.extend(_unknown(raw, seen, out))
    return out, notices


def _dataset(raw: Mapping[str, Any], names: Sequence[str] | None, notices: list[str]) -> str:
    if names:
        return _named("dataset", raw.get("dataset"), list(names), names[0], notices)
    return _named("dataset", raw.get("dataset"), list(datasets.names()), DATASET.wished, notices)


def _named(kind: str, value: Any, names: list[str], wished: str, notices: list[str]) -> str:
    default = first_of(names, wished)
    if value is None:
        return default
    if value in names:
        return str(value)
    notices.append(f"unknown {kind} {brief(value)}; using {default!r} (known: {', '.join(names)})")
    return default


def _unknown(raw: Mapping[str, Any], seen: set[str], out: Mapping[str, Any]) -> Iterator[str]:
    unknown = [str(key) for key in raw if key not in seen]
    known = sorted(key for key in seen if "." not in key)
    listed = f" (known: {', '.join(known)})"
    for key in unknown[:MOST_NOTICES]:
        kind = key.partition(".")[0]
        if "." in key and kind in PARTS:
            yield f"{key if len(key) < LINE else brief(key)} does not apply to {kind} {out[kind]!r} and was ignored"
        else:
            near = difflib.get_close_matches(key[:LINE], known, 1)
            hint = f"; did you mean {near[0]!r}?" if near else listed
            listed = listed if near else ""  # once
            yield f"the setting {brief(key)} is not known and was ignored{hint}"
    if len(unknown) > MOST_NOTICES:
        yield f"{len(unknown) - MOST_NOTICES} more settings are not known and were ignored"


def to_query(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings as texts for an address. Data that only this process has is left out, and so is what belongs to another
    task and is as it was at first."""
    usual, mine = clean({})[0], page_of(settings).names
    others = [key for key in (*declared(), *PARTS) if key not in mine]
    idle = {key for key in settings if key.partition(".")[0] in others and settings[key] == usual.get(key)}
    idle -= {key.partition(".")[0] for key in set(settings) - idle}  # a parameter that was changed needs its part
    query = {key: _text(value) for key, value in settings.items() if key not in idle}
    if settings.get("dataset") not in datasets.names():
        query.pop("dataset", None)
    return query


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return repr(value)
    return str(value)


def from_query(query: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Settings from an address, and sentences about what was wrong in it. Unknown keys are refused."""
    return clean(dict(query))


def changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> set[str]:
    """The keys whose values differ, with keys of parts that went or came."""
    return {key for key in set(old) | set(new) if old.get(key) != new.get(key)}


def merge(
    settings: Mapping[str, Any], changes: Mapping[str, Any], names: Sequence[str] | None = None
) -> tuple[dict[str, Any], list[str]]:
    """``settings`` with ``changes``. Another part starts with its defaults; parameters it does not have are gone.

    A penalty over blocks brings the order with it in which its blocks stand together, and takes it away again.
    """
    merged = dict(settings)
    old, new = (_has_blocks(given.get("penalty")) for given in (settings, {**settings, **changes}))
    if old != new and settings.get("sort") == ("block" if old else "norm"):
        merged["sort"] = "block" if new else "norm"
    for kind in PARTS:
        if kind in changes and changes[kind] != settings[kind]:
            merged = {key: value for key, value in merged.items() if not key.startswith(kind + ".")}
    merged.update(changes)
    return clean(merged, names)


def part_text(settings: Mapping[str, Any], kind: str, registry_name: str) -> str:
    """Python for a part: its name in quotes or, with parameters other than the defaults, the call that makes it."""
    name = settings[kind]
    params = part_params(settings, kind)
    changed = {f.name: params[f.name] for f in fields_of(kind, name) if params[f.name] != f.default}
    if not changed:
        return repr(name)
    inside = ", ".join(f"{key}={value!r}" for key, value in changed.items())
    return f"ss.registry.{registry_name}.create({name!r}, {inside})"


def _has_blocks(penalty: Any) -> bool:
    """Return whether this name is that of a penalty over blocks of features."""
    known = isinstance(penalty, str) and penalty in registry.penalties
    return known and hasattr(registry.penalties[penalty], "resolve")
