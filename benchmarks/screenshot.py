"""Take the pictures of the documentation: one of every page of the app for the manual, and that of the README.

    python benchmarks/screenshot.py                  all: docs/pictures/ (1280 × 800, light, WebP), docs/explorer.png
    python benchmarks/screenshot.py race network     those only; `readme` is docs/explorer.png

All show real computations on data that come with the package, taken when a page has what its address asks for.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import HERE
from explorer_driver import DRAWN, SETTLED, Explorer, a_class, browser
from PIL import Image

ROOT = HERE.parent
README = ROOT / "docs" / "explorer.png"
PICTURES = ROOT / "docs" / "pictures"
SIZE = (1280, 800)
MOST_BYTES = 120_000
WAIT = 240_000  # ms until a page has all that was asked for
LOWER = """(s) => {
  s.value = Number(s.min) + 0.52 * (s.max - s.min);
  s.dispatchEvent(new Event("input", { bubbles: true }));
}"""

# Pages that show everything by their address alone.
ADDRESSES = {
    "race": "race?dataset=digits&lam_ratio=0.05&unit=iterations&budget=400",
    "path": "path?dataset=digits&n_lams=30&folds=3&resamples=10&lam_ratio=0.1",
    "sweep": "sweep?dataset=digits&n_lams=6&penalty2=l1",
    "geometry": "geometry",
    "data": "data?dataset=digits",
    "network": "network?n_lams=20&resamples=10&lam_ratio=0.6",
    "prox": "prox?tau=0.5",
    "duality": "duality?dataset=digits",
    "lesson": "lesson/01",
}


def part(page: Any, testid: str) -> Any:
    """Return the first part of a page with a test id."""
    return page.get_by_test_id(testid).first


def by_address(page: Any, url: str, name: str) -> None:
    """Open a page and wait until it has all that its address asks for."""
    page.goto(url + ADDRESSES[name])
    page.wait_for_function(DRAWN)
    page.wait_for_function(SETTLED, timeout=WAIT)


def explorer(page: Any, url: str, name: str) -> None:
    """Run on the digits, pause, and choose a row."""
    page.goto(url + "?dataset=digits&lam_ratio=0.1")
    page.wait_for_function("() => window.__sparsescope && window.__sparsescope.points >= 1")
    part(page, "run-button").click()
    page.wait_for_function("() => window.__sparsescope.status.iteration >= 80")
    part(page, "pause-button").click()
    page.wait_for_function("() => window.__sparsescope.status.mode !== 'running'")
    page.mouse.move(5, 780)


def duality(page: Any, url: str, name: str) -> None:
    """Choose a sample among the misread ones."""
    by_address(page, url, name)
    part(page, "margins").focus()
    page.keyboard.press("ArrowRight")
    part(page, "bin-samples").get_by_role("button").first.click()
    part(page, "rivals").wait_for()
    page.mouse.move(5, 780)


def readme(page: Any, url: str, name: str) -> None:
    """Lower λ and change the solver while pydocs runs."""
    page.goto(url + "?dataset=pydocs&lam_ratio=0.1&speed=20")
    page.wait_for_function("() => window.__sparsescope && window.__sparsescope.points >= 1")
    part(page, "run-button").click()
    page.wait_for_function("() => window.__sparsescope.status.iteration >= 30")
    part(page, "lam-slider").evaluate(LOWER)
    page.wait_for_function("() => window.__sparsescope.status.iteration >= 80")
    part(page, "solver-select").select_option("fista-ls")
    page.wait_for_function("() => window.__sparsescope.status.iteration >= 150")
    page.locator("[data-testid=chart-weights] canvas").first.click(position={"x": 140, "y": 6})
    time.sleep(1.0)
    page.mouse.move(5, 700)


def board() -> None:
    """Ask a class of two a question; both answer."""
    with a_class() as server, browser(*SIZE) as teacher:
        teacher.goto(server.teacher)
        students = [teacher.context.browser.new_context().new_page() for _ in range(2)]
        for student in students:
            student.goto(server.url + "class")
            student.wait_for_load_state()
        part(teacher, "ask-text").fill("λ is halved. Are there more non-zero rows, or fewer?")
        part(teacher, "ask-answers").fill("*more rows\nfewer rows | λ is the price of a row.")
        part(teacher, "ask").click()
        for student, answer in zip(students, ("more rows", "fewer rows"), strict=True):
            student.get_by_label(answer, exact=True).check()
            student.get_by_role("button", name="Sure", exact=True).click()
            part(student, "lock-in").click()
            part(student, "class-in").wait_for()
        teacher.get_by_text("2 of 2 in").first.wait_for()
        part(teacher, "measured").click()
        teacher.locator(".measured").first.wait_for()
        teacher.mouse.move(5, 780)
        stored(shot(teacher), PICTURES / "board.webp")


DRIVEN: dict[str, Callable[[Any, str, str], None]] = {"explorer": explorer, "duality": duality}
NAMES = ("readme", "explorer", *ADDRESSES, "board")


def shot(page: Any) -> bytes:
    """Return what a page shows once its last frame is painted."""
    time.sleep(1.0)
    return bytes(page.screenshot())


def stored(picture: bytes, target: Path) -> None:
    """Store a picture as WebP; ``SystemExit`` if it is larger than the manual should load."""
    packed = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").save(packed, "WEBP", quality=80, method=6)
    if packed.tell() > MOST_BYTES:
        raise SystemExit(f"{target.name} has {packed.tell()} bytes; the most is {MOST_BYTES}")
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(packed.getvalue())
    print(f"{target.relative_to(ROOT)}: {packed.tell()} bytes", flush=True)


def main() -> None:
    """Take the pictures that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="name", help=f"one of {', '.join(NAMES)}; all without a name")
    names = parser.parse_args().names or NAMES
    if unknown := [name for name in names if name not in NAMES]:
        parser.error(f"there is no picture {', '.join(unknown)}; there are {', '.join(NAMES)}")
    if "readme" in names:
        with Explorer() as server, browser(1440, 1230) as page:
            readme(page, server.url, "readme")
            README.write_bytes(shot(page))
    if "board" in names:
        board()
    of_app = [name for name in names if name in DRIVEN or name in ADDRESSES]
    if of_app:
        with Explorer() as server, browser(*SIZE) as page:
            for name in of_app:
                DRIVEN.get(name, by_address)(page, server.url, name)
                stored(shot(page), PICTURES / f"{name}.webp")


if __name__ == "__main__":
    main()
