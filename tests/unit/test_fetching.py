"""Sets of the network are fetched once and load by name afterwards; a server of the tests stands in for OpenML."""

from __future__ import annotations

import hashlib
import http.server
import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.datasets
from sklearn.datasets import _openml

import sparsescope as ss
from sparsescope import cli
from sparsescope.datasets import _fetching, files

N = 14  # images of 784 pixels; the last seventh is the test part


def table() -> tuple[np.ndarray, np.ndarray, bytes]:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (N, 784))
    y = np.arange(N) % 2 + 3
    head = "@RELATION images\n" + "".join(f"@ATTRIBUTE pixel{j} INTEGER\n" for j in range(784))
    rows = "\n".join(",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y.tolist(), strict=True))
    return X, y, f"{head}@ATTRIBUTE class {{3,4}}\n@DATA\n{rows}\n".encode()


@pytest.fixture
def openml(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[SimpleNamespace]:
    """A server that answers scikit-learn's questions to OpenML about one small set, and counts them."""
    X, y, arff = table()
    state = SimpleNamespace(X=X, y=y, asked=[], md5=hashlib.md5(arff).hexdigest(), home=tmp_path / "home")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            base = f"http://127.0.0.1:{self.server.server_port}"
            features = [{"index": str(j), "name": f"pixel{j}", "data_type": "numeric", "is_ignore": "false",
                         "is_row_identifier": "false", "is_target": "false", "number_of_missing_values": "0"}
                        for j in range(784)]  # fmt: skip
            features.append({"index": "784", "name": "class", "data_type": "nominal", "nominal_value": ["3", "4"],
                             "is_ignore": "false", "is_row_identifier": "false", "is_target": "true",
                             "number_of_missing_values": "0"})  # fmt: skip
            about = {"id": "1", "name": "mnist_784", "version": "1", "format": "ARFF", "status": "active",
                     "url": f"{base}/data/v1/download/1/set.arff", "file_id": "1", "md5_checksum": state.md5,
                     "default_target_attribute": "class", "description": "images"}  # fmt: skip
            answers = {
                "list": {"data": {"dataset": [{"did": 1, "name": "mnist_784", "version": 1, "status": "active"}]}},
                "features": {"data_features": {"feature": features}},
                "qualities": {"data_qualities": {"quality": [{"name": "NumberOfInstances", "value": str(N)}]}},
                "about": {"data_set_description": about},
            }
            kind = next((word for word in ("list", "features", "qualities") if f"/{word}/" in self.path), "about")
            content = arff if "/download/" in self.path else json.dumps(answers[kind]).encode()
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    place = f"http://127.0.0.1:{server.server_port}"
    if hasattr(_openml, "_OPENML_PREFIX"):  # scikit-learn up to 1.6
        monkeypatch.setattr(_openml, "_OPENML_PREFIX", f"{place}/")
    else:
        for name in ("_SEARCH_NAME", "_DATA_INFO", "_DATA_FEATURES", "_DATA_QUALITIES"):
            monkeypatch.setattr(_openml, name, getattr(_openml, name).replace("https://www.openml.org", place))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(state.home))
    # a folder there may hold a set of this name, which comes first
    monkeypatch.delenv("SPARSESCOPE_DATA", raising=False)
    yield state
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_fetched_set_loads_by_its_name_without_a_network(openml: SimpleNamespace) -> None:
    with pytest.raises(ss.registry.UnknownName, match=r"'mnist' was not fetched yet: sparsescope\.datasets\.fetch"):
        ss.datasets.load("mnist")
    data = ss.datasets.fetch("mnist")
    cut = N * 6 // 7
    assert (data.n, data.d, data.m, data.image_shape) == (cut, 784, 2, (28, 28))
    assert np.allclose(data.X * 255, openml.X[:cut], rtol=1e-12)
    assert np.array_equal(np.asarray(data.class_names)[data.y].astype(int), openml.y[:cut])
    assert data.test is not None and data.test[0].shape == (N - cut, 784)
    assert data.feature_names is not None and data.feature_names[0] == "pixel 0,0"
    asked = len(openml.asked)
    again = ss.datasets.load("mnist")
    assert len(openml.asked) == asked and np.array_equal(again.X, data.X)
    assert "mnist" in ss.datasets.names()  # and so in the menus of the pages
    assert any(line.name == "mnist" for line in ss.datasets.describe())


def test_what_arrives_damaged_is_refused_and_nothing_is_kept(openml: SimpleNamespace) -> None:
    openml.md5 = "0" * 32
    with pytest.raises(OSError, match="mnist could not be fetched from OpenML"):
        ss.datasets.fetch("mnist")
    assert not files.fetched_folder().exists()


def test_a_copy_that_changed_on_the_disk_is_refused(openml: SimpleNamespace) -> None:
    ss.datasets.fetch("mnist")
    path = files.fetched_folder() / "mnist.npz"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    for read in (lambda: ss.datasets.load("mnist"), lambda: ss.datasets.fetch("mnist")):
        with pytest.raises(ValueError, match=r"checksum differs.*fetch\('mnist', again=True\)"):
            read()
    assert ss.datasets.fetch("mnist", again=True).d == 784


def test_without_a_connection_the_reason_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with socket.socket() as free:  # nobody listens there once it is closed
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr(_openml, "_SEARCH_NAME", f"http://127.0.0.1:{port}/list/{{}}")
    monkeypatch.setattr("time.sleep", lambda _: None)  # scikit-learn waits between its three tries
    with (
        pytest.warns(UserWarning, match="retry|HTTP|error"),
        pytest.raises(OSError, match=r"could not be fetched from OpenML .*needs a connection once"),
    ):
        ss.datasets.fetch("mnist")


def test_another_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ss.registry.UnknownName, match=r"did you mean 'news20'\? Known: mnist"):
        ss.datasets.fetch("news2")


