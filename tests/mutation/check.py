"""Mutation check of the fast tests: `make mutants`.

Sixty mutants are drawn by a seed: the package with one small mistake in it (mutate.py). For each of them the tests that
run the mistaken function are run, the quickest first, until one fails. Which tests run which functions is measured
before, on the package as it is, some files of tests at a time. Everything is interpreted (``NUMBA_DISABLE_JIT=1``), so
that no mutant is compiled.

What was measured and judged is kept in ``build/mutants``: an interrupted check goes on where it stopped, as long as
sources and tests are the same.

The result is written beside this file: result.json names every mutant, what noticed it, and why one that nothing
noticed is no mistake (equivalent.json, by hand). The command fails where less than nine in ten are noticed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import Queue
from typing import Any

from mutate import Mutant, draw

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KEPT = ROOT / "build" / "mutants"
WANTED = 0.9  # share of the mutants that are no equivalents
CASES = 3  # cases of a parametrized test that are looked at for what they run
CASE_SECONDS = 4.0  # CPU; a case that takes longer interpreted is left to `make test`
MUTANT_SECONDS = 90.0  # CPU for the tests of a mutant, by what they took before; the rest counts as not noticing it
AT_ONCE = 12  # test functions of one call of pytest
FILES = 8  # files of tests of one call that measures
MARKS = "not ui and not slow and not peers"
# They start other programs, which would be compiled.
LEFT_OUT = ("ui", "notebooks", "mutation", "unit/test_experiments.py", "unit/test_jit.py", "unit/test_cli.py",
            "unit/test_benchmarks.py", "unit/test_paper2.py", "unit/test_paper3.py", "unit/test_paper4.py",
            "unit/test_paper5.py", "unit/test_makefile.py", "contracts/test_docs.py", "test_imports.py")  # fmt: skip


def environment(tree: Path) -> dict[str, str]:
    """For a process that runs tests of a tree, interpreted."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(tree / "toolkit"), str(HERE))), "NUMBA_DISABLE_JIT": "1",
            "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}  # fmt: skip


def copy(target: Path) -> None:
    """Copy the files of the project that the tests need."""
    target.mkdir(parents=True, exist_ok=True)
    for name in ("toolkit", "tests", "docs", "data", "notebooks", "apps", "benchmarks"):
        if (ROOT / name).exists():
            shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, target)


def pytest_command(tree: Path, *arguments: str) -> list[str]:
    """Pytest with the plugin below."""
    ignored = [f"--ignore={tree / 'tests' / name}" for name in LEFT_OUT]
    plain = ("-q", "-p", "no:cacheprovider", "-p", "reach", "-m", MARKS)
    return [sys.executable, "-m", "pytest", *plain, *ignored, *arguments]


