"""Models in files: one ``.npz`` with arrays and a JSON header, never pickle. The format is in docs/estimators.md."""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ..inputs.archives import DAMAGE, read_arrays
from ..registry import Registry, SparsescopeError, losses, penalties, solvers
from ..runs.keeping import file_of, write
from ..version import __version__

FORMAT = 1
KIND = "sparsescope model"
PARTS: tuple[Registry, ...] = (losses, penalties, solvers)
LARGEST = 100_000  # entries of a list in the header
_models: dict[str, type[Savable]] = {}


class Unsaved(SparsescopeError, TypeError):
    """A value that has no place in a file."""


class Savable:
    """Base of estimators that are saved without pickle. ``saved`` names the fitted attributes that a file keeps."""

    saved: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if not cls.__name__.startswith("_"):
            _models[cls.__name__] = cls

    def _arrays(self) -> dict[str, np.ndarray]:
        """Arrays of the model itself, beside the fitted attributes."""
        return {}

    def _restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Take the arrays of :meth:`_arrays` back; ``ValueError`` where they do not fit together."""

    def save(self, path: str | Path) -> Path:
        """Write the fitted model to one file, in one step.

        Parameters
        ----------
        path : str or Path
            The file; ``.npz`` is added where it is missing.

        Returns
        -------
        Path
            The file written.

        Warns
        -----
        UserWarning
            naming parameters that have no place in a file (functions, user-defined objects); a loaded model has their
            defaults. Predictions do not depend on parameters.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        arrays: dict[str, np.ndarray] = {}
        left_out: list[str] = []
        params = _encoded(self.get_params(deep=False), "param", arrays, left_out)  # type: ignore[attr-defined]
        state = {name: getattr(self, name) for name in self.saved if hasattr(self, name)}
        header = {
            "format": FORMAT,
            "kind": KIND,
            "class": type(self).__name__,
            "version": __version__,
            "params": params,
            "state": _encoded(state, "state", arrays, left_out),
            "left_out": left_out,
        }
        if left_out:
            warnings.warn(f"not kept in the file: {', '.join(left_out)}", stacklevel=2)
        arrays |= {f"model_{name}": array for name, array in self._arrays().items()}
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        packed = io.BytesIO()
        np.savez_compressed(packed, **arrays)  # type: ignore[arg-type]
        target = file_of(path)
        write(target, packed.getvalue())
        return target


def load(path: str | Path) -> Any:
    """Read a model written by ``save``; its predictions are bitwise the same.

    Parameters
    ----------
    path : str or Path
        The file. Nothing in it is ever executed: it names a class of this package and registered parts, and holds
        numbers and text.

    Returns
    -------
    SparseClassifier or another estimator of this package
        The fitted estimator.

    Raises
    ------
    FileNotFoundError
        if there is no such file.
    ValueError
        if the file is something else, damaged, of a later version, or its parts do not fit together.

    Examples
    --------
    >>> import tempfile
    >>> X, y = ss.datasets.load("iris")
    >>> model = ss.SparseClassifier(lam_ratio=0.1).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again = ss.estimators.load(model.save(f"{folder}/iris.npz"))
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    try:
        arrays = read_arrays(path)
        header = json.loads(bytes(arrays["header"]).decode())
        if not isinstance(header, dict) or header.get("kind") != KIND:
            raise ValueError("the header is another one")
    except FileNotFoundError:
        raise
    except (*DAMAGE, RecursionError) as error:
        raise ValueError(f"{path} is not a model saved by sparsescope, or is damaged ({error})") from error
    if header.get("format") != FORMAT:
        raise ValueError(f"{path}: format {header.get('format')!r} is unknown; this version reads {FORMAT}")
    kind = _models.get(str(header.get("class")))
    if kind is None:
        raise ValueError(f"{path}: {header.get('class')!r} is no model; known: {', '.join(sorted(_models))}")
    try:
        return _made(kind, header, arrays)
    except (*DAMAGE, RecursionError) as error:
        raise ValueError(f"{path} is damaged: its parts do not fit together ({error})") from error


def _made(kind: Any, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Any:
    params = {name: _decoded(value, arrays) for name, value in header["params"].items()}
    strange = {*params} - {*kind._get_param_names()}
    if strange:
        raise ValueError(f"{kind.__name__} has no parameter {sorted(strange)[0]!r}")
    model = kind(**params)
    for name, value in header["state"].items():
        if name not in kind.saved:
            raise ValueError(f"{kind.__name__} keeps no attribute {name!r}")
        setattr(model, name, _decoded(value, arrays))
    model._restore({name[6:]: array for name, array in arrays.items() if name.startswith("model_")})
    return model


def _encoded(values: dict[str, Any], prefix: str, arrays: dict[str, np.ndarray], left_out: list[str]) -> dict[str, Any]:
    found = {}
    for name, value in values.items():
        try:
            found[name] = _one(value, f"{prefix}_{name}", arrays)
        except Unsaved:
            left_out.append(name)
    return found


def _one(value: Any, key: str, arrays: dict[str, np.ndarray]) -> Any:
    """A value as JSON; arrays go into ``arrays`` under the key. ``Unsaved`` for what has no place in a file."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    registry = _registry_of(value)
    if registry is not None:
        return _part(registry, value)
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            if not all(isinstance(item, str) for item in value.ravel()) or value.ndim != 1:
                raise Unsaved
            return {"words": value.tolist()}
        arrays[key] = value
        return {"array": key}
    if isinstance(value, dict):
        return {"mapping": [[_one(k, key, {}), _one(v, key, {})] for k, v in value.items()]}
    if type(value) in (list, tuple) and len(value) <= LARGEST:
        return {type(value).__name__: [_one(item, key, {}) for item in value]}
    raise Unsaved


def _registry_of(value: Any) -> Registry | None:
    return next((registry for registry in PARTS if registry.name_of(value) is not None), None)


def _part(registry: Registry, part: Any) -> dict[str, Any]:
    name = str(registry.name_of(part))
    settings = {f.name: getattr(part, f.name) for f in registry.fields(name)}
    kept = {key: value for key, value in settings.items() if isinstance(value, bool | int | float | str)}
    if registry.create(name, **kept) != part:
        raise Unsaved  # it has more to it than its settings
    return {"part": registry.kind, "name": name, "settings": kept}


def _decoded(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    if not isinstance(value, dict):
        if value is None or isinstance(value, bool | int | float | str):
            return value
        raise ValueError(f"{str(value)[:40]!r} is no value of a model")
    if "array" in value:
        return arrays[value["array"]]
    if "words" in value:
        return np.array([str(word) for word in value["words"]], dtype=object)
    if "mapping" in value:
        return {_decoded(k, arrays): _decoded(v, arrays) for k, v in value["mapping"]}
    for kind in (list, tuple):
        if kind.__name__ in value:
            return kind(_decoded(item, arrays) for item in value[kind.__name__])
    registry = next((registry for registry in PARTS if registry.kind == value.get("part")), None)
    if registry is None:
        raise ValueError(f"{value.get('part')!r} is no kind of part")
    return registry.create(value["name"], **value["settings"])
