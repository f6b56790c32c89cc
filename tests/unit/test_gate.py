"""The door of the server: names, origins, tokens, session ids and sizes of messages, over real connections."""

from __future__ import annotations

import base64
import gzip
import json
import re
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable
from http.cookies import SimpleCookie
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
import serving
from bokeh.server.connection import ServerConnection
from bokeh.server.views.ws import WSHandler
from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse
from tornado.httputil import HTTPHeaders
from tornado.websocket import WebSocketClientConnection, websocket_connect

from sparsescope.dashboard import limits
from sparsescope.dashboard.gate import Gate, host_of, is_loopback, new_token
from sparsescope.dashboard.server import _chosen_token

SHELL = Path(limits.__file__).with_name("shell.js")
PATIENT: dict[str, Any] = {"connect_timeout": 120.0, "request_timeout": 120.0}
STATIC = "/favicon.ico"  # cheap, and behind the gate like everything else


def serve(gate: Gate, visit: Callable[[int], Awaitable[Any]]) -> Any:
    """Run a visitor, a coroutine function of the port, against a server with this gate."""
    return serving.serve(lambda _, port: visit(port), gate)


async def get(port: int, path: str = STATIC, **headers: str) -> HTTPResponse:
    """A plain request; redirects are not followed."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = HTTPRequest(f"http://127.0.0.1:{port}{path}", headers=named, follow_redirects=False, **PATIENT)
    return await AsyncHTTPClient().fetch(request, raise_error=False)


def request(path: str = "/", **headers: str) -> Any:
    """A request, as far as the gate reads it (Tornado's own class refuses some of these before the gate does)."""
    arguments = {
        key: [value.encode() for value in values]
        for key, values in parse_qs(urlsplit(path).query, keep_blank_values=True).items()
    }
    named = HTTPHeaders({name.replace("_", "-"): value for name, value in headers.items()})
    return SimpleNamespace(
        method="GET",
        headers=named,
        arguments=arguments,
        connection=None,
        cookies=SimpleCookie(headers.get("Cookie", "")),
    )


# ---------------------------------------------------------------------------------------------------- names and origins
@pytest.mark.parametrize(
    "host", ["localhost", "localhost:5006", "LOCALHOST:80", "127.0.0.1:5006", "[::1]:5006", "127.8.9.1", "localhost."]
)
def test_loopback_names_are_let_in(host: str) -> None:
    assert Gate().refusal(request(Host=host)) is None


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:5006",
        "localhost.evil.example",
        "",
        "192.168.1.5",
        "localhost@evil.example",
        "evil.example#localhost",
        "[::1",
        "localhost:x",
        "a b",
        "localhost/..",
        "\u212aocalhost",
        "0x7f000001",
        "2130706433",
    ],
)
def test_other_names_are_refused_by_a_loopback_server(host: str) -> None:
    refusal = Gate().refusal(request(Host=host))
    assert refusal is not None and refusal.status == 403


def test_an_open_server_goes_by_its_own_names_and_by_numbers() -> None:
    gate = Gate("0.0.0.0", ("explorer.example.org",))
    for host in ("192.168.1.5:5006", "[fe80::1]:5006", "explorer.example.org", "Explorer.Example.org:80", "localhost"):
        assert gate.refusal(request(Host=host)) is None, host
    for host in ("evil.example", "example.org", "x.explorer.example.org"):
        assert gate.refusal(request(Host=host)) is not None, host


@pytest.mark.parametrize("name", ["http://a.example", "a.example:80", "", "a/b", "a b"])
def test_an_allowed_host_is_a_bare_name(name: str) -> None:
    with pytest.raises(ValueError, match="is not a host; give a name or a number"):
        Gate("localhost", (name,))


@pytest.mark.parametrize("address", ["localhost", "0.0.0.0"])
def test_a_page_talks_to_its_own_server_only(address: str) -> None:
    gate = Gate(address, ("a.example",))
    for origin in ("http://localhost:5006", "HTTP://LOCALHOST:5006", "https://a.example", "http://a.example:8080"):
        assert gate.refusal(request(Host="localhost:5006", Origin=origin)) is None, origin
    for origin in (
        "http://evil.example",
        "http://localhost:3000",
        "null",
        "file://localhost:5006",
        "",
        "http://[",
        "http://localhost:5006.evil.example",
    ):
        assert gate.refusal(request(Host="localhost:5006", Origin=origin)) is not None, origin


def test_who_is_local() -> None:
    assert [
        is_loopback(a) for a in ("localhost", "127.0.0.1", "127.1.2.3", "::1", "0.0.0.0", "::", "10.0.0.1", "")
    ] == [True] * 4 + [False] * 4
    assert Gate().local and not Gate("0.0.0.0").local and not Gate("localhost", ("a.example",)).local
    assert host_of("LOCALHOST:80") == "localhost"


# --------------------------------------------------------------------------------------------------------------- tokens
def test_open_addresses_ask_for_a_token_unless_told_not_to() -> None:
    assert _chosen_token("", "localhost") is None
    made = _chosen_token("", "0.0.0.0")
    assert made is not None and re.fullmatch("[0-9a-f]{32}", made) and made != new_token()
    assert _chosen_token("mine", "localhost") == "mine"
    assert _chosen_token(None, "0.0.0.0") is None


