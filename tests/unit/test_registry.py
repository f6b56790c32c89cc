"""Names, suggestions, and the checks of declared parameters."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparsescope as ss
from sparsescope.registry import (
    Field,
    Registry,
    UnknownName,
    collect_fields,
    discover,
    field,
    losses,
    penalties,
    solvers,
)


class Part:
    """First sentence of a part.

    More about it.
    """

    alpha = field(0.5, 0.0, 1.0, "share")
    count = field(3, 1, None, "how many", log=True)
    quick = field(True, doc="quickly")
    kind = field("round", choices=("round", "square"), doc="shape")

    def __init__(self, **values: Any) -> None:
        self.values = values


Part.fields = collect_fields(Part)  # type: ignore[attr-defined]


@pytest.fixture
def registry() -> Registry:
    made = Registry("gadget")
    made.add("round-one", Part, title="round one", kind="round")
    made.add("square-one", Part, kind="square")
    return made


def test_a_registry_keeps_the_order_of_registration(registry: Registry) -> None:
    assert registry.names() == list(registry) == ["round-one", "square-one"]
    assert len(registry) == 2 and "round-one" in registry and "other" not in registry
    assert registry["round-one"] is registry.get("round-one") is Part
    assert (registry.title("round-one"), registry.title("square-one")) == ("round one", "square-one")
    assert registry.doc("round-one") == "First sentence of a part."
    registry.add("round-one", Part, title="again")
    assert registry.names() == ["round-one", "square-one"] and registry.title("round-one") == "again"
    assert "gadget: round-one, square-one" in repr(registry)


def test_parts_stand_by_their_menu_order_and_then_by_registration(registry: Registry) -> None:
    class Early(Part):
        menu_order = 20

    registry.add("early", Early)
    registry.add("late", Part)
    registry.add("first", Part, menu_order=10)
    registry.add("beside", Early)
    assert registry.names() == ["first", "early", "beside", "round-one", "square-one", "late"]
    registry.add("early", Part)
    assert registry.names() == ["first", "beside", "early", "round-one", "square-one", "late"]


def test_a_file_in_a_folder_of_parts_is_registered_by_being_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "__init__": "from sparsescope.registry import Registry\nthings = Registry('thing', __name__)\n",
        "base": "class Thing:\n    def use(self): ...\n",
        "round": "from . import things\nfrom .base import Thing\nclass Round(Thing):\n    menu_order = 2\n"
        "class _Hidden(Thing): ...\nthings.add('round', Round)\n",
        "angular": "from . import things\nfrom .base import Thing\nclass Angular(Thing):\n    menu_order = 3\n"
        "things.add('angular', Angular)\n",
        "_draft": "raise AssertionError('not a part')\n",
        "shared/__init__": "raise AssertionError('not a part')\n",
    }
    for name, text in files.items():
        path = tmp_path / "things_of_a_test" / f"{name}.py"
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    package = importlib.import_module("things_of_a_test")
    base = importlib.import_module("things_of_a_test.base").Thing
    assert set(discover("things_of_a_test", base)) == {"Thing", "Round", "Angular"}
    assert package.things.names() == ["round", "angular"]


@pytest.mark.parametrize("room", ["losses", "penalties", "solvers", "views"])
def test_classes_of_parts_are_attributes_of_their_package(room: str) -> None:
    package = importlib.import_module(f"sparsescope.{room}")
    for name in getattr(ss.registry, room):
        cls = getattr(ss.registry, room)[name]
        assert getattr(package, getattr(cls, "plain_name", cls.__name__)) is cls
    assert len(set(package.__all__)) == len(package.__all__)


def test_presets_are_fixed_by_the_name(registry: Registry) -> None:
    assert registry.create("square-one", alpha=0.2).values == {"kind": "square", "alpha": 0.2}
    assert [f.name for f in registry.fields("square-one")] == ["alpha", "count", "quick"]
    with pytest.raises(TypeError, match="no parameter 'kind'"):
        registry.create("square-one", kind="round")
    with pytest.raises(TypeError, match=r"did you mean 'alpha'.*parameters: alpha, count, quick"):
        registry.create("round-one", alpa=0.3)


def test_unknown_names_suggest_the_nearest_and_list_the_rest(registry: Registry) -> None:
    message = r"unknown gadget 'round-on'; did you mean 'round-one'\? known: round-one, square-one"
    for error in (KeyError, ValueError, UnknownName):
        with pytest.raises(error, match=message):
            registry["round-on"]
    with pytest.raises(UnknownName) as caught:
        registry.create("zzz")
    assert str(caught.value) == "unknown gadget 'zzz'; known: round-one, square-one"
    for strange in (None, 3, ["round-one"]):
        with pytest.raises(UnknownName):
            registry.entry(strange)  # type: ignore[arg-type]


@pytest.mark.parametrize("registry", [losses, penalties, solvers], ids=lambda r: r.kind)
def test_every_registered_part_introduces_itself(registry: Registry) -> None:
    titles = [registry.title(name) for name in registry]
    assert len(set(titles)) == len(titles)
    for name in registry:
        made = registry.create(name)
        assert registry.name_of(made) == name
        assert len(registry.doc(name)) > 20 and registry.doc(name).rstrip().endswith(".")
        assert registry.entry(name).title and made.source
        for f in registry.fields(name):
            assert f.doc and f.name.isidentifier() and f.bounds()
            assert f.check(f.default, name) == f.default == getattr(made, f.name)
            if f.kind == "float":
                assert f.low is not None and f.high is not None, "a slider needs two ends"


@pytest.mark.parametrize("registry", [losses, penalties, solvers], ids=lambda r: r.kind)
def test_parameters_are_checked_when_a_part_is_made(registry: Registry) -> None:
    for name in registry:
        for f in registry.fields(name):
            bad = {
                "float": [f.high, np.nan, "much", None],
                "int": [f.high, 1.5, "some"],
                "bool": ["perhaps", 2],
                "choice": ["nothing of the kind"],
            }[f.kind]
            for value in bad:
                wrong = value + 1 if isinstance(value, float | int) and value == f.high else value
                with pytest.raises(ValueError, match=f.name):
                    registry.create(name, **{f.name: wrong})


def test_the_kind_of_a_field_follows_from_its_default() -> None:
    kinds = {f.name: f.kind for f in Part.fields}  # type: ignore[attr-defined]
    assert kinds == {"alpha": "float", "count": "int", "quick": "bool", "kind": "choice"}


@pytest.mark.parametrize(
    ("given", "value", "expected"),
    [
        (Field("x", 0.5, 0.0, 1.0), "0.25", 0.25),
        (Field("x", 0.5, 0.0, 1.0), 1, 1.0),
        (Field("x", 0.5), -1e9, -1e9),
        (Field("x", 3, 1, kind="int"), 4.0, 4),
        (Field("x", 3, 1, kind="int"), "7", 7),
        (Field("x", True, kind="bool"), 0, False),
        (Field("x", True, kind="bool"), 1.0, True),
        (Field("x", True, kind="bool"), np.True_, True),
        (Field("x", "a", choices=("a", "b"), kind="choice"), "b", "b"),
    ],
)
def test_good_values_come_back_in_the_type_of_the_field(given: Field, value: Any, expected: Any) -> None:
    found = given.check(value, "Owner")
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    ("given", "value", "message"),
    [
        (Field("x", 0.5, 0.0, 1.0), 1.5, "Owner: x is 1.5; allowed: 0 to 1"),
        (Field("x", 0.5, 0.0, 1.0, open_low=True), 0.0, "allowed: above 0 to 1"),
        (Field("x", 0.5, 0.0), -1.0, "allowed: at least 0"),
        (Field("x", 0.5, 0.0, open_low=True), 0.0, "allowed: above 0"),
        (Field("x", 0.5, None, 2.0), 3.0, "allowed: at most 2"),
        (Field("x", 0.5), float("nan"), "allowed: any number"),
        (Field("x", 0.5), "much", "'much'; a number is needed"),
        (Field("x", 3, 1, kind="int"), 2.5, "a whole number is needed"),
        (Field("x", 3, 1, kind="int"), float("inf"), "a whole number is needed"),
        (Field("x", True, kind="bool"), "yes", "allowed: True or False"),
        (Field("x", "cyclic", choices=("cyclic", "random"), kind="choice"), "cycle", "did you mean 'cyclic'"),
        (Field("x", "a", choices=("a", "b"), kind="choice"), 3, "allowed: 'a', 'b'"),
    ],
)
def test_bad_values_are_named_with_what_is_allowed(given: Field, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        given.check(value, "Owner")


def test_solver_settings_are_frozen_and_compare_by_value() -> None:
    assert ss.solvers.BCD(sigma=0.1) == ss.solvers.BCD(sigma=0.1) != ss.solvers.BCD()
    with pytest.raises(AttributeError):
        ss.solvers.BCD().sigma = 0.2  # type: ignore[misc]
    assert "sigma=0.1" in repr(ss.solvers.BCD(sigma=0.1))
    assert solvers.name_of(ss.solvers.FISTA(line_search=False)) == "fista-cst"
    assert ss.solvers.FISTA(line_search=False).name == "fista-cst"


PARTS_OF_A_PACKAGE = """
import numpy as np
from sparsescope.registry import losses, solvers
assert "bcd-ls" in solvers  # it may ask for the parts there are
losses.add("softer", losses["squared"], title="softer squares", menu_order=5)
"""
USES_THEM = """
import sys, warnings
import sparsescope as ss
assert "own_parts" not in sys.modules, "import sparsescope loads no other package"
assert ss.registry.losses is not None and "sparsescope.losses" not in sys.modules, "nor its own parts"
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    names = list(ss.registry.losses)
    list(ss.registry.penalties)
