"""Uploads: roles of columns, what is left out, limits, hostile files, and who sees what was uploaded."""

from __future__ import annotations

import asyncio
import contextvars
import gzip
import io
import pickle
import re
import threading
import zipfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import serving
from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse

import sparsescope as ss
from sparsescope import datasets
from sparsescope.app import Page
from sparsescope.app.data import correlations
from sparsescope.dashboard import uploads as sending
from sparsescope.dashboard.gate import Gate
from sparsescope.dashboard.page import Site
from sparsescope.dashboard.uploads import Shelves, cookie_name
from sparsescope.datasets.columns import from_table, look_at
from sparsescope.datasets.uploads import Limits, Shelf, Upload, read_upload, shown_title, suffix_of, visible
from sparsescope.live.jobs import Jobs
from sparsescope.registry import app_pages
from sparsescope.runs.processes import Helpers
from waiting import told_until

SMALL = Limits(bytes=4000, memory=2**20, rows=50, columns=6, features=40, cells=200, files=2, kept=2**20)
MIXED = "id,comment,age,colour,same,label\n" + "\n".join(
    f'{i},"word{i} the cat number {i % 7} {"purrs" if i % 2 else "barks loudly"}",{"" if i % 11 == 3 else i % 20},'
    f'{"red" if i % 3 else "blue"},5,{"yes" if i % 2 else "no"}'
    for i in range(120)
)  # fmt: skip


def written(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def table(n: int = 20, d: int = 2) -> str:
    head = ",".join([*(f"f{j}" for j in range(d)), "label"])
    return "\n".join([head, *(",".join([*(f"{i * 7 % 13 + j}" for j in range(d)), f"{i % 2}"]) for i in range(n))])


# ------------------------------------------------------------------------------------------------------------- columns
def test_the_roles_that_suit_columns_are_found_and_what_is_left_out_is_said(tmp_path: Path) -> None:
    made = read_upload(written(tmp_path, "x.csv", MIXED), "x.csv")
    roles = {column.name: column.role for column in made.columns}
    assert roles == {
        "id": "ignored", "comment": "text", "age": "feature", "colour": "feature", "same": "feature", "label": "label",
    }  # fmt: skip
    report = " ".join(made.report)
    assert "120 rows and 6 columns were read" in report
    assert "11 of 120 rows were left out" in report and "age: 11" in report and "first in row 4" in report
    assert "'same' was left out: constant" in report and "'id' was ignored" in report
    assert made.data is not None and made.data.n + len(made.data.y_test) == 109
    names = made.data.feature_names or []
    assert {"age", "colour=red", "comment: purrs"} <= set(names)
    assert made.data.class_names == ["no", "yes"]


def test_words_are_learned_from_the_training_rows_by_scikit_learns_vectoriser() -> None:
    from sklearn.feature_extraction.text import TfidfVectorizer

    frame = pd.read_csv(io.StringIO(MIXED))
    roles = dict.fromkeys(frame.columns, "ignored") | {"comment": "text", "label": "label"}
    data, _ = from_table(frame, roles, name="x", seed=3)
    other, _ = from_table(frame, roles, name="x", seed=3, words="presence")
    y = np.array([name == "yes" for name in frame["label"]], dtype=int)
    from sparsescope.datasets.raw import stratified_split

    train, test = stratified_split(y, 0.25, 3)
    vectoriser = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(frame["comment"].iloc[train])
    assert data.feature_names == list(vectoriser.get_feature_names_out())
    expected = vectoriser.transform(frame["comment"].iloc[test])
    assert np.allclose(data.X_test.toarray(), expected.toarray())
    assert set(np.unique(other.X.toarray())) == {0.0, 1.0}


def test_roles_that_make_no_data_set_are_refused_in_words_and_can_be_mended(tmp_path: Path) -> None:
    made = read_upload(written(tmp_path, "x.csv", MIXED), "x.csv")
    wrong = made.with_roles({"label": "feature"})
    assert wrong.data is None and "exactly one" in wrong.error
    wrong = made.with_roles({"label": "feature", "id": "label"})
    assert wrong.data is None and "'id' has 109 different values" in wrong.error
    alone = dict.fromkeys(("comment", "age", "colour", "same"), "ignored")
    assert "at least one feature" in made.with_roles(alone).error
    assert "role" in made.with_roles({"age": "nonsense"}).error
    assert made.with_roles({"label": "feature", "colour": "label"}).data is not None


def test_a_label_is_a_column_with_few_values() -> None:
    frame = pd.DataFrame({"x": np.linspace(0, 1, 40), "kind": ["a", "b"] * 20, "z": np.linspace(1, 2, 40)})
    assert [c.role for c in look_at(frame)] == ["feature", "label", "feature"]


# -------------------------------------------------------------------------------------------------------------- limits
@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("x.csv", table(n=60), "60 rows"),
        ("x.csv", table(n=3, d=8), "9 columns"),
        ("x.csv", table(n=40, d=5), "cells"),
        ("x.csv", "a\n" + "," * 3000, "cells"),
        ("x.svm", "1 41:1\n2 1:1\n", "41 features"),
        ("x.svm", "1 999999999:1\n2 1:1\n", "memory"),
        ("x.svm", "".join(f"{i % 2} {i % 5 + 1}:1\n" for i in range(60)), "60 rows"),
        ("x.csv.gz", gzip.compress(b"a,label\n" + b"1,2\n" * 500_000), "(memory|cells)"),
        ("x.exe", b"\x7fELF\x00\x01", "format"),
        ("", b"\x00" * 100, "format"),
        ("x.csv", b"\xff\xfe\x00", "text"),
        ("x.csv", "", "empty"),
        ("x.npz", b"PK\x03\x04 nonsense", "npz"),
    ],
)
def test_what_is_too_much_or_unreadable_gets_a_sentence(tmp_path: Path, name: str, content: Any, said: str) -> None:
    import re

    path = written(tmp_path, "1234" + suffix_of(name), content)
    with pytest.raises(ValueError, match=said) as caught:
        read_upload(path, name, SMALL)
    text = str(caught.value)
    assert str(tmp_path) not in text and "SPARSESCOPE_MEMORY_GB" not in text and len(text) < 600
    assert not re.search(r"Traceback|line \d+, in", text)