def test_the_token_comes_by_address_header_or_cookie() -> None:
    gate = Gate("0.0.0.0", token="right")
    assert gate.refusal(request(Host="10.0.0.1")).ask  # type: ignore[union-attr]
    for given in ("wrong", "", "right ", "Right", "\u212a"):
        assert gate.refusal(request("/?token=" + given.replace(" ", "%20"), Host="10.0.0.1")) is not None
        assert gate.refusal(request(Host="10.0.0.1", Authorization="token x" + given)) is not None
    assert gate.refusal(request("/?token=right", Host="10.0.0.1")) is None
    assert gate.refusal(request(Host="10.0.0.1", Authorization="Bearer right")) is None
    assert gate.refusal(request(Host="10.0.0.1", Cookie="sparsescope-token-0=right")) is None
    assert gate.refusal(request("/?token=right", Host="evil.example")) is not None, "the name counts first"


def test_a_page_opened_with_the_token_keeps_it_in_a_cookie_and_drops_it_from_the_address() -> None:
    async def visit(port: int) -> None:
        asked = await get(port, "/")
        assert asked.code == 403 and b"name='token'" in asked.body
        assert (await get(port, "/?token=wrong")).code == 403
        came = await get(port, "//evil.example/?token=secret&dataset=digits&loss=l%2F2")
        assert came.code == 302
        assert came.headers["Location"] == "/evil.example/?dataset=digits&loss=l%2F2"
        cookie = came.headers["Set-Cookie"]
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
        kept = cookie.partition(";")[0]
        assert (await get(port, Cookie=kept)).code == 200
        assert (await get(port, Cookie=kept[:-1])).code == 403
        page = (await get(port, "/", Cookie=kept)).body
        assert b"secret" not in page, "the page's own token of its session does not carry the cookie"

    serve(Gate("0.0.0.0", token="secret"), visit)


# ---------------------------------------------------------------------------------------------- pages and websockets
def token_of(page: bytes) -> str:
    """The session's token from the page."""
    found = re.search(rb'"token":\s*"([^"]+)"', page)
    assert found, "the page has a token"
    return found[1].decode()


async def connect(port: int, token: str, packs: bool = False, **headers: str) -> WebSocketClientConnection:
    """A websocket as Bokeh's page opens it; ``packs``: the other side offers compression, as browsers do."""
    asked = HTTPRequest(f"ws://127.0.0.1:{port}/ws", headers=headers, **PATIENT)
    options: dict[str, Any] | None = {} if packs else None
    return await websocket_connect(asked, subprotocols=["bokeh", token], compression_options=options)


def test_a_foreign_name_gets_neither_page_nor_websocket_nor_static_file() -> None:
    async def visit(port: int) -> None:
        for path in (
            "/",
            "/ws",
            STATIC,
            "/static/js/bokeh.min.js",
            "/autoload.js?bokeh-autoload-element=1",
            "/nowhere",
            "/metadata",
        ):
            refused = await get(port, path, Host=f"evil.example:{port}")
            assert refused.code == 403 and b"--allow-host" in refused.body, path
        page = await get(port, "/")
        assert page.code == 200
        token = token_of(page.body)
        good = await connect(port, token, Origin=f"http://127.0.0.1:{port}")
        assert json.loads(await good.read_message())["msgtype"] == "ACK"  # type: ignore[arg-type]
        good.close()
        for headers in (
            {"Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}"},
            {"Host": f"evil.example:{port}", "Sec-Fetch-Site": "same-origin"},
            {"Origin": "http://localhost:3000"},
            {"Origin": "null"},
        ):
            with pytest.raises(Exception, match="403"):
                await connect(port, token, **headers)

    serve(Gate(), visit)


def test_a_session_id_from_outside_is_refused() -> None:
    async def visit(port: int) -> None:
        for path in (
            "/?bokeh-session-id=x",
            "/?bokeh-token=x",
            "/?a=1&bokeh-session-id=",
        ):
            assert (await get(port, path)).code in ({403} if "=x" in path else {200, 403}), path
        assert (await get(port, "/", Bokeh_Session_Id="x")).code == 403
        token = token_of((await get(port, "/")).body)
        head, _, signature = token.partition(".")
        assert signature, "the token is signed"
        forged = base64.urlsafe_b64encode(json.dumps({"session_id": "x", "session_expiry": 2**40}).encode())
        for bad in (forged.decode().rstrip("="), f"{forged.decode().rstrip('=')}.{signature}", head):
            try:
                socket = await connect(port, bad)
            except Exception:
                continue  # refused before the handshake
            assert await socket.read_message() is None, "closed without an answer"

    serve(Gate(), visit)


