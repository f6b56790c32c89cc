"""Every notebook in notebooks/ runs top to bottom, and is stored clean. A new one is tested by being there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from helpers import import_nbformat
from sparsescope import registry

# nbformat and nbclient take seconds to import; the processes that run no notebook go without.
if TYPE_CHECKING:
    import nbformat

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LESSONS = {Path(registry.lessons[name].notebook).stem for name in registry.lessons}
MOST_SECONDS = 600  # for a cell of a notebook, on a slow machine with a cold cache
MOST_STORED = 60_000  # characters of stored outputs: a reader of the repository should see text, not megabytes

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def slow(path: Path) -> bool:
    """Return whether the notebook declares in its metadata that it takes long."""
    declared = json.loads(path.read_text(encoding="utf-8"))["metadata"].get("sparsescope", {})
    return bool(declared.get("slow", False))


def read(path: Path) -> nbformat.NotebookNode:
    """The notebook, checked against the format."""
    nbformat = import_nbformat()
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


def test_there_are_notebooks() -> None:
    assert NOTEBOOKS


FIRST = ("00", "01")  # of the lessons one is executed every time, the others with the slow tests
late = [path for path in NOTEBOOKS if slow(path) or (path.stem in LESSONS and not path.stem.startswith(FIRST))]
executed = [path for path in NOTEBOOKS if path not in late]


def run(path: Path, monkeypatch: pytest.MonkeyPatch, kernel: Any = None) -> None:
    """Execute a notebook top to bottom, in a kernel that starts for it or in the given one with its names deleted."""
    notebook = read(path)
    import nbclient

    monkeypatch.setenv("PLOTLY_RENDERER", "plotly_mimetype")  # the figures as data: no browser, nothing from outside
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    if kernel is not None:
        notebook.cells.insert(0, import_nbformat().v4.new_code_cell("%reset -f"))
    client = nbclient.NotebookClient(notebook, timeout=MOST_SECONDS, kernel_name="python3", km=kernel,
                                     resources={"metadata": {"path": str(path.parent)}})  # fmt: skip
    try:
        client.execute()
    finally:
        if kernel is not None and client.kc is not None:
            client.kc.stop_channels()  # which the client leaves open with a kernel that is not its own
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            said = output.get("text", "") if output.get("name") == "stderr" else ""
            assert "Warning" not in said, f"a cell warns:\n{said}"


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    """One kernel for several notebooks: what they import takes longer than most of them."""
    import_nbformat()
    from jupyter_client import AsyncKernelManager
    from nbclient.util import run_sync

    manager = AsyncKernelManager(kernel_name="python3")
    yield manager
    if manager.has_kernel:
        run_sync(manager.shutdown_kernel)(now=True)


@pytest.mark.parametrize("path", executed, ids=lambda path: path.stem)
def test_it_runs_after_others(path: Path, monkeypatch: pytest.MonkeyPatch, kernel: Any) -> None:
    run(path, monkeypatch, kernel)


@pytest.mark.slow
@every_notebook
def test_it_runs_top_to_bottom(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(path, monkeypatch)


@every_notebook
def test_it_is_stored_clean(path: Path) -> None:
    notebook = read(path)
    assert re.fullmatch(r"\d\d_[a-z0-9_]+", path.stem), "notebooks are called NN_title.ipynb"
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.cells[0].cell_type == "markdown" and notebook.cells[0].source.startswith("# ")
    stored = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not any(output.output_type == "error" for output in stored)
    assert sum(len(str(output)) for output in stored) <= MOST_STORED
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code" and cell.execution_count]
    assert counts == sorted(counts), "cells were run out of order"


@every_notebook
def test_it_needs_nothing_from_outside(path: Path) -> None:
    code = "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "code")
    assert not re.search(r"https?://|requests\.|urllib|^\s*[!%]pip", code, re.MULTILINE)
