"""The kernel cache under faults: damage, foreign owners, full and read-only disks, races, kills in mid-write."""

from __future__ import annotations

import errno
import importlib.util
import logging
import os
import pickle
import random
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from nursery import kill_at_work

from sparsescope.jit import cache as kernel_cache
from sparsescope.jit import store as kernel_store
from sparsescope.jit.store import KernelStore, private, seal, unseal, usable

PACKAGE = Path(kernel_store.__file__).parents[1]
MODULE = """
from sparsescope.jit import kernel

@kernel
def triple(x):
    return 3.0 * x
"""


@pytest.fixture(autouse=True)
def fresh_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_store, "_told", set())


@pytest.fixture
def store(tmp_path: Path) -> KernelStore:
    return KernelStore(tmp_path, "base", "stamp", pickle.dumps)


class Kernel:
    """A kernel in a separate module, whose cache is a folder of the test; `load` is what a new process does."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "cache"
        self.folder.mkdir(mode=0o700)
        self.source = folder / "triples.py"
        self.source.write_text(MODULE, encoding="utf-8")

    def load(self) -> Any:
        """The kernel as a process finds it that has just begun."""
        spec = importlib.util.spec_from_file_location("triples", self.source)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.triple

    @property
    def file(self) -> Path:
        """The one file of the cache."""
        found = sorted(self.folder.iterdir())
        assert len(found) == 1 and found[0].suffix == kernel_store.SUFFIX, found
        return found[0]


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    made = Kernel(tmp_path)
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda: made.folder)
    yield made


def hits(compiled: Any) -> int:
    """Count how often this kernel was found in the cache."""
    return sum(compiled.stats.cache_hits.values())


# ------------------------------------------------------------------------------------------------------------- damage
def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def garble(path: Path) -> None:
    path.write_bytes(os.urandom(4000))


def replace_by_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [truncate, empty, flip, garble])
def test_a_damaged_kernel_is_compiled_again_and_replaced(
    damage: Callable[[Path], None], kernel: Kernel, caplog: pytest.LogCaptureFixture
) -> None:
    assert kernel.load()(2.0) == 6.0
    good = kernel.file.read_bytes()
    again = kernel.load()
    assert again(2.0) == 6.0 and hits(again) == 1
    damage(kernel.file)
    with caplog.at_level(logging.WARNING):
        healed = kernel.load()
        assert healed(2.0) == 6.0 and hits(healed) == 0
    assert [record.getMessage() for record in caplog.records if "compiling it again" in record.getMessage()]
    assert len(caplog.records) == 1, "one line in the log"
    assert unseal(kernel.file.read_bytes()) and len(kernel.file.read_bytes()) == pytest.approx(len(good), rel=0.2)
    last = kernel.load()
    assert last(2.0) == 6.0 and hits(last) == 1


def test_every_single_bit_and_every_length_counts() -> None:
    sealed = seal(b"0123456789")
    assert unseal(sealed) == b"0123456789"
    for k in range(len(sealed)):
        with pytest.raises(kernel_store.Damaged):
            unseal(sealed[:k])
        for bit in range(8):
            wrong = bytearray(sealed)
            wrong[k] ^= 1 << bit
            with pytest.raises(kernel_store.Damaged):
                unseal(bytes(wrong))


def test_a_folder_in_the_place_of_a_kernel_does_not_stop_computing(kernel: Kernel) -> None:
    kernel.load()(2.0)
    replace_by_a_folder(kernel.file)
    for _ in range(2):
        assert kernel.load()(2.0) == 6.0


def test_another_key_or_stamp_under_the_same_name_is_not_taken(store: KernelStore, tmp_path: Path) -> None:
    store.save("key", 1)
    path = store.path("key")
    assert path is not None and store.load("key") == 1
    path.rename(store.path("other"))  # type: ignore[arg-type]
    assert store.load("other") is None and store.load("key") is None
    store.save("key", 1)
    assert KernelStore(tmp_path, "base", "later", pickle.dumps).load("key") is None
    store.flush()
    assert not list(tmp_path.iterdir())


# --------------------------------------------------------------------------------------------------- planted by others
class Planted:
    """An object that runs code when it is unpickled."""

    ran = False

    def __reduce__(self) -> Any:
        return setattr, (Planted, "ran", True)


def test_what_others_may_have_written_is_never_unpickled(store: KernelStore, monkeypatch: pytest.MonkeyPatch) -> None:
    path = store.path("key")
    assert path is not None
    planted = pickle.dumps(("stamp", "key", Planted()))
    path.write_bytes(planted)  # without the checksum
    assert store.load("key") is None
    path.write_bytes(seal(planted))
    path.chmod(0o666)  # with it, but everybody could write here
    assert store.load("key") is None
    path.chmod(0o600)
    monkeypatch.setattr(os, "getuid", lambda: path.stat().st_uid + 1)
    real = kernel_store.is_trusted
    foreign = os.stat_result([*path.stat()[:4], 12345, *path.stat()[5:]])
    monkeypatch.setattr(kernel_store, "is_trusted", lambda found: real(foreign))
    assert store.load("key") is None
    assert not Planted.ran


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPARSESCOPE_CACHE", str(tmp_path / "theirs"))
    monkeypatch.setattr(kernel_cache, "usable", lambda folder: False)
    assert kernel_cache.cache_folder.__wrapped__() is None
    monkeypatch.undo()
    folder = tmp_path / "mine"
    folder.mkdir()
    folder.chmod(0o777)
    assert usable(folder) and folder.stat().st_mode & 0o777 == 0o700, "our own is closed to others"


@pytest.mark.parametrize("plant", ["a link", "open to all", "a file"])
def test_a_planted_folder_among_temporary_files_is_not_used(
    plant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "blocked"
    blocked.write_text("no folder")
    monkeypatch.setenv("SPARSESCOPE_CACHE", str(blocked))
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(kernel_cache.tempfile, "gettempdir", lambda: str(temporary))
    place = temporary / f"sparsescope-{os.getuid()}"
    if plant == "a link":
        (tmp_path / "elsewhere").mkdir()
        place.symlink_to(tmp_path / "elsewhere")
    elif plant == "open to all":
        place.mkdir()
        place.chmod(0o777)
    else:
        place.write_text("planted")
    assert kernel_cache.cache_folder.__wrapped__() is None
    assert len([record for record in caplog.records if "compiled kernels are not kept" in record.getMessage()]) == 1
    if plant != "a file":
        assert not list(place.iterdir())
    place.rename(temporary / "away")
    made = kernel_cache.cache_folder.__wrapped__()
    assert made is not None and made.parent == place and place.stat().st_mode & 0o777 == 0o700


def test_without_a_folder_kernels_live_as_long_as_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Kernel(tmp_path)
    monkeypatch.setattr(kernel_cache, "cache_folder", lambda: None)
    assert made.load()(2.0) == 6.0
    assert not list(made.folder.iterdir()) and not (tmp_path / kernel_store.SUFFIX).exists()


def test_kernels_that_nobody_reads_are_removed_after_a_while(kernel: Kernel) -> None:
    kernel.load()(2.0)
    file = kernel.file
    days = 86400.0
    os.utime(file, (time.time() - 20 * days,) * 2)
    kernel_store.remove_abandoned(kernel.folder)
    kernel.load()(2.0)  # what is read is noted
    assert time.time() - file.stat().st_mtime < days
    os.utime(file, (time.time() - 40 * days,) * 2)
    kernel_store.remove_abandoned(kernel.folder)
    assert not file.exists()


def test_a_folder_of_an_earlier_version_is_closed_to_others(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir(mode=0o755)
    assert private(folder) and folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o775)
    assert not private(folder), "what others may have put there is not looked at"


# --------------------------------------------------------------------------------------------- disks that take nothing
@pytest.mark.parametrize(
    ("fault", "words"), [(errno.ENOSPC, "No space left"), (errno.EROFS, "Read-only"), (errno.EDQUOT, "quota")]
)
@pytest.mark.parametrize("step", ["open", "replace"])
def test_a_disk_that_takes_nothing_does_not_stop_computing(
    fault: int, words: str, step: str, kernel: Kernel, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise OSError(fault, os.strerror(fault))

    with monkeypatch.context() as patched:
        patched.setattr(kernel_store.os, step, fail)
        for _ in range(3):
            assert kernel.load()(2.0) == 6.0
    assert not list(kernel.folder.iterdir()), "no half-written file stays"
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 1 and words in said[0] and "SPARSESCOPE_CACHE" in said[0]
    assert kernel.load()(2.0) == 6.0 and kernel.file, "and when there is room again, kernels are kept again"


def test_a_write_that_ends_in_the_middle_leaves_the_old_kernel(store: KernelStore) -> None:
    store.save("key", "old")
    code = f"""
        import pickle, resource
        from sparsescope.jit import store as module
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        module.KernelStore(module.Path({str(store.folder)!r}), "base", "stamp", pickle.dumps).save("key", "x" * 10**6)
        print("went on")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=300)
    assert "went on" in done.stdout, done.stderr
    assert "compiled kernels are not kept" in done.stderr
    assert store.load("key") == "old"
    assert len(list(store.folder.iterdir())) == 1  # type: ignore[union-attr]