def test_messages_beyond_the_limits_close_the_connection_before_anything_is_unpacked() -> None:
    bomb = base64.b64encode(gzip.compress(bytes(4_000_000))).decode()
    event = {"type": "event", "name": "x", "values": {"type": "bytes", "data": bomb}}
    hostile = [
        json.dumps({"events": [event]}),
        "[" * 5000 + "]" * 5000,
        "{" + ",".join(f'"k{i}":0' for i in range(30_000)) + "}",
        " " * (limits.MAX_TEXT + 1),
        b"\x00\x01",
    ]

    async def visit(port: int) -> None:
        for message in hostile:
            socket = await connect(port, token_of((await get(port, "/")).body))
            for _ in range(3):  # header, metadata and content of the server's greeting
                assert await socket.read_message() is not None
            await socket.write_message(message, binary=isinstance(message, bytes))
            while await socket.read_message() is not None:
                pass
            assert socket.close_code == 1009

    serve(Gate(), visit)


def test_a_small_message_that_unpacks_to_much_is_refused_before_it_is_unpacked() -> None:
    packer = zlib.compressobj(wbits=-15)
    zeros = bytes(1_000_000)
    bomb = b"".join(packer.compress(zeros) for _ in range(48)) + packer.flush(zlib.Z_SYNC_FLUSH)
    assert len(bomb) < limits.MAX_TEXT

    async def visit(port: int) -> None:
        for _ in range(5):  # what tests before have left may still compute in another thread, which is counted too
            socket = await connect(port, token_of((await get(port, "/")).body), packs=True)
            assert socket.protocol._decompressor is not None, "both sides have agreed to pack"
            for _ in range(3):
                assert await socket.read_message() is not None
            socket.protocol._compressor = SimpleNamespace(compress=lambda _: bomb[:-4])
            tracemalloc.start()
            try:
                await socket.write_message("{}")
                while await socket.read_message() is not None:
                    pass
                largest = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
            assert socket.close_code == 1009
            if largest < 16_000_000:
                return
        raise AssertionError(f"{largest} bytes for a message that unpacks to 48 million")

    serve(Gate(), visit)


def test_a_page_that_has_lost_its_server_asks_for_what_answers_head() -> None:
    asked = re.search(r'new URL\("(?:\.\./){2}(\S+)", moduleAddress\)\)', SHELL.read_text(encoding="utf-8"))
    assert asked is not None

    async def visit(port: int) -> None:
        found = HTTPRequest(f"http://127.0.0.1:{port}/static/{asked[1]}", method="HEAD", **PATIENT)
        assert (await AsyncHTTPClient().fetch(found, raise_error=False)).code == 200

    serve(Gate(), visit)


def test_an_address_without_a_page_names_the_pages_and_names_of_the_menu_lead_to_theirs() -> None:
    async def visit(port: int) -> None:
        for typed, there in (
            ("/explorer?lam_ratio=0.2", "./?lam_ratio=0.2"),
            ("/lessons", "lesson"),
            ("/lesson/1", "01"),
            ("/lesson/10", "10a"),
        ):
            came = await get(port, typed)
            assert (came.code, came.headers["Location"]) == (302, there)
        for typed, said in (
            ("/duallity", "Did you mean <a href='./duality'>"),
            ("/lesson/99", "Did you mean <a href='../lesson'>"),
            ("/class", "sparsescope serve --class"),
            ("/<script>", "&lt;script&gt;"),
        ):
            came = await get(port, quote(typed))
            text = came.body.decode()
            assert came.code == 404 and said in text and "<script" not in text
            assert all(f"{name}</a>" in text for name in ("/race", "/path", "/data"))

    serve(Gate(), visit)


# ---------------------------------------------------------------------------------------------------- limits
@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "]]]]",
        '{"a": "[[[[' + "[" * 100 + '"}',
        json.dumps({"bytes": 1}),
        '{"text": "\\"type\\": \\"bytes\\""}',
        json.dumps({"x": ["ndarray"]}),
    ],
)
def test_harmless_fragments_pass(text: str) -> None:
    limits.check_fragment(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"type": "bytes", "data": "x"}',
        '[[{"a": {"type":"ndarray"}}]]',
        '{"type": "b\\u0079tes", "data": "x"}',
        '{"\\u0074ype": "typed_array"}',
        "[" * 33 + "]" * 33,
        "[" + "0," * 20_001 + "0]",
    ],
)
def test_harmful_fragments_do_not(text: str) -> None:
    with pytest.raises(limits.TooMuch):
        limits.check_fragment(text)


def test_a_page_that_a_ping_did_not_reach_is_not_forgotten_twice() -> None:
    """Bokeh forgets it with the ping; the end of its websocket, a moment later, then met no session."""
    forgotten: list[Any] = []

    class Handler(limits.LimitedMessages, WSHandler):
        close_code, close_reason = 1001, None

        def __init__(self) -> None:
            self.application = SimpleNamespace(client_lost=lambda gone: (forgotten.append(gone), gone.detach_session()))

    session = SimpleNamespace(subscribe=lambda _: None, unsubscribe=lambda _: None, notify_connection_lost=lambda: None)
    for by_ping in (False, True):
        handler = Handler()
        handler.connection = ServerConnection(None, handler, None, session)
        if by_ping:
            handler.application.client_lost(handler.connection)
        handler.on_close()
    assert len(forgotten) == 2
