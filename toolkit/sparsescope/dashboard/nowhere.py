"""The answer to an address at which the server has nothing: what it has, and the address that was probably meant."""

from __future__ import annotations

import difflib
import html
from collections.abc import Mapping
from urllib.parse import unquote

from tornado.web import RequestHandler

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
STYLE = (
    ":root { color-scheme: light dark } body { font: 16px/1.5 system-ui, sans-serif; margin: 3em auto; max-width: 36em;"
    " padding: 0 16px } h1 { font-size: 1.2em } li { margin: 4px 0 }"
)
CLASS = "/class"


class NowhereHandler(RequestHandler):
    """Answers every method with status 404 and the addresses of the pages."""

    def initialize(self, pages: Mapping[str, str], has_class: bool = False) -> None:
        """Called by Tornado with the addresses of the pages and their titles, and whether a class is held here."""
        self.pages = dict(pages)
        self.has_class = has_class

    def prepare(self) -> None:
        """Answer, whatever the method."""
        path = self.request.path
        self.set_status(404)
        self.set_header("Content-Security-Policy", POLICY)
        meant = [] if path == CLASS else difflib.get_close_matches(path.lower(), [*self.pages][1:], 1, 0.7)
        advice = "".join(f"<p>Did you mean {self._link(there)}?</p>" for there in meant)
        if path == CLASS and not self.has_class:
            advice = "<p>No class is held here; <code>sparsescope serve --class</code> starts one.</p>"
        listed = "".join(f"<li>{self._link(there)} {html.escape(title)}</li>" for there, title in self.pages.items())
        self.finish(
            "<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'>"
            f"<title>sparsescope: no such page</title><style>{STYLE}</style><main>"
            f"<h1>There is no page at <code>{html.escape(unquote(path))}</code></h1>{advice}<p>The pages are:</p>"
            f"<ul>{listed}</ul></main>"
        )

    def _link(self, there: str) -> str:
        # Relative, for a server behind a proxy's prefix.
        up = "../" * max(0, self.request.path.count("/") - 1)
        return f"<a href='{up or './'}{there[1:]}'>{html.escape(there)}</a>"
