"""Runs the dashboard: one process, one event loop, one worker for each open page."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import gc
import html
import logging
import os
import secrets
import signal
import sys
import threading
import webbrowser
from collections.abc import Callable
from typing import Any

import panel as pn
from panel.io.server import Server, get_server
from threadpoolctl import threadpool_limits
from tornado.ioloop import IOLoop, PeriodicCallback
from tornado.iostream import StreamClosedError
from tornado.web import RedirectHandler
from tornado.websocket import WebSocketClosedError

from ..registry import SparsescopeError
from . import uploads
from .assets import leave_out_unused_parts
from .class_pages import patterns as class_patterns
from .gate import EVERYWHERE, LOOPBACK, Gate, guard, is_loopback, new_token
from .health import patterns
from .invitation import invite
from .limits import MAX_TEXT, limit_messages
from .nowhere import NowhereHandler
from .page import COOKIE, FIRST, PLACES, Site
from .wire import patterns as wire_patterns

DEFAULT_PORT = 5006
HOSTS_VARIABLE = "SPARSESCOPE_ALLOW_HOST"  # names by which people come, where `panel serve` is the server

LINGER = 10.0  # seconds after which a closed tab's worker is ended (a lost connection may come back until then)
ARENAS_VARIABLE, M_ARENA_MAX = "MALLOC_ARENA_MAX", -8  # of glibc: the user's word, and the number of the setting
CHECKS = 5  # how often that is looked at within this time


class PortInUse(SparsescopeError, OSError):
    """The port is taken by another program."""


def make_server(
    site: Site, port: int, address: str = "localhost", linger: float = LINGER, gate: Gate | None = None
) -> Server:
    """The server, bound to its port but not running; ``linger`` in seconds. Raises `PortInUse`.

    ``gate`` decides who comes in; without one it is the gate of this address, without a token.
    """
    gate = Gate(address) if gate is None else gate
    try:
        server = get_server(
            site.routes(),
            port=port,
            address=None if address == "localhost" else address,
            websocket_max_message_size=4 * MAX_TEXT,  # the limit in characters holds after this one
            title="sparsescope",
            show=False,
            start=False,
            compress_response=True,
            # The document of a page is 160 kB of names and 16 kB when packed. What comes packed is held to the limit on
            # messages while it is unpacked. The state costs 0.2 MB a page; pages then change over to /wire, unpacked.
            websocket_compression_level=6,
            websocket_compression_mem_level=4,
            unused_session_lifetime_milliseconds=round(1000 * linger),
            check_unused_sessions_milliseconds=max(round(1000 * linger / CHECKS), 1),
            # Ids of sessions come from this server only, and what else a browser sends does not go into the page.
            sign_sessions=True,
            secret_key=secrets.token_bytes(32),
            include_cookies=[COOKIE, PLACES],
            include_headers=["Host", "User-Agent"],
            extra_patterns=[
                *patterns(site),
                *wire_patterns(site.bridge),
                *uploads.patterns(site),
                *((here, RedirectHandler, {"url": to, "permanent": False}) for here, to in site.moved().items()),
                *([] if site.hub is None else class_patterns(site.hub)),
            ],
        )
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise PortInUse(error.errno, f"port {port} is taken by another program") from error
        raise
    site.local, site.has_wire = gate.local, True
    site.port = int(server.port)
    sweeping = PeriodicCallback(lambda: site.sweep(linger), max(1000 * linger / CHECKS, 1))
    server.io_loop.add_callback(sweeping.start)  # type: ignore[attr-defined]
    limit_messages(server._tornado)
    leave_out_unused_parts(server._tornado)
    server._tornado.settings["default_handler_class"] = NowhereHandler
    server._tornado.settings["default_handler_args"] = {"pages": site.titles(), "has_class": site.hub is not None}
    server.io_loop.add_callback(lambda: site.lateness.start(server.io_loop.asyncio_loop))  # type: ignore[attr-defined]
    guard(server._tornado, gate)
    return server


def serve(
    site: Site,
    port: int | None = None,
    address: str = "localhost",
    show: bool = True,
    say: Callable[[str], None] = print,
    linger: float = LINGER,
    hosts: tuple[str, ...] = (),
    token: str | None = "",
) -> None:
    """Serve until SIGINT or SIGTERM, then end all workers and return.

    Parameters
    ----------
    port: None takes 5006, or any free port where that is taken; 0 takes any free port; otherwise exactly this one
        (`PortInUse` where it is taken).
    show: open a browser where there is a screen.
    linger: seconds for which a closed or disconnected page keeps its worker and its place.
    hosts: further names by which people come to this server, beside those of this machine.
    token: asked of everybody who comes; empty: a new one on an address that other machines reach, none on a loopback
        address; None: never one.
    """
    chosen = _chosen_token(token, address)
    if site.hub is not None and not token and chosen is not None:
        chosen = site.hub.secret("token")  # students' browsers know it after a restart
    gate = Gate(address, hosts, chosen)
    threadpool_limits(1)  # the kernels are sequential; more threads of the linear algebra only fight for the cores
    _quieten()
    _settle_memory()
    server = _bind(site, port, address, say, linger, gate)
    url = f"http://{_shown(address)}:{server.port}/" + (f"?token={gate.token}" if gate.token else "")
    loop = server.io_loop

    def stop(*_: object) -> None:
        loop.add_callback_from_signal(_stop, server, site, loop)

    loop.asyncio_loop.set_exception_handler(_unless_closed)  # type: ignore[attr-defined]
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    server.start()
    say(f"The explorer is at {url}")
    if site.hub is not None:
        invite(site.hub, gate, address, server.port, say)
    if gate.open and gate.token is None:
        say("Everybody who reaches this address can use it: no token is asked for.")
    if show and _has_screen():
        loop.add_callback(webbrowser.open, url)
    loop.start()
    say("Stopped.")


def in_background(
    handed: dict[str, Any], port: int = 0, place: str = "", show: bool = True
) -> tuple[str, Callable[[], None]]:
    """Serve this machine from a thread of this process; the address of a page, and a function that ends the server.

    Parameters
    ----------
    handed: what single pages are made with, by their names.
    port: 0 takes any free port; otherwise exactly this one (`PortInUse` where it is taken).
    place: of the page below the root.
    show: open a browser where there is a screen.
    """
    site, bound, found = Site(handed=handed), threading.Event(), {}

    def run() -> None:
        asyncio.set_event_loop(asyncio.new_event_loop())
        try:
            found["server"] = server = make_server(site, port)
        except OSError as error:
            found["error"] = error
            return
        finally:
            bound.set()
        server.io_loop.asyncio_loop.set_exception_handler(_unless_closed)  # type: ignore[attr-defined]
        server.start()
        server.io_loop.start()

    _quieten()
    thread = threading.Thread(target=run, daemon=True, name="sparsescope-server")
    thread.start()
    bound.wait()
    if "error" in found:
        raise found["error"]
    server: Any = found["server"]
    url = f"http://localhost:{server.port}/{place}"

    def stop() -> None:
        server.io_loop.add_callback(_stop, server, site, server.io_loop)
        thread.join()

    if show and _has_screen():
        webbrowser.open(url)
    return url, stop


def _chosen_token(token: str | None, address: str) -> str | None:
    if token is None or token:
        return token
    return None if is_loopback(address) else new_token()


def _bind(site: Site, port: int | None, address: str, say: Callable[[str], None], linger: float, gate: Gate) -> Server:
    if port is not None:
        return make_server(site, port, address, linger, gate)
    try:
        return make_server(site, DEFAULT_PORT, address, linger, gate)
    except PortInUse:
        say(f"Port {DEFAULT_PORT} is taken by another program; taking a free one.")
        return make_server(site, 0, address, linger, gate)


def _stop(server: Server, site: Site, loop: IOLoop) -> None:
    site.close()
    site.lateness.stop()
    server.stop(wait=False)
    loop.stop()


def _unless_closed(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Errors in tasks are reported, but not that a tab was closed while a message was on its way to it."""
    if not isinstance(context.get("exception"), (WebSocketClosedError, StreamClosedError)):
        loop.default_exception_handler(context)


