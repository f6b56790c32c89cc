"""Data larger than memory: solved from mapped blocks of rows, memory and passes watched.

Generates a data set on the spot (removed afterwards), solves it with `working-set` to a certified relative gap, and
stores: passes and bytes a pass; the time beside that of plain readings of the same files, as many as there were passes;
and the largest memory of the process that solved, by what it consists of (Linux). Between two uses of a block its
pages are dropped from the system's cache (`--warm` keeps them), so every pass comes from the disk, as it does where the
data are larger than memory. Processor time is stored too: on a busy machine wall time says little.

    python benchmarks/bench_big.py [--gigabytes 10] [--tol 1e-4] [--threads 1] [--warm] [--folder DIR] [--print]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import common  # first: it sets the thread counts before numpy is imported
import numpy as np
import scipy.sparse as sp

import sparsescope as ss
from sparsescope.inputs.mapped_blocks import MappedBlock

D, M, PER_ROW = 50_000, 3, 850  # features, classes, entries of a row
BLOCK_ROWS = 12_500
PATTERNS = 6  # blocks whose places of entries differ; their values all do
PLANTED = 60
BUFFER = 2**24
MEMORY_BAR, TIME_BAR = 2.0, 1.5  # GB a process; times plain reading


def pattern(rng: np.random.Generator) -> sp.csc_array:
    """Places of the entries of a block: some features are frequent, most are rare."""
    columns = (D * rng.random(BLOCK_ROWS * PER_ROW) ** 1.5).astype(np.int32)
    rows = np.repeat(np.arange(BLOCK_ROWS, dtype=np.int32), PER_ROW)
    made = sp.coo_array((np.ones(rows.size, np.float32), (rows, columns)), shape=(BLOCK_ROWS, D)).tocsc()
    made.sum_duplicates()
    return made


def generated(gigabytes: float, seed: int = 0) -> Iterator[tuple[sp.csc_array, np.ndarray]]:
    """Blocks of rows with labels of a planted model."""
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(D // 10, PLANTED, replace=False))
    W = rng.standard_normal((PLANTED, M))
    patterns = [pattern(rng) for _ in range(PATTERNS)]
    written, k = 0.0, 0
    while written < 1e9 * gigabytes:
        place = patterns[k % PATTERNS]
        X = sp.csc_array((2.0 * rng.random(place.nnz) - 1.0, place.indices, place.indptr), shape=place.shape)
        Z = X[:, rows] @ W + rng.gumbel(size=(BLOCK_ROWS, M))
        yield X, Z.argmax(axis=1)
        written += 12.0 * place.nnz + 8.0 * (D + 1)
        k += 1


def data_files(folder: Path) -> list[Path]:
    """The files that a pass reads."""
    return sorted(folder.glob("*.data.npy")) + sorted(folder.glob("*.indices.npy"))


def forget(path: Path) -> None:
    """Drop the pages of a file from the system's cache."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


def plain_read(folder: Path, warm: bool) -> tuple[float, float, int]:
    """Wall seconds, processor seconds and bytes of reading all entries once, and nothing else."""
    buffer, total = bytearray(BUFFER), 0
    if not warm:
        for path in data_files(folder):
            forget(path)
    began, worked = time.perf_counter(), time.process_time()
    for path in data_files(folder):
        with open(path, "rb", buffering=0) as file:
            while count := file.readinto(buffer):
                total += count
        if not warm:
            forget(path)
    return time.perf_counter() - began, time.process_time() - worked, total


class Watch(threading.Thread):
    """The largest memory of this process, looked at every 20 ms: all pages, its own, and those of mapped files."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = {"VmRSS": 0, "RssAnon": 0, "RssFile": 0}
        self.ended = threading.Event()

    def run(self) -> None:
        while True:  # once at least, however soon the end comes
            for line in Path("/proc/self/status").read_text().splitlines():
                name, _, value = line.partition(":")
                if name in self.most:
                    self.most[name] = max(self.most[name], int(value.split()[0]))
            if self.ended.wait(0.02):
                return

    def gigabytes(self) -> dict[str, float]:
        """Return the peaks that were seen, and the system's own account of them."""
        self.ended.set()
        self.join()
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        found = {**self.most, "VmHWM": int(status["VmHWM"].split()[0])}
        return {name: 1024e-9 * value for name, value in found.items()}


class ColdBlock(MappedBlock):
    """A mapped block whose pages leave the system's cache after use, as they would if the data were larger than it."""

    def release(self) -> None:
        super().release()
        for part in ("data", "indices"):
            forget(self.folder / f"{self.number:05d}.{part}.npy")


