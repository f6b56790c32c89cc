"""The Panel shell without a browser: what the bridge passes on, the life of an explorer, places on a server."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet
from panel.io.state import set_curdoc

from sparsescope import live
from sparsescope.dashboard.assets import module_address
from sparsescope.dashboard.bridge import Bridge, public, summary
from sparsescope.dashboard.page import THEME, Site
from sparsescope.dashboard.server import PortInUse, make_server
from sparsescope.live.assets import STATIC


class Pane:
    """Keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[dict[str, Any], bytes | None]] = []

    def on_msg(self, callback: Any) -> None:
        self.callback = callback

    def _send_msg(self, message: dict[str, Any]) -> None:
        self.sent.append((json.loads(message["header"]), message["block"]))


class Explorer:
    """Answers each message with one of two buffers."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.closed = 0
        self.settings_changed: Any = None
        self.answers: list[Any] = []

    def on_message(self, message: Any) -> None:
        self.messages.append(message)
        self.answers.append(({"type": "frame"}, [b"abc", b"de"]))

    def poll(self) -> list[Any]:
        answers, self.answers = self.answers, []
        return answers

    def close(self) -> None:
        self.closed += 1

    query_from_settings = staticmethod(live.Explorer.query_from_settings)


def test_an_explorer_is_built_when_the_page_is_ready_and_not_before() -> None:
    built: list[Explorer] = []

    def make() -> Explorer:
        built.append(Explorer())
        return built[0]

    link = Bridge(Pane(), make)
    link.receive({"type": "credit", "n": 1})
    assert not built
    link.receive({"type": "ready"})
    link.receive({"type": "ready"})
    assert len(built) == 1
    assert [message["type"] for message in built[0].messages] == ["ready", "ready"]


def test_buffers_travel_as_one_block() -> None:
    pane = Pane()
    Bridge(pane, Explorer).receive({"type": "ready"})
    assert pane.sent[-1] == ({"type": "frame"}, b"abcde")


def test_the_address_follows_the_settings() -> None:
    pane, explorer = Pane(), Explorer()
    link = Bridge(pane, lambda: explorer)
    link.receive({"type": "ready"})
    explorer.settings_changed({"dataset": "digits", "lam_ratio": 0.25, "penalty": "l1/l2"})
    link.poll()
    header, block = pane.sent[-1]
    assert header == {"type": "address", "query": "dataset=digits&lam_ratio=0.25&penalty=l1%2Fl2"}
    assert block is None


def test_the_summary_of_the_data_reaches_the_header() -> None:
    explorer, texts = Explorer(), []
    link = Bridge(Pane(), lambda: explorer)
    link.on_summary = texts.append
    explorer.answers.append(({"type": "problem", "letters": "ndm", "name": "digits", "n": 1348, "d": 64, "m": 10}, []))
    link.receive({"type": "ready"})
    assert texts == [summary({"letters": "ndm", "name": "digits", "n": 1348, "d": 64, "m": 10})]
    assert texts[0].startswith("digits · n 1") and texts[0].endswith("m 10")


def test_a_failure_is_said_on_the_page_and_said_once() -> None:
    def fail() -> Explorer:
        raise RuntimeError("no memory left")

    pane = Pane()
    link = Bridge(pane, fail)
    link.receive({"type": "ready"})
    header, _ = pane.sent[0]
    assert header["type"] == "error"
    assert header["text"] == "RuntimeError: no memory left"
    assert "Traceback" in header["detail"]

    explorer = Explorer()
    explorer.poll = fail  # type: ignore[method-assign, assignment]
    link = Bridge(Pane(), lambda: explorer)
    for _ in range(5):
        link.explorer = explorer
        link.poll()
    assert len(link.pane.sent) == 1


def test_strangers_are_told_of_errors_without_paths_and_lines_of_code(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> Explorer:
        raise ValueError("/home/ann/secret/data.csv is empty")

    for local in (True, False):
        pane = Pane()
        Bridge(pane, fail, local=local).receive({"type": "ready"})
        header, _ = pane.sent[0]
        assert ("/home/ann" in header["text"]) is ("Traceback" in header["detail"]) is local
        assert "data.csv is empty" in header["text"]
    assert "Traceback" in caplog.text and "/home/ann/secret" in caplog.text, "the log says it"


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        (
            {"type": "notices", "notices": ["C:\\work\\data\\x.npz is damaged", "l1/l2 is kept"]},
            {"notices": ["x.npz is damaged", "l1/l2 is kept"]},
        ),
        (
            {"type": "answer", "kind": "spectrum", "error": "no ~/data/a/b.npz", "detail": "Traceback"},
            {"error": "no b.npz", "detail": ""},
        ),
        (
            {"type": "answer", "kind": "snippet", "text": "ss.datasets.load('/a/b/c')"},
            {"text": "ss.datasets.load('/a/b/c')"},
        ),
        ({"type": "frame", "message": "MemoryError in /usr/lib/x.py"}, {"message": "MemoryError in x.py"}),
    ],
)
def test_what_strangers_see_names_files_without_folders(header: dict[str, Any], kept: dict[str, Any]) -> None:
    assert public(header) == header | kept


@pytest.mark.parametrize("message", [None, 3, "ready", ["ready"], [], True])
def test_messages_that_are_no_objects_are_dropped(message: Any) -> None:
    pane = Pane()
    link = Bridge(pane, Explorer)
    link.receive(message)
    assert not pane.sent and link.explorer is None


def test_closing_ends_the_explorer_once() -> None:
    explorer = Explorer()
    link = Bridge(Pane(), lambda: explorer)
    link.receive({"type": "ready"})
    link.close()
    link.close()
    assert explorer.closed == 1
    link.receive({"type": "ready"})
    assert len(explorer.messages) == 1


def test_closing_a_page_that_was_never_opened_is_harmless() -> None:
    Bridge(Pane(), Explorer).close()


def test_no_style_sheet_of_a_page_comes_from_outside() -> None:
    document = Document()
    with set_curdoc(document):
        root = Site().page().get_root(document)
    sheets = [sheet.url for sheet in root.select({"type": ImportedStyleSheet})]
    assert sheets and not [url for url in sheets if "//" in url]


def test_a_server_has_a_limited_number_of_places() -> None:
    site = Site(max_sessions=1)
    site.page()
    site.page()
    assert not site.full, "a page that is only fetched takes no place"
    first, second = site.open
    first._make_explorer = second._make_explorer = Explorer
    first.receive({"type": "ready"})
    first.__class__ = Connected  # there is a browser at the other end
    assert site.full
    refusal = site.page()
    assert len(site.open) == 2
    assert "All 1 places are taken" in refusal.main[0].object
    pane = second.pane = Pane()  # it was fetched while there was a place
    second.receive({"type": "ready"})
    assert second.explorer is None
    assert "All 1 places are taken" in pane.sent[0][0]["text"]
    first.close()
    site.open.discard(first)
    second.receive({"type": "ready"})
    assert second.explorer is not None and site.full
    site.close()
    assert not site.full and not site.open


class Remembering(Explorer):
    """Has settings."""

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__()
        self.settings = settings


def test_a_page_that_is_loaded_again_goes_on_with_its_run() -> None:
    site = Site(max_sessions=1, settings={"dataset": "iris"})
    clean = live.Explorer.settings_from_query({"dataset": "iris"})[0]
    site.page()
    (first,) = site.open
    first.pane = pane = Pane()
    running = Remembering(clean)
    first._make_explorer = lambda: running
    first.receive({"type": "ready", "rejoin": None})
    token = next(header["token"] for header, _ in pane.sent if header["type"] == "rejoin")
    assert len(token) >= 32

    def load_again(rejoin: Any) -> Bridge:
        site.max_sessions = 0 if first.connected else 1  # a full server lets a page in while one is awaited
        site.page()
        site.max_sessions = 1
        (page,) = site.open - {first}
        page.pane, page._make_explorer = Pane(), lambda: Remembering(clean)
        page.receive({"type": "ready", "rejoin": rejoin})
        return page

    for wrong in (None, "", "x", token[:-1], 3, ["x"]):
        page = load_again(wrong)
        assert page.explorer is None, "there is no place"
        site.open.discard(page)
    first.__class__ = Connected
    page = load_again(token)
    assert page.explorer is None, "a duplicated tab gets an explorer of its own, or none"
    site.open.discard(page)
    first.__class__ = Bridge
    running.settings = clean | {"lam_ratio": 0.5}
    page = load_again(token)
    assert page.explorer is None, "another address is another wish"
    site.open.discard(page)
    running.settings = clean
    page = load_again(token)
    assert page.explorer is running and running.closed == 0
    assert [message["type"] for message in running.messages] == ["ready", "ready"]
    assert page.token != token and site.open == {page}
    first.close()
    assert running.closed == 0, "the old page's end is not the run's end"
    site.close()
    assert running.closed == 1


class Connected(Bridge):
    """Still has its websocket."""

    connected = True  # type: ignore[assignment]


def test_without_a_limit_there_is_always_a_place() -> None:
    site = Site()
    site.open.update(Bridge(Pane(), Explorer) for _ in range(50))
    assert not site.full


def test_the_module_is_published_under_the_hash_of_its_text() -> None:
    address = module_address()
    assert address == module_address()
    path, _, version = address.partition("?v=")
    assert path == f"static/extensions/sparsescope/main-{version}.js"


def test_a_taken_port_has_its_own_error() -> None:
    server = make_server(Site(), 0)
    try:
        with pytest.raises(PortInUse, match="is taken by another program"):
            make_server(Site(), server.port)
    finally:
        server.stop()


@pytest.mark.parametrize(("theme", "selector"), [("light", ":host {"), ("dark", ':host([data-theme="dark"]) {')])
def test_behind_a_short_page_stands_the_colour_of_its_background(theme: str, selector: str) -> None:
    rule = (STATIC / "explorer.css").read_text(encoding="utf-8").split(selector)[1].split("}")[0]
    behind = re.search(r"--back: (#\w{6})", rule)
    assert behind is not None and THEME[theme]["palette"]["background"] == {"default": behind[1]}