def test_archives_that_unpack_to_more_than_allowed_are_not_unpacked(tmp_path: Path) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, shape in (("X", (300_000, 20)), ("y", (300_000,))):
            part = io.BytesIO()
            np.lib.format.write_array_header_1_0(part, {"descr": "<f8", "fortran_order": False, "shape": shape})
            archive.writestr(f"{key}.npy", part.getvalue() + bytes(8 * int(np.prod(shape))))
    assert len(bomb.getvalue()) < 200_000
    with pytest.raises(ValueError, match="memory"):
        read_upload(written(tmp_path, "x.npz", bomb.getvalue()), "x.npz", SMALL)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "was here",))

    np.savez(tmp_path / "x.npz", X=np.array([Evil()], dtype=object), y=np.array([1]))
    with pytest.raises(ValueError, match="unpickled"):
        read_upload(tmp_path / "x.npz", "x.npz")
    with pytest.raises(ValueError, match=r"(format|text)"):
        read_upload(written(tmp_path, "y", pickle.dumps(Evil())), "y.pkl")
    assert not (tmp_path / "was here").exists()


@pytest.mark.parametrize(
    ("given", "title"),
    [
        ("../../etc/passwd", "passwd"), ("C:\\Users\\ann\\x.csv", "x.csv"), ("<img src=x onerror=alert(1)>.csv", None),
        ("a\u202egpj.csv", "agpj.csv"), ("\x00\n\t", "file"), ("", "file"), ("x" * 5000 + ".csv", None),
    ],
)  # fmt: skip
def test_names_of_files_are_texts_and_never_paths(tmp_path: Path, given: str, title: str | None) -> None:
    shown = shown_title(given)
    assert title is None or shown == title
    assert len(shown) <= 80 and "/" not in shown and "\\" not in shown
    made = read_upload(written(tmp_path, "a.csv", table()), given)
    assert made.title == shown and made.name.startswith("upload:") and len(made.name) <= 47
    assert all(c.isalnum() or c in "_.-" for c in made.name.removeprefix("upload:"))


