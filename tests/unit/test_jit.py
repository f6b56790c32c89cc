"""The traps of compiled parts (see the head of jit/parts.py), each pinned; caches of fresh processes; plain Python."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from nursery import Nursery, nursery

import sparsescope as ss
from helpers import CORE, SMOOTH, interpreted, iris
from sparsescope.jit import cache as kernel_cache
from sparsescope.jit import compiler as kernel_compiler
from sparsescope.jit import parts as jit
from sparsescope.jit import stamps
from sparsescope.jit.cache import digest
from sparsescope.jit.elementary import exponential, log_one_minus, log_one_plus, logarithm
from sparsescope.jit.parts import kernel, part
from sparsescope.kernels.rows import loss_gradient, loss_sum
from sparsescope.registry import field, penalties

PACKAGE = Path(jit.__file__).parents[1]


def run_python(code: str, folder: Path, **environment: str) -> dict[str, Any]:
    """Run code in a fresh process whose modules and cache are in ``folder``; what it prints last is JSON."""
    variables = {**os.environ, "SPARSESCOPE_CACHE": str(folder / "cache"), "PYTHONPATH": str(folder), **environment}
    variables.pop("NUMBA_CACHE_DIR", None)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=300,
        env=variables,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


# With what numba sets up when it first compiles.
NUMBA = """
import numba, scipy.sparse
import numpy as np
numba.njit(lambda x: x + 1.0)(np.ones(2))
"""


class Copies:
    """Runs code as `run_python` does, in a copy of a process that has loaded numba."""

    def __init__(self, made: Nursery) -> None:
        self.nursery = made

    def run(self, code: str, folder: Path, **environment: str) -> dict[str, Any]:
        path = environment.pop("PYTHONPATH", str(folder))
        done = self.nursery.run(textwrap.dedent(code), folder, path, SPARSESCOPE_CACHE=str(folder / "cache"))
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout.strip().splitlines()[-1]))


@pytest.fixture(scope="module")
def copies() -> Iterator[Copies]:
    with nursery(NUMBA) as made:
        yield Copies(made)


seconds = itertools.count(2, 2)


def rewrite(path: Path, text: str) -> None:
    """Write a source as of another second: bytecode that Python keeps goes by the second and the size of its source."""
    path.write_text(text, encoding="utf-8")
    os.utime(path, (time.time() + next(seconds),) * 2)


COUNT = """
    hits = sum(loss_sum.stats.cache_hits.values())
    misses = sum(loss_sum.stats.cache_misses.values())