def test_what_was_abandoned_in_mid_write_is_removed_after_a_while(tmp_path: Path) -> None:
    for name, age in (("a.tmp", 7200), ("b.tmp", 5), ("c.nbc", 7200)):
        (tmp_path / name).write_bytes(b"x")
        then = time.time() - age
        os.utime(tmp_path / name, (then, then))
    kernel_store.remove_abandoned(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.tmp", "c.nbc"]


# ---------------------------------------------------------------------------------------------------- many at one time
WRITER = """
import itertools, pickle, sys
from pathlib import Path
from sparsescope.jit.store import KernelStore
numbers = itertools.count(1)
def work():
    store = KernelStore(Path(sys.argv[2]), "base", "stamp", pickle.dumps)
    store.save("key", bytes([next(numbers) % 256]) * 3_000_000)
"""


def kill_in_mid_write(folder: Path, times: int, seed: int = 0) -> int:
    """Kill a writer at random moments; how often a half-written file stayed. The kept kernel is always whole."""
    store = KernelStore(folder, "base", "stamp", pickle.dumps)
    store.save("key", b"first")
    draw = random.Random(seed)

    def wait(number: int) -> None:
        end = time.monotonic() + 120.0
        while number == 0 and store.load("key") == b"first":
            assert time.monotonic() < end, "nothing is written"
            time.sleep(0.01)
        time.sleep(draw.random() * 0.1)

    def check() -> None:
        kept = store.load("key")
        assert len(kept) == 3_000_000 and kept == kept[:1] * 3_000_000

    kill_at_work(WRITER, folder, times, wait, check)
    return len(list(folder.glob("*.tmp")))


def test_a_process_killed_in_mid_write_leaves_the_last_good_kernel(tmp_path: Path) -> None:
    kill_in_mid_write(tmp_path, 10)


RACER = """
import os
import sys
sys.path.insert(0, sys.argv[1])
import triples
import numpy as np
found = [triples.triple(x) for x in (2.0, 2, np.float32(2), 2j)[: int(sys.argv[2])]]
assert found == [6.0, 6, 6.0, 6j][: int(sys.argv[2])], found
os.write(1, b"right\\n")  # at once: print may write the word and the end of the line apart
"""
# The same in a process that has loaded numba, and nothing of the package, and in a copy of it.
RACERS = f"""
import os
import numba
numba.njit(lambda x: 2.0 * x)(1.0)  # what numba sets up when it first compiles
copy = os.fork()
{RACER}
if copy:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1]))
"""


def race(folder: Path, program: str, processes: int, racers: int, kernels: int) -> None:
    """Let processes compile the same kernels for the same cold cache at the same time; every result has to be right."""
    (folder / "triples.py").write_text(MODULE, encoding="utf-8")
    variables = {**os.environ, "SPARSESCOPE_CACHE": str(folder / "cold"), "PYTHONPATH": str(PACKAGE.parent)}
    started = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(folder), str(kernels)],
            env=variables,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(processes)
    ]
    for process in started:
        output, errors = process.communicate(timeout=600)
        assert output.split() == ["right"] * (racers // processes) and process.returncode == 0 and not errors, errors
    kept = list((folder / "cold").rglob("*.nbc"))
    assert len(kept) == kernels and not list((folder / "cold").rglob("*.tmp"))
    assert all(unseal(path.read_bytes()) for path in kept)


@pytest.mark.slow
def test_eight_processes_on_a_cold_cache(tmp_path: Path) -> None:
    race(tmp_path, RACER, processes=8, racers=8, kernels=4)


def test_two_processes_on_a_cold_cache(tmp_path: Path) -> None:
    race(tmp_path, RACERS, processes=1, racers=2, kernels=2)
