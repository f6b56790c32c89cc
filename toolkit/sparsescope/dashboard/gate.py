"""Decides which requests reach the explorer: by Host, by Origin, by token; and never by a session id in the address.

A browser lets any page connect to a server on this machine. Our page is distinguished from others by the name in the
``Host`` header: a foreign page whose name was bound to 127.0.0.1 (DNS rebinding) still sends its own name. Origin alone
does not help there, because such a page has the same origin as the server it talks to. So every request, plain or
websocket, has to name a host of the allow-list, and an Origin, where there is one, has to be the page's own.
"""

from __future__ import annotations

import hmac
import html
import ipaddress
import secrets
import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tornado.httputil import HTTPServerRequest
from tornado.routing import Matcher, Rule
from tornado.web import RequestHandler

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # addresses that stand for all interfaces of the machine
TOKEN_ARGUMENT = "token"
# A session belongs to the page it was made for. Who could name one would share, or steal, another person's explorer.
SESSION_ARGUMENTS = ("bokeh-session-id", "bokeh-token")
SESSION_HEADER = "Bokeh-Session-Id"


def is_loopback(address: str) -> bool:
    """Return whether a server on this address is reached from this machine only."""
    if address in LOOPBACK:
        return True
    number = _number(address)
    return number is not None and number.is_loopback


def new_token() -> str:
    """A token nobody can guess, 32 hex digits."""
    return secrets.token_hex(16)


def host_of(text: str) -> str | None:
    """Name or number of a host from a ``Host`` header or the network part of an address; None if it is neither."""
    if not text or any(character in text for character in "/?#@\\ \t\r\n"):
        return None
    try:
        parts = urlsplit(f"//{text}")
        name, _ = parts.hostname, parts.port
    except ValueError:
        return None
    return name.rstrip(".").lower() if name else None