"""


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A folder with a copy of the package's core, whose files a test may edit."""
    target = tmp_path / "sparsescope"
    target.mkdir()
    top = ("__init__.py", "version.py", "collecting.py", "errors.py", "fields.py", "registry.py", "moved.py")
    for name in top:
        shutil.copy(PACKAGE / name, target)
    for name in ("jit", "losses", "kernels"):
        shutil.copytree(PACKAGE / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    (target / "kernels" / "sweeps.py").unlink()
    return tmp_path


def test_an_edited_loss_is_compiled_again_and_an_unchanged_one_is_found(copied: Path, copies: Copies) -> None:
    code = f"""
    import json, numpy as np, sparsescope
    from sparsescope.kernels.rows import loss_sum
    from sparsescope.registry import losses
    assert sparsescope.__file__.startswith({str(copied)!r})
    value = loss_sum(np.zeros((2, 3)), np.array([0, 1]), losses.create("squared"))
    {COUNT.strip()}
    print(json.dumps(dict(value=value, hits=hits, misses=misses)))
    """
    code = "\n".join(line.strip() for line in code.splitlines())
    first = copies.run(code, copied)
    assert (first["value"], first["hits"], first["misses"]) == (1.0, 0, 1)
    assert run_python(code, copied) == {"value": 1.0, "hits": 1, "misses": 0}, "a process that has nothing in common"
    assert copies.run(code, copied) == {"value": 1.0, "hits": 1, "misses": 0}
    source = copied / "sparsescope" / "losses" / "squared.py"
    text = source.read_text(encoding="utf-8")
    old, new = "total += 0.5 - z[r]", "total += 3.5 - z[r]"
    assert old in text
    rewrite(source, text.replace(old, new))
    assert copies.run(code, copied) == {"value": 7.0, "hits": 0, "misses": 1}
    assert copies.run(code, copied) == {"value": 7.0, "hits": 1, "misses": 0}
    rewrite(source, text)
    assert copies.run(code, copied) == {"value": 1.0, "hits": 1, "misses": 0}, "and the old one is still there"
    for name, again in (("logistic", 0), ("pairs", 0), ("targets", 1), ("base", 1)):  # squared imports the last two
        path = copied / "sparsescope" / "losses" / f"{name}.py"
        rewrite(path, path.read_text(encoding="utf-8") + "\nEDITED = 1\n")
        assert copies.run(code, copied) == {"value": 1.0, "hits": 1 - again, "misses": again}, name


USER_MODULE = """
import numpy as np
import tools
from sparsescope.jit import kernel, part
from sparsescope.losses import Loss

@part
class Mine(Loss):
    def value(self, z, y):
        return 2.0 * tools.twice(z[y])

@kernel
def total(Z, Y, loss):
    found = 0.0
    for i in range(Z.shape[0]):
        found += 1.0 * loss.value(Z[i], Y[i])
    return found
"""
TOOLS = """
from sparsescope.jit import helper

@helper
def twice(x):
    return 2.0 * x
"""
USE = """
import json, numpy as np, mine
from sparsescope.kernels.rows import loss_sum
Z, Y = np.ones((3, 2)), np.array([0, 1, 1])
value, own = loss_sum(Z, Y, mine.Mine()), mine.total(Z, Y, mine.Mine())
hits = [sum(k.stats.cache_hits.values()) for k in (loss_sum, mine.total)]
misses = [sum(k.stats.cache_misses.values()) for k in (loss_sum, mine.total)]
print(json.dumps(dict(values=[value, own], hits=hits, misses=misses)))
"""


def test_parts_and_kernels_in_a_users_module_are_cached_and_followed_when_edited(
    tmp_path: Path, copies: Copies
) -> None:
    mine, tools = tmp_path / "mine.py", tmp_path / "tools.py"
    rewrite(mine, USER_MODULE)
    rewrite(tools, TOOLS)
    package = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(PACKAGE.parent)])}
    fresh, again = {"hits": [0, 0], "misses": [1, 1]}, {"hits": [1, 1], "misses": [0, 0]}
    assert copies.run(USE, tmp_path, **package) == {"values": [12.0, 12.0], **fresh}
    assert run_python(USE, tmp_path, **package) == {"values": [12.0, 12.0], **again}
    rewrite(mine, USER_MODULE.replace("return 2.0 *", "return 3.0 *"))  # the part
    assert copies.run(USE, tmp_path, **package) == {"values": [18.0, 18.0], **fresh}
    rewrite(tools, TOOLS.replace("2.0 * x", "5.0 * x"))  # a helper in another file
    assert copies.run(USE, tmp_path, **package) == {"values": [45.0, 45.0], **fresh}
    # The user's own kernel: only this one is new.
    rewrite(mine, USER_MODULE.replace("return 2.0 *", "return 3.0 *").replace("1.0 * loss", "10.0 * loss"))
    assert copies.run(USE, tmp_path, **package) == {"values": [45.0, 450.0], "hits": [1, 0], "misses": [0, 1]}


