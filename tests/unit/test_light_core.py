"""The core works without the packages of the extras, names them where they are wanted, and the wheel is complete."""

from __future__ import annotations

import gc
import importlib.metadata
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from nursery import Nursery, nursery

from sparsescope import cli, extras

ROOT = Path(__file__).resolve().parents[2]
TOOLKIT = ROOT / "toolkit"
OPTIONAL = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
# What an environment without extras lacks, and what comes with those packages.
BEYOND_THE_CORE = {
    re.split(r"[>=\[]", line)[0].replace("-", "_")
    for extra in OPTIONAL.keys() - {"all", "dev", "bench"}
    for line in OPTIONAL[extra]
    if not line.startswith("sparsescope")
} | set(extras.COMES_WITH)
POSIX_ONLY = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"}

WITHOUT = """
import importlib.abc, sys
hidden = set({hidden!r})
class Hide(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hide())
for name in [name for name in sys.modules if name.partition(".")[0] in hidden]:
    del sys.modules[name]
"""


@pytest.fixture(scope="module")
def core() -> Iterator[Nursery]:
    """Fresh processes with packages of the core, in which no package of an extra could be imported from the start."""
    with nursery(
        WITHOUT.format(hidden=sorted(BEYOND_THE_CORE)) + "import numba, scipy.sparse, sklearn.datasets"
    ) as made:
        yield made


PAGES = "import anywidget, panel, panel_material_ui, scipy.sparse"


@pytest.fixture(scope="module")
def pages() -> Iterator[Nursery]:
    """Fresh processes with packages of the explorer."""
    with nursery(PAGES) as made:
        yield made


FITS = """
import numpy as np
import sparsescope as ss
data = ss.datasets.load("iris")
problem = ss.Problem(data, lam_ratio=0.1)
result = ss.solve(problem, tol=1e-6)
assert result.converged and result.trace["objective"].size
assert ss.certify(problem, result.W).relative_gap < 1e-5
assert len(ss.path(problem, n_lams=3, ratio=0.5)) == 3
assert ss.race(problem, ["bcd-ls", "fista-ls"], budget=3, unit="iterations").names == ("bcd-ls", "fista-ls")
X, y = np.asarray(data.X), np.asarray(data.y)
assert ss.SparseClassifier(lam_ratio=0.1).fit(X, y).score(X, y) > 0.6
"""


def test_the_core_fits_certifies_races_and_predicts_without_the_extras(core: Nursery) -> None:
    done = core.run(FITS, ROOT, str(TOOLKIT))
    assert done.returncode == 0, done.stderr


SLOW_TO_IMPORT = ("sklearn", "pandas", "panel", "bokeh", "plotly", "IPython", "scipy.sparse", "scipy.linalg",
                  "scipy.optimize", "scipy.stats", "numpy.ma", "multiprocessing", "asyncio")  # fmt: skip
FIRST_SOLVES = """
import sys
import numpy as np
import sparsescope as ss
X, y = np.random.default_rng(0).normal(size=(40, 6)), np.arange(40) % 3
for loss in ("multiclass-squared-hinge", "logistic"):
    assert ss.solve(ss.Problem(X, y, loss=loss, intercept=True, lam_ratio=0.3), tol=1e-3).converged
print(*(name for name in {names!r} if name in sys.modules))
"""


def test_a_first_solve_imports_nothing_slow_that_it_does_not_need() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_SOLVES.format(names=SLOW_TO_IMPORT)], capture_output=True, text=True, timeout=300,
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(TOOLKIT), "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


# The first program leaves the kernels on disk; what numba needs to compile is loaded when it first has to.
KEPT_KERNELS = """
import sys
import numba, numpy as np, sparsescope as ss
from sparsescope.jit import kernel
brought = "numba.np.arraymath" in sys.modules  # by numba itself
X, y = np.random.default_rng(0).normal(size=(40, 6)), np.arange(40) % 3
assert ss.solve(ss.Problem(X, y, lam_ratio=0.3), tol=1e-3).converged
print("numba.np.arraymath" in sys.modules and not brought)

@kernel
def summed(x):
    return np.cumsum(x)[-1]

assert summed(np.arange(5.0)) == 10.0 and "numba.np.arraymath" in sys.modules
"""


def test_kept_kernels_do_not_wait_for_numbas_compiler_which_is_ready_when_it_is_asked() -> None:
    said = [
        subprocess.run(
            [sys.executable, "-c", KEPT_KERNELS], capture_output=True, text=True, timeout=300, cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(TOOLKIT)},
        )
        for _ in range(2)
    ]  # fmt: skip
    assert [(done.returncode, done.stderr) for done in said] == [(0, "")] * 2
    assert said[1].stdout.strip() == "False"


FIRST_PAGE = f"""
import sys
{PAGES}
brought = set(sys.modules)  # by these packages themselves
import sparsescope as ss, sparsescope.dashboard
ss.datasets.load("digits")
print(*(name for name in {{names!r}} if name in sys.modules))
"""


def test_the_explorer_starts_without_what_single_pages_need(pages: Nursery) -> None:
    names = ("sklearn", "scipy.stats", "scipy.optimize")
    done = pages.run(FIRST_PAGE.format(names=names), ROOT, str(TOOLKIT))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


MISSING = [  # a line, the package it needs, and for what
    ("ss.views.draw('convergence', None)", "plotly", "Drawing a run"),
    ("ss.explore()", "anywidget", "The explorer in a notebook"),
    ("ss.watch().widget", "anywidget", "The explorer in a notebook"),
    ("from sparsescope.dashboard import serve", "panel", "The explorer"),
    ("ss.Recorder().trace.to_frame()", "pandas", "Trace.to_frame"),
    ("ss.datasets.load('table.csv')", "pandas", "Reading a CSV file"),
]
# Each line in its turn, in one process: what it raises.
RAISES = """
import json, sparsescope as ss
said = []
for line in {lines!r}:
    try:
        exec(line)
        said.append("nothing")
    except Exception as error:
        said.append(f"{{type(error).__module__}}.{{type(error).__qualname__}}: {{error}}")
print(json.dumps(said))
"""


