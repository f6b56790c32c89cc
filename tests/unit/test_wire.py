"""The websocket beside Bokeh's: its secret, the change-over in both directions, its limits, and its messages."""

from __future__ import annotations

import asyncio
import gc
import json
import struct
import weakref
from types import SimpleNamespace
from typing import Any

import pytest
from bokeh.document import Document
from bokeh.models import Div
from serving import serve
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from sparsescope.dashboard import parcel as parcels
from sparsescope.dashboard import wire as wires
from sparsescope.dashboard.bridge import Bridge, ExplorerPane
from sparsescope.dashboard.gate import Gate
from sparsescope.dashboard.page import Site

LONG = 120.0


async def connected(port: int, **headers: str) -> Any:
    return await websocket_connect(HTTPRequest(f"ws://127.0.0.1:{port}/wire", headers=headers, connect_timeout=LONG))


@pytest.mark.parametrize("text", ["{}", '{"type": "frame", "λ": "½"}', "[" + "1," * 999 + "1]"])
@pytest.mark.parametrize("size", [0, 8, 1000])
def test_a_packed_message_is_its_header_and_an_aligned_block(text: str, size: int) -> None:
    block = bytes(range(256)) * (size // 256) + bytes(size % 256)
    made = parcels.packed(text, block)
    (length,) = struct.unpack("<I", made[:4])
    assert (4 + length) % 8 == 0 and json.loads(made[4 : 4 + length]) == json.loads(text)
    assert made[4 + length :] == block


def test_a_page_changes_over_and_loses_no_message(page_client: Any) -> None:
    async def visit(site: Site, port: int) -> None:
        pages = [page_client(port, {"dataset": "iris", "speed": "max"}, wire=wire) for wire in (True, False)]
        for page in pages:
            await page.open()
            for k in range(20):  # some before, some while and some after the page changes over
                await page.set(lam_ratio=0.5 / (k + 1))
                await asyncio.sleep(0.005)
            await page.until(lambda page=page: not page.waiting)
            await page.do("run")
            # Ten frames, or fewer of a run that ends before them.
            await page.until(lambda page=page: page.headers["frame"] > 10 or page.frame["mode"] == "finished")
            assert not page.errors
        await pages[0].until(lambda: pages[0].on_wire)
        assert not pages[1].on_wire
        (through,) = [bridge for bridge in site.open if bridge._wire is not None]
        assert through.token == pages[0].token
        wanted = pytest.approx(0.025)  # the last change, which a frame with an earlier one may have hidden
        await pages[1].until(lambda: all(bridge.explorer.settings["lam_ratio"] == wanted for bridge in site.open))
        seen = [{**page.headers, "frame": 0, "notices": 0, "wire": 0, "controls": 0, "address": 0} for page in pages]
        assert seen[0] == seen[1], "the same messages on both ways"
        for page in pages:
            await page.close()
            assert not page.endings, "it has closed them itself"

    serve(visit)


def test_a_page_whose_websocket_breaks_begins_anew_on_bokehs_channel(page_client: Any) -> None:
    async def visit(site: Site, port: int) -> None:
        page = await page_client(port, {"dataset": "iris", "speed": "max"}).open()
        await page.until(lambda: page.on_wire)
        page._wire.close()
        await page.until(lambda: not page.on_wire)
        await page.say({"type": "ready", "version": 1, "rejoin": None})  # as the page's shell does
        await page.do("run")
        await page.until(lambda: not page.waiting)
        (bridge,) = site.open
        assert bridge._wire is None and not bridge._mute and not page.errors
        await page.close()

    serve(visit)


def test_the_websocket_asks_for_the_secret_of_a_page_and_stands_behind_the_gate(page_client: Any) -> None:
    async def visit(site: Site, port: int) -> None:
        named = {"Authorization": "token secret"}
        page = page_client(port, {"dataset": "iris"}, cookie=f"sparsescope-token-{port}=secret")
        await page.open()
        await page.until(lambda: page.on_wire)
        for headers in ({}, {**named, "Origin": "http://evil.example"}, {**named, "Host": "evil.example"}):
            with pytest.raises(HTTPClientError, match="403"):
                await connected(port, **headers)
        first = {"wire": page.token}
        wrong: list[Any] = [{"wire": ""}, {"wire": "x" * 32}, {"wire": 5}, {}, [], 5, first, {"type": "do"}, "[" * 90]
        for message in wrong:  # the page's own secret too: it has its websocket
            socket = await connected(port, **named)
            await socket.write_message(message if isinstance(message, str) else json.dumps(message))
            assert await socket.read_message() is None and socket.close_code in (1008, 1009)
        await page.do("run")
        await page.until(lambda: not page.waiting)
        await page.close()

    serve(visit, Gate("0.0.0.0", token="secret"))


def test_a_websocket_without_a_secret_is_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wires, "JOIN_SECONDS", 0.05)

    async def visit(site: Site, port: int) -> None:
        socket = await connected(port)
        assert await socket.read_message() is None

    serve(visit)


