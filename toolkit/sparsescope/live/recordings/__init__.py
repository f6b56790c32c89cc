"""Recordings: a run in one HTML file that plays it with the page's own modules, without Python and without a network.

``packing`` is the format of the file, ``building`` makes one of a trace, ``recording`` is the object that people hold.
"""

from __future__ import annotations

from ... import registry
from .building import LIMIT
from .recording import Recording, load_recording, record, to_html

__all__ = ["LIMIT", "Recording", "load_recording", "record"]

registry.recordings.add(
    "html", to_html, doc="One HTML file that replays a trace, without Python and without a network."
)
