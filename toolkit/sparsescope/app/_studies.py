"""Pages of studies along λ: a path first, then halves of the samples behind it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from ._working import WorkingPage
from .base import Message


class StudyPage(WorkingPage):
    """Base of the pages of a :class:`PathStudy` or an :class:`EdgeStudy`.

    A subclass makes its study in ``steps``, sends what it is of (:meth:`begin`) and what was found (:meth:`found`).

    Attributes
    ----------
    groups : title of a group of controls → the settings in it
    """

    light = frozenset({"lam_ratio", "threshold"})
    replayed = ("lam_ratio",)
    groups: ClassVar[dict[str, tuple[str, ...]]] = {}
    stages: ClassVar[dict[str, str]] = {"folds": "fold", "resamples": "half"}  # of a study, and what their parts are
    _epoch = 0  # counts studies

    def forget(self) -> None:
        """Forget the study."""
        self._study: Any = None
        self._doing = "Reading the data …"
        self._epoch += 1

    def forget_sent(self) -> None:
        self._sent_points, self._sent_begin = 0, False

    # ------------------------------------------------------------------------------------------------- for subclasses
    def begin(self, study: Any) -> Iterator[Message]:
        """Return what the study is of, as messages."""
        raise TypeError(f"{type(self).__name__} does not define begin")

    def found(self, study: Any) -> Iterator[Message]:
        """Return what was found since the last call, as messages."""
        raise TypeError(f"{type(self).__name__} does not define found")

    # --------------------------------------------------------------------------------------------------------- browser
    def picture(self) -> Message:
        """Return the chosen λ; what is measured follows."""
        return {"epoch": self._epoch, "lam_ratio": self.settings["lam_ratio"]}

    def controls(self) -> list[Message]:
        """Return the controls in their groups."""
        made = {c["id"]: {**c, "live": c["id"] in self.light} for c in super().controls()[0]["controls"]}
        return [{"title": title, "controls": [made[name] for name in ids]} for title, ids in self.groups.items()]

    def look(self) -> list[tuple[Message, list[bytes]]]:
        """Return what was found since the last call."""
        messages: list[Message] = []
        status = self.told_status(self._status(self._study))  # asked first: what was found goes before the end
        study = self._study
        if study is not None:
            if not self._sent_begin:
                self._sent_begin = True
                messages += self.begin(study)
            messages += self.found(study)
        return [(message, []) for message in messages] + status

    def _status(self, study: Any) -> str:
        if study is None or not study.points:
            return self._doing
        if study.stage == "path":
            return f"λ {len(study.points)} of {study.lams.size}"
        if study.stage in self.stages:
            parts = getattr(study, study.stage)
            return f"{self.stages[study.stage]} {min(study.done + 1, parts)} of {parts}"
        return " ".join(["Done.", *study.notes])

    def _nearest(self, study: Any) -> int:
        """The number of the λ that is nearest to the chosen one."""
        ratios = study.lams / study.problem.lam_reference
        return int(np.argmin(np.abs(np.log(ratios / self.settings["lam_ratio"]))))
