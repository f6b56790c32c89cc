"""A fit of scikit-learn in a browser, from a script that serves its page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

import sparsescope as ss
from sparsescope import registry

pytest.importorskip("sklearn.callback")  # scikit-learn 1.9


@pytest.mark.slow
def test_the_curve_and_the_weights_of_a_fit_grow_in_the_browser(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.linear_model import LogisticRegression

    monkeypatch.setattr(registry.app_pages, "_known", dict(registry.app_pages._entries))
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    data = ss.datasets.load("digits")
    with ss.watch(serve=True, show=False) as watch:
        page.goto(watch.url)
        expect(page.get_by_test_id("watch-status")).to_contain_text("No fit yet", timeout=60_000)
        model = LogisticRegression(C=0.1).set_callbacks(watch).fit(data.X, data.y)
        iterations = int(model.n_iter_[0])
        expect(page.get_by_test_id("watch-status")).to_contain_text(
            f"Ended after {iterations} iterations", timeout=60_000
        )
        expect(page.get_by_test_id("watch-gap").locator(".race-line")).to_have_count(1)
        expect(page.get_by_test_id("watch-gap-note")).to_contain_text(re.compile(rf"after {iterations} iterations"))
        expect(page.get_by_test_id("watch-values").locator(".closing-line")).to_have_count(2)
        expect(page.get_by_test_id("watch-weights")).to_be_visible()
        expect(page.locator("header nav a[aria-current]")).to_have_text("Watch")
    assert not errors
