"""The settings of an explorer: one flat dict of plain JSON values, cleaned against the registries.

Settings come from people, from pages and from addresses that somebody sent, so nothing is taken as it is:
:func:`clean` clamps numbers, replaces what is unknown and says in words what it did.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .. import datasets, registry
from ..problems import prediction as problem  # noqa: F401  (importing problem and solvers registers the parts)
from ..registry import Field, Registry
from .saying import LINE, brief

VERSION = 1
MAX = "max"  # the speed without a cap
MOST_NOTICES = 10  # unknown settings that are named; the others are counted
LAM_LOW, LAM_HIGH = 1e-4, 1.0
SPEED_LOW, SPEED_HIGH = 0.2, 1000.0
SEED_HIGH = 2**31 - 1
RIDGE_LOW, RIDGE_HIGH = 1e-10, 10.0
# Most of a parameter on a page, where its part would take more: a stage costs features³ operations, features² numbers.
MOST = {"solver.features": 4000}
FEATURES_LOW, FEATURES_HIGH = 2, 200  # nodes of a network: more cannot be told apart on a page

# Settings that hold the name of a part, and the registry they name it from.
PARTS: dict[str, Registry] = {
    "loss": registry.losses,
    "penalty": registry.penalties,
    "solver": registry.solvers,
}
CHOICES: dict[str, tuple[str, ...]] = {
    "task": ("classes", "covariance"),
    "x": ("iterations", "passes", "seconds"),
    "sort": ("norm", "name", "first", "block"),
    "order": ("given", "degree", "component", "name"),
    "stop": ("precision", "gap", "held-out"),
}
WISHED = {"dataset": "pydocs", "loss": "multiclass-squared-hinge", "penalty": "l1/l2", "solver": "bcd-ls"}
SOLVERS = {"classes": WISHED["solver"], "covariance": "auto"}  # of a first visit, for each task
# Order matters: it is the order in the page, in an address and in messages.
PLAIN: dict[str, Any] = {
    "task": "classes",
    "lam_ratio": 0.1,
    "ridge": 1e-4,
    "intercept": False,
    "balanced": False,
    "correlation": True,
    "diagonal": True,
    "features": 100,
    "speed": 30.0,
    "stop": "precision",
    "seed": 0,
    "x": "iterations",
    "xlog": False,
    "ylog": True,
    "sort": "norm",
    "order": "given",
}
# Settings that only one task has a use for; an address leaves them out where they say nothing.
OF_TASK: dict[str, tuple[str, ...]] = {
    "classes": ("loss", "penalty", "intercept", "balanced", "sort"),
    "covariance": ("correlation", "diagonal", "features", "order"),
}
# Settings that concern only how things are looked at, and those of the run that need no new problem.
LIGHT = frozenset(PLAIN) - {"task", "intercept", "balanced", "seed", "correlation", "diagonal", "features"}


OWN = "own"  # stands for arrays handed over in Python, which no address can name


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


def for_sequences(solver: Any) -> bool:
    """Whether a solver of this name fits sequences of models, and does not look for weights W."""
    kinds = registry.solvers[solver].kinds if solver in registry.solvers else ()
    return "sequence" in kinds and "prediction" not in kinds


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
    wished = {**WISHED, "solver": SOLVERS.get(str(raw.get("task")), WISHED["solver"])}
    for kind, parts in PARTS.items():
        out[kind] = _named(kind, raw.get(kind), parts.names(), wished[kind], notices)
        seen.add(kind)
        for field in fields_of(kind, out[kind]):
            key = f"{kind}.{field.name}"
            out[key] = _field(key, raw.get(key), field, notices)
            seen.add(key)
    for key, value in PLAIN.items():
        out[key] = _plain(key, raw.get(key), value, notices)
        seen.add(key)
    if out["stop"] == "gap" and out["task"] == "classes" and for_sequences(out["solver"]):
        out["stop"] = "precision"
        notices.append("no gap is known of a sequence of models; the run ends when F has settled")
    notices.extend(_unknown(raw, seen, out))
    return out, notices


def _dataset(raw: Mapping[str, Any], names: Sequence[str] | None, notices: list[str]) -> str:
    if names:
        return _named("dataset", raw.get("dataset"), list(names), names[0], notices)
    return _named("dataset", raw.get("dataset"), list(datasets.names()), WISHED["dataset"], notices)


def _named(kind: str, value: Any, names: list[str], wished: str, notices: list[str]) -> str:
    default = first_of(names, wished)
    if value is None:
        return default
    if value in names:
        return str(value)
    notices.append(f"unknown {kind} {brief(value)}; using {default!r} (known: {', '.join(names)})")
    return default


def _field(key: str, value: Any, field: Field, notices: list[str]) -> Any:
    if value is None:
        return field.default
    if field.kind in ("bool",):
        return _truth(key, value, bool(field.default), notices)
    if field.kind == "choice":
        choices = field.choices or ()
        if str(value) in [str(c) for c in choices]:
            return next(c for c in choices if str(c) == str(value))
        notices.append(f"{key} is {brief(value)}; using {field.default!r} (allowed: {', '.join(map(str, choices))})")
        return field.default
    number = _number(value)
    if number is None:
        notices.append(f"{key} is {brief(value)}, which is not a number; using {field.default!r}")
        return field.default
    if field.kind == "int":
        number = float(round(number))
    low = field.low
    if low is not None and field.open_low and number <= low:
        notices.append(f"{key} is {number:g}; using {field.default!r} (allowed: {field.bounds()})")
        return field.default
    return _clamped(key, number, low, field.high, notices, integer=field.kind == "int")


def _plain(key: str, value: Any, default: Any, notices: list[str]) -> Any:
    if value is None:
        return default
    if key in CHOICES:
        return _named(key, value, list(CHOICES[key]), str(default), notices)
    if isinstance(default, bool):
        return _truth(key, value, default, notices)
    if key == "speed" and str(value) == MAX:
        return MAX
    number = _number(value)
    if number is None:
        notices.append(f"{key} is {brief(value)}, which is not a number; using {default!r}")
        return default
    if key == "lam_ratio":
        return _clamped("λ/λ_max", number, LAM_LOW, LAM_HIGH, notices)
    if key == "ridge":
        return _clamped("the ridge", number, RIDGE_LOW, RIDGE_HIGH, notices)
    if key == "speed":
        return _clamped("speed", number, SPEED_LOW, SPEED_HIGH, notices)
    if key == "features":
        return _clamped(key, float(round(number)), FEATURES_LOW, FEATURES_HIGH, notices, integer=True)
    return _clamped(key, float(round(number)), 0, SEED_HIGH, notices, integer=True)


def _clamped(
    key: str, number: float, low: float | None, high: float | None, notices: list[str], *, integer: bool = False
) -> float | int:
    bounded = number
    if low is not None:
        bounded = max(bounded, low)
    if high is not None:
        bounded = min(bounded, high)
    if bounded != number:
        span = f"{low:g} to {high:g}" if low is not None and high is not None else "the allowed values"
        notices.append(f"{key} is {number:g}, outside {span}; using {bounded:g}")
    return int(bounded) if integer else float(bounded)


def _number(value: Any) -> float | None:
    """A finite number, or None. True and False are not numbers here."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _truth(key: str, value: Any, default: bool, notices: list[str]) -> bool:
    text = str(value).strip().lower()
    if text in ("1", "true", "yes", "on"):
        return True
    if text in ("0", "false", "no", "off"):
        return False
    notices.append(f"{key} is {brief(value)}; using {'yes' if default else 'no'} (allowed: yes or no)")
    return default


def _unknown(raw: Mapping[str, Any], seen: set[str], out: Mapping[str, Any]) -> Iterator[str]:
    unknown = [str(key) for key in raw if key not in seen]
    for key in unknown[:MOST_NOTICES]:
        kind = key.partition(".")[0]
        if "." in key and kind in PARTS:
            yield f"{key if len(key) < LINE else brief(key)} does not apply to {kind} {out[kind]!r} and was ignored"
        else:
            yield f"the setting {brief(key)} is not known and was ignored"
    if len(unknown) > MOST_NOTICES:
        yield f"{len(unknown) - MOST_NOTICES} more settings are not known and were ignored"


def to_query(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings as texts for an address. Data that only this process has is left out, and so is what belongs to another
    task and is as it was at first."""
    usual = clean({})[0]
    others = [key for task, keys in OF_TASK.items() if task != settings.get("task", PLAIN["task"]) for key in keys]
    if not for_sequences(settings.get("solver")):
        others.append("ridge")
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
    """Whether this name is that of a penalty over blocks of features."""
    known = isinstance(penalty, str) and penalty in registry.penalties
    return known and hasattr(registry.penalties[penalty], "resolve")
