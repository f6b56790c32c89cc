"""The live explorer without a shell: settings, controls, frames, and the browser module that draws them.

:class:`Explorer` exchanges the messages of ``protocol.md``; :func:`esm_text` is the page's code. The Panel page and the
notebook widget wrap these two and add nothing to them.
"""

from .assets import ASSETS, ENTRY, css_text, esm_text
from .explorer import Explorer
from .snippet import python_snippet

__all__ = ["ASSETS", "ENTRY", "Explorer", "css_text", "esm_text", "python_snippet"]
