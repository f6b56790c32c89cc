"""Confusions between classes on the page, and the misread samples of a cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from test_live_explorer import Page

import sparsescope as ss
from sparsescope.live import Explorer
from sparsescope.live import confusion as module

rng = np.random.default_rng(8)
X = rng.normal(size=(90, 6))
Y = np.array(["red", "green", "blue"])[np.argmax(X[:, :3] + 0.8 * rng.normal(size=(90, 3)), axis=1)]


def asked(page: Page, kind: str, **fields: Any) -> dict[str, Any]:
    key = page.send("ask", kind=kind, **fields)
    return page.until(lambda: next((a for a in page.of("answer") if a["id"] == key), None), f"the answer to {kind}")


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_counts_and_samples_are_those_of_the_newest_weights(form: Any) -> None:
    explorer = Explorer((form(X), Y), {"lam_ratio": 0.1, "intercept": True}, allow_data_choice=False)
    page = Page(explorer).start()
    page.applied(page.send("do", action="step", n=3))
    session = explorer.session
    assert session is not None and session.wait_idle(120.0)
    answer = asked(page, "confusion")
    assert not answer["error"] and answer["of"] == "training" and answer["iteration"] == session.status().iteration
    iteration, point = session.point()
    problem = session.problem
    names = [str(c) for c in problem.class_names]
    found = np.array(names)[problem.predict(point["W"], point["b"])]
    expected = [[int(np.sum((a == Y) & (b == found))) for b in names] for a in names]
    assert answer["counts"] == expected and answer["names"] == names and iteration == answer["iteration"]
    assert answer["right"] == np.sum(found == Y) and answer["total"] == 90
    true, taken, number = answer["pairs"][0]
    assert number == max(expected[a][b] for a in range(3) for b in range(3) if a != b)
    cell = asked(page, "misread", true=true, found=taken)
    rows = np.flatnonzero((names[true] == Y) & (found == names[taken]))
    assert cell["number"] == number == rows.size
    assert [s["sample"] for s in cell["samples"]] == rows[: module.MOST_SAMPLES].tolist()
    W = np.asarray(point["W"])
    name, share = cell["samples"][0]["reasons"][0]
    shares = X[rows[0]] * (W[:, taken] - W[:, true])
    assert share == pytest.approx(shares.max()) and name == problem.feature_name(int(shares.argmax()))
    page.send("ask", kind="misread", true="x", found=1)
    page.until(lambda: page.of("error"), "a refusal")
    assert "those of two classes" in page.of("error")[-1]["text"]
    explorer.close()


def test_held_out_samples_are_judged_where_there_are_some() -> None:
    problem = ss.Problem(X[:60], Y[:60], lam_ratio=0.05)
    result = ss.solve(problem)
    judged = module.Confusion(problem, vars(result), (X[60:], Y[60:]), 7)
    facts = judged.facts()
    right = np.mean(np.array(problem.class_names)[problem.predict(result.W, X=X[60:])] == Y[60:])
    assert facts["of"] == "held-out" and facts["right"] / facts["total"] == pytest.approx(right)
    assert facts["total"] == 30 and facts["iteration"] == 7


def test_where_there_is_no_confusion_the_page_says_why() -> None:
    assert "nothing is predicted" in module.refusal(ss.CovarianceProblem.from_data(X, lam=0.1))
    sets = np.column_stack([X[:, 0] > 0, X[:, 1] > 0, X[:, 2] > 0]).astype(np.uint8)
    assert "set of labels" in module.refusal(ss.Problem(X, sets, loss="multitask-squared-hinge"))
    assert not module.refusal(ss.Problem(X, Y))


def test_pairs_stand_for_the_table_where_classes_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_CLASSES", 2)
    problem = ss.Problem(X, Y, lam_ratio=0.3)
    result = ss.solve(problem)
    facts = module.Confusion(problem, vars(result), None, 1).facts()
    assert facts["counts"] is None and facts["pairs"] == sorted(facts["pairs"], key=lambda pair: -pair[2])
