"""Publishes the page's module as one static file that any Bokeh server of this process serves.

The file's name holds a hash of its text, so browsers may keep it for good and a new version is never mistaken for an
old one. Bokeh serves the folders of `extension_dirs` under `static/extensions/`; that works for `sparsescope explore`
as well as for `panel serve`, where no further routes can be added.
"""

from __future__ import annotations

import functools
import hashlib
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

from bokeh.document import Document
from bokeh.embed.bundle import extension_dirs
from bokeh.resources import Resources
from panel.io.resources import get_dist_path

from .. import live
from ..live.assets import STYLE

FOLDER = "sparsescope"

UNUSED = frozenset({"bokeh-gl"})
"""Parts of BokehJS that no page needs: WebGL is for Bokeh's own plots, and 56 kB. (Panel's models need the tables.)"""


def serve_style_sheets_from_here(document: Document | None) -> None:
    """Let a document's style sheets come from this server.

    Panel makes the models of a page with addresses in its public network and corrects them when it writes the page,
    which misses some of them. With this variable the addresses are right when the models are made.
    """
    if document is not None:
        document.template_variables.setdefault("dist_url", get_dist_path(cdn=False))


def leave_out_unused_parts(application: Any) -> None:
    """Let the pages of a Bokeh application come without the parts of BokehJS that none of them uses."""
    everything = application.resources

    def resources(absolute_url: str | bool | None = None) -> Resources:
        found = everything(absolute_url)
        return found.clone(components=[part for part in found.components if part not in UNUSED])

    application.resources = resources


class _Folder:
    """A temporary folder that goes away with the process."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="sparsescope-page-"))
        self._end = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@functools.cache
def _folder() -> _Folder:
    folder = _Folder()
    extension_dirs[FOLDER] = folder.path
    return folder


@functools.cache
def module_address(entry: str = live.ENTRY, css: str = STYLE) -> str:
    """Return the address of a page's module, relative to the page; the first call writes the file."""
    text = live.esm_text(entry, css)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    name = f"{Path(entry).stem}-{digest}.js"
    (_folder().path / name).write_text(text, encoding="utf-8")
    # Tornado's static handler answers with a cache life of ten years when there is a query `v`.
    return f"static/extensions/{FOLDER}/{name}?v={digest}"