def solve(folder: Path, tol: float, threads: int, warm: bool) -> dict[str, Any]:
    """Solve, in this process, and say what it took."""
    watch = Watch()
    watch.start()
    data = ss.datasets.open(folder, threads=threads)
    if not warm:
        for block in data.X._engine.blocks:  # no setting of the library: it is for this measurement
            block.__class__ = ColdBlock
    problem = ss.Problem(data)
    ss.Run(problem.with_(lam=1.0), "working-set").warm_up()
    began, worked = time.perf_counter(), time.process_time()
    problem = problem.with_(lam_ratio=0.1)
    events: list[dict[str, float]] = []

    def follow(event: Any) -> None:
        events.append(
            {
                "iteration": event.iteration,
                "relative_gap": event.relative_gap,
                "rows": event.nonzero_rows,
                "working_set": event.working_set,
                "read": data.X.passes,
                "wall_seconds": time.perf_counter() - began,
                "cpu_seconds": time.process_time() - worked,
            }
        )
        print(json.dumps(events[-1]), file=sys.stderr, flush=True)

    found = ss.solve(problem, "working-set", tol=tol, callbacks=[follow])
    return {
        "n": problem.n,
        "d": problem.d,
        "m": problem.m,
        "nnz": data.X.nnz,
        "blocks": data.X.parts,
        "threads": threads,
        "pass_bytes": data.X.pass_bytes,
        "passes": data.X.passes,
        "wall_seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - worked,
        "lam": problem.lam,
        "objective": found.objective,
        "relative_gap": found.relative_gap,
        "converged": found.converged,
        "support": len(found.support),
        "events": [{k: None if v != v else v for k, v in event.items()} for event in events],
        "memory_gb": watch.gigabytes(),
    }


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Generate, read, solve in a separate process, read again; the data are removed in any case."""
    folder = Path(tempfile.mkdtemp(prefix="sparsescope-big-", dir=options.folder))
    try:
        began = time.process_time()
        ss.datasets.write_partitions(folder / "data", generated(options.gigabytes), source="benchmarks/bench_big.py")
        print(f"generated in {time.process_time() - began:.0f} CPU s", file=sys.stderr)
        load = common.OtherLoad()
        reads = [plain_read(folder / "data", options.warm)]
        asked = ["--solve", str(folder / "data"), "--tol", str(options.tol), "--threads", str(options.threads)]
        made = subprocess.run(
            [sys.executable, __file__, *asked, *(["--warm"] if options.warm else [])],
            check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        reads.append(plain_read(folder / "data", options.warm))
        row = json.loads(made.stdout.splitlines()[-1])
        row |= {
            "warm": options.warm,
            "tol": options.tol,
            "read_bytes": reads[0][2],
            "read_wall_seconds": [read[0] for read in reads],
            "read_cpu_seconds": [read[1] for read in reads],
            "others_load": load.share(),
        }
        row["times_plain_reading"] = row["wall_seconds"] / (row["passes"] * float(np.mean(row["read_wall_seconds"])))
        return row
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def report(row: dict[str, Any]) -> None:
    """Print a row and its bars."""
    common.show([{k: v for k, v in row.items() if not isinstance(v, dict | list)}])
    print("memory, GB:", {k: round(v, 3) for k, v in row["memory_gb"].items()})
    common.bar("relative gap", row["relative_gap"], row["tol"])
    common.bar("memory of the process, all its pages", row["memory_gb"]["VmHWM"], MEMORY_BAR, unit=" GB")
    common.bar("time beside plain readings of the same number", row["times_plain_reading"], TIME_BAR, unit="×")


def main() -> None:
    """Measure, or print what is stored."""
    parser = common.parser(__doc__)
    parser.add_argument("--gigabytes", type=float, default=10.0)
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--warm", action="store_true", help="leave the blocks in the system's cache")
    parser.add_argument("--folder", default=None, help="where the data are generated")
    parser.add_argument("--solve", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--print", action="store_true", dest="only_print")
    parser.add_argument("--no-store", action="store_true")
    options = parser.parse_args()
    if options.solve is not None:
        print(json.dumps(solve(options.solve, options.tol, options.threads, options.warm)))
        return
    if options.only_print:
        for row in common.rows_of("big"):
            report(row)
        return
    row = measure(options)
    report(row)
    if not options.no_store:
        common.store("big", [row])


if __name__ == "__main__":
    main()
