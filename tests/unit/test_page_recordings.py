"""Pages beside the explorer are recorded as what they were sent, and the browser that asked goes on."""

from __future__ import annotations

import re
from typing import Any

import pytest
from test_live_assets import NODE, what_is_wrong

import sparsescope as ss
from sparsescope import app, registry  # noqa: F401  (registers the pages)
from sparsescope.live import assets
from sparsescope.live.recordings import packing
from waiting import told_until

SETTINGS: dict[str, dict[str, Any]] = {
    "race": {"dataset": "iris", "lane1": "bcd-ls", "lane2": "ista", "lane3": "none", "lane4": "none", "budget": 0.02},
    "path": {"dataset": "iris", "n_lams": 6, "ratio": 0.1, "folds": 0, "resamples": 0},
    "network": {"dataset": "iris", "n_lams": 6, "resamples": 2},
    "geometry": {"dataset": "iris", "iterations": 20},
    "duality": {"dataset": "iris", "budget": 1.0},
    "prox": {},
    "sweep": {"dataset": "iris", "n_lams": 2, "solver2": "none", "seconds": 0.5, "tol": 1e-2},
    "lesson": {"lesson": "01"},
}
LASTLY = {
    "geometry": "paths",
    "duality": "margins",
    "prox": "picture",
    "sweep": "rows",
    "lesson": "picture",
}  # what the last thing is that a page says
RECORDED = [name for name in registry.app_pages if getattr(registry.app_pages[name], "records", False)]


def polled(page: Any, until: Any) -> list[dict[str, Any]]:
    """Collect the page's messages until a given one is among them."""
    return told_until(page, lambda said: any(until(message) for message in said))


def done(message: dict[str, Any]) -> bool:
    """Return whether a page has nothing more to say."""
    if message["type"] == "status":
        return not message.get("running", True)
    return (message["type"] == "picture" and ("panels" in message or "lesson" in message)) or bool(message.get("done"))


@pytest.mark.parametrize("name", RECORDED)
def test_a_page_is_recorded_as_it_would_be_opened_now(name: str, tmp_path: Any) -> None:
    page = registry.app_pages[name](None, SETTINGS[name])
    try:
        page.on_message({"type": "ready"})
        first = polled(page, done)
        page.on_message({"type": "ask", "kind": "recording", "id": "a"})
        again = polled(page, lambda message: message["type"] == "answer") + [m for m, _ in page.poll()]
        answer = next(message for message in again if message["type"] == "answer")
    finally:
        page.close()
    assert not [message for message in first + again if message["type"] == "error"]
    header, _ = packing.extracted(answer["text"].encode(), answer["name"])
    kinds = [message["type"] for message in header["messages"]]
    last = LASTLY.get(name, "points")
    assert kinds[:2] == ["page", "picture"] and last in kinds
    assert not re.search(r"\b([Dd]rag|[Ss]tretch|Click a bar)", header["messages"][0]["doc"]), (
        "nothing can be moved there"
    )
    assert set(header["replayed"]) <= set(header["messages"][1]), "what can be changed is part of the picture"
    assert not [m for m in header["messages"] if m["type"] == "status" and m["running"]]
    assert last in [message["type"] for message in again]  # the browser that asked gets everything too
    assert len(answer["text"].encode()) < 1_500_000
    file = tmp_path / answer["name"]
    file.write_text(answer["text"], encoding="utf-8")
    with pytest.raises(ValueError, match=f"of the page {name}.* open the file in a browser.* on that page .*Open …"):
        ss.load_recording(file)


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """Messages of node about the module of each recorded page."""
    return what_is_wrong({name: assets.esm_text(f"pages/{name}.js", more=(assets.PLAYING,)) for name in RECORDED})


@pytest.mark.skipif(NODE is None, reason="node is not installed; a browser test plays a race")
@pytest.mark.parametrize("name", RECORDED)
def test_the_module_of_a_recorded_page_is_valid_javascript(name: str, said: dict[str, str]) -> None:
    assert not said[name]


def test_a_page_without_a_run_cannot_be_recorded() -> None:
    page = registry.app_pages["data"]()
    page.on_message({"type": "ready"})
    page.on_message({"type": "ask", "kind": "recording", "id": "a"})
    assert any(message["type"] == "error" and "can be recorded" in message["text"] for message, _ in page.poll())