# --------------------------------------------------------------------------------------------------------------- shelf
def upload(tmp_path: Path, name: str = "mine.csv") -> Upload:
    return read_upload(written(tmp_path, "a.csv", table()), name)


def test_an_upload_is_seen_by_its_owner_only(tmp_path: Path) -> None:
    mine, other = Shelf(), Shelf()
    kept = mine.put(upload(tmp_path))
    assert kept.name == "upload:mine" and mine.key != other.key and len(mine.key) > 30
    with visible(mine):
        assert kept.name in ss.datasets.names() and ss.datasets.load(kept.name).n == 15
        seen: list[bool] = []
        threads = [
            threading.Thread(target=lambda: seen.append(kept.name in ss.datasets.names())),
            threading.Thread(
                target=contextvars.copy_context().run, args=(lambda: seen.append(kept.name in ss.datasets.names()),)
            ),
        ]
        for thread in threads:
            thread.start()
            thread.join()
        assert seen == [False, True]
        jobs = Jobs()
        jobs.start(lambda: ss.datasets.load(kept.name).n)
        assert jobs.wait(60) and jobs.collect().value == 15  # type: ignore[union-attr]
    for shelf in (other, None):
        with visible(shelf):
            assert kept.name not in ss.datasets.names()
            with pytest.raises(ss.registry.UnknownName, match="another browser, or is gone"):
                ss.datasets.load(kept.name)


def test_a_shelf_holds_so_many_files_and_names_them_apart(tmp_path: Path) -> None:
    shelf = Shelf(SMALL)
    assert [shelf.put(upload(tmp_path)).name for _ in range(2)] == ["upload:mine", "upload:mine-2"]
    with pytest.raises(ValueError, match="remove one"):
        shelf.put(upload(tmp_path))
    shelf.remove("upload:mine")
    assert shelf.names() == ["upload:mine-2"] and shelf.load("upload:mine") is None
    tight = Shelf(Limits(kept=10))
    with pytest.raises(ValueError, match="GiB"):
        tight.put(upload(tmp_path))


def test_shelves_are_found_by_their_key_and_forgotten_when_nobody_uses_them(tmp_path: Path) -> None:
    shelves = Shelves()
    shelf = shelves.of(None)
    shelf.put(upload(tmp_path))
    assert shelves.of(shelf.key) is not shelf, "an empty shelf is not kept"
    shelves.keep(shelf)
    assert shelves.of(shelf.key) is shelf and shelves.of("guess") is not shelf and len(shelves) == 1
    shelves.sweep([shelf], 0.0)
    assert len(shelves) == 1
    shelves.sweep([], 3600.0)
    assert len(shelves) == 1
    shelves.sweep([], -1.0)
    assert len(shelves) == 0


