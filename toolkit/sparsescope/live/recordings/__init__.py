"""Recordings: a run in one HTML file that plays it with the page's own modules, without Python and without a network.

``packing`` is the format of the file, ``building`` writes it from a trace, ``recording`` is the object that people
hold, and ``making`` makes one of a problem, session, result or trace.
"""

from __future__ import annotations

from ... import registry
from .building import LIMIT
from .making import record, to_html
from .recording import Recording, load_recording

__all__ = ["LIMIT", "Recording", "load_recording", "record"]

registry.recordings.add(
    "html", to_html, doc="One HTML file that replays a trace, without Python and without a network."
)
