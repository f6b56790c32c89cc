"""A run that the teacher shows: packed once for all who watch, read-only, left at will, and what ends it."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import Any

import pytest
from test_class_pages import Class, Visitor, attend

from sparsescope.dashboard import parcel as parcels
from sparsescope.dashboard import relay as relays
from sparsescope.dashboard import showing
from sparsescope.dashboard.parcel import Parcel
from sparsescope.dashboard.relay import MOST_HELD, NOT_YOURS, Relay
from sparsescope.live import Explorer
from sparsescope.live.stage import Stage

LONG = 120.0
SLOW = {"dataset": "iris", "speed": 20.0, "lam_ratio": 0.001}


def saw(page: Any, lam_ratio: float) -> bool:
    """Return whether a frame told the page of this λ."""
    return any((header.get("settings") or {}).get("lam_ratio") == lam_ratio for header in page.heard)


async def seated(visitor: Visitor, page_client: Any, port: int, **settings: Any) -> Any:
    """An open explorer of somebody in the class, with its own run."""
    page = await page_client(port, {**SLOW, **settings}).open()
    await page.until(lambda: page.frame.get("mode") == "paused", LONG)
    page.heard = []
    take = page._take

    async def hear(header: dict[str, Any]) -> None:
        page.heard.append(header)
        await take(header)

    page._take = hear
    await visitor.say("hello", page="explorer", rejoin=page.token)
    return page


def test_a_shown_run_is_packed_once_for_all_and_obeys_its_own_page_only(
    page_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed: list[str] = []
    made: list[int] = []
    frame, pack = Stage.frame, parcels.packed

    def framed(stage: Stage, header: Any, whole: bool = True) -> Any:
        made.append(header["seq"])
        return frame(stage, header, whole)

    monkeypatch.setattr(Stage, "frame", framed)
    monkeypatch.setattr(parcels, "packed", lambda text, block: packed.append(text) or pack(text, block))

    async def visit(room: Class) -> None:
        teacher, projector, *students = (
            *[await room.teacher() for _ in range(2)],
            *[await room.student() for _ in range(2)],
        )
        shown = await seated(teacher, page_client, room.port)
        pages = [await seated(student, page_client, room.port, lam_ratio=0.5) for student in students]
        assert "shows no run" in await students[0].refusal("watch", on=True)
        await teacher.say("show", on=True)
        await students[0].until(lambda: students[0].state["show"]["on"])
        assert not any(page.watching for page in pages), "it is offered; who follows sees it at once"
        await teacher.say("follow", on=True)
        pages.append(await seated(projector, page_client, room.port, lam_ratio=0.5))
        await projector.say("watch", on=True)
        for page in pages:
            await page.until(lambda page=page: page.watching.get("on") and saw(page, 0.001), LONG)
            assert page.watching["whose"] == "your teacher"
        made.clear()
        packed.clear()
        for page in (shown, *pages):
            page.heard.clear()
        await shown.do("run")
        await shown.until(lambda: len(shown.heard) > 30, LONG)
        await shown.do("pause")
        for page in (shown, *pages):
            await page.until(lambda page=page: page.frame["mode"] == "paused", LONG)
        frames = {page: [h for h in page.heard if h["type"] == "frame"] for page in (shown, *pages)}
        first, last = max(kept[0]["seq"] for kept in frames.values()), min(kept[-1]["seq"] for kept in frames.values())
        same = [[h for h in kept if first <= h["seq"] <= last] for kept in frames.values()]
        assert len(same[0]) > 5 and all(kept == same[0] for kept in same), "the same frames, one after the other"
        assert len(made) == len(set(made)), "each frame was made once"
        assert 0 < len(packed) == len(set(packed)) <= len(made), "and packed once for four pages"

        at = room.site.bridge(shown.token).explorer
        before, iteration = at.settings, shown.frame["status"]["iteration"]
        for command in ({"type": "do", "action": "run"}, {"type": "set", "changes": {"lam_ratio": 0.9}}):
            await pages[0].say({**command, "id": "x"})
        await pages[0].until(lambda: pages[0].notices.count(NOT_YOURS) == 2, LONG)
        assert at.settings == before and shown.frame["status"]["iteration"] == iteration
        mine = room.site.bridge(pages[0].token).explorer
        assert mine.settings["lam_ratio"] == 0.5 and mine.session.status().mode == "paused", "nor its own run"

        # One leaves: its own run, from the settings that it saw, and it follows no more.
        await pages[0].say({"type": "watch", "on": False})
        await pages[0].until(lambda: showing.LEFT in pages[0].notices and mine.settings["lam_ratio"] == 0.001, LONG)
        assert pages[0].watching["on"] is False
        await shown.set(lam_ratio=0.2)
        await pages[1].until(lambda: saw(pages[1], 0.2), LONG)
        await pages[0].do("step")
        await pages[0].until(lambda: pages[0].frame["status"] and pages[0].frame["status"]["iteration"] == 1, LONG)
        assert mine.settings["lam_ratio"] == 0.001
        await students[0].say("watch", on=True)
        await pages[0].until(lambda: pages[0].watching["on"], LONG)

        # Another problem, then the end of it.
        await shown.set(dataset="wine")
        for page in pages:
            await page.until(lambda page=page: page.heard[-1].get("epoch") == shown.frame["epoch"], LONG)
            await page.until(
                lambda page=page: [h["name"] for h in page.heard if h["type"] == "problem"][-1:] == ["wine"], LONG
            )
        await shown.close()
        room.hub.showing.look(room.hub._bridges())
        for page in pages:
            await page.until(lambda page=page: page.watching["away"] == showing.AWAY, LONG)
        room.site._end(room.site.bridge(shown.token))
        for page in pages:
            await page.until(lambda page=page: page.watching["on"] is False, LONG)
            own = room.site.bridge(page.token).explorer
            await page.until(lambda own=own: own.settings["dataset"] == "wine", LONG)
        await teacher.until(lambda: teacher.state["show"]["on"] is False)
        for page in pages:
            assert not page.errors
            await page.close()
        room.site._end(room.site.bridge(pages[-1].token))  # the teacher's other explorer
        assert "open the explorer" in await teacher.refusal("show", on=True)

    attend(visit)


class _Run:
    """An explorer, as far as those who watch it need one."""

    relay: Any = None
    watched = False

    def so_far(self) -> list[Any]:
        return [({"type": "problem", "name": "p"}, []), ({"type": "frame", "anew": True}, [])]


def _watched(n: int = 1) -> tuple[Relay, list[list[dict[str, Any]]], list[Any]]:
    relay = Relay(_Run(), "your teacher", Parcel)
    got: list[list[dict[str, Any]]] = [[] for _ in range(n)]
    seats = [
        relay.join(lambda p, k=k: got[k].append(p.header), lambda k=k: got[k].append({"left": k})) for k in range(n)
    ]
    return relay, got, seats


def test_a_page_that_draws_slowly_holds_up_nobody_and_catches_up_in_one_piece() -> None:
    relay, (quick, slow), (first, second) = _watched(2)
    assert [h["type"] for h in quick] == ["watching", "problem", "frame"]
    for seq in range(3 * MOST_HELD):
        relay.tell([Parcel({"type": "frame", "seq": seq}), Parcel({"type": "notices"}), Parcel({"type": "answer"})])
        first.receive({"type": "credit", "n": 1})
    assert [h["seq"] for h in quick[3:]] == list(range(3 * MOST_HELD)), "all of them, and nothing that is not for them"
    assert len(slow) == 4 and len(second._held) == 0 and second._behind, "bounded"
    second.receive({"type": "credit", "n": 1})
    assert [h["type"] for h in slow[4:]] == ["problem", "frame"] and slow[-1]["anew"] is True
    relay.tell([Parcel({"type": "frame", "seq": 999})])
    second.receive({"type": "credit", "n": "many"})
    second.receive({"type": "credit", "n": 1})
    assert slow[-1] == quick[-1] == {"type": "frame", "seq": 999}


def test_what_is_no_json_is_left_out_and_a_page_that_begins_anew_gets_everything() -> None:
    relay, (got,), (seat,) = _watched()
    relay.tell([Parcel({"type": "frame", "bad": float("nan")})])
    assert got[-1].get("anew")
    relay.rest("away")
    relay.rest("away")
    assert [h.get("away") for h in got].count("away") == 1
    count = len(got)
    seat.receive({"type": "ready", "version": 1})
    assert [h["type"] for h in got[count:]] == ["watching", "problem", "frame"] and got[count]["away"] == "away"
    for message in ({"type": "layout"}, {"type": "ask"}, {"type": "set", "changes": {"xlog": True}}, {}):
        seat.receive(message)
    assert len(got) == count + 3, "what only concerns looking is the browser's"
    for message in ({"type": "turbo", "on": True}, {"type": "set", "changes": []}, {"type": "open"}):
        seat.receive(message)
        assert got[-1]["notices"] == [NOT_YOURS]
    seat.receive({"type": "watch", "on": False})
    assert got[-1] == {"left": 0}
    assert relay.explorer.watched and len(relay) == 1
    relay.part(seat)
    relay.part(seat)
    assert not relay.explorer.watched and not len(relay)
    ended: list[int] = []
    relay.on_end = lambda: ended.append(1)
    relay.end()
    relay.end()
    assert ended == [1]


def test_what_was_sent_so_far_is_what_the_page_has() -> None:
    """The frame for those who come later ends where the page's own frames end, and goes on with them."""
    clock = SimpleNamespace(now=0.0)
    explorer = Explorer(settings={**SLOW, "speed": "max"}, clock=lambda: clock.now)
    explorer.on_message({"type": "ready", "version": 1})

    def frames(holds: Any) -> list[Any]:
        got: list[Any] = []
        limit = time.monotonic() + LONG
        while not holds(got):
            assert time.monotonic() < limit, got[-1:]
            clock.now += 0.05
            explorer.on_message({"type": "credit", "n": 2})
            got += [header for header, _ in explorer.poll() if header["type"] == "frame"]
        return got

    frames(lambda got: got and got[-1]["mode"] == "paused" and got[-1]["total"])
    explorer.on_message({"type": "do", "action": "step", "n": 7, "id": "a"})
    first = frames(lambda got: got and got[-1]["total"] >= 8)[-1]
    explorer.on_message({"type": "do", "action": "step", "n": 5, "id": "b"})
    session = explorer.session
    assert session is not None
    session.wait_idle(LONG)
    assert len(session.trace) == 13
    problem, controls, (frame, block) = [m if m[0]["type"] == "frame" else m[0] for m in explorer.so_far()]
    assert (problem["type"], controls["type"], frame["anew"]) == ("problem", "controls", True)
    assert frame["total"] == frame["count"] == first["total"] and frame["status"] == first["status"]
    assert frame["seq"] == first["seq"] and frame["settings"] == explorer.settings and block
    json.dumps([problem, controls, frame], allow_nan=False)
    # The picture is made anew for those who have none; the worker may take longer for it than for the charts.
    later = frames(lambda got: got and got[-1]["total"] >= 13 and any(h["picture"] for h in got))
    assert later[0]["start"] == frame["total"] and not any(h["anew"] for h in later)
    explorer.close()
    assert relays.TOLD == ("problem", "controls", "frame", "error")