def test_a_seed_splits_an_upload_anew(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    np.savez(tmp_path / "plain.npz", X=X, y=y)
    np.savez(tmp_path / "own.npz", X=X[:40], y=y[:40], X_test=X[40:], y_test=y[40:])
    shelf = Shelf()
    plain = shelf.put(read_upload(tmp_path / "plain.npz", "plain.npz")).name
    own = shelf.put(read_upload(tmp_path / "own.npz", "own.npz")).name
    rows = shelf.put(read_upload(written(tmp_path, "t.csv", table(60, 3)), "t.csv")).name
    with visible(shelf):
        for name in (plain, rows):
            first, again, other = (datasets.load(name, seed=seed) for seed in (0, 5, 6))
            assert first is shelf.get(name).data and not np.array_equal(again.X, other.X)  # type: ignore[union-attr]
            assert again.X.shape == other.X.shape == first.X.shape and again.name == name
            assert datasets.load(name, seed=6) is other, "the last split is kept"
        assert np.array_equal(datasets.load(own, seed=5).X, datasets.load(own).X), "its own test part stays"
        page = app_pages["data"](None, {"dataset": plain})
        page.on_message({"type": "ready"})
        page.on_message({"type": "set", "changes": {"seed": 5}})
        told_until(page, lambda _: shelf.get(plain).options["seed"] == 5)  # type: ignore[union-attr]
        page.close()
        assert np.array_equal(datasets.load(plain).X, datasets.load(plain, seed=5).X), "the page of the data chose it"


@pytest.mark.parametrize("sparse", [False, True])
def test_the_largest_correlations_are_those_of_numpy(sparse: bool) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(50, 6)) * (rng.random((50, 6)) < 0.6)
    X[:, 4] = -2.0 * X[:, 1] + 0.01 * rng.normal(size=50)
    X[:, 5] = 3.0  # does not vary
    found = correlations(sp.csc_array(X) if sparse else X, list("abcdef"))
    expected = np.corrcoef(X[:, :5].T)
    assert (found[0]["first"], found[0]["second"]) in (("b", "e"), ("e", "b")) and found[0]["value"] < -0.99
    for pair in found:
        i, j = "abcdef".index(pair["first"]), "abcdef".index(pair["second"])
        assert pair["value"] == pytest.approx(expected[i, j], abs=2e-3)
    assert len(found) == 10 and "f" not in {name for pair in found for name in (pair["first"], pair["second"])}


def test_pages_take_an_upload_by_its_name_and_refuse_that_of_another_browser(tmp_path: Path) -> None:
    shelf = Shelf()
    name = shelf.put(upload(tmp_path)).name
    for page in ("explorer", "path", "race", "data"):
        kind = app_pages[page]
        with visible(shelf):
            clean, notices = kind.settings_from_query({"dataset": name})
            assert clean["dataset"] == name and not notices
            assert kind.query_from_settings(clean)["dataset"] == name
        clean, notices = kind.settings_from_query({"dataset": name})
        assert clean["dataset"] != name and len(notices) == 1


PAGES = [
    name
    for name in app_pages
    if isinstance(app_pages[name], type)
    and issubclass(app_pages[name], Page)
    and any(f.name == "dataset" for f in app_pages[name].fields)
]


