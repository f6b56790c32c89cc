"""``ss.watch``: a fit that is watched is on the page point by point, and what was not measured is not."""

from __future__ import annotations

import json
import urllib.request
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import sparsescope as ss
from sparsescope import registry
from sparsescope.app._watching import WatchPage
from sparsescope.estimators.fits import Fits


@pytest.fixture
def _own_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages that a test registers are gone after it."""
    monkeypatch.setattr(registry.app_pages, "_known", dict(registry.app_pages._entries))


def told(page: WatchPage) -> list[dict[str, Any]]:
    return [json.loads(json.dumps(message, allow_nan=False)) for message, _ in page.poll()]


def fits_of(page: WatchPage) -> list[dict[str, Any]]:
    return [message for message in told(page) if message["type"] == "fit"]


def iterate(watch: Any, model: Any, data: Any, weights: list[np.ndarray], fit: Any = None) -> None:
    """Call back as scikit-learn does during a fit, with these weights after its iterations."""
    model.classes_ = np.unique(data.y)
    context = SimpleNamespace(task_name="lbfgs-iter", parent=fit or SimpleNamespace())
    for W in weights:
        given = {"X": data.X, "y": data.y, "metadata": None}
        watch.on_fit_task_begin(model, context, **given, fitted_estimator=None)
        done = SimpleNamespace(coef_=W, intercept_=np.zeros(len(W)), fit_intercept=True)
        assert watch.on_fit_task_end(model, context, **given, fitted_estimator=done) is False


def test_points_and_weights_of_a_fit_arrive_as_they_are_measured() -> None:
    data, watch = ss.datasets.load("iris"), ss.watch()
    page = WatchPage(watch.fits)
    page.on_message({"type": "ready"})
    (empty,) = fits_of(page)
    assert empty["number"] == 0 and "set_callbacks" in empty["facts"], "before a fit the page says what to do"
    steps = [np.full((3, 4), 0.0), np.outer([1.0, 0.0, -1.0], [0.5, 0.0, 0.0, 0.25])]
    model = LogisticRegression(C=0.3)
    watch.setup(model, None)
    iterate(watch, model, data, steps)
    (first,) = fits_of(page)
    assert first["number"] == first["fits"] == 1 and first["running"]
    trace = watch.trace
    assert [point[0] for point in first["points"]] == trace["iteration"].tolist() == [0, 1, 2]
    assert [point[1] for point in first["points"]] == pytest.approx(trace["objective"], rel=1e-10)
    assert [point[3] for point in first["points"]] == pytest.approx(trace["relative_gap"], rel=1e-10)
    pattern = first["weights"]
    assert pattern["rows"] == ["feature 0", "feature 3"] and pattern["all"] == [4, 3]
    assert pattern["cells"] == [[127, 0, -127], [64, 0, -64]] and pattern["columns"] == ["0", "1", "2"]
    assert fits_of(page) == [], "nothing new, nothing sent"
    watch.teardown(model, None)
    (ended,) = fits_of(page)
    assert not ended["running"] and ended["points"] == [] and ended["from"] == 3
    watch.setup(model, None)
    iterate(watch, model, data, steps[:1])
    (second,) = fits_of(page)
    assert second["number"] == 2 and second["from"] == 0 and len(second["points"]) == 2
    page.on_message({"type": "set", "changes": {"fit": 1}})
    assert [message["number"] for message in fits_of(page)] == [1]
    page.close()


def test_a_gap_that_was_not_measured_is_none_on_the_page() -> None:
    fits, problem = Fits(), ss.Problem(ss.datasets.load("iris"), lam_ratio=0.1)
    for event in ss.Run(problem, "bcd-ls", stop=ss.stopping.Iterations(4), certify_every=3):
        fits.see(event)
    page = WatchPage(fits)
    page.on_message({"type": "ready"})
    (message,) = fits_of(page)
    measured = [point[3] is not None for point in message["points"]]
    assert measured == [True, False, False, True, True]
    assert all((point[2] is None) == (point[3] is None) for point in message["points"])


def test_the_page_is_a_widget_and_is_served_and_both_end(_own_pages: None) -> None:
    pytest.importorskip("anywidget")
    pytest.importorskip("panel")
    assert WatchPage.name not in registry.app_pages, "a server without a watch has no such page"
    with ss.watch(serve=True, show=False) as watch:
        with urllib.request.urlopen(watch.url, timeout=60) as answer:
            assert answer.status == 200
        assert "what is watched" in repr(watch.widget)
        assert watch.serve(show=False) is watch, "it is served once"
        address = watch.url
    assert watch.url == ""
    with pytest.raises(OSError):
        urllib.request.urlopen(address, timeout=5)
    watch.close()


def test_a_live_watch_stays_in_its_process() -> None:
    import pickle

    with pytest.raises(TypeError, match="n_jobs=1"):
        pickle.dumps(ss.watch())


def test_scikit_learns_own_fit_is_on_the_page() -> None:
    pytest.importorskip("sklearn.callback")  # scikit-learn 1.9
    data, watch = ss.datasets.load("iris"), ss.watch()
    model = LogisticRegression(C=0.3).set_callbacks(watch).fit(data.X, data.y)
    page = WatchPage(watch.fits)
    page.on_message({"type": "ready"})
    (message,) = fits_of(page)
    assert len(message["points"]) == int(model.n_iter_[0]) + 1 and not message["running"]
    assert message["points"][-1][3] < 1e-2 < message["points"][0][3]
    assert len(message["weights"]["cells"]) == 4