def test_a_missing_package_is_named_with_the_command_that_installs_it(core: Nursery, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("a,b,class\n1,2,x\n3,4,y\n")
    done = core.run(RAISES.format(lines=[line for line, _, _ in MISSING]), tmp_path, str(TOOLKIT))
    assert done.returncode == 0, done.stderr
    for (line, package, purpose), said in zip(MISSING, json.loads(done.stdout), strict=True):
        assert said.startswith("sparsescope.extras.MissingPackage: "), (line, said)
        assert f"{purpose} needs the package {package}, which is not installed: pip install " in said
        assert '"sparsescope[explore]"' in said


# Each command in its turn, in one process: its exit code, output and errors.
COMMANDS = """
import contextlib, io, json
from sparsescope.cli import main
said = []
for command in {commands!r}:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(command)
    said.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(said))
"""


def test_the_command_line_works_without_the_extras(core: Nursery) -> None:
    asking = [["path", "iris"], ["race", "iris", "ista"], ["paper", "1", "--quick"]]  # before anything is computed
    commands = [["solve", "iris", "--lam-ratio", "0.1"], ["explore"], *asking, ["doctor"]]
    done = core.run(COMMANDS.format(commands=commands), ROOT, str(TOOLKIT))
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    solved, explore, *others, doctor = json.loads(done.stdout)
    assert solved[0] == 0 and doctor[0] == 0, (solved, doctor)
    assert explore[0] == 1 and "sparsescope explore: The explorer needs the package" in explore[2]
    for code, out, err in others:
        assert code == 1 and "Traceback" not in err, err
        assert "which is not installed: pip install" in err and not out


def test_doctor_does_not_take_a_package_of_an_extra_for_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    known = importlib.metadata.version

    def version(name: str) -> str:
        if name == "plotly":
            raise importlib.metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    assert cli.main(["doctor"]) == cli.DONE
    assert 'not installed, and the core does without: pip install "sparsescope[explore]"' in capsys.readouterr().out


def test_imports_put_garbage_collections_off_and_a_failed_one_switches_them_on_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "looks_at_the_collector.py").write_text("import gc\nENABLED = gc.isenabled()\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert gc.isenabled()
    assert not extras.package("looks_at_the_collector", "This test").ENABLED
    assert gc.isenabled()
    with pytest.raises(extras.MissingPackage):
        extras.package("no_such_package_anywhere", "This test")
    assert gc.isenabled()


def test_a_mistake_in_the_package_is_not_taken_for_a_missing_package() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"sparsescope\.nothing") as caught:
        extras.package("sparsescope.nothing", "A test")
    assert not isinstance(caught.value, extras.MissingPackage)


EVERY_MODULE = """
import importlib, pkgutil, sparsescope
for module in pkgutil.walk_packages(sparsescope.__path__, 'sparsescope.'):
    if not module.name.endswith('__main__'):
        importlib.import_module(module.name)
"""


def test_every_module_loads_where_the_modules_of_posix_are_missing(pages: Nursery) -> None:
    # Other packages, such as dask, have other code for each system, so the large ones are there before.
    code = "import distributed" + WITHOUT.format(hidden=sorted(POSIX_ONLY)) + EVERY_MODULE
    done = pages.run(code, ROOT, str(TOOLKIT))
    assert done.returncode == 0, done.stderr


# What `python -m build` asks of the package's build system, in one process in place of five.
BUILD = """
import os, sys, tarfile
from pathlib import Path
from {backend} import build_sdist, build_wheel
dist, source = Path(sys.argv[2]), Path(sys.argv[3])
dist.mkdir()
os.chdir(source)
packed = build_sdist(str(dist))
with tarfile.open(dist / packed) as archive:
    archive.extractall(dist / "unpacked", filter="data")
os.chdir(dist / "unpacked" / packed.removesuffix(".tar.gz"))
build_wheel(str(dist))
"""


@pytest.mark.parametrize("by", ["backend", pytest.param("build", marks=pytest.mark.slow)])
def test_the_wheel_holds_every_file_and_runs_outside_the_source(
    by: str, core: Nursery, pages: Nursery, tmp_path: Path
) -> None:
    system = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["build-backend"]
    if any(importlib.util.find_spec(name) is None for name in ("build", system.partition(".")[0])):
        pytest.skip('needs build and its backend: pip install "sparsescope[dev]"')
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(TOOLKIT, source / "toolkit", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    # The wheel is made from the source distribution, so that both are held.
    way = ["-m", "build", "--no-isolation"] if by == "build" else ["-c", BUILD.format(backend=system)]
    built = subprocess.run(
        [sys.executable, *way, "--outdir", str(tmp_path / "dist"), str(source)],
        capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONPATH": ""},
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert wheel.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if name.startswith("sparsescope/")}
        archive.extractall(tmp_path / "installed")
    files = {
        path.relative_to(source / "toolkit").as_posix() for path in (source / "toolkit" / "sparsescope").rglob("*")
    }
    wanted = {name for name in files if (source / "toolkit" / name).is_file()}
    assert wanted - held == set()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = core.run(FITS + "\nprint(ss.__file__)", elsewhere, str(tmp_path / "installed"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(tmp_path / "installed" / "sparsescope" / "__init__.py")
    page = pages.run("import sparsescope.dashboard", elsewhere, str(tmp_path / "installed"))
    assert page.returncode == 0, page.stderr
