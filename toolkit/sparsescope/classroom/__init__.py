"""A class with its teacher: questions, predictions before and after, and what the teacher's board shows.

Everything here is plain Python without a server. A server's hub (``dashboard/classroom.py``) hands messages of pages to
a :class:`Room` and sends its states back.
"""

from .keeping import Keeper
from .kinds import PredictionKind
from .protocol import Answer, Question
from .room import Room
from .texts import Refused

__all__ = ["Answer", "Keeper", "PredictionKind", "Question", "Refused", "Room"]