@pytest.mark.skipif(not kernel_compiler.LEAN, reason="numba's own way compiles helpers in each process")
def test_a_helper_called_from_python_is_cached_and_followed_when_edited(copied: Path, copies: Copies) -> None:
    tools = copied / "tools.py"
    rewrite(tools, TOOLS)
    code = """
    import json, numpy as np, tools
    from numba.core import event
    from sparsescope.losses.pairs import pair_value
    with event.install_recorder("numba:compile") as seen:
        own, pair = tools.twice(3.0), pair_value(np.zeros(2), np.array([1, 0]))
    compiled = {found.data["dispatcher"].py_func.__name__ for _, found in seen.buffer}
    print(json.dumps(dict(values=[own, pair], own="twice" in compiled, pair="pair_value" in compiled)))
    """
    assert copies.run(code, copied) == {"values": [6.0, 1.0], "own": True, "pair": True}
    assert run_python(code, copied) == {"values": [6.0, 1.0], "own": False, "pair": False}
    rewrite(tools, TOOLS.replace("2.0 * x", "5.0 * x"))
    assert copies.run(code, copied) == {"values": [15.0, 1.0], "own": True, "pair": False}
    pairs = copied / "sparsescope" / "losses" / "pairs.py"
    rewrite(pairs, pairs.read_text(encoding="utf-8") + "\nEDITED = 1\n")
    assert copies.run(code, copied) == {"values": [15.0, 1.0], "own": True, "pair": True}, "the user's may call any"


def test_a_class_in_main_works_and_is_not_written_to_disk(tmp_path: Path, copies: Copies) -> None:
    code = """
    import json, numpy as np
    from pathlib import Path
    from sparsescope.jit import part
    from sparsescope.kernels.rows import loss_sum
    from sparsescope.losses import Loss

    @part
    class Here(Loss):
        def value(self, z, y):
            return 7.0

    value = loss_sum(np.ones((3, 2)), np.array([0, 1, 1]), Here())
    files = [str(p) for p in Path("cache").rglob("*.nb*")]
    print(json.dumps(dict(value=value, files=files, hits=sum(loss_sum.stats.cache_hits.values()))))
    """
    for _ in range(2):
        found = copies.run(code, tmp_path, PYTHONPATH=str(PACKAGE.parent))
        assert found == {"value": 21.0, "files": [], "hits": 0}


def define(factor: float) -> Any:
    """Define a class as a notebook cell does that is run again after an edit."""
    space = {"part": part, "Loss": ss.losses.Loss, "__name__": __name__}
    exec(
        textwrap.dedent(f"""
    @part
    class Repeated(Loss):
        title = "repeated"

        def value(self, z, y):
            return {factor} * z[y]

        def gradient(self, z, y, x, g, work):
            g[y] += {factor} * x
            return {factor} * z[y]
    """),
        space,
    )
    return space["Repeated"]


def test_a_class_that_is_defined_again_runs_its_new_body() -> None:
    Z, Y, U = np.ones((2, 3)), np.array([0, 1]), np.empty((2, 3))
    first = define(2.0)()
    assert (loss_sum(Z, Y, first), loss_gradient(Z, Y, first, U), U[0, 0]) == (4.0, 4.0, 2.0)
    second = define(3.0)()
    assert (loss_sum(Z, Y, second), loss_gradient(Z, Y, second, U), U[0, 0]) == (6.0, 6.0, 3.0)
    assert loss_sum(Z, Y, first) == 4.0, "an object of the old class keeps its own"
    assert first != second and repr(first) == repr(second) == "Repeated()"
    assert type(define(2.0)()).__name__ == type(first).__name__, "the same text has the same name"


def test_a_part_without_fields_works_and_hides_its_placeholder() -> None:
    made = define(1.0)()
    assert made.fields == () and len(made) == 1
    assert loss_sum(np.ones((2, 3)), np.array([0, 1]), made) == 2.0


@part
class WithFields(ss.losses.Loss):
    """A part with a parameter, a helper in this module, and a function that calls another one."""

    scale: float = field(2.0, 0.0, 10.0, "scale")
    title = "with fields"

    def value(self, z, y):
        return self.scale * self.inner(z[y])

    def inner(self, a):
        return a + 1.0


def test_parts_are_immutable_and_check_their_parameters() -> None:
    made = WithFields(scale=3.0)
    assert made == WithFields(3.0) != WithFields() and hash(made) == hash(WithFields(3.0))
    assert made != (3.0,) and repr(made) == "WithFields(scale=3.0)" and made.title == "with fields"
    assert ss.losses.Squared() != ss.losses.MultitaskSquaredHinge(), "parts of two classes are never equal"
    assert ss.penalties.ElasticNet(0.5) != ss.penalties.SparseGroup(0.5)
    with pytest.raises(ValueError, match="WithFields: scale is 11"):
        WithFields(scale=11)
    with pytest.raises(AttributeError):
        made.scale = 1.0
    with pytest.raises(TypeError):
        WithFields(size=1.0)


