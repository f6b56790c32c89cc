"""A class on one server: merged commands, lateness, pages that went away, `/health`, `/metrics`, kernels ahead."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from serving import serve
from tornado.httpclient import AsyncHTTPClient, HTTPRequest

from sparsescope import cli
from sparsescope.dashboard import bridge as bridges
from sparsescope.dashboard import memory as memories
from sparsescope.dashboard import server as servers
from sparsescope.dashboard.bridge import Bridge
from sparsescope.dashboard.health import METRICS, as_metrics, facts
from sparsescope.dashboard.lateness import Lateness
from sparsescope.dashboard.memory import Memory
from sparsescope.dashboard.page import Site
from sparsescope.dashboard.server import HOSTS_VARIABLE
from sparsescope.live import Explorer, beat, warming
from sparsescope.live.inbox import MOST, MOST_KEYS, Inbox
from sparsescope.runs.turns import LEAST_SHARE, Turns

LONG = 120.0  # seconds; only turns an endless wait into a failure
PATIENT: dict[str, Any] = {"connect_timeout": LONG, "request_timeout": LONG}


async def until(happened: Callable[[], bool]) -> None:
    while not happened():
        await asyncio.sleep(0.01)


# ---------------------------------------------------------------------------------------------------------- the memory
def test_what_stands_is_no_garbage_and_threads_share_a_heap(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []
    monkeypatch.setattr(servers.sys, "platform", "linux")
    monkeypatch.setattr(servers.ctypes, "CDLL", lambda name: SimpleNamespace(mallopt=lambda *what: asked.append(what)))
    monkeypatch.delenv(servers.ARENAS_VARIABLE, raising=False)
    monkeypatch.setattr(servers.gc, "collect", lambda: 0)  # one of everything that the tests left takes long
    frozen, kept = servers.gc.get_freeze_count(), [[] for _ in range(20_000)]
    try:
        servers._settle_memory()
        assert servers.gc.get_freeze_count() >= frozen + len(kept) and asked == [(servers.M_ARENA_MAX, 1)]
    finally:
        servers.gc.unfreeze()
        if frozen:  # the tests had left out what stays
            servers.gc.freeze()
    monkeypatch.setattr(servers.gc, "freeze", lambda: None)
    monkeypatch.setenv(servers.ARENAS_VARIABLE, "4")
    servers._settle_memory()
    monkeypatch.delenv(servers.ARENAS_VARIABLE)
    monkeypatch.setattr(servers.ctypes, "CDLL", lambda name: SimpleNamespace())
    servers._settle_memory()
    assert len(asked) == 1, "neither against the user's word nor where the library has no such setting"


def test_memory_is_given_back_when_pages_have_gone_and_seldom_while_others_are_there() -> None:
    now, given = [100.0], []
    memory = Memory(lambda: given.append(now[0]), lambda: now[0])

    def look(seconds: float, pages: int) -> None:
        now[0] += seconds
        memory.look(pages)

    for pages in (0, 3, 3):
        look(1.0, pages)
    assert not given, "nobody has gone"
    look(1.0, 2)
    assert given == [104.0], "one has gone; the others wait for it once a minute at most"
    look(30.0, 1)
    look(20.0, 1)
    assert len(given) == 1
    look(10.0, 1)
    assert given[1:] == [164.0]
    look(1.0, 0)
    for _ in range(40):
        look(0.25, 0)
    assert given[2:] == [165.0 + k for k in range(6)], "every second for a while: threads and objects end later"
    given.clear()
    look(500.0, 0)
    assert not given


def test_the_system_gets_back_what_the_c_library_has_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(memories.gc, "collect", lambda: 0)
    monkeypatch.setattr(memories.ctypes, "CDLL", lambda name: SimpleNamespace(malloc_trim=asked.append))
    monkeypatch.setattr(memories.sys, "platform", "linux")
    memories.give_back()
    monkeypatch.setattr(memories.ctypes, "CDLL", lambda name: SimpleNamespace())
    memories.give_back()
    monkeypatch.setattr(memories.sys, "platform", "win32")
    memories.give_back()
    assert asked == [0]


# ----------------------------------------------------------------------------------------------------------- the inbox
def moved(lam: float, name: str) -> dict[str, Any]:
    return {"type": "set", "id": name, "changes": {"lam_ratio": lam}}


def test_of_many_values_of_a_slider_the_last_one_is_taken_and_every_id_is_kept() -> None:
    inbox = Inbox()
    for k in range(500):
        inbox.put(moved(0.001 * (k + 1), f"c{k}"))
    inbox.put({"type": "set", "id": "x", "changes": {"solver": "ista"}})
    ((message,), shed) = inbox.take()
    assert message["changes"] == {"lam_ratio": 0.5, "solver": "ista"} and not shed
    assert [*message["carried"], message["id"]] == [*(f"c{k}" for k in range(500)), "x"]
    assert inbox.take() == ([], "")


def test_commands_keep_their_order_and_a_wrong_value_takes_no_other_with_it() -> None:
    inbox = Inbox()
    step = {"type": "do", "action": "step", "n": 1}
    run = {"type": "do", "action": "run"}
    wrong = {"type": "set", "changes": {"lam_ratio": [1]}}
    many = {"type": "set", "changes": {f"k{k}": 0 for k in range(MOST_KEYS)}}
    given = [moved(0.1, "a"), wrong, moved(0.2, "b"), step, step, run, run, moved(0.3, "c"), many, {"type": []}, {}]
    for message in given:
        inbox.put(message)
    taken, _ = inbox.take()
    assert taken == [moved(0.1, "a"), wrong, moved(0.2, "b"), step, step, run, moved(0.3, "c"), many, {"type": []}, {}]
    for rows in range(5):
        inbox.put({"type": "layout", "rows": rows})
    assert inbox.take()[0] == [{"type": "layout", "rows": 4}]


def test_what_is_too_much_is_left_out_and_said() -> None:
    inbox = Inbox()
    for k in range(MOST + 7):
        inbox.put({"type": "ask", "kind": "value", "row": k})
    assert len(inbox) == MOST
    taken, shed = inbox.take()
    assert len(taken) == MOST and shed.startswith("7 commands came faster than this server could take them")
    assert inbox.take() == ([], "")


def test_a_busy_bridge_hands_on_merged_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    handed: list[Any] = []
    explorer = SimpleNamespace(on_message=handed.append, poll=list, suspend=lambda: None)
    link = Bridge(SimpleNamespace(on_msg=lambda f: None, _send_msg=lambda m: None), lambda: explorer)  # type: ignore
    link.explorer = explorer  # type: ignore[assignment]
    link._document = SimpleNamespace(session_context=None)
    soon: list[Any] = []
    monkeypatch.setattr(link, "_look_soon", soon.append)
    link.receive(moved(0.001, "c0"))
    assert len(handed) == 1, "the first one at once"
    link._obeyed = float("inf")  # a moment ago
    for k in range(1, 100):
        link.receive(moved(0.001 * (k + 1), f"c{k}"))
    assert len(handed) == 1 and soon, "the others together"
    link._obeyed = float("-inf")
    link.look()
    assert handed[-1]["changes"] == {"lam_ratio": 0.1}
    assert len(handed) == 2 and len(handed[-1]["carried"]) == 98


# ------------------------------------------------------------------------------------------------------------ lateness
def test_lateness_is_a_mean_that_workers_and_pages_hear_of() -> None:
    turns = Turns(2)
    lateness = Lateness(turns)
    for _ in range(50):
        lateness.saw(0.1)
    assert lateness.mean == pytest.approx(0.1, rel=1e-3) and turns.share == LEAST_SHARE
    lateness.saw(-1.0)
    assert lateness.worst >= 0.09
    for _ in range(50):
        lateness.saw(0.0)
    assert turns.share == 1.0

    explorer = Explorer(settings={"dataset": "iris"})
    periods = []
    for late in (0.0, 0.01, 0.05, 10.0):
        explorer.loop_is_late(late)
        periods.append(explorer._beat.period)
    assert periods == sorted(periods) and periods[0] == beat.FRAME_PERIOD and periods[-1] == beat.SLOWEST_PERIOD
    explorer.close()


def test_a_late_server_says_so_on_its_pages(page_client: Any) -> None:
    async def visit(site: Site, port: int) -> None:
        page = await page_client(port, {"dataset": "iris"}).open()
        await page.until(lambda: page.frame.get("mode") == "paused", LONG)
        site.lateness.stop()
        site.lateness.mean = 0.5
        await page.do("run")
        await page.until(lambda: bool(page.frame.get("late")), LONG)
        await page.close()

    serve(visit)


def test_a_page_with_turbo_says_so_and_so_do_the_others_until_it_is_closed(page_client: Any) -> None:
    async def visit(site: Site, port: int) -> None:
        pages = [await page_client(port, {"dataset": "iris"}).open() for _ in range(2)]
        for page in pages:
            await page.until(lambda page=page: page.frame.get("turbo") == "free", LONG)
        await pages[0].say({"type": "turbo", "on": True})
        await pages[0].until(lambda: pages[0].frame["turbo"] == "mine", LONG)
        await pages[1].until(lambda: pages[1].frame["turbo"] == "taken", LONG)
        await pages[1].say({"type": "turbo", "on": True})
        await pages[1].until(lambda: any("full speed just now" in text for text in pages[1].notices), LONG)
        await pages[0].close()
        await pages[1].until(lambda: pages[1].frame["turbo"] is None, LONG)
        await pages[1].close()

    serve(visit, linger=0.2)


# ------------------------------------------------------------------------------------------- pages that come and go
def test_a_run_rests_while_its_page_is_away_and_ends_with_it(page_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridges, "ALONE_SECONDS", 0.3)

    async def visit(site: Site, port: int) -> None:
        page = await page_client(port, {"dataset": "iris", "speed": 20.0, "lam_ratio": 0.001}).open()
        await page.until(lambda: page.frame.get("mode") == "paused", LONG)
        await page.do("run")
        await page.until(lambda: page.frame["status"]["iteration"] > 2, LONG)
        (bridge,) = [b for b in site.open if b.explorer is not None]
        session = bridge.explorer.session
        await page.close()
        await until(lambda: session.status().mode == "paused")
        thread = session._worker.thread
        assert thread is not None
        await until(lambda: not thread.is_alive() and site.explorers == 0)

    serve(visit, linger=1.0)


def test_a_page_that_comes_back_lets_its_run_go_on(page_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bridges, "ALONE_SECONDS", 0.1)
    settings = {"dataset": "iris", "speed": 20.0, "lam_ratio": 0.001}

    async def visit(site: Site, port: int) -> None:
        page = await page_client(port, settings).open()
        await page.until(lambda: page.frame.get("mode") == "paused", LONG)
        await page.do("run")
        await page.until(lambda: page.frame["status"]["iteration"] > 2, LONG)
        (bridge,) = [b for b in site.open if b.explorer is not None]
        session = bridge.explorer.session
        page.drop()
        await until(lambda: session.status().mode == "paused")
        at = session.status().iteration
        again = await page_client(port, settings, rejoin=page.token).open()
        await again.until(lambda: again.frame.get("status") and again.frame["status"]["iteration"] > at, LONG)
        assert site.explorers == 1 and again.frame["mode"] == "running"
        await again.close()

    serve(visit)


# ------------------------------------------------------------------------------------------------- health and metrics
def test_health_and_metrics_stand_behind_the_gate_and_count_pages(page_client: Any) -> None:
    async def visit(site: Site, port: int) -> None:
        async def get(path: str, **headers: str) -> Any:
            asked = HTTPRequest(f"http://127.0.0.1:{port}{path}", headers=headers, **PATIENT)
            return await AsyncHTTPClient().fetch(asked, raise_error=False)

        for path in ("/health", "/metrics"):
            assert (await get(path, Host="evil.example")).code == 403
        assert json.loads((await get("/health")).body)["sessions"] == 0
        page = await page_client(port, {"dataset": "iris"}).open()
        await page.until(lambda: page.frame.get("mode") == "paused", LONG)
        told = await get("/health")
        found = json.loads(told.body)
        assert found["sessions"] == 1 and found["workers"] >= 1 and found["memory_bytes"] > 1e7
        assert told.code == (200 if found["status"] == "ok" else 503)
        text = (await get("/metrics")).body.decode()
        assert "\nsparsescope_sessions 1\n" in text and "# TYPE sparsescope_cpu_seconds_total counter" in text
        site.lateness.stop()
        site.lateness.mean = 0.9
        assert (await get("/health")).code == 503
        await page.close()

    serve(visit)


def test_metrics_are_numbers_with_names_of_their_own() -> None:
    found = facts(Site(max_sessions=30), time.monotonic())
    lines = as_metrics(found).splitlines()
    values = {line.split()[0]: float(line.split()[1]) for line in lines if not line.startswith("#")}
    assert list(values) == [name for name, _, _ in METRICS] and values["sparsescope_sessions_limit"] == 30


# ------------------------------------------------------------------------------------------------------ kernels ahead
def test_the_first_choices_are_one_step_from_the_default_page() -> None:
    choices = warming.first_choices("iris")
    start = choices[0]
    for other in choices[1:]:
        assert sum(start[key] != other[key] for key in start) == 1
    assert len({json.dumps(c, sort_keys=True) for c in choices}) == len(choices) < len(warming.all_choices("iris")) / 10


def test_kernels_are_compiled_ahead_in_processes_and_impossible_ones_are_counted() -> None:
    start = {**warming.first_choices("digits")[0], "solver": "ista"}  # read without scikit-learn
    said: list[str] = []
    count = warming.warm([start, {**start, "loss": "crammer-singer"}], 1, said.append)
    assert count["compiled"] + count["known"] == 1 and (count["impossible"], count["failed"]) == (1, 0)
    assert said[-1].startswith("2 of 2 combinations, 1 of them impossible")
    warming.compile_one(start)
    assert warming.compile_one(start) == "known"


def test_the_command_says_how_many_are_ready(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    asked: list[Any] = []

    def warm(choices: Any, jobs: Any, say: Any) -> dict[str, int]:
        asked.append((len(choices), jobs))
        return {"compiled": 3, "known": 1, "impossible": 2, "failed": len(asked) - 1}

    monkeypatch.setattr(warming, "warm", warm)
    assert cli.main(["warm", "--jobs", "2", "--data", "iris"]) == 0
    assert cli.main(["warm", "--all", "--data", "iris"]) == 1, "something did not compile"
    assert cli.main(["warm", "--page"]) == 1
    sizes = [len(warming.first_choices("iris")), len(warming.all_choices("iris")), 1]
    assert asked == list(zip(sizes, (2, None, None), strict=True))
    assert warming.first_page() == [Explorer().settings], "what the explorer begins with"
    assert "Ready: 4 combinations, 2 that do not go together." in capsys.readouterr().out


# ---------------------------------------------------------------------------------------------- a full server, again
def test_a_reload_takes_over_its_place_on_a_full_server_before_the_old_page_is_closed(page_client: Any) -> None:
    settings = {"dataset": "iris", "speed": 20.0, "lam_ratio": 0.001}

    async def visit(site: Site, port: int) -> None:
        page = await page_client(port, settings).open()
        await page.until(lambda: page.frame.get("mode") == "paused", LONG)
        await page.do("run")
        await page.until(lambda: page.frame["status"]["iteration"] > 2, LONG)
        at = page.frame["status"]["iteration"]
        for cookie in ("", "sparsescope-places=0123456789abcdef"):
            with pytest.raises(RuntimeError, match="All 1 places are taken"):
                await page_client(port, settings, cookie=cookie).open()
        cookie = f"sparsescope-places=x.{page.place}"
        stranger = await page_client(port, settings, rejoin="wrong", cookie=cookie).open()
        await stranger.until(lambda: bool(stranger.errors), LONG)
        assert "All 1 places are taken" in stranger.errors[0], "the cookie alone opens no explorer"
        await stranger.close()
        again = await page_client(port, settings, rejoin=page.token, cookie=cookie).open()
        await asyncio.sleep(0.5)
        assert not again.frame and not again.errors, "it waits: the old page is still there"
        await page.close()
        await again.until(lambda: again.frame.get("status") and again.frame["status"]["iteration"] > at, LONG)
        assert site.explorers == 1 and again.token != page.token and again.place != page.place
        await again.close()

    serve(visit, make=lambda: Site(max_sessions=1))


def test_the_app_of_panel_serve_has_the_gate_too(page_client: Any) -> None:
    """By its own process, as Panel starts it."""
    app = Path(__file__).resolve().parents[2] / "apps" / "explorer.py"
    command = [sys.executable, "-m", "panel", "serve", str(app), "--port", "0"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, HOSTS_VARIABLE: "a.example"},
    ) as program:
        try:
            assert program.stdout is not None
            found = (re.search(r"http://localhost:(\d+)/explorer", line) for line in program.stdout)
            port = int(next(filter(None, found))[1])

            async def visit() -> None:
                for host in ("evil.example", f"localhost.evil.example:{port}"):
                    with pytest.raises(RuntimeError, match="does not go by the name"):
                        await page_client(port, path="explorer", host=host).open()
                for host in ("", f"localhost:{port}", "a.example"):
                    page = await page_client(port, {"dataset": "digits"}, path="explorer", host=host).open()
                    await page.until(lambda page=page: page.frame.get("mode") == "paused", LONG)
                    await page.close()

            asyncio.run(asyncio.wait_for(visit(), LONG))
        finally:
            program.kill()
