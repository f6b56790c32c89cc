"""The page's module: the join of its files, the parts that are embedded, and its own unit tests under node."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sparsescope import app, live
from sparsescope.app.base import Page
from sparsescope.dashboard.class_pages import ENTRIES as CLASS
from sparsescope.dashboard.page import script
from sparsescope.live import assets
from sparsescope.registry import app_pages

JS_TESTS = Path(__file__).parent / "live_js"
NODE = shutil.which("node")
# Pages that get their place only when they are used, such as the one of watched fits, stand in files with a "_".
LATE = [
    f"pages/{found.name}.js"
    for file in pkgutil.iter_modules(app.__path__, f"{app.__name__}.")
    for found in vars(importlib.import_module(file.name)).values()
    if isinstance(found, type) and issubclass(found, Page) and found.__module__ == file.name and "_" in file.name
    if "name" in vars(found)
]
ENTRIES = [*dict.fromkeys([*map(script, app_pages), *LATE, *CLASS, assets.RECORDING])]


# What `node --check` says of a module, of many in one process.
CHECK = """
import { readFileSync } from "node:fs";
import { SourceTextModule } from "node:vm";
const said = {};
for (const [name, text] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  said[name] = "";
  try {
    new SourceTextModule(text, { identifier: name });
  } catch (error) {
    said[name] = error.stack;
  }
}
console.log(JSON.stringify(said));
"""


def what_is_wrong(modules: dict[str, str]) -> dict[str, str]:
    """Messages of node about the syntax of modules, by their names; "" for a valid one."""
    assert NODE is not None
    command = [NODE, "--no-warnings", "--experimental-vm-modules", "--input-type=module", "--eval", CHECK]
    done = subprocess.run(command, input=json.dumps(modules), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder


def test_modules_are_joined_after_what_they_import(tmp_path: Path) -> None:
    write(
        tmp_path,
        main='import {\n  b,\n} from "./b.js";\nimport { a } from "./a.js";\nexport function mount() { return a; }\n',
        b='import { a } from "./a.js";\nexport const b = a + 1;\n',
        a="export const a = 1;\n",
    )
    assert assets.module_order(tmp_path) == ["a.js", "b.js", "main.js"]
    text = assets.join_modules(tmp_path)
    assert "import" not in text and "export" not in text
    assert text.index("const a") < text.index("const b") < text.index("function mount")


def test_what_the_join_cannot_do_is_refused(tmp_path: Path) -> None:
    write(tmp_path, main='import { b } from "./b.js";\n', b='import { m } from "./main.js";\n')
    with pytest.raises(ValueError, match=r"in a circle: main\.js → b\.js → main\.js"):
        assets.module_order(tmp_path)
    write(tmp_path, main='import { b } from "./gone.js";\n')
    with pytest.raises(ValueError, match=r"main\.js needs gone\.js"):
        assets.module_order(tmp_path)
    write(tmp_path, main="export default 1;\n")
    with pytest.raises(ValueError, match="does not understand"):
        assets.join_modules(tmp_path)


def test_the_module_holds_everything_and_asks_for_nothing() -> None:
    text = live.esm_text()
    assert text.rstrip().endswith("export { mount, VERSION };")
    assert len(text) < 400_000, "a page that loads in a moment on a slow line"
    assert not re.search(r"^\s*import\b(?!\()", text, re.MULTILINE)
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


def test_every_source_file_is_part_of_the_module() -> None:
    written = {path.relative_to(assets.STATIC / "js").as_posix() for path in (assets.STATIC / "js").rglob("*.js")}
    used = {file for entry in [*ENTRIES, assets.PLAYING] for file in assets.module_order(entry=entry)}
    assert used == written


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """Messages of node about the module of each page."""
    return what_is_wrong({entry: live.esm_text(entry) for entry in ENTRIES})


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser tests cover the page")
@pytest.mark.parametrize("entry", ENTRIES)
def test_the_module_of_each_page_is_valid_javascript(entry: str, said: dict[str, str]) -> None:
    assert not said[entry]


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser tests cover the page")
def test_wrong_syntax_is_noticed() -> None:
    found = what_is_wrong({"good": "export const a = await 1;", "bad": "const a = 1;\nlet a;", "cut": "export {"})
    assert not found["good"] and "already been declared" in found["bad"] and "SyntaxError" in found["cut"]


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser tests cover the page")
@pytest.mark.parametrize("path", sorted(JS_TESTS.glob("*.test.mjs")), ids=lambda path: path.stem)
def test_javascript(path: Path) -> None:
    """The parts of the page that do not draw, tested where they run."""
    assert NODE is not None
    done = subprocess.run(
        [NODE, "--no-warnings", str(path)],
        capture_output=True,
        text=True,
        timeout=300,
        env={"STATIC": (assets.STATIC / "js").as_uri(), "PATH": ""},
    )
    assert done.returncode == 0, done.stdout + done.stderr