@pytest.mark.parametrize("name", PAGES)
def test_the_computation_of_every_page_finds_the_upload(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf, found = Shelf(), threading.Event()
    kept = shelf.put(upload(tmp_path)).name
    load = Shelf.load
    monkeypatch.setattr(Shelf, "load", lambda self, wanted: (found.set(), load(self, wanted))[1])
    with visible(shelf):
        page = app_pages[name](None, {"dataset": kept})
        assert page.settings["dataset"] == kept and not page.notices
        page.on_message({"type": "ready"})
        menu = next(c for g in page.controls() for c in g["controls"] if c["id"] == "dataset")
        assert kept in [choice["value"] for choice in menu["choices"]]
    if name != "data":  # which looks at the shelf itself
        assert found.wait(120)
    page.close()


# ------------------------------------------------------------------------------------------------------------- handler
SECRET = "a secret of a page"


class ConnectedPage:
    """A page, as far as the handler asks for it."""

    token, explorer, connected = SECRET, object(), True

    def __init__(self) -> None:
        self.shelf = Shelf(SMALL)

    def close(self) -> None:
        pass


def serve(visit: Callable[[int, Site, Any], Awaitable[Any]], gate: Gate | None = None) -> Any:
    """Run a visitor against a server with one connected page."""
    page = ConnectedPage()

    def make() -> Site:
        site = Site(shelves=Shelves(SMALL))
        site.open.add(page)  # type: ignore[arg-type]
        return site

    return serving.serve(lambda site, port: visit(port, site, page), gate, make)


async def send(port: int, body: bytes, method: str = "POST", **headers: str) -> HTTPResponse:
    named = {"Content-Type": "application/octet-stream", "X-Sparsescope-Page": SECRET, "X-Sparsescope-Name": "x.csv"}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    patient: dict[str, Any] = {"connect_timeout": 120.0, "request_timeout": 120.0}
    request = HTTPRequest(
        f"http://127.0.0.1:{port}/upload",
        method=method,
        headers=named,
        body=body,
        allow_nonstandard_methods=True,
        **patient,
    )
    return await AsyncHTTPClient().fetch(request, raise_error=False)


def folders() -> set[Path]:
    import tempfile

    return set(Path(tempfile.gettempdir()).glob("sparsescope-upload-*"))


def test_a_file_is_kept_for_the_browser_that_sent_it_and_deleted_from_the_disk() -> None:
    before = folders()

    async def visit(port: int, site: Site, page: Any) -> None:
        answer = await send(port, table().encode(), X_Sparsescope_Name="my%20d%C3%A4ta.csv")
        assert answer.code == 200 and b'"upload:my-d\\u00e4ta"' in answer.body
        cookie = answer.headers["Set-Cookie"]
        assert cookie.startswith(cookie_name(port) + "=") and "HttpOnly" in cookie and "SameSite=Strict" in cookie
        key = cookie.partition("=")[2].partition(";")[0]
        assert site.shelves.of(key) is page.shelf and page.shelf.names() == ["upload:my-däta"]
        assert answer.headers["Cache-Control"] == "no-store"

    serve(visit)
    assert folders() == before


@pytest.mark.parametrize(
    ("headers", "body", "status", "said"),
    [
        ({"X_Sparsescope_Page": "guess"}, b"x", 403, "open pages"),
        ({"X_Sparsescope_Page": ""}, b"x", 403, "open pages"),
        ({"Origin": "http://evil.example"}, b"x", 403, "other servers"),
        ({"Host": "evil.example"}, b"x", 403, "go by the name"),
        ({"Content_Type": "multipart/form-data"}, b"x", 415, "octet-stream"),
        ({}, b"x" * 4001, 413, "larger than"),
        ({}, b"a,label\n1,2,3\n", 422, "x.csv"),
        ({"X_Sparsescope_Name": "../../../etc/passwd"}, b"\x00\x01", 422, "passwd"),
        ({"bokeh-session-id": "x"}, b"a,label\n1,2,3\n", 422, "x.csv"),
        ({"Bokeh-Session-Id": "x"}, b"x", 403, "Sessions"),
    ],
)
def test_what_is_not_taken_is_refused_before_or_after_it_is_read(
    headers: dict[str, str], body: bytes, status: int, said: str
) -> None:
    before = folders()
    if "bokeh-session-id" in headers:  # headers know no case: the gate refuses this one too
        status, said = 403, "Sessions"

    async def visit(port: int, site: Site, page: Any) -> None:
        answer = await send(port, body, **headers)
        assert answer.code == status and said in answer.body.decode(), answer.body
        assert "Set-Cookie" not in answer.headers and not page.shelf.items and len(site.shelves) == 0

    serve(visit)
    assert folders() == before


class _Order:
    """A job of another process, as far as an upload needs one."""

    def __init__(self, answers: list[Any]) -> None:
        self.answers, self.put_in, self.ended = answers, [], False

    def __enter__(self) -> _Order:
        return self

    def __exit__(self, *_: Any) -> None:
        self.ended = True

    def put(self, method: str) -> None:
        self.put_in.append(method)

    def get(self, seconds: float) -> Any:
        return self.answers.pop(0)


def test_a_large_file_is_read_in_another_process_which_ends_with_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, "x.csv", table())
    asked: list[Any] = []
    gone = threading.Event()
    upload = read_upload(path, "x.csv")
    orders = [_Order([None, ((), False, upload), None, ((), True, None)]), _Order([None]), None]
    offered = iter(orders)
    monkeypatch.setattr(sending, "READERS", SimpleNamespace(job=lambda given: asked.append(given) or next(offered)))
    assert sending._read(path, "x.csv", SMALL, gone).name == upload.name and not asked, "a small one is read here"
    monkeypatch.setattr(sending, "LARGE", 0)
    assert sending._read(path, "x.csv", SMALL, gone) is upload
    (made,) = asked[0].read()
    assert made.name == upload.name and made.data is not None, "what the other process does"
    monkeypatch.setattr(orders[1], "get", lambda seconds: gone.set())
    with pytest.raises(ValueError, match="is closed"):
        sending._read(path, "x.csv", SMALL, gone)
    assert orders[0].ended and orders[1].ended and orders[0].put_in == ["read"]
    assert sending._read(path, "x.csv", SMALL, gone).name == upload.name, "where no process can be had"