def _number(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


@dataclass(frozen=True)
class Refusal:
    """Status code and sentence of a refused request; ``ask`` shows a field for the token."""

    status: int
    text: str
    ask: bool = False


class Gate:
    """The rule that lets requests in.

    Parameters
    ----------
    address : what the server listens on
    hosts : further names by which people may come (``--allow-host``)
    token : required of every request; ``None`` means that none is asked for

    On a loopback address the loopback names are allowed; on an open address also the machine's names and every numeric
    address, which no foreign name can stand for.
    """

    def __init__(self, address: str = "localhost", hosts: tuple[str, ...] = (), token: str | None = None) -> None:
        self.open = not is_loopback(address)
        self.token = token
        self.extra = frozenset(_given(name) for name in hosts)
        names = {*LOOPBACK, *self.extra}
        if self.open:
            machine = socket.gethostname().lower()
            names |= {machine, f"{machine.partition('.')[0]}.local"}
            if address not in EVERYWHERE:
                names.add(address.lower())
        self.names = frozenset(names)

    @property
    def local(self) -> bool:
        """True if only people at this machine come in: then errors may name paths and lines of code."""
        return not self.open and not self.extra

    def allows_host(self, header: str | None) -> bool:
        """Return whether a ``Host`` header names this server."""
        host = host_of(header or "")
        if host is None:
            return False
        number = _number(host)
        if number is not None and (self.open or number.is_loopback):
            return True
        return host in self.names

    def allows_origin(self, origin: str | None, host: str | None) -> bool:
        """Return whether a page of this ``Origin`` may talk to the server at ``host``; without an Origin it may."""
        if origin is None:
            return True
        try:
            parts = urlsplit(origin)
        except ValueError:
            return False
        if parts.scheme not in ("http", "https") or not parts.netloc:
            return False
        if parts.netloc.lower() == (host or "").lower():
            return True
        return host_of(parts.netloc) in self.extra

    def cookie(self, port: int) -> str:
        """Name of the cookie with the token. Cookies do not tell ports apart, names have to."""
        return f"sparsescope-token-{port}"

    def knows(self, given: str | None) -> bool:
        """Return whether this is the token; takes the same time for every wrong one."""
        return self.token is None or hmac.compare_digest((given or "").encode(), self.token.encode())

    def refusal(self, request: HTTPServerRequest) -> Refusal | None:
        """Return the reason why a request is refused, or None."""
        host = request.headers.get("Host")
        if not self.allows_host(host):
            return Refusal(
                403,
                "This server does not go by the name in the address. Whoever runs it can allow the "
                "name with --allow-host.",
            )
        if not self.allows_origin(request.headers.get("Origin"), host):
            return Refusal(403, "Pages of other servers cannot use this explorer.")
        if SESSION_HEADER in request.headers or any(name in request.arguments for name in SESSION_ARGUMENTS):
            return Refusal(403, "Sessions cannot be named in the address. Open the page without it.")
        if not self.knows(self._given_token(request)):
            return Refusal(403, "This explorer needs the token that was printed where it was started.", ask=True)
        return None

    def _given_token(self, request: HTTPServerRequest) -> str | None:
        values = request.arguments.get(TOKEN_ARGUMENT)
        if values:
            return values[-1].decode("utf-8", "replace")
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() in ("token", "bearer"):
            return given.strip()
        kept = request.cookies.get(self.cookie(port_of(request)))
        return None if kept is None else kept.value


def _given(name: str) -> str:
    host = host_of(name)
    if host is None or urlsplit(f"//{name}").port is not None:
        raise ValueError(
            f"--allow-host {name!r} is not a host; give a name or a number such as explorer.example.org, "
            "without http:// and without a port"
        )
    return host


def port_of(request: HTTPServerRequest) -> int:
    """Return the port this server listens on (behind a forwarded port the Host names another one)."""
    stream = getattr(request.connection, "stream", None)
    try:
        return int(stream.socket.getsockname()[1]) if stream is not None else 0
    except (OSError, AttributeError, IndexError):
        return 0


class _Refused(Matcher):
    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        refusal = self.gate.refusal(request)
        return None if refusal is None else {"target_kwargs": {"refusal": refusal}}


class _Arriving(Matcher):
    """A page opened with the right token in its address."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        arrives = request.method in ("GET", "HEAD") and TOKEN_ARGUMENT in request.arguments
        return {"target_kwargs": {"gate": self.gate}} if arrives else None


class RefusalHandler(RequestHandler):
    """Answers every method with the refusal, as a page of a few lines."""

    def initialize(self, refusal: Refusal) -> None:
        """Called by Tornado with what the matcher found."""
        self.refusal = refusal

    def prepare(self) -> None:
        """Answer, whatever the method."""
        form = ""
        if self.refusal.ask:
            form = (
                "<form method='get'><label>Token <input name='token' type='password' autofocus></label> "
                "<button>Open</button></form>"
            )
        self.set_status(self.refusal.status)
        self.set_header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
        self.set_header("Cache-Control", "no-store")
        self.finish(
            "<!doctype html><html lang='en'><meta charset='utf-8'><title>sparsescope: not allowed</title>"
            "<body style='font: 16px system-ui, sans-serif; margin: 3em auto; max-width: 36em'>"
            f"<h1 style='font-size: 1.2em'>Not allowed</h1><p>{html.escape(self.refusal.text)}</p>{form}"
        )


class ArrivalHandler(RequestHandler):
    """Keeps the token in a cookie and takes it out of the address, where others could read it."""

    def initialize(self, gate: Gate) -> None:
        """Called by Tornado with what the matcher found."""
        self.gate = gate

    def prepare(self) -> None:
        """Answer with the address without the token."""
        if self.gate.token is not None:
            self.set_cookie(
                self.gate.cookie(port_of(self.request)), self.gate.token, httponly=True, samesite="Lax", path="/"
            )
        rest = [
            (key, value)
            for key, value in parse_qsl(self.request.query, keep_blank_values=True)
            if key != TOKEN_ARGUMENT
        ]
        self.set_header("Cache-Control", "no-store")
        self.set_header("Referrer-Policy", "no-referrer")
        # "/" first and alone: an address that began with two slashes would lead to another server.
        path = "/" + self.request.path.lstrip("/\\")
        self.redirect(path + (f"?{urlencode(rest)}" if rest else ""))


def guard(application: Any, gate: Gate) -> None:
    """Put the gate before everything that a Tornado application answers, static files and websockets included."""
    rules = application.default_router.rules
    rules[:0] = [Rule(_Refused(gate), RefusalHandler), Rule(_Arriving(gate), ArrivalHandler)]