def test_functions_of_a_part_may_call_each_other_compiled_and_interpreted() -> None:
    Z, Y = np.ones((3, 2)), np.array([0, 1, 0])
    assert loss_sum(Z, Y, WithFields(3.0)) == interpreted(loss_sum)(Z, Y, WithFields(3.0)) == 18.0
    assert loss_sum(Z, Y, WithFields(4.0)) == 24.0, "a parameter is a value, not part of the compiled code"


def make(body: str, **names: Any) -> Any:
    space: dict[str, Any] = {"np": np, **names}
    exec(textwrap.dedent(body), space)
    return space["f"]


def test_digests_follow_what_code_does() -> None:
    base = digest(make("def f(x): return 2.0 * x"))
    assert base == digest(make("# a comment\n\ndef f(x): return 2.0 * x"))
    assert base != digest(make("def f(x): return 3.0 * x")), "constants count"
    assert base != digest(make("def f(x): return 2.0 + x"))
    assert base != digest(make("def f(x=1.0): return 2.0 * x")), "defaults count"
    outer = "def f(x): return g(x)"
    one, two = make("def f(x): return x"), make("def f(x): return -x")
    assert digest(make(outer, g=one)) != digest(make(outer, g=two)), "helpers count"
    assert digest(make(outer, g=jit.helper(one))) == digest(make(outer, g=one)), "compiled helpers by their source"
    deep = [make("def f(x): return g(x)", g=inner) for inner in (one, two)]
    assert digest(make(outer, g=deep[0])) != digest(make(outer, g=deep[1])), "helpers of helpers too"
    name = "def f(x): return x * A"
    assert digest(make(name, A=2)) != digest(make(name, A=3)), "numbers found by name count"
    assert digest(make(name, A=np.ones(2))) != digest(make(name, A=np.zeros(2))), "arrays found by name too"
    assert len({digest(define(k)) for k in (1.0, 2.0, 1.0)}) == 2
    loop = make("def f(x): return f(x - 1) if x else 0")
    assert digest(loop) == digest(loop), "a function that calls itself has an end"


def test_digests_are_the_same_in_every_process(tmp_path: Path) -> None:
    code = """
    import json
    from sparsescope.jit.cache import digest
    def f(x):
        return 1.0 if x in {"one", "two", "three", "four"} else 0.0
    print(json.dumps(dict(digest=digest(f))))
    """
    found = [run_python(code, tmp_path, PYTHONPATH=str(PACKAGE.parent), PYTHONHASHSEED=seed) for seed in ("1", "2")]
    assert found[0] == found[1]


def test_the_cache_goes_where_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARSESCOPE_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    assert kernel_cache.cache_root().parts[-2:] == ("sparsescope", "kernels")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert kernel_cache.cache_root() == tmp_path / "x" / "sparsescope" / "kernels"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "n"))
    assert kernel_cache.cache_root() == tmp_path / "n" / "kernels"
    monkeypatch.setenv("SPARSESCOPE_CACHE", str(tmp_path / "s"))
    assert kernel_cache.cache_root() == tmp_path / "s" / "kernels"
    folder = kernel_cache.cache_folder.__wrapped__()
    assert folder.parent == tmp_path / "s" / "kernels" and (folder / "used").exists()
    assert stamps.common_digest() in folder.name
    half = folder / "half.tmp"  # of a process that was killed
    half.touch()
    os.utime(half, (0.0, 0.0))
    kernel_cache.cache_folder.__wrapped__()
    assert half.exists(), "all files were looked at within the last hour"
    os.utime(folder / "used", (0.0, 0.0))
    kernel_cache.cache_folder.__wrapped__()
    assert not half.exists() and (folder / "used").stat().st_mtime > 0.0
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    monkeypatch.setenv("SPARSESCOPE_CACHE", str(blocked))
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", lambda: str(tmp_path))
    elsewhere = kernel_cache.cache_folder.__wrapped__()
    assert elsewhere.exists() and elsewhere.parent == tmp_path / f"sparsescope-{os.getuid()}"


