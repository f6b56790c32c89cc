"""Page: what every page of the app is, behind plain messages that a shell carries.

    browser ── on_message ──▶ Page ── take ──▶ a new picture
    browser ◀── poll ──────── {"type": "page"}, {"type": "picture"}, …

A page declares its settings as fields. Their defaults, checks, controls and names in the address follow from that.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from .. import registry
from ..datasets.uploads import NOT_HERE, PREFIX, visible_names
from ..live.knobs import field_control
from ..live.page_messages import Message as Message
from ..live.page_messages import hand_over
from ..live.recordings.pages import page_recording
from ..live.saying import brief
from ..registry import LAST, Field, collect_fields
from ..views import style
from ._names import DATASETS, Names

MOST_CHANGES = 40
NONE = "none"  # in a menu of parts: none is chosen
MOST_ID = 64
MOST_SAID = 4  # settings in the head of a recording
MOST_TEXT = 2000  # characters of a setting


class Page:
    """Base of all pages. A subclass names itself, declares settings and implements :meth:`picture`.

    Attributes
    ----------
    name : place in the address (``/prox``) and name of the module ``live/static/js/pages/<name>.js``
    title, doc : for the bar of pages and the page's head
    menu_order : place in the bar of pages
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    doc: ClassVar[str] = ""
    menu_order: ClassVar[float] = LAST
    fields: ClassVar[tuple[Field, ...]] = ()
    records: ClassVar[bool] = False  # whether its picture can be played without the server
    recorded_doc: ClassVar[str] = ""  # the head of a recording, where ``doc`` speaks of what only a server does
    replayed: ClassVar[tuple[str, ...]] = ()  # settings that a recording can follow: all they choose among is in it
    watches: ClassVar[bool] = False  # whether it shows the folder of a sweep that the server was started with
    labels: ClassVar[dict[str, str]] = {}  # of controls whose setting has another name

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.fields = (*cls.fields, *collect_fields(cls))

    def __init__(self, data: Any = None, settings: Mapping[str, Any] | None = None) -> None:
        self.settings_changed: Callable[[Message], None] | None = None
        self.report: Callable[[Message], None] = lambda message: None  # to the teacher's board, if there is a class
        self.data = data
        clean, self.notices = self.settings_from_query(settings or {})
        self._settings = clean
        self._outbox: list[tuple[Message, list[bytes]]] = []
        self._ready = self._closed = False
        self._controls_sent: list[Any] | None = None

    # ------------------------------------------------------------------------------------------------- for subclasses
    def start(self) -> None:
        """Begin what the page does on its own; called when a browser shows it."""

    def picture(self) -> Message:
        """Return what the browser draws for the present settings: JSON without NaN."""
        raise TypeError(f"{type(self).__name__} does not define picture")

    def changed(self, names: set[str]) -> None:
        """Follow settings that have changed; the picture is sent afterwards."""

    def do(self, action: str) -> None:
        """Carry out an action of a button.

        Raises
        ------
        ValueError
            for an action that the page does not have.
        """
        raise ValueError(f"unknown action {brief(action)}; this page has none")

    def carry_out(self, action: str, message: Message) -> None:
        """Carry out an action whose message may hold more than its name; :meth:`do` for most pages."""
        self.do(action)

    def own_messages(self) -> dict[str, Callable[[Message], None]]:
        """Return functions that take further messages of the browser, by their types; they raise ValueError."""
        return {}

    def look(self) -> list[tuple[Message, list[bytes]]]:
        """Return what has happened by itself since the last call, as messages."""
        return []

    def recordable(self) -> bool:
        """Return whether there is something to record for the present settings."""
        return self.records

    def shown_again(self) -> None:
        """Let :meth:`look` begin anew: a browser that has seen nothing has come after :meth:`start`."""

    def end(self) -> None:
        """End what :meth:`start` began."""

    def controls(self) -> list[Message]:
        """Return the groups of controls, from the fields; a subclass may add choices and reasons."""
        made = [
            {**field_control(self.name, f, self.settings[f.name]), "id": f.name, "disabled": False, "reason": ""}
            for f in self.fields
        ]
        for control, f in zip(made, self.fields, strict=True):
            if isinstance(f.choices, Names):
                _entitle(control, f.choices.parts)
            control["label"] = self.labels.get(control["id"], control["label"])
            if f.choices is DATASETS and self.data is not None:
                self._name_own_data(control)
            elif f.choices is DATASETS:
                control["choices"] = [*control["choices"], *map(_uploaded, visible_names())]
        return [{"title": self.title, "controls": made}] if made else []

    def _name_own_data(self, control: Message) -> None:
        """Let the menu of data sets say that the data were handed over: the page has no others."""
        title = getattr(self.data, "title", "") or "your data"
        control.update(disabled=True, reason="The page was started with these data.")
        control["choices"] = [
            {**choice, "label": title} for choice in control["choices"] if choice["value"] == control["value"]
        ]

    # ------------------------------------------------------------------------------------------------------ settings
    @property
    def settings(self) -> Message:
        """The settings as they are; a copy."""
        return dict(self._settings)

    @classmethod
    def settings_from_query(cls, query: Mapping[str, Any]) -> tuple[Message, list[str]]:
        """Return complete settings from an address or a message, and sentences that say what was corrected."""
        known = {f.name: f for f in cls.fields}
        notices = [
            f"There is no setting {brief(name)} on this page."
            for name in list(query)[:MOST_CHANGES]
            if name not in known
        ]
        out = {}
        for name, f in known.items():
            given = query.get(name, f.default)
            try:
                if isinstance(given, str) and len(given) > MOST_TEXT:
                    raise ValueError(f"{name} is longer than {MOST_TEXT} characters")
                out[name] = cls.check(f, given)
            except (ValueError, TypeError) as error:
                out[name] = f.default
                notices.append(f"{error}. {f.default} is used.")
        return out, notices

    @classmethod
    def check(cls, declared: Field, value: Any) -> Any:
        """Return a value of a setting, from text too; raise ``ValueError`` if it is not allowed."""
        if declared.kind == "bool" and isinstance(value, str):
            value = {"true": True, "1": True, "false": False, "0": False}.get(value.lower(), value)
        if declared.kind in ("float", "int") and isinstance(value, bool):
            raise ValueError(f"{declared.name} is {value}; a number is needed ({declared.bounds()})")
        if declared.choices is DATASETS and isinstance(value, str) and value.startswith(PREFIX):
            if value not in visible_names():
                raise ValueError(f"{declared.name}: {NOT_HERE.format(brief(value))}")
            return value
        return declared.check(value, cls.title)

    @classmethod
    def places(cls) -> dict[str, dict[str, str]]:
        """Return further addresses of this page, each with the settings that it stands for."""
        return {}

    @classmethod
    def takes(cls) -> tuple[str, ...]:
        """Return the settings that the page goes on with when somebody comes from another page."""
        return tuple(f.name for f in cls.fields)

    @classmethod
    def handed(cls, X: Any, settings: Message) -> tuple[Any, Message] | None:
        """Return what the page makes of an object that is no data set, and the settings it stands for; else ``None``.

        Raises
        ------
        ValueError
            for settings that do not go with the object.
        """
        return None

    @classmethod
    def as_text(cls, data: Any, settings: Message) -> str:
        """Return the page as text, for places without widgets; empty for pages that are pictures."""
        return ""

    @classmethod
    def query_from_settings(cls, settings: Mapping[str, Any]) -> dict[str, str]:
        """Return the settings as the texts of an address; those at their defaults are left out."""
        return {f.name: _text(settings[f.name]) for f in cls.fields if settings[f.name] != f.default}

    # -------------------------------------------------------------------------------------------------------- server
    @property
    def running(self) -> bool:
        """True if the page computes something that takes a while; pages that do override it."""
        return False

    crowded: bool = False  # whether other pages share the server; the shell says so

    def loop_is_late(self, seconds: float) -> None:
        """Follow the mean delay of the server's event loop; a page without frames has nothing to slow down."""

    def suspend(self) -> None:
        """Rest while no browser is there to look; a page without runs has nothing to rest."""

    def tell(self, notice: str) -> None:
        """Show a sentence on the page."""
        self._outbox.append(({"type": "notices", "notices": [notice]}, []))

    # ------------------------------------------------------------------------------------------------------ messages
    def on_message(self, msg: Message) -> None:
        """Take a message of the browser. What is wrong with it is said on the page, not raised."""
        if self._closed:
            return
        try:
            handlers = {
                "ready": self._on_ready,
                "ask": self._on_ask,
                "set": self._on_set,
                "do": self._on_do,
                "credit": lambda _: None,
                "layout": lambda _: None,
                **self.own_messages(),
            }
            hand_over(msg, handlers)
        except (ValueError, TypeError) as error:
            self._say({"type": "error", "text": str(error), "detail": ""})
            self._say_controls()
        except Exception as error:  # a bug of ours must reach the page too
            self._say({"type": "error", "text": f"{type(error).__name__}: {error}", "detail": traceback.format_exc()})

    def poll(self) -> list[tuple[Message, list[bytes]]]:
        """Return what may be sent now."""
        if self._closed or not self._ready:
            return []
        try:
            self._outbox += self.look()
        except Exception as error:  # the shell's timer must go on, and the page must say what happened
            self._say({"type": "error", "text": f"{type(error).__name__}: {error}", "detail": traceback.format_exc()})
        sending, self._outbox = self._outbox, []
        return sending

    def soon(self) -> float:
        """Seconds after which it is worth while to call :meth:`poll` again; a page without frames has no beat."""
        return math.inf

    def close(self) -> None:
        """End the page's work. Safe to call twice."""
        if not self._closed:
            self._closed = True
            self.end()

    def _on_ready(self, _msg: Message) -> None:
        first = not self._ready
        self._ready = True
        self._outbox.clear()
        self._controls_sent = None
        self._say(self._about())
        self._say_controls()
        if self.notices:
            self._say({"type": "notices", "notices": list(self.notices)})
        if first:
            self.start()
        else:
            self.shown_again()
        self._say({"type": "picture", **self.picture()})

    def _on_ask(self, msg: Message) -> None:
        key = msg.get("id")
        if msg.get("kind") != "recording" or not self.recordable() or not isinstance(key, str) or len(key) > MOST_ID:
            raise ValueError(f"unknown question {brief(msg.get('kind'))}; only pages with a run can be recorded")
        recorded = self.recording()
        self._say({"type": "picture", **self.picture()})
        self._say({"type": "answer", "id": key, "kind": "recording", **recorded})

    def recording(self) -> Message:
        """Return the page as it is now: the ``text`` of a file that shows it without a server, and its ``name``."""
        # Everything is said again, as to a page that is opened now: once for the file, and once more for the browser.
        self.shown_again()
        about = {**self._about(), "doc": self.recorded_doc or self.doc}
        told = [about, {"type": "picture", **self.picture()}, *self.told_again()]
        self.shown_again()
        return page_recording(self.name, self.title, self.summary(), told, self.settings, self.replayed)

    def told_again(self) -> list[Message]:
        """Return what was found so far, for a recording."""
        return [message for message, _ in self.look()]

    def summary(self) -> str:
        """Return the first settings, for the head of a recording."""
        return " · ".join(str(self.settings[f.name]) for f in self.fields[:MOST_SAID])

    def _about(self) -> Message:
        palette = {"themes": style.THEMES, "diverging": style.DIVERGING}
        return {
            "type": "page",
            "name": self.name,
            "title": self.title,
            "doc": self.doc,
            "palette": palette,
            "records": self.recordable(),
        }

    def _on_set(self, msg: Message) -> None:
        changes = msg.get("changes")
        if not isinstance(changes, dict) or not changes or len(changes) > MOST_CHANGES:
            raise ValueError(f"set: an object of 1 to {MOST_CHANGES} settings is needed")
        known = {f.name: f for f in self.fields}
        new = {}
        for name, value in changes.items():
            if name not in known:
                raise ValueError(f"there is no setting {brief(name)} on this page; known: {', '.join(known)}")
            if not isinstance(value, str | float | int | None) or (isinstance(value, str) and len(value) > MOST_TEXT):
                raise ValueError(
                    f"set: {brief(name)} is {brief(value)}; a short text, a number, true or false is needed"
                )
            new[name] = self.check(known[name], value)
        differ = {name for name, value in new.items() if value != self._settings[name]}
        self._settings.update(new)
        self.changed(differ)
        if differ and self.settings_changed is not None:
            self.settings_changed(self.settings)
        self._say_controls()
        self._say({"type": "picture", "id": msg.get("id"), **self.picture()})

    def _on_do(self, msg: Message) -> None:
        action = msg.get("action")
        if not isinstance(action, str):
            raise ValueError(f"unknown action {brief(action)}")
        self.carry_out(action, msg)
        self._say({"type": "picture", "id": msg.get("id"), **self.picture()})

    def _say(self, message: Message) -> None:
        self._outbox.append((message, []))

    def _say_controls(self) -> None:
        """Send the controls, or the settings alone where nothing else has changed: a drag is many changes."""
        groups = self.controls()
        bare = [(g["title"], [{**c, "value": None} for c in g["controls"]]) for g in groups]
        if bare == self._controls_sent:
            self._say({"type": "settings", "settings": self.settings})
            return
        self._controls_sent = bare
        self._say({"type": "controls", "groups": groups, "settings": self.settings})


def _entitle(control: Message, parts: registry.Registry) -> None:
    """Give the entries of a menu of registered parts the parts' titles, as the explorer has them."""
    for choice in control["choices"]:
        if choice["value"] in parts:
            choice["label"], choice["doc"] = parts.title(choice["value"]), parts.doc(choice["value"])


def _uploaded(name: str) -> Message:
    """The entry of a menu for an uploaded data set."""
    about = "a file that was uploaded from this browser"
    return {"value": name, "label": name.removeprefix(PREFIX), "doc": about, "disabled": False, "reason": ""}


def number(value: float, digits: int = 6) -> float | None:
    """Return a number as JSON takes it: rounded to significant digits, ``None`` for NaN and infinity."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
