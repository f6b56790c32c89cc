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

from bokeh.embed.bundle import extension_dirs
from panel.io import resources

from .. import live

# Panel decides by a global setting, which changes while it renders, whether a style sheet comes from this server or
# from its public network: seen in one page of ten on a busy machine. Nothing here ever comes from outside.
resources.use_cdn = lambda: False

FOLDER = "sparsescope"


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
def module_address() -> str:
    """Address of the page's module, relative to the page; the first call writes the file."""
    text = live.esm_text()
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    name = f"explorer-{digest}.js"
    (_folder().path / name).write_text(text, encoding="utf-8")
    # Tornado's static handler answers with a cache life of ten years when there is a query `v`.
    return f"static/extensions/{FOLDER}/{name}?v={digest}"
