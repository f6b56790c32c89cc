"""Hostile messages and addresses: refused in a sentence that repeats at most a line; no path of a client is opened."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

from sparsescope import datasets
from sparsescope.live import Explorer
from sparsescope.live import settings as st
from sparsescope.live.saying import LINE, brief, without_paths
from waiting import Said, told_until

LONG = "x" * 100_000
DEEP: Any = []
for _ in range(200):
    DEEP = [DEEP]
ODD = [
    None,
    True,
    -1,
    10**30,
    1e308,
    float("inf"),
    float("nan"),
    "",
    LONG,
    "\n" * 50,
    "<b>",
    "\0",
    [],
    [LONG],
    {},
    DEEP,
    {"a": DEEP},
]


@pytest.fixture
def explorer(monkeypatch: pytest.MonkeyPatch) -> Any:
    made = Explorer(settings={"dataset": "iris"})
    made.on_message({"type": "ready", "version": 1})
    told_until(made, lambda _: made.session is not None)
    yield made
    made.close()


def told(explorer: Explorer) -> list[str]:
    """Every sentence that was sent for people to read; no error may carry a traceback."""
    texts: list[str] = []
    for header, _ in explorer.poll():
        if header["type"] == "error":
            assert header["detail"] == "", header
            texts.append(header["text"])
        elif header["type"] == "notices":
            texts += header["notices"]
    return texts


def messages() -> list[Any]:
    """Every message of the protocol with every odd value in every field."""
    made: list[Any] = list(ODD)
    fields = {
        "credit": ["n", "seq"],
        "layout": ["rows", "columns", "mode", "visible", "row", "zoom", "part"],
        "do": ["id", "action", "n"],
        "set": ["id", "changes"],
        "ready": ["version"],
        "ask": ["id", "kind", "row", "cls", "line", "column", "rows"],
    }
    for odd in ODD:
        made.append({"type": odd})
        for kind, names in fields.items():
            for name in names:
                usual = {"action": "pause", "kind": "value", "row": 0, "cls": 0, "changes": {}}
                made.append({"type": kind, **usual, name: odd})
        made += [
            {"type": "ask", "kind": kind, "row": odd, "line": odd, "column": 0, "cls": odd, "rows": [odd]}
            for kind in ("cell", "names", "value")
        ]
        made += [
            {"type": "set", "changes": {key: odd}}
            for key in (
                "loss",
                "lam_ratio",
                "speed",
                "seed",
                "dataset",
                "xlog",
                "task",
                "version",
                "penalty.alpha",
                LONG,
            )
        ]
        made.append({"type": "layout", "zoom": [0, odd, 0, 4]})
    made.append({"type": "set", "changes": {f"k{i}": 1 for i in range(5000)}})
    return made


def test_hostile_messages_are_refused_in_a_line(explorer: Explorer) -> None:
    known = sum(map(len, [*datasets.names(), *st.registry.solvers.names()])) + 300  # sentences list what is known
    count = 0
    for message in messages():
        explorer.on_message(message)
        for text in told(explorer):
            count += 1
            assert len(text) < LINE + known and "\n" not in text and "x" * (LINE + 1) not in text, text[:300]
    assert count > 100
    assert explorer.session is not None and explorer.session.status().mode != "error"


def test_an_address_says_at_most_a_line_of_each_setting_and_names_few() -> None:
    query = {f"k{i}" + LONG: LONG for i in range(200)} | {"loss": LONG, "seed": LONG, "solver." + LONG: "1"}
    _, notices = st.from_query(query)
    assert len(notices) <= st.MOST_NOTICES + 5
    assert all("x" * (LINE + 1) not in text for text in notices)
    assert any("more settings are not known" in text for text in notices)


@pytest.mark.parametrize(
    "value",
    [
        "/etc/passwd",
        "../../etc/passwd",
        "file:///etc/passwd",
        "~/x.csv",
        "mine.npz",
        "\0",
        "C:\\x.csv",
        "digits/../../etc/passwd",
        "own",
    ],
)
def test_no_path_from_a_page_is_ever_opened(explorer: Explorer, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = builtins.open
    monkeypatch.setattr(builtins, "open", lambda file, *a, **k: (opened.append(str(file)), real(file, *a, **k))[1])
    for key in ("dataset", "loss", "solver", "penalty", "file", "path"):
        explorer.on_message({"type": "set", "changes": {key: value}})
    assert explorer.settings["dataset"] == "iris" or explorer.settings["dataset"] in datasets.names()
    assert st.from_query({"dataset": value})[0]["dataset"] in datasets.names()
    assert not [file for file in opened if "passwd" in file or "mine.npz" in file or "x.csv" in file]


def has_problem(said: Said) -> bool:
    return any(message["type"] == "problem" for message in said)


def test_names_in_data_travel_as_text() -> None:
    """Names go out in JSON as they are; the page never reads them as markup."""
    names = ["<img src=x onerror=alert(1)>", "</script>", "a\0b"]
    k = np.arange(12) % 3
    data = datasets.from_arrays(np.eye(3)[k], np.array(names)[(k == 0).astype(int)], feature_names=names)
    made = Explorer(data)
    made.on_message({"type": "ready"})
    found = [message for message in told_until(made, has_problem) if message["type"] == "problem"]
    made.close()
    assert found[0]["feature_names"] == names
    assert sorted(found[0]["class_names"]) == sorted(names[:2])


def test_values_are_written_on_one_short_line() -> None:
    assert brief("abc") == "'abc'" and brief(3) == "3" and brief(True) == "True" and brief(None) == "None"
    assert brief("a\nb") == r"'a\nb'"
    assert len(brief(LONG)) == LINE and brief(LONG).endswith("…'")
    assert brief([LONG]) == "a value of type list"
    assert "digits" in brief(10**5000)
    assert (
        without_paths("no file /a/b/c.csv; see l1/l2 and https://x.org/a/b")
        == "no file c.csv; see l1/l2 and https://x.org/a/b"
    )