assert "sparsescope.losses" in sys.modules and len(names) > 3, "they come when a registry is first asked"
print(names[0], names.count("softer"), [str(w.message) for w in seen if "left out" in str(w.message)])
problem = ss.Problem([[0.0], [1.0], [0.5]], [0, 1, 1], loss="softer", lam_ratio=0.5)
print(ss.race(problem, ["bcd-ls", "fista-ls"], budget=2, unit="iterations").names)
from sparsescope.app.race import RacePage
controls = {c["id"]: c for group in RacePage().controls() for c in group["controls"]}
print("menu:", [choice["value"] for choice in controls["loss"]["choices"]].count("softer"))
print("contracts:", ss.check("softer").passed)
"""


def test_parts_of_installed_packages_are_found_by_their_entry_points_when_a_registry_is_first_asked(
    tmp_path: Path,
) -> None:
    (tmp_path / "own_parts.py").write_text(PARTS_OF_A_PACKAGE)
    (tmp_path / "broken_parts.py").write_text("raise RuntimeError('no such wheel')")
    for name in ("own", "broken"):
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[sparsescope.parts]\n{name} = {name}_parts\n")
    toolkit = Path(ss.__file__).resolve().parents[1]
    path = os.pathsep.join([str(toolkit), str(tmp_path)])
    done = subprocess.run([sys.executable, "-c", USES_THEM], capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1"})  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("softer 1 ")
    said = done.stdout.strip()
    assert "('bcd-ls', 'fista-ls')" in said, "it races"
    assert "menu: 1" in said and "contracts: True" in said
    assert said.count("left out") == 1 and "package broken" in said and "RuntimeError: no such wheel" in said
