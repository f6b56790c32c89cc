"""The documentation site: pages have their places, questions their answers, and what is built asks for nothing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from PIL import Image

from sparsescope import app, registry  # noqa: F401  (registers the pages)
from sparsescope.live import settings as live_settings

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
mkdocs = pytest.importorskip("mkdocs", reason='the tools of the site are in the extra "docs"')
sys.path.insert(0, str(DOCS))
import facts  # noqa: E402

MADE = {"changelog.md"}  # when the site is built
SOURCES = ("src", "srcset", "poster", "data")  # attributes that a browser follows by itself
FETCHED = {"link", "script", "img", "iframe", "video", "audio", "source", "object", "embed"}


def navigation() -> list[str]:
    """The pages that mkdocs.yml names."""
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    return re.findall(r"([\w-]+\.md)$", nav, re.MULTILINE)


def test_every_page_stands_in_the_navigation_once() -> None:
    named = navigation()
    assert sorted(named) == sorted({path.name for path in DOCS.glob("*.md")} | MADE)


def slug(title: str) -> str:
    """The anchor of a heading, as the site makes it."""
    from pymdownx.slugs import slugify

    return str(slugify(case="lower")(re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", title), "-"))


def anchors(page: Path) -> set[str]:
    return {slug(found) for found in re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)}


def test_twenty_questions_have_a_page_with_the_answer() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+?) \| (.+?) \|$", (DOCS / "questions.md").read_text("utf-8"), re.MULTILINE)
    assert [int(number) for number, _, _ in rows] == list(range(1, 21))
    for _, question, answer in rows:
        targets = re.findall(r"\]\(([\w-]+\.md)(?:#([^)]*))?\)", answer)
        assert question.endswith("?") and targets, question
        for page, anchor in targets:
            assert (DOCS / page).is_file(), f"{question} {page}"
            assert not anchor or unquote(anchor) in anchors(DOCS / page), f"{question} {page}#{anchor}"


def test_the_manual_has_every_control_of_every_page() -> None:
    text = facts.manual((DOCS / "manual.md").read_text(encoding="utf-8"))
    assert len(live_settings.declared()) > 10
    shown = [control for kind in live_settings.pages() for control in controls_of(kind)]
    for control in shown:
        assert f"| **{control['label']}** |" in text, control["id"]
    for name in registry.app_pages:
        for declared in getattr(registry.app_pages[name], "fields", ()):
            assert " ".join(declared.doc.replace("|", "\\|").split()) in text, f"{name}: {declared.name}"


def test_the_manual_has_a_picture_of_every_page_that_one_command_takes_again() -> None:
    text = (DOCS / "manual.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^!\[(.+)\]\(pictures/([\w-]+\.webp)\)$", text, re.MULTILINE))
    files = {path.stem: path for path in (DOCS / "pictures").iterdir()}
    pages = {path.stem for path in (ROOT / "toolkit" / "sparsescope" / "app").glob("[a-z]*.py")} - {"base"}
    assert pages | {"board"} == set(files), "a picture for each page: benchmarks/screenshot.py"
    assert sorted(shown.values()) == sorted(path.name for path in files.values())
    assert min(len(words.split()) for words in shown) >= 8, "the words stand for the picture"
    script = (ROOT / "benchmarks" / "screenshot.py").read_text(encoding="utf-8")
    for name, path in files.items():
        assert f'"{name}"' in script and path.stat().st_size <= 120_000, name
        with Image.open(path) as picture:
            assert picture.size == (1280, 800), name


def controls_of(kind: object) -> Iterator[dict[str, str]]:
    from sparsescope.live import controls

    settings = live_settings.clean({"task": kind.task, "solver": kind.default_solver})[0]  # type: ignore[attr-defined]
    for group in controls.schema(settings):
        yield from group["controls"]


def test_the_page_of_choices_has_every_part() -> None:
    text = facts.choosing((DOCS / "choosing.md").read_text(encoding="utf-8"))
    for kind in ("losses", "penalties", "solvers"):
        for name in getattr(registry, kind):
            assert f"`{name}`" in text, name


def test_recordings_of_pages_are_made_and_every_page_of_the_reference_has_names() -> None:
    import building

    wanted = {m["name"] for page in DOCS.glob("*.md") for m in building.RECORDING.finditer(page.read_text("utf-8"))}
    assert wanted - {"NAME"} <= set(building.RECORDINGS)
    import sparsescope as ss

    listed = {shown for names in building.public().values() for shown, _ in names}
    for name in ss.__all__:
        made = getattr(ss, name)
        if isinstance(made, type) or callable(made):
            assert f"ss.{name}" in listed, name


class Requests(HTMLParser):
    """Requests of a browser that reads a page, and the links and anchors of the page."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self.fetched += [values[name] for name in SOURCES if name in values and tag in FETCHED]
        if tag == "link" and values.get("rel") not in ("canonical", "prev", "next"):
            self.fetched.append(values.get("href", ""))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it: strictly."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1200,
        env={**os.environ, "PYTHONPATH": str(ROOT / "toolkit"), "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def read(page: Path) -> Requests:
    found = Requests()
    found.feed(page.read_text(encoding="utf-8"))
    return found


@pytest.mark.slow
def test_the_site_is_built_strictly_and_asks_nobody_for_anything(site: Path) -> None:
    pages = {page: read(page) for page in site.rglob("*.html")}
    assert len(pages) > 40
    for page, found in pages.items():
        outside = [url for url in found.fetched if urlsplit(url).scheme in ("http", "https") or url.startswith("//")]
        assert not outside, f"{page.relative_to(site)}: {outside}"
        for url in [*found.fetched, *found.links]:
            target, _, anchor = url.partition("#")
            if urlsplit(url).scheme or not (target or anchor) or page.name == "404.html":
                continue
            where = (page.parent / unquote(target.partition("?")[0])).resolve() if target else page
            assert where.exists(), f"{page.relative_to(site)}: {url}"
            if anchor and where in pages:
                assert unquote(anchor) in pages[where].anchors or anchor.startswith("__"), f"{page.name}: {url}"
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import )[\"']?(https?:)?//", style.read_text(encoding="utf-8")), style.name
    assert all(file.stat().st_size < 1_500_000 for file in (site / "recordings").glob("*.html"))
    assert len(list((site / "recordings").glob("*.html"))) >= 3