def sources() -> str:
    """A name of what is measured and judged: the package and its tests as they are."""
    found = hashlib.sha256()
    for folder in ("toolkit", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            found.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return found.hexdigest()[:12]


def groups() -> list[list[str]]:
    """The files of tests, a few together."""
    tests = ROOT / "tests"
    named = [path.relative_to(tests).as_posix() for path in sorted(tests.rglob("test_*.py"))]
    files = [f"tests/{name}" for name in named if name not in LEFT_OUT and name.split("/")[0] not in LEFT_OUT]
    return [files[k : k + FILES] for k in range(0, len(files), FILES)]


def measure(tree: Path, files: list[str]) -> dict[str, Any]:
    """{test function: {seconds, runs: ["path::function"…]}} of some files on the package as it is."""
    out = tree / "reach.json"
    out.unlink(missing_ok=True)
    subprocess.run(pytest_command(tree, *files), cwd=tree, stdout=subprocess.DEVNULL, check=False,
                   env={**environment(tree), "REACH": str(out), "REACH_CASES": str(CASES),
                        "REACH_SECONDS": str(CASE_SECONDS)})  # fmt: skip
    found = json.loads(out.read_text())
    assert isinstance(found, dict)
    return found


def kept(path: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what an earlier check left in a file, or make it and leave it there."""
    if path.exists():
        found = json.loads(path.read_text(encoding="utf-8"))
        assert isinstance(found, dict)
        return found
    found = make()
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(found), encoding="utf-8")
    unfinished.replace(path)
    return found


def tests_of(mutant: Mutant, reach: dict[str, Any]) -> list[str]:
    """Names of the test functions that run the mutant's function, the quickest first, as many as there is time for."""
    place = f"{mutant.path}::{mutant.function.rpartition('.')[2]}"
    able = [name for name, seen in reach.items() if place in seen["runs"] and not seen["failed"]]
    able.sort(key=lambda name: (reach[name]["seconds"], name))
    chosen, spent = [], 0.0
    for name in able:
        if chosen and spent + reach[name]["seconds"] > MUTANT_SECONDS:
            break
        chosen.append(name)
        spent += reach[name]["seconds"]
    return chosen


def judge(mutant: Mutant, tree: Path, reach: dict[str, Any]) -> dict[str, Any]:
    """Judge a mutant by the tests that run its function."""
    path = tree / "toolkit" / "sparsescope" / mutant.path
    text = path.read_text(encoding="utf-8")
    tests = tests_of(mutant, reach)
    found: dict[str, Any] = {"mutant": mutant.key, "tests": len(tests), "noticed": False, "by": ""}
    path.write_text(mutant.applied(text), encoding="utf-8")
    try:
        while tests and not found["noticed"]:
            now, tests = tests[:AT_ONCE], tests[AT_ONCE:]
            done = subprocess.run(
                pytest_command(tree, "-x", *now), cwd=tree, capture_output=True, text=True, check=False,
                env={**environment(tree), "REACH_SECONDS": str(4 * CASE_SECONDS)},
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (180, 190)),
            )  # fmt: skip
            if done.returncode not in (0, 5):
                failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
                ran_on = "it never ends" if done.returncode < 0 else f"pytest ended with {done.returncode}"
                found.update(noticed=True, by=failed[0].split(" - ")[0] if failed else ran_on)
    finally:
        path.write_text(text, encoding="utf-8")
    return found


def report(results: list[dict[str, Any]], seed: int) -> float:
    """Write the result and say it; the share that was noticed."""
    reasons = json.loads((HERE / "equivalent.json").read_text(encoding="utf-8"))
    for found in results:
        name = found["mutant"].rpartition(" (line")[0]  # lines move, the code does not
        if not found["noticed"] and name in reasons:
            found["equivalent"] = reasons[name]
    real = [found for found in results if "equivalent" not in found]
    noticed = sum(found["noticed"] for found in real)
    share = noticed / max(len(real), 1)
    summary = {"seed": seed, "mutants": len(results), "equivalent": len(results) - len(real), "noticed": noticed,
               "share": round(share, 4)}  # fmt: skip
    text = json.dumps({**summary, "results": results}, indent=1, ensure_ascii=False)
    (HERE / "result.json").write_text(text + "\n", encoding="utf-8")
    print(f"{noticed} of {len(real)} mutants noticed ({100 * share:.0f} %), {len(results) - len(real)} equivalent")
    for found in real:
        if not found["noticed"]:
            print(f"  not noticed: {found['mutant']}")
    return share


def main() -> int:
    """Draw, measure, judge, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--jobs", type=int, default=2, help="mutants at a time")
    parser.add_argument("--only", default="", help="a part of the mutants' names")
    parser.add_argument("--fresh", action="store_true", help="forget what an interrupted check has found")
    options = parser.parse_args()
    state = KEPT / sources()
    if options.fresh:
        shutil.rmtree(state, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(options.jobs) as pool:
        trees: Queue[Path] = Queue()
        for k in range(options.jobs):
            copy(Path(folder) / str(k))
            trees.put(Path(folder) / str(k))
        chosen = [m for m in draw(ROOT / "toolkit" / "sparsescope", options.seed) if options.only in m.key]

        @contextmanager
        def free_tree() -> Iterator[Path]:
            own = trees.get()
            try:
                yield own
            finally:
                trees.put(own)

        def measured(files: list[str]) -> dict[str, Any]:
            with free_tree() as tree:
                name = hashlib.sha256(" ".join(files).encode()).hexdigest()[:12]
                return kept(state / f"reach-{name}.json", lambda: measure(tree, files))

        reach: dict[str, Any] = {}
        for found in pool.map(measured, groups()):
            reach |= found
        print(f"{len(reach)} test functions, {len(chosen)} mutants", flush=True)

        def judged(mutant: Mutant) -> dict[str, Any]:
            with free_tree() as tree:
                name = hashlib.sha256(f"{options.seed} {mutant}".encode()).hexdigest()[:12]
                found = kept(state / f"judged-{name}.json", lambda: judge(mutant, tree, reach))
            said = f"noticed by {found['by']}" if found["noticed"] else f"NOT NOTICED by {found['tests']} tests"
            print(f"{mutant.key}\n        {said}", flush=True)
            return found

        results = list(pool.map(judged, chosen))
    if options.only:
        return 0
    return 0 if report(results, options.seed) >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