@pytest.mark.slow
def test_a_real_process_reads_a_file_and_refuses_one_with_the_same_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "LARGE", 0)
    monkeypatch.setattr(sending, "READERS", Helpers(1, idle_seconds=0.1))
    path, gone = written(tmp_path, "x.csv", table()), threading.Event()
    there, here = sending._read(path, "x.csv", SMALL, gone), read_upload(path, "x.csv", SMALL)
    assert there.report == here.report and there.roles == here.roles and there.data is not None
    np.testing.assert_array_equal(there.data.X, here.data.X)  # type: ignore[union-attr]
    with pytest.raises(ValueError) as said:
        read_upload(written(tmp_path, "y.csv", table(60)), "y.csv", SMALL)
    with pytest.raises(ValueError, match=re.escape(str(said.value))):
        sending._read(tmp_path / "y.csv", "y.csv", SMALL, gone)


def test_a_file_without_an_announced_size_ends_at_the_limit() -> None:
    async def visit(port: int, site: Site, page: Any) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = (
            f"POST /upload HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/octet-stream\r\n"
            f"X-Sparsescope-Page: {SECRET}\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        writer.write(head.encode())
        for _ in range(10):
            writer.write(b"3e8\r\n" + b"x" * 1000 + b"\r\n")
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        answer = await reader.read(4000)
        assert b" 413 " in answer or b" 400 " in answer or not answer
        writer.close()
        assert not page.shelf.items

    before = folders()
    serve(visit)
    assert folders() == before


def test_other_methods_and_a_page_that_is_gone_are_refused() -> None:
    async def visit(port: int, site: Site, page: Any) -> None:
        assert (await send(port, b"", method="GET")).code == 405
        page.connected = False
        assert (await send(port, table().encode())).code == 403
        page.connected = True
        for _ in range(2):
            assert (await send(port, table().encode())).code == 200
        answer = await send(port, table().encode())
        assert answer.code == 409 and "remove one" in answer.body.decode()

    serve(visit)


def test_an_open_address_asks_for_the_token() -> None:
    async def visit(port: int, site: Site, page: Any) -> None:
        assert (await send(port, table().encode())).code == 403
        assert (await send(port, table().encode(), Authorization="token " + "t" * 32)).code == 200

    serve(visit, Gate("0.0.0.0", (), "t" * 32))


def test_a_browser_that_comes_back_is_told_again_what_the_data_are() -> None:
    page = app_pages["data"]()
    page.on_message({"type": "ready"})
    told_until(page, lambda said: any(message["type"] == "described" for message in said))
    page.on_message({"type": "ready"})
    again = [header["type"] for header, _ in page.poll()]
    page.close()
    assert again.count("described") == 1