def texts(subset: str, data_home: str) -> SimpleNamespace:
    rng = np.random.default_rng(len(subset))
    X = sp.random(12, 30, density=0.3, random_state=rng, format="csr")
    return SimpleNamespace(
        data=X, target=np.arange(12) % 3, target_names=["a.b", "c", "d"], feature_names=[f"wörd{j}" for j in range(30)]
    )


def topics(subset: str, data_home: str) -> SimpleNamespace:
    rng = np.random.default_rng(5)
    Y = sp.csr_matrix((rng.random((20, 4)) < 0.5) * [1, 1, 0, 1])
    X = sp.random(20, 50, density=0.2, random_state=rng, format="csr")
    return SimpleNamespace(data=X, target=Y, target_names=np.array(["C11", "C12", "unused", "GCAT"], dtype=object))


def covers(data_home: str) -> SimpleNamespace:
    rng = np.random.default_rng(1)
    return SimpleNamespace(data=rng.random((21, 4)), target=np.arange(21) % 7 + 1, feature_names=["a", "b", "c", "d"])


@pytest.mark.parametrize(
    ("name", "fetcher", "stand_in", "shape", "sets"),
    [
        ("news20", "fetch_20newsgroups_vectorized", texts, (12, 30, 3), False),
        ("rcv1", "fetch_rcv1", topics, (20, 50, 3), True),
        ("covtype", "fetch_covtype", covers, (21, 4, 7), False),
    ],
)
def test_each_source_keeps_its_matrix_labels_and_names(
    name: str, fetcher: str, stand_in: Callable[..., SimpleNamespace], shape: tuple[int, int, int], sets: bool,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr(sklearn.datasets, fetcher, stand_in)
    data = ss.datasets.fetch(name, test_size=0.0)
    assert (data.n, data.d, data.m) == shape
    assert (data.y.ndim == 2) == sets
    if not sets:  # the names belong to the labels
        stated = stand_in(data_home="", **({"subset": "train"} if name == "news20" else {}))
        assert np.array_equal(data.y, stated.target - stated.target.min())
    problem = ss.Problem(data, loss="multitask-squared-hinge" if sets else "multiclass-squared-hinge", lam_ratio=0.5)
    assert ss.solve(problem).converged
    if name == "news20":
        assert data.feature_names is not None and data.feature_names[3] == "wörd3"
        assert data.class_names == ["a.b", "c", "d"] and data.test is not None


def test_every_source_has_a_stand_in_here() -> None:
    images = {"mnist", "fashion-mnist"}  # one reader, with another name of OpenML
    assert {*_fetching.SOURCES} == images | {"news20", "rcv1", "covtype"}


def test_the_command_fetches_and_says_what_it_kept(openml: SimpleNamespace, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["datasets", "--fetch", "mnist"]) == cli.DONE
    out, err = capsys.readouterr()
    assert "mnist: n 12, d 784, m 2" in out and "Fetching mnist from OpenML" in err
    assert cli.main(["datasets", "--fetch", "nothing"]) == cli.FAILED
    assert "no data set 'nothing' can be fetched" in capsys.readouterr().err
