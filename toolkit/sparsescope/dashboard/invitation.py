"""Lines that are printed when a class begins: the students' address with its QR code, and the teacher's secret link."""

from __future__ import annotations

import socket
from collections.abc import Callable
from urllib.parse import urlencode

from .class_pages import code_for_terminal, has_codes
from .gate import EVERYWHERE, Gate, is_loopback
from .hub import Hub

# An address of a range that is kept free for documents: nothing is sent to it, the system only says by which of this
# machine's addresses it would go there.
ELSEWHERE = ("192.0.2.1", 9)


def reachable_name(address: str) -> str:
    """Return the name or number by which other machines reach a server that listens on ``address``."""
    if address not in EVERYWHERE:
        return f"[{address}]" if ":" in address else address
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(ELSEWHERE)
            found = str(probe.getsockname()[0])
        except OSError:  # no network
            return "localhost"
    return found if found not in EVERYWHERE else "localhost"


def invite(hub: Hub, gate: Gate, address: str, port: int, say: Callable[[str], None]) -> None:
    """Say where students and teacher come; the board shows the students' address too."""
    names = sorted(gate.extra) or [reachable_name(address)]
    root = f"http://{names[0]}:{port}"
    token = {} if gate.token is None else {"token": gate.token}
    hub.address = f"{root}/class" + (f"?{urlencode(token)}" if token else "")
    say(f"For students: {hub.address}")
    if has_codes():
        say(code_for_terminal(hub.address))
    else:
        say("(There is no QR code without the package segno: pip install 'sparsescope[class]')")
    say(f"For the teacher only: {root}/class?{urlencode({**token, 'key': hub.key})}")
    if is_loopback(address):
        say("Only this machine reaches that address; --address 0.0.0.0 lets others in.")
    if not hub.room.keeper.keeps:
        say("Answers are kept in memory and forgotten when this server ends; --keep FILE keeps them.")
