"""The page's code and style as texts: one ES module joined from the files in ``static/js``, and one style sheet.

A shell hands one text to the browser, while people read small files. So the files are ordinary ES modules, and the
build is a join: imports between them are taken out, ``export`` is taken off everything but the face of the module.
"""

from __future__ import annotations

import json
import posixpath
import re
from functools import cache
from pathlib import Path

STATIC = Path(__file__).resolve().parent / "static"
ENTRY = "main.js"
STYLE = "explorer.css"
FOLLOWING = {STYLE: ("pages.css",)}  # further files of a style sheet, in this order
ASSETS = {"js": STATIC / "js", "css": STATIC / STYLE}
PLAYING = "replay/messages.js"  # plays what a page beside the explorer was sent
RECORDING = "replay.js"  # the first file of a recording's page

# import { a, b } from "./file.js";  possibly over several lines
_IMPORT = re.compile(r"^import\s+\{[^}]*\}\s+from\s+\"((?:\.{1,2}/)+[\w/-]+\.js)\";[ \t]*\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?function |const |let |class )", re.MULTILINE)
_STRAY = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)


def module_order(folder: Path = STATIC / "js", entry: str = ENTRY) -> list[str]:
    """The files that ``entry`` needs, each after those it imports. ``ValueError`` for a circle or a missing file."""
    order: list[str] = []
    open_files: list[str] = []

    def visit(name: str) -> None:
        if name in order:
            return
        if name in open_files:
            raise ValueError("modules import each other in a circle: " + " → ".join([*open_files, name]))
        path = folder / name
        if not path.is_file():
            raise ValueError(f"{open_files[-1] if open_files else 'the build'} needs {name}, which does not exist")
        open_files.append(name)
        for other in _IMPORT.findall(path.read_text(encoding="utf-8")):
            visit(posixpath.normpath(posixpath.join(posixpath.dirname(name), other)))
        open_files.pop()
        order.append(name)

    visit(entry)
    return order


def join_modules(folder: Path = STATIC / "js", entry: str = ENTRY, *more: str) -> str:
    """The files that the entries need, as one piece of code without imports and exports."""
    pieces = []
    for name in dict.fromkeys(file for first in (entry, *more) for file in module_order(folder, first)):
        text = _EXPORT.sub("", _IMPORT.sub("", (folder / name).read_text(encoding="utf-8")))
        stray = _STRAY.search(text)
        if stray:
            raise ValueError(f"{name}: the join does not understand {stray.group(0)!r}")
        pieces.append(f"// ---- {name}\n{text.rstrip()}\n")
    return "\n".join(pieces)


@cache
def css_text(name: str = STYLE) -> str:
    """Return a style sheet. ``esm_text`` holds it already; shells need it only if they want it elsewhere."""
    return "\n".join((STATIC / file).read_text(encoding="utf-8") for file in (name, *FOLLOWING.get(name, ())))


@cache
def esm_text(entry: str = ENTRY, css: str = STYLE, more: tuple[str, ...] = ()) -> str:
    """A whole page as one ES module that exports ``mount`` and ``VERSION``.

    Parameters
    ----------
    entry
        Its first file in ``static/js``.
    css
        Its style sheet in ``static``.
    more
        Further files, whose names it then has too.
    """
    style = json.dumps(css_text(css), ensure_ascii=True).replace("</", "<\\/")
    return join_modules(STATIC / "js", entry, *more) + f"\nembed({{ css: {style} }});\nexport {{ mount, VERSION }};\n"