def test_folders_of_old_sources_are_removed_after_a_while(tmp_path: Path) -> None:
    for name, age in (("kept", 0), ("recent", 5), ("old", 60), ("foreign", 60)):
        (tmp_path / name).mkdir()
        if name != "foreign":
            (tmp_path / name / "used").touch()
            then = (tmp_path / name / "used").stat().st_mtime - age * 86400
            os.utime(tmp_path / name / "used", (then, then))
    kernel_cache.prune(tmp_path, keep=tmp_path / "kept")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["foreign", "kept", "recent"]


def test_kernels_run_without_the_lock_of_the_interpreter() -> None:
    assert loss_sum.targetoptions["nogil"] is True
    assert kernel(WithFields.inner).targetoptions["nogil"] is True


INTERPRETED = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1]) if len(sys.argv) > 1 else None
import numba
import sparsescope as ss
from sparsescope.registry import losses, penalties
X = np.array(json.loads(open("data.json").read())["X"])
y = np.array(json.loads(open("data.json").read())["y"])
assert numba.config.DISABLE_JIT
found = {}
for loss in (name for name in losses if losses[name].smooth and not losses[name].one_score):
    for penalty in penalties:
        problem = ss.Problem(X, y, loss=loss, penalty=penalty, lam=0.05, intercept=True)
        for solver in ("bcd-ls", "fista-ls") if problem.regulariser.blocks is None else ("fista-ls", "sparsa"):
            found[f"{loss}+{penalty}+{solver}"] = ss.solve(problem, solver, tol=0.0, max_iter=3).objective
