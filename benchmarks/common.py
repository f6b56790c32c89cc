# ruff: noqa: E402  (the thread counts must be set before numpy is imported)
"""What the measurements share: one thread, the machine and the versions in every result, one way to store and show."""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before numpy is imported: the subject is the solvers, not the thread pools

import json
import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PACKAGES = ("sparsescope", "numpy", "scipy", "numba", "scikit-learn", "panel", "bokeh", "plotly", "anywidget")


def machine() -> dict[str, Any]:
    """Processor, cores, memory, system, Python and package versions."""
    cpu = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        cpu = models[0] if models else cpu
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return {"cpu": cpu, "cores": os.cpu_count(), "system": platform.platform(), "python": sys.version.split()[0],
            "versions": found, "threads": os.environ["OPENBLAS_NUM_THREADS"]}


def store(name: str, rows: list[dict[str, Any]], say: bool = True, **summary: Any) -> Path:
    """Write rows and a summary to ``results/<name>.json`` together with the machine and the date."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    content = {"benchmark": name, "date": time.strftime("%Y-%m-%d"), "machine": machine(), "summary": summary,
               "rows": rows}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    if say:
        print(f"\nstored in benchmarks/results/{path.name}")
    return path


def show(rows: list[dict[str, Any]]) -> None:
    """Print rows as an aligned table."""
    if not rows:
        print("(no rows)")
        return
    names = list(rows[0])
    cells = [[_text(row.get(name)) for name in names] for row in rows]
    widths = [max(len(name), *(len(line[k]) for line in cells)) for k, name in enumerate(names)]
    for line in [names, *cells]:
        print("  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)))


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return "–" if value is None else str(value)


def shared_data() -> Path | None:
    """The first folder of ``SPARSESCOPE_DATA`` (or ``../shared/data``) that exists, or ``None``."""
    for folder in [*os.environ.get("SPARSESCOPE_DATA", "").split(os.pathsep), str(HERE.parents[1] / "shared" / "data")]:
        if folder and Path(folder).is_dir():
            return Path(folder)
    return None