def _shown(address: str) -> str:
    return "localhost" if address in EVERYWHERE | LOOPBACK else f"[{address}]" if ":" in address else address


def _has_screen() -> bool:
    # Without a screen `webbrowser` may start a text browser in this very terminal.
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _settle_memory() -> None:
    """Leave what stands until the end out of garbage collections, and let threads share one heap.

    Panel collects garbage whenever a page has gone: with the modules among it that took a quarter of a second, in which
    nobody had an answer. Glibc gives each thread a heap, which a class of thirty fills with holes: sessions one
    after another then seem to leak.
    """
    gc.collect()
    gc.freeze()
    heaps = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform.startswith("linux") else None
    if heaps is not None and ARENAS_VARIABLE not in os.environ:
        heaps(M_ARENA_MAX, 1)


def _quieten() -> None:
    # A tab closed in the middle of a message is daily life, not a warning for the terminal.
    for name in ("bokeh.server.views.ws", "tornado.access"):
        logging.getLogger(name).setLevel(logging.ERROR)


def page_for_panel_serve(name: str = FIRST, **options: Any) -> None:
    """Put a page into the session that `panel serve` has opened (called by a file under `apps/`).

    The names by which people come are checked as on an open address: loopback names, numbers, the machine's names, and
    those in the environment variable ``SPARSESCOPE_ALLOW_HOST`` (separated by commas). Whoever comes by another name,
    or names a session in the address, gets a refusal and no explorer. Origins and the sizes of messages are then `panel
    serve`'s to check (``--allow-websocket-origin``, ``--websocket-max-message-size``), and errors are shown as to
    strangers.
    """
    hosts = tuple(name.strip() for name in os.environ.get(HOSTS_VARIABLE, "").split(",") if name.strip())
    gate = Gate("0.0.0.0", hosts)
    context = None if pn.state.curdoc is None else pn.state.curdoc.session_context
    if context is not None and (refusal := gate.refusal(context.request)) is not None:
        pn.pane.HTML(f"<p>{html.escape(refusal.text)}</p>").servable()
        return
    Site(**{"local": False, "home": FIRST, **options}).page(name).servable()
