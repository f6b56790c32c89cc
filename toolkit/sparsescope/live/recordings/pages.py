"""Recordings of pages beside the explorer: what the page was sent, in a file that its own module draws."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ...version import __version__
from ..assets import PLAYING, esm_text
from .packing import FORMAT, KIND
from .recording import page_text

Message = dict[str, Any]
RECORDED = {"text": "Recorded", "running": False}  # what a page says of its work


def page_recording(
    name: str, title: str, said: str, messages: list[Message], settings: Message, replayed: Sequence[str] = ()
) -> Message:
    """Return the answer to a request for a recording of a page: the ``text`` of a file, and a ``name`` for it.

    Parameters
    ----------
    name
        of the page, and of its module in ``static/js/pages``.
    title, said
        for the head of the file.
    messages
        what a page that is opened now would be sent.
    settings
        of the page, with which it begins anew where the file is opened on it.
    replayed
        settings that can be changed where the file is played: what they choose among is in the messages.
    """
    plain = [{**message, **RECORDED} if message["type"] == "status" else message for message in messages]
    header = {
        "kind": KIND, "format": FORMAT, "version": __version__, "bytes": 0, "page": name,
        "title": title, "said": said, "messages": json.loads(json.dumps(plain, allow_nan=False)),
        "settings": settings, "replayed": list(replayed),
    }  # fmt: skip
    module = esm_text(f"pages/{name}.js", more=(PLAYING,)) + "beginMessages(mount);\n"
    file = re.sub(r"[^\w.-]+", "-", title).strip("-.")[:60] + "-recording.html"
    return {"text": page_text(header, b"", module), "name": file}
