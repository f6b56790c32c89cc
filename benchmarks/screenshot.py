"""Takes the picture of the README: a real run on pydocs, λ lowered and the solver changed while it runs.

python benchmarks/screenshot.py [docs/explorer.png]
"""

from __future__ import annotations

import sys
import time

from common import HERE
from explorer_driver import Explorer, browser

LOWER = """(s) => {
  s.value = Number(s.min) + 0.52 * (s.max - s.min);
  s.dispatchEvent(new Event("input", { bubbles: true }));
}"""


def main() -> None:
    """Run, change, wait, and store the picture."""
    target = sys.argv[1] if len(sys.argv) > 1 else str(HERE.parent / "docs" / "explorer.png")
    with Explorer() as server, browser(1440, 1230) as page:
        page.goto(server.url + "?dataset=pydocs&lam_ratio=0.1&speed=20")
        page.wait_for_function("() => window.__sparsescope && window.__sparsescope.points >= 1")
        page.locator("[data-testid=run-button]").first.click()
        page.wait_for_function("() => window.__sparsescope.status.iteration >= 30")
        page.locator("[data-testid=lam-slider]").evaluate(LOWER)
        page.wait_for_function("() => window.__sparsescope.status.iteration >= 80")
        page.locator("[data-testid=solver-select]").select_option("fista-ls")
        page.wait_for_function("() => window.__sparsescope.status.iteration >= 150")
        page.locator("[data-testid=chart-weights] canvas").first.click(position={"x": 140, "y": 6})
        time.sleep(1.0)
        page.mouse.move(5, 700)
        time.sleep(0.5)
        page.screenshot(path=target)
    print(target)


if __name__ == "__main__":
    main()