def test_messages_beyond_the_limits_end_the_websocket_and_not_the_page(page_client: Any) -> None:
    async def visit(site: Site, port: int) -> None:
        page = await page_client(port, {"dataset": "iris"}).open()
        await page.until(lambda: page.on_wire)
        await page._wire.write_message("[" * 50 + "]" * 50)
        await page.until(lambda: not page.on_wire)
        assert page.endings == ["the page's own websocket ended: 1009, message beyond the limits"]
        await page.say({"type": "ready", "version": 1, "rejoin": None})
        await page.do("run")
        await page.until(lambda: not page.waiting)
        await page.close()

    serve(visit)


def test_a_page_that_is_gone_leaves_nothing_behind(page_client: Any) -> None:
    async def visit(site: Site, port: int) -> None:
        page = await page_client(port, {"dataset": "iris"}).open()
        await page.until(lambda: page.on_wire)
        (bridge,) = site.open
        # Panel's busy counter, one for all sessions, used to hold the page and with it the bridge and the document.
        left = [weakref.ref(part) for part in (bridge.explorer, bridge, bridge._document)]
        del bridge
        await page.close()
        while site.open or any(part() is not None for part in left):
            await asyncio.sleep(0.05)
            gc.collect()

    serve(visit, linger=0.2)


def test_a_page_that_vanishes_in_mid_message_leaves_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold that nobody prints the error which its writes raise then, as asyncio would."""
    told: list[str] = []
    bridges: list[Any] = []
    monkeypatch.setattr(Site, "bridge", lambda _site, _secret: bridges[0])
    large = SimpleNamespace(packed=b"x" * 5_000_000)  # more than the system takes at once

    async def visit(site: Site, port: int) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.append(context["message"]))
        handlers: list[Any] = []
        found = SimpleNamespace(join=lambda wire: handlers.append(wire) or True, part=lambda wire: gone.set())
        gone = asyncio.Event()
        bridges.append(found)
        socket = await connected(port)
        await socket.write_message('{"wire": "any"}')
        while not handlers:
            await asyncio.sleep(0.01)
        for _ in range(2):
            handlers[0].send(large)
        socket.stream.close()
        handlers[0].send(large)
        await gone.wait()
        handlers[0].send(large)  # and afterwards
        await asyncio.sleep(0.05)
        gc.collect()  # a task tells of its error when it is thrown away
        await asyncio.sleep(0.05)

    serve(visit)
    assert told == []


def bridge_without_a_server(sent: list[Any]) -> Bridge:
    pane: Any = SimpleNamespace(on_msg=lambda f: None, _send_msg=lambda m: sent.append(json.loads(m["header"])["type"]))
    explorer = SimpleNamespace(on_message=lambda m: None, poll=list, suspend=lambda: None, close=lambda: None)
    link = Bridge(pane, lambda: explorer)
    link.explorer = explorer
    return link


def test_messages_are_written_in_order_while_something_else_holds_the_document() -> None:
    written: list[str] = []

    async def send(event: Any) -> None:
        await asyncio.sleep(0)  # others have their turn between two messages
        written.append(json.loads(event.msg_data.data["header"])["type"])

    async def go() -> None:
        document = Document()
        document.hold("combine")  # as Panel does, in a thread too, while it loads a page
        session: Any = SimpleNamespace(
            destroyed=False, _subscribed_connections=[SimpleNamespace(send_patch_document=send)]
        )
        document._session_context = lambda: SimpleNamespace(session=session)  # type: ignore[assignment]
        pane = ExplorerPane()
        model = Div()
        document.add_root(model)
        pane._models = {"page": (model, None)}
        link = bridge_without_a_server([])
        link.pane, link._document = pane, document
        for name in "abc":
            link._send({"type": name})
            link._flush()
        assert link._writing is not None
        link._send({"type": "wire"})
        link._send({"type": "after"})
        link._flush()
        await link._writing
        assert written == ["a", "b", "c", "wire"] and link._mute and link._writing is None
        link._send({"type": "x", "bad": float("nan")})  # no JSON: said on the page, and the next one comes
        link._mute = False
        while link._out or link._writing is not None:
            link._flush()
            await asyncio.sleep(0)
        assert written[4:] == ["after", "error"]

    asyncio.run(asyncio.wait_for(go(), LONG))


def test_nothing_is_said_between_the_last_word_here_and_the_first_word_there() -> None:
    here: list[str] = []
    there: list[str] = []
    link = bridge_without_a_server(here)
    wire = SimpleNamespace(send=lambda parcel: there.append(parcel.type), close=lambda: None)
    link._send({"type": "a"})
    assert link.join(wire) and not link.join(wire)
    link._send({"type": "b"})
    link.receive({"type": "wired"})  # too early: the server has not said its last word
    assert link._wire is None
    link._flush()
    link._send({"type": "c"})
    link._flush()
    assert (here, there) == (["a", "wire"], [])
    link.receive({"type": "wired"})
    assert there == ["open", "b", "c"]
    link.part(wire)
    link._send({"type": "d"})
    link._flush()
    assert (here, there) == (["a", "wire", "d"], ["open", "b", "c"])
    link.close()
    assert not link.join(wire)
