"""The spectrum of the data and Theorem 1 on the explorer's page: asked for, computed in a thread, answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from test_live_explorer import Page, X, Y

import sparsescope as ss
from sparsescope import registry
from sparsescope.live import Explorer, singular, spectra

GLS = {
    "speed": "max",
    "loss": "logistic",
    "penalty": "ridge",
    "solver": "gls",
    "solver.accelerated": False,
    "lam_ratio": 0.01,
}


def asked(page: Page, kind: str) -> dict[str, Any]:
    key = page.send("ask", kind=kind)
    found: dict[str, Any] = page.until(lambda: next((a for a in page.of("answer") if a["id"] == key), None), kind)
    return found


@pytest.fixture
def client() -> Iterator[Page]:
    explorer = Explorer((X, Y), GLS, allow_data_choice=False)
    yield Page(explorer).start()
    explorer.close()


def test_the_spectrum_is_that_of_the_data_dense_or_sparse() -> None:
    flat = np.column_stack([X, X[:, 0]])  # of rank 8
    exact = np.linalg.svd(flat, compute_uv=False)
    for data in (flat, sp.csr_array(flat)):
        explorer = Explorer((data, Y), {"solver": "cls", "loss": "squared"}, allow_data_choice=False)
        page = Page(explorer).start()
        assert {spec["kind"] for spec in page.of("problem")[-1]["views"]} >= {"spectrum"}
        found = asked(page, "spectrum")
        assert found["number"] == list(range(1, 10)) and (found["count"], found["bound"], found["rank"]) == (9, 9, 8)
        np.testing.assert_allclose(found["values"], exact, atol=1e-6 * exact[0])
        assert found["condition"] == pytest.approx(exact[0] / exact[7])
        assert (found["first"], found["last"]) == (2, 8) and found["proxy"] == pytest.approx(exact[1] / exact[7])
        assert found["shares"] == [[1, pytest.approx(exact[0] / exact.sum(), rel=1e-6)]]
        explorer.close()


def test_long_spectra_are_thinned_and_the_first_values_stay() -> None:
    values = np.geomspace(1.0, 1e-3, 1000)
    found = spectra.spectrum_facts(ss.spectrum.Spectrum(values, 5000))
    assert len(found["number"]) <= singular.MAX_VALUES and found["number"][:5] == [1, 2, 3, 4, 5]
    assert found["number"][-1] == 1000 and found["values"][-1] == pytest.approx(1e-3)
    assert found["proxy"] == pytest.approx(values[1] / values[999])
    nothing = spectra.spectrum_facts(ss.spectrum.Spectrum(np.zeros(3), 3))
    assert nothing["rank"] == 0 and nothing["proxy"] is None and nothing["condition"] is None


def test_what_goes_wrong_reaches_the_page(client: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(design: Any, k: int) -> None:
        raise MemoryError("too many samples")

    monkeypatch.setattr(spectra, "spectrum", fails)
    found = asked(client, "spectrum")
    assert found["error"] == "MemoryError: too many samples" and "Traceback" in found["detail"]
    monkeypatch.undo()
    assert asked(client, "spectrum")["error"] == ""
    client.send("ask", kind="spektrum")
    client.until(lambda: client.of("error"), "the error")
    assert "known: value, cell, names, snippet, spectrum, rate" in client.of("error")[-1]["text"]


def test_theorem_1_stands_beside_a_run_of_gls(client: Page) -> None:
    client.applied(client.send("do", action="step", n=30))
    client.until(lambda: client.last()["status"]["iteration"] == 30, "thirty steps")
    found = asked(client, "rate")
    assert found["reason"] == found["error"] == "" and found["iteration"] == list(range(31))
    assert not found["accelerated"] and not found["linear"] and found["known_to"] < 1e-9
    excess, bound = np.array(found["excess"]), np.array(found["bound"])
    assert (excess[1:] <= bound[1:]).all() and 0 < excess[30] < excess[1]
    assert bound[30] / bound[0] == pytest.approx(4 / 34)
    distances = dict(found["distances"])
    assert distances[0] == pytest.approx(2 * bound[0]) and distances[max(distances)] < distances[0]
    assert 0 < found["contraction"] < 1


def test_where_theorem_1_says_nothing_the_reason_is_told() -> None:
    gls, trace = ss.solvers.GLS(), ss.Trace()
    problem = ss.Problem(X, Y, loss="logistic", penalty="ridge")
    shifted = ss.Problem(X, Y, loss="logistic", penalty="ridge", intercept=True)
    assert "applies to gls only" in spectra.no_rate(problem, registry.solvers.create("fista-ls"), trace)
    assert "has no intercept" in spectra.no_rate(shifted, gls, trace)
    assert spectra.no_rate(problem, gls, trace) == "No iteration has been recorded yet."
    trace.mark("λ 0.2 → 0.1", "lam")
    assert "was changed during this run" in spectra.no_rate(problem, gls, trace)
    session = ss.Session(ss.CovarianceProblem(np.eye(3) + 0.5, lam=0.1), "quic")
    with pytest.raises(ValueError, match="has no X whose singular values"):
        spectra.Looks().ask("spectrum", "id", session)
    session.close()
