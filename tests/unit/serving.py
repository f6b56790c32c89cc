"""A server of the dashboard for tests, and a visitor of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from sparsescope.dashboard.gate import Gate
from sparsescope.dashboard.page import Site
from sparsescope.dashboard.server import make_server
from waiting import LONG


def serve(
    visit: Callable[[Site, int], Awaitable[Any]],
    gate: Gate | None = None,
    make: Callable[[], Site] = Site,
    linger: float = 30.0,
) -> Any:
    """Run a visitor, a coroutine function of site and port, against a server; return what it returns."""

    async def go() -> Any:
        site = make()
        server = make_server(site, 0, linger=linger, gate=gate or Gate())
        server.start()
        try:
            return await asyncio.wait_for(visit(site, int(server.port)), LONG)
        finally:
            site.close()
            site.lateness.stop()
            server.stop(wait=False)

    return asyncio.run(go())