problem = ss.Problem(X, y, loss="crammer-singer", penalty="elastic-net", lam=0.05)
found["crammer-singer+elastic-net+pd-sparse"] = ss.solve(problem, "pd-sparse", tol=0.0, max_iter=3).objective
print(json.dumps(found))
"""


def test_everything_runs_as_plain_python(tmp_path: Path) -> None:
    X, y = iris()
    X, y = X[::5], y[::5]
    (tmp_path / "data.json").write_text(json.dumps({"X": X.tolist(), "y": y.tolist()}))
    found = run_python(INTERPRETED, tmp_path, PYTHONPATH=str(PACKAGE.parent), NUMBA_DISABLE_JIT="1")
    assert len(found) == 2 * len(SMOOTH) * len(list(penalties)) + 1
    assert not (tmp_path / "cache").exists(), "nothing is compiled"
    for name, value in found.items():
        loss, penalty, solver = name.split("+")
        if (loss, penalty) not in CORE:
            assert np.isfinite(value)  # compiled code is compared for some: what it costs is its compilation
            continue
        problem = ss.Problem(X, y, loss=loss, penalty=penalty, lam=0.05, intercept=True)
        assert ss.solve(problem, solver, tol=0.0, max_iter=3).objective == pytest.approx(value, rel=1e-9)


def test_folders_of_bytecode_may_vanish_while_sources_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("kernels/rows.py", "kernels/deep/more.py", "kernels/__pycache__/rows.py", "kernels/deep/notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    look = os.scandir

    def scandir(path: Any = ".") -> Any:
        if Path(path).name == "__pycache__":
            raise FileNotFoundError(path)
        return look(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = stamps._files.__wrapped__(("kernels", "missing"), tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in found] == ["kernels/deep/more.py", "kernels/rows.py"]


def test_the_sources_named_for_the_digest_exist_and_are_all_that_is_compiled() -> None:
    for name in stamps.SOURCES:
        assert (PACKAGE / name).exists()
    marks = ("@kernel\n", "@helper\n", "@part\n", "@struct\n")
    compiled = [
        path.relative_to(PACKAGE)
        for path in PACKAGE.rglob("*.py")
        if any(mark in path.read_text(encoding="utf-8") for mark in marks)
    ]
    missing = [path for path in compiled if not any(path.is_relative_to(source) for source in stamps.SOURCES)]
    assert compiled and not missing, "code that is compiled has to count for the name of the cache folder"


def defined_in(thing: Any) -> set[str]:
    """The modules where a compiled function or a class is written, and what is made of two forms."""
    thing = getattr(thing, "py_func", thing)
    cells = [cell.cell_contents for cell in getattr(thing, "__closure__", None) or ()]
    found = {getattr(thing, "__module__", None) or ""}
    for cell in cells if callable(thing) else ():
        found |= defined_in(cell) if callable(cell) else set()
    return found


def test_the_stamp_of_a_kernel_covers_all_that_its_code_can_name() -> None:
    files = [path for path in stamps._files(stamps.SOURCES, PACKAGE) if path.name != "__init__.py"]
    looked_at = 0
    for file in files:
        name = ".".join(("sparsescope", *file.relative_to(PACKAGE).with_suffix("").parts))
        covered = stamps.closure(frozenset({name}))
        assert covered is not None and file in covered, "import statements of compiled code name the files they mean"
        for thing in vars(importlib.import_module(name)).values():
            for module in defined_in(thing) if callable(thing) else ():
                path = PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py")
                if module.startswith("sparsescope.") and path in files:
                    looked_at += 1
                    assert path in covered, f"{name} can call code of {module}, which its stamp does not cover"
    assert looked_at > 300


def test_arguments_count_for_the_stamp_those_inside_of_others_included() -> None:
    loss = ss.losses.Logistic()
    seen = stamps.modules_of((numba.typeof(loss), numba.typeof((1.0, (loss, ss.penalties.L1L2())))))
    assert seen == {"sparsescope.losses.logistic", "sparsescope.penalties.l1_l2"}
    alone, both = (stamps.stamp(frozenset({"sparsescope.kernels.rows", *more})) for more in ((), seen))
    assert alone != both and len(alone) == 16


def test_exponential_is_accurate_and_never_overflows_downwards() -> None:
    @kernel
    def fill(x, out):  # type: ignore[no-untyped-def]
        for i in range(x.size):
            out[i] = exponential(x[i])

    x = np.concatenate([np.linspace(-699, 5, 20_001), [0.0, -1e-300, -700.0, -1e3, -np.inf]])
    out = np.empty_like(x)
    fill(x, out)
    np.testing.assert_allclose(out[:-2], np.exp(x[:-2]), rtol=1e-15)
    assert np.isfinite(out).all() and (out[-2:] < 1e-303).all()
    assert exponential(0.0) == 1.0


@pytest.mark.parametrize("compiled", [True, False])
def test_logarithms_are_accurate_and_leave_what_is_no_number(compiled: bool) -> None:
    @kernel
    def fill(x, out, kind):  # type: ignore[no-untyped-def]
        for i in range(x.size):
            out[i] = logarithm(x[i]) if kind == 0 else log_one_plus(x[i]) if kind == 1 else log_one_minus(x[i])

    def values(x: np.ndarray, kind: int) -> np.ndarray:
        out = np.empty_like(x)
        if compiled:
            fill(x, out, kind)
        else:
            out[:] = [(logarithm, log_one_plus, log_one_minus)[kind].py_func(float(v)) for v in x]
        return out

    rng = np.random.default_rng(0)
    wide = np.exp(rng.uniform(-700.0, 700.0, 2000))
    near = np.concatenate(
        [1.0 + np.linspace(-0.4, 0.6, 2001), 1.0 + np.logspace(-15, -1, 200), [1.0, 0.5, 2.0, 2.0**0.5]]
    )
    small = np.concatenate([np.linspace(0.0, 1.0, 2001)[:-1], np.logspace(-300, -1, 400)])
    for x, kind, expected in (
        (wide, 0, np.log(wide)),
        (near, 0, np.log(near)),
        (small, 1, np.log1p(small)),
        (small, 2, np.log1p(-small)),
    ):
        np.testing.assert_allclose(values(x, kind), expected, rtol=2e-15, atol=0.0)
    odd = values(np.array([np.nan, np.inf]), 0)
    assert np.isnan(odd[0]) and odd[1] == np.inf
    assert np.isnan(values(np.array([np.nan]), 1)[0])
    assert np.isfinite(values(np.array([0.0]), 0)[0])  # so that 0·log 0 is 0


def test_two_forms_are_chosen_by_the_type_of_an_argument() -> None:
    either = jit.two_forms(lambda a, b: b + 1, lambda a, b: b[0] - 1, by=1)
    first = jit.two_forms(lambda a: 1, lambda a: 2)

    @jit.kernel
    def use(number, array):
        return either(0.0, number), either(0.0, array), first(number), first(array)

    assert use(3.0, np.array([5.0])) == (4.0, 4.0, 1, 2)
    assert (either(0.0, 3.0), either(0.0, np.array([5.0])), first(3), first(np.zeros(1))) == (4.0, 4.0, 1, 2)


def test_without_numbas_private_names_it_compiles_in_numbas_way_and_doctor_says_so(
    tmp_path: Path, copies: Copies
) -> None:
    """Newer versions of numba may lack them: nothing breaks, everything is compiled in each process."""
    found = copies.run(
        """
        import contextlib, io, json
        from numba.core import caching, typed_passes
        del caching._CacheLocator, typed_passes.NativeLowering
        import numpy as np
        from sparsescope import cli
        from sparsescope.jit import cache, compiler
        from sparsescope.kernels.rows import loss_sum
        from sparsescope.registry import losses
        value = loss_sum(np.zeros((2, 3)), np.array([0, 1]), losses.create("squared"))
        with contextlib.redirect_stdout(io.StringIO()) as said:
            cli.main(["doctor"])
        print(json.dumps({"hooks": [cache.HOOKS, compiler.HOOKS, compiler.LEAN], "value": value,
                          "files": len(list(cache.cache_folder().glob("*.nb?"))), "said": said.getvalue()}))
    """,
        tmp_path,
        PYTHONPATH=str(PACKAGE.parent),
    )
    assert found["hooks"] == [False, False, False] and found["value"] == 1.0 and found["files"] == 0
    lines = [line for line in found["said"].splitlines() if line.startswith("fallback")]
    assert len(lines) == 2 and "compiles in its own way" in lines[0] and "compiled anew in each process" in lines[1]


def test_fallbacks_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tested = numba.__version__.startswith(kernel_compiler.LEAN_VERSIONS)
    assert (kernel_compiler.fallback() == "") == tested
    monkeypatch.setattr(kernel_compiler, "LEAN", False)
    assert f"numba {numba.__version__} compiles in its own way" in kernel_compiler.fallback()
    monkeypatch.setenv("SPARSESCOPE_CACHE", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda: tmp_path / "kernels" / "x")
    assert kernel_cache.fallback() == ""
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda: tmp_path / "elsewhere" / "x")
    assert "cannot be written" in kernel_cache.fallback()


@pytest.mark.slow
def test_other_versions_of_numba_compile_their_own_way_and_find_the_same(tmp_path: Path) -> None:
    code = """
        import json, numba
        numba.__version__ = VERSION
        import numpy as np
        import sparsescope as ss
        from sparsescope import kernel_compiler
        X, y = np.random.default_rng(0).standard_normal((30, 6)), np.arange(30) % 3
        found = ss.solve(ss.Problem(X, y, loss="logistic", lam=0.02), "bcd-ls", tol=1e-8)
        print(json.dumps({"lean": kernel_compiler.LEAN, "objective": found.objective}))
    """
    ends = [
        run_python(f"VERSION = {version!r}\n" + textwrap.dedent(code), tmp_path, PYTHONPATH=str(PACKAGE.parent))
        for version in (numba.__version__, "0.61.0")
    ]
    assert [end["lean"] for end in ends] == [numba.__version__.startswith(kernel_compiler.LEAN_VERSIONS), False]
    assert ends[0]["objective"] == pytest.approx(ends[1]["objective"], rel=1e-12)
