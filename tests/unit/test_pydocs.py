"""The shipped text set, and the script that builds it, on a small folder of sources."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope.datasets as datasets
from sparsescope.datasets.npz import read_npz
from sparsescope.datasets.pydocs import FILE

SCRIPT = Path(__file__).parents[2] / "data" / "build_pydocs.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location("build_pydocs", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["build_pydocs"] = module  # NamedTuple looks its module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["build_pydocs"]


def test_the_shipped_set_is_what_its_page_says():
    data = datasets.load("pydocs")
    assert sp.isspmatrix_csr(data.X) and data.m == 20 and data.n > 3000 and data.d > 2500 and len(data.y_test) > 1000
    np.testing.assert_allclose(sp.linalg.norm(data.X, axis=1), 1, rtol=1e-12)
    assert len(set(data.feature_names)) == data.d and all(word.isalpha() for word in data.feature_names)
    assert {"email", "asyncio", "compression"} <= set(data.class_names) and "PSF-2.0" in data.licence
    assert np.bincount(data.y, minlength=20).min() > 40
    assert FILE.stat().st_size < 1_500_000 and FILE.with_name("LICENSE-PSF.txt").is_file()
    assert np.diff(data.X.tocsc().indptr).min() >= 3  # every word occurs in 3 or more training documents


def test_words_of_the_shipped_set_tell_the_areas_apart():
    from sklearn.svm import LinearSVC

    data = datasets.load("pydocs")
    model = LinearSVC(C=1.0, random_state=0).fit(data.X, data.y)
    assert model.score(*data.test) > 0.7
    words = np.array(data.feature_names)
    top = {name: set(words[np.argsort(-row)[:12]]) for name, row in zip(data.class_names, model.coef_, strict=True)}
    assert "header" in top["email"] or "message" in top["email"]
    assert (
        "widget" in top["graphical interface"] and "archive" in top["compression"] and "loader" in top["import system"]
    )


def sources(root: Path) -> Path:
    """A library of two areas; each function's docstring has enough different words."""
    for module, subject in (("gzip", "archive stream bytes"), ("logging/handlers", "record handler level")):
        path = root / f"{module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        functions = [
            f'def functionName{i}():\n    """Write the {subject} number{letter} quickly into gzip logging files.\n\n'
            f'    >>> prompt_is_dropped()\n    """\n'
            for i, letter in enumerate("abcdefgh")
        ]
        path.write_text("\n".join(functions))
    (root / "test").mkdir()
    (root / "test" / "gzip.py").write_text('"""Many different words that must never be read from tests folders."""')
    return root


def test_the_script_is_deterministic_and_keeps_its_rules(script, tmp_path):
    library = sources(tmp_path / "lib")
    for name in ("a.npz", "b.npz"):
        script.main(["--stdlib", str(library), "--python-version", "3.0", "--out", str(tmp_path / name)])
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    data = datasets.load(tmp_path / "a.npz")
    assert data.class_names == ["logging", "compression"] and (data.n, len(data.y_test)) == (12, 4)
    words = set(data.feature_names)
    assert {"archive", "record", "function", "name", "quickly"} <= words
    assert not {"prompt", "dropped", "the", "into", "tests", "functionname"} & words
    # A module's own name gives its class away, so it is missing there and only there.
    gzip_column = data.X[:, data.feature_names.index("gzip")].toarray().ravel()
    assert np.array_equal(gzip_column > 0, data.y == 0)
    assert "3.0" in read_npz(tmp_path / "a.npz").source


def test_documents_of_one_class_stay_together(script):
    documents = [
        script.Document(f"m.C{i}.f{j}", "text", "m", f"C{i}", (f"w{i}{j}",)) for i in range(8) for j in range(3)
    ]
    train, test = script.split(documents)
    assert len(train) + len(test) == 24 and 3 <= len(test) <= 9
    assert not {d.top for d in train} & {d.top for d in test}


def test_tokens_split_identifiers(script):
    assert script.tokens("The getFileName of HTTPServer_base isn't x") == [
        "get",
        "file",
        "name",
        "http",
        "server",
        "base",
    ]


def test_a_folder_without_docstrings_is_refused(script, tmp_path):
    with pytest.raises(ValueError, match=r"docstrings of 0 area\(s\)"):
        script.build(tmp_path, "3.0")
