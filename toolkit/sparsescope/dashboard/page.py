"""The explorer's page: the top bar around the one component that draws everything else."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from panel.custom import JSComponent
from panel.util import edit_readonly

from .. import app  # noqa: F401  (registers the pages)
from ..classroom import Room
from ..datasets.uploads import Shelf
from ..registry import app_pages
from .assets import module_address, serve_style_sheets_from_here
from .bridge import Bridge, ExplorerPane
from .class_pages import STRIP, STYLE
from .hub import Hub
from .lateness import Lateness
from .memory import Memory
from .uploads import KEPT, Shelves, cookie_name

# Neutral, so that the colours of the charts are the only ones that mean something.
# Behind the page stands what stands behind its cards (`--back` in explorer.css): a short page ends without an edge.
THEME = {
    "light": {"palette": {"primary": {"main": "#24313d"}, "background": {"default": "#f4f6f8"}}},
    "dark": {"palette": {"primary": {"main": "#1b232b"}, "background": {"default": "#0c0f13"}}},
}

COMPACT = {
    "& .MuiToolbar-root": {"minHeight": "48px !important", "paddingLeft": "16px", "paddingRight": "8px"},
    "& .MuiToolbar-root > .MuiBox-root": {"minWidth": 0},  # the list of pages scrolls rather than widen the window
    "& .MuiToolbar-root > .MuiBox-root:has(.title)": {"flexShrink": 0},  # and never slides below the name
    "& main.main": {"backgroundColor": "background.default"},  # Panel's own is that of paper: a short page would end
    "& .title": {"fontSize": "1.125rem", "fontWeight": 600},
}

FIRST = "explorer"  # the page at the root of the server

# Remembers the choice of light or dark. A cookie, because the server has to know it before it makes the page: one that
# is dark from the start does not flash.
COOKIE = "sparsescope-theme"
# Names of the places of this browser's pages, the newest last: a full server lets a page in that may be a reload.
PLACES = "sparsescope-places"


class HeaderBar(JSComponent):
    """Pages, data summary and copy-link button; keeps the choice of light or dark in the browser."""

    pages = param.List(default=[], doc="dicts with title, address, current, and takes: the settings it goes on with")

    summary = param.String(default="", doc="What data is shown.")

    dark = param.Boolean(default=False, doc="Whether the page is dark; a change is kept in the browser's cookie.")

    cookie = param.String(default=COOKIE, constant=True, doc="Name of the cookie.")

    class_module = param.String(default="", doc="Where the browser finds the class's strip; empty without a class.")

    page = param.String(default="", doc="Name of the page.")

    _esm = Path(__file__).with_name("header.js")


@dataclass
class Site:
    """State shared by all pages of one server, and the open pages.

    Attributes
    ----------
    data: a `Dataset` or `(X, y)` to explore instead of the default, or None.
    settings: settings for a page whose address has none (for instance `{"dataset": "digits"}`).
    handed: what single pages are made with in place of ``data``, by their names.
    folder: the folder of a sweep, for the pages that watch one, or None.
    recording: a `Recording`, from whose end an explorer goes on, or None.
    max_sessions: more explorers than that get a friendly refusal; 0 means no limit.
    local: whether only people at this machine reach the pages; set by the server, `False` hides paths in errors.
    lateness: of the event loop, measured while the server runs.
    hub: the class of this server, or None.
    has_wire: whether the server has a websocket for pages beside Bokeh's.
    home: where the explorer is, below the root; `panel serve` has it beside the other pages.
    shelves: the files that browsers have uploaded.
    memory: gives back what pages leave.
    port: of the server.
    """

    data: Any = None
    settings: dict[str, Any] = field(default_factory=dict)
    max_sessions: int = 0
    local: bool = True
    recording: Any = None
    folder: Any = None
    handed: dict[str, Any] = field(default_factory=dict)
    lateness: Lateness = field(default_factory=Lateness)
    shelves: Shelves = field(default_factory=Shelves)
    memory: Memory = field(default_factory=Memory)
    port: int = 0
    open: set[Bridge] = field(default_factory=set)
    hub: Hub | None = None
    has_wire: bool = False
    home: str = ""

    def teach(self, room: Room) -> Hub:
        """Make this a class's server; returns what joins its pages with the room."""
        self.hub = Hub(room, lambda: list(self.open), {address(name): name for name in app_pages})
        return self.hub

    @property
    def explorers(self) -> int:
        """Number of pages that have an explorer."""
        return sum(bridge.explorer is not None for bridge in self.open)

    @property
    def full(self) -> bool:
        """True if no further explorer may start.

        A page takes a place when its websocket is ready: one that was only fetched takes none.
        """
        return 0 < self.max_sessions <= self.explorers

    @property
    def _awaits_somebody(self) -> bool:
        """True if an explorer has lost its page and may be requested again, by the page's secret only."""
        return any(bridge.explorer is not None and not bridge.connected for bridge in self.open)

    @property
    def _was_here(self) -> bool:
        """True if this browser has a place: the page may be one that is loaded again, which only its secret proves."""
        places = (pn.state.cookies or {}).get(PLACES, "").split(".")
        return any(bridge.explorer is not None and bridge.place in places for bridge in self.open)

    def _held(self, token: str) -> bool:
        """Return whether the page with this token is there and connected."""
        return any(
            hmac.compare_digest(bridge.token.encode(), token.encode())
            and bridge.explorer is not None
            and bridge.connected
            for bridge in self.open
        )

    def bridge(self, token: str) -> Bridge | None:
        """Return the open page with this secret."""
        given = token.encode()
        return next((b for b in self.open if hmac.compare_digest(b.token.encode(), given)), None)

    def connected_bridge(self, token: str) -> Bridge | None:
        """Return the page with this secret if it has an explorer and is connected."""
        found = self.bridge(token)
        return found if found is not None and found.explorer is not None and found.connected else None

    def _shelf_of(self, request: Any) -> Shelf:
        cookie = None if request is None else request.cookies.get(cookie_name(self.port))
        return self.shelves.of(None if cookie is None else cookie.value)

    def sweep(self, linger: float) -> None:
        """Forget the files of browsers whose pages are closed for long, and give back the memory of pages."""
        self.memory.look(self.explorers)
        self.shelves.sweep((bridge.shelf for bridge in self.open if bridge.explorer is not None), KEPT * linger)

    def close(self) -> None:
        """End the workers of all pages, and the class."""
        for bridge in list(self.open):
            self._end(bridge)
        if self.hub is not None:
            self.hub.close()

    def routes(self) -> dict[str, Any]:
        """Addresses and what makes their pages, for a server."""
        made = {address(name): self._maker(name) for name in app_pages}
        for name in app_pages:
            for place, settings in getattr(app_pages[name], "places", dict)().items():
                made[place] = self._maker(name, place, settings)
        return made

    def titles(self) -> dict[str, str]:
        """Addresses of the pages in the menu's order, and their titles."""
        return {address(name): app_pages.title(name) for name in app_pages}

    def moved(self) -> dict[str, str]:
        """Addresses that lead to another one, and where to, relative to themselves.

        Beside those of the pages themselves: each page's name and title, for who types what stands in the menu.
        """
        led: dict[str, str] = {}
        for name in app_pages:
            led |= getattr(app_pages[name], "moved", dict)()
            typed = {f"/{name}", "/" + app_pages.title(name).lower()}
            led |= {here: address(name)[1:] or "./" for here in sorted(typed) if here != address(name)}
        taken = self.routes()
        return {here: there for here, there in led.items() if here not in taken}

    def _maker(self, name: str, place: str = "", fixed: Mapping[str, str] | None = None) -> Callable[[], pmui.Page]:
        # a plain function: Panel would show another callable as a text
        return lambda: self.page(name, place, fixed)

    def page(self, name: str = FIRST, place: str = "", fixed: Mapping[str, str] | None = None) -> pmui.Page:
        """A new page for the present browser session, at its own address or at a place below it with fixed settings."""
        up = "../" * max(0, place.count("/") - 1)  # addresses are relative: a server may stand behind a prefix
        title = app_pages.title(name)
        if self.full and not self._awaits_somebody and not self._was_here:
            return self._refusal(title)
        # What the server was started with is about the explorer; the other pages take what they know of it.
        settings = {**_known(name, self.settings), **_query(), **(fixed or {})}
        dark = _dark()
        pane = ExplorerPane(dark=dark, module_address=up + module_address(script(name)), home=(up or "./") + self.home)
        bridge = Bridge(
            pane,
            lambda: app_pages[name](self._starting_with(name), settings),
            self._no_place,
            self.local,
            lambda token: self._left_behind(token, name, settings),
            self._held,
            self.lateness,
            self.has_wire,
            self._shelf_of,
            lambda: len(self.open) > 1,
        )
        bridge.name, bridge.fixed = name, frozenset(fixed or ())
        self.open.add(bridge)
        # The hook runs after the page function is gone and also for pages that were fetched and never opened.
        pn.state.on_session_destroyed(lambda _context: self._end(bridge))
        header = HeaderBar(
            pages=_pages(name, up, self.home),
            dark=dark,
            page=name,
            class_module="" if self.hub is None else up + module_address(STRIP, STYLE),
            sizing_mode="stretch_width",
        )
        bridge.on_summary = lambda text: header.param.update(summary=text)
        page = _frame(title, header, pane, dark, up)

        def follow(event: Any) -> None:
            pane.param.update(dark=bool(event.new))
            header.param.update(dark=bool(event.new))

        page.param.watch(follow, "dark_theme")
        header.param.watch(lambda event: _when_loaded(lambda: page.param.update(dark_theme=bool(event.new))), "dark")
        return page

    def _starting_with(self, name: str) -> Any:
        """Return the data of a page; the explorer goes on from the recording if there is one."""
        if name in self.handed:
            return self.handed[name]
        if self.folder is not None and getattr(app_pages[name], "watches", False):
            return self.folder
        return self.recording if name == FIRST and self.recording is not None else self.data

    def _end(self, bridge: Bridge) -> None:
        bridge.close()
        self.open.discard(bridge)

    def _left_behind(self, token: str, name: str, settings: dict[str, Any]) -> Any:
        """Return the explorer of a page that was loaded again in the same tab; None if its address requests another
        one.

        A page that is still connected keeps its explorer: browsers copy the token into a duplicated tab.
        """
        for bridge in list(self.open):
            known = hmac.compare_digest(bridge.token.encode(), token.encode())
            if not known or bridge.connected or bridge.explorer is None:
                continue
            asked = app_pages[name].settings_from_query(settings)[0]
            if bridge.name == name and asked == bridge.explorer.settings:
                self.open.discard(bridge)
                return bridge.hand_over()
        return None

    def _no_place(self) -> str:
        if not self.full:
            return ""
        return (
            f"All {self.max_sessions} places are taken. Close an explorer you no longer need, then reload this "
            "page: its place is free after a few seconds."
        )

    def _refusal(self, title: str) -> pmui.Page:
        text = (
            f"<h2>All {self.max_sessions} places are taken</h2>"
            "<p>This server runs a limited number of explorers at a time, so that each of them stays fast.</p>"
            "<p>Close an explorer you no longer need, then reload this page: its place is free after a few seconds.</p>"
        )
        header = HeaderBar(pages=_pages("", home=self.home), sizing_mode="stretch_width")
        return _frame(title, header, pn.pane.HTML(text, margin=32), _dark())


def _query() -> dict[str, str]:
    """The settings in the page's address as they came; the explorer cleans them and reports faults on the page."""
    return {key: values[-1].decode("utf-8", "replace") for key, values in pn.state.session_args.items() if values}


def _when_loaded(apply: Callable[[], Any]) -> None:
    """Do something once the page in the browser is complete: Panel sends no changes that are made before."""
    if pn.state.loaded:
        apply()
    else:
        pn.state.onload(apply)


def _dark() -> bool:
    """Return whether this browser was dark last time."""
    return (pn.state.cookies or {}).get(COOKIE) == "dark"


def address(name: str) -> str:
    """Return where a server has a page."""
    return "/" if name == FIRST else f"/{name}"


def script(name: str) -> str:
    """Return the first file of a page's module."""
    return str(getattr(app_pages[name], "script", f"pages/{name}.js"))


def _known(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    takes = app_pages[name].takes()
    return {key: value for key, value in settings.items() if name == FIRST or key in takes}


def _pages(current: str, up: str = "", home: str = "") -> list[dict[str, Any]]:
    return [
        {
            "title": app_pages.title(name),
            "about": app_pages.doc(name),
            "address": (up or "./") + (address(name)[1:] or home),
            "current": name == current,
            "takes": list(app_pages[name].takes()),
        }
        for name in app_pages
    ]


def _frame(title: str, header: HeaderBar, body: Any, dark: bool, up: str = "") -> pmui.Page:
    serve_style_sheets_from_here(pn.state.curdoc)
    page = pmui.Page(
        title="sparsescope",
        meta=pmui.template.base.Meta(name="sparsescope", title=f"sparsescope · {title}"),
        header=[header],
        main=[body],
        site_url=up or "./",
        theme_config=THEME,
        dark_theme=dark,
        sx=COMPACT,
        busy_indicator=None,
    )
    with edit_readonly(page):
        # By default the page mirrors Panel's busy counter, which costs two more messages for each message.
        page.param.update(busy=False)
    _unwatch_busy(page)
    return page


def _unwatch_busy(page: pmui.Page) -> None:
    """Remove a page's watchers of Panel's busy counter, which is one for all sessions and lives as long as the server.

    A new value of ``busy`` ends the mirroring, but param leaves the watcher in the counter's list: it kept every page
    that was ever made, with its document and its bridge.
    """
    for watcher in list(pn.state.param.watchers.get("busy", {}).get("value", ())):
        if getattr(getattr(watcher.fn, "__self__", None), "self", None) is page:
            pn.state.param.unwatch(watcher)
