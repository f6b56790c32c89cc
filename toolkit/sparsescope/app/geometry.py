"""Page: F on a plane of two weights, with its kinks, and the iterates of solvers from a start that is dragged."""

from __future__ import annotations

from typing import Any, ClassVar

from .. import registry
from ..registry import field
from ._names import DATASETS, LOSSES, PENALTIES
from .base import Message, Page
from .planes.scene import FEATURES, HOLDS, OPTIMUM, PLANES, REST
from .planes.worker import AS_GIVEN, Worker
from .race import LANES, NONE, SOLVERS, WITH_NONE

LAM_LOW = 1e-6
FAR = 10.0  # of a start, in units of the plane
MOST_FEATURES = 10_000_000


class GeometryPage(Page):
    """Contours of F on a plane of two weights, and solvers on their way from a start that is dragged."""

    name = "geometry"
    records = True
    title = "Geometry"
    menu_order = 40
    doc = (
        "F = loss + λΩ on a plane of two weights. Drag the start; every dot is an iterate. Stretch, turn or whiten the "
        "data and see which solver notices."
    )
    recorded_doc = "F = loss + λΩ on a plane of two weights; every dot is an iterate of a solver."

    dataset: ClassVar[Any] = field("breast_cancer", choices=DATASETS, doc="the data")
    loss: ClassVar[Any] = field("logistic", choices=LOSSES, doc="the loss")
    penalty: ClassVar[Any] = field("l1", choices=PENALTIES, doc="the penalty")
    lam_ratio: ClassVar[Any] = field(0.1, LAM_LOW, 1.0, "λ/λ_max: share of the smallest λ with W = 0", log=True)
    plane: ClassVar[Any] = field(
        FEATURES,
        choices=PLANES,
        doc="two features: a problem of two features and two classes only, which the plane shows whole; two weights: "
        "a slice through all weights of the data",
    )
    feature1: ClassVar[Any] = field(-1, -1, MOST_FEATURES, "first feature; −1: the one with the largest gradient at 0")
    feature2: ClassVar[Any] = field(-1, -1, MOST_FEATURES, "second feature; −1: the next largest gradient at 0")
    class1: ClassVar[Any] = field(0, 0, MOST_FEATURES, "class of the first weight, or the first of two classes")
    class2: ClassVar[Any] = field(1, REST, MOST_FEATURES, "class of the second weight, or the second; −1: all others")
    hold: ClassVar[Any] = field(OPTIMUM, choices=HOLDS, doc="where a slice holds the other weights")
    stretch: ClassVar[Any] = field(1.0, 0.05, 20.0, "units of the second feature: its values times this", log=True)
    turn: ClassVar[Any] = field(0.0, -90.0, 90.0, "degrees by which the plane of the two features is turned")
    whiten: ClassVar[Any] = field(False, doc="replace the features by two of equal size and without correlation")
    lane1: ClassVar[Any] = field("ista", choices=SOLVERS, doc="first solver")
    lane2: ClassVar[Any] = field("fista-cst", choices=WITH_NONE, doc="second solver")
    lane3: ClassVar[Any] = field("bcd-ls", choices=WITH_NONE, doc="third solver")
    lane4: ClassVar[Any] = field("newglmnet", choices=WITH_NONE, doc="fourth solver")
    iterations: ClassVar[Any] = field(60, 1, 400, "iterations of each solver", log=True)
    step_length: ClassVar[Any] = field(
        1.0, 0.1, 20.0, "constant steps in units of the safe 1/K: drag it until the iterates overshoot", log=True
    )
    momentum: ClassVar[Any] = field(
        -1.0, -1.0, 0.999, "β of FISTA: the same in every step; below 0 it grows from step to step, as FISTA has it"
    )
    start1: ClassVar[Any] = field(-0.9, -FAR, FAR, "first coordinate of the start, in units of the plane as given")
    start2: ClassVar[Any] = field(0.8, -FAR, FAR, "second coordinate of the start, in units of the plane as given")

    labels: ClassVar[dict[str, str]] = {
        "dataset": "data",
        "lam_ratio": "λ/λ_max",
        "feature1": "feature 1",
        "feature2": "feature 2",
        "class1": "class 1",
        "class2": "class 2",
        "hold": "others at",
        "step_length": "step · K",
        "momentum": "β",
        **{lane: f"solver {k + 1}" for k, lane in enumerate(LANES)},
    }
    groups: ClassVar[dict[str, tuple[str, ...]]] = {
        "Problem": ("dataset", "loss", "penalty", "lam_ratio"),
        "Plane": ("plane", "feature1", "feature2", "class1", "class2", "hold"),
        "Coordinates": ("stretch", "turn", "whiten"),
        "Solvers": (*LANES, "iterations", "step_length", "momentum"),
    }

    def __init__(self, data: Any = None, settings: Any = None) -> None:
        super().__init__(data, settings)
        self._worker: Worker | None = None
        self._scene: Message = {}

    # ------------------------------------------------------------------------------------------------------- running
    def start(self) -> None:
        """Compute what the settings ask for."""
        self._worker = Worker(self.data)
        self._worker.want(self.settings)

    def end(self) -> None:
        """End the thread."""
        if self._worker is not None:
            self._worker.close()

    def shown_again(self) -> None:
        """Send plane and iterates again."""
        if self._worker is not None:
            self._worker.again()

    def changed(self, names: set[str]) -> None:
        """Compute anew what the changed settings concern."""
        if {"dataset"} & names:  # numbers of features and classes mean nothing in other data
            fresh = ("feature1", "feature2", "class1", "class2")
            self._settings.update({f.name: f.default for f in self.fields if f.name in fresh and f.name not in names})
        if self._worker is not None and names:
            self._worker.want(self.settings)

    def picture(self) -> Message:
        """Return what is not computed in the thread: the lanes in the order of their colours."""
        return {"lanes": list(dict.fromkeys(self.settings[lane] for lane in LANES if self.settings[lane] != NONE))}

    def look(self) -> list[tuple[Message, list[bytes]]]:
        """Return the plane and the iterates that were computed since the last call."""
        if self._worker is None:
            return []
        news = self._worker.news()
        for message in news:
            if message["type"] == "scene":
                self._scene = message
                self._say_controls()  # names and reasons are known now
        return [(message, []) for message in news]

    # ------------------------------------------------------------------------------------------------------ controls
    def controls(self) -> list[Message]:
        """Return the controls: features and classes by name, and reasons why some have no effect."""
        made = {c["id"]: c for group in super().controls() for c in group["controls"]}
        self._name_features(made)
        for lane in LANES:
            for choice in made[lane]["choices"]:
                reason = self._scene.get("reasons", {}).get(choice["value"], "")
                choice.update(disabled=bool(reason), reason=reason)
        slices = self.settings["plane"] != FEATURES
        for name in ("hold", *AS_GIVEN):
            if slices == (name != "hold"):
                made[name]["disabled"] = True
                made[name]["reason"] = (
                    "A slice is drawn in the coordinates of the data." if slices else "There are no other weights."
                )
        for name in ("lam_ratio", "stretch", "turn"):
            made[name]["live"] = True
        return [{"title": title, "controls": [made[n] for n in names]} for title, names in self.groups.items()]

    def _name_features(self, made: dict[str, Message]) -> None:
        features, classes = self._scene.get("features"), self._scene.get("classes")
        if not features or not classes:
            return
        chosen = self._scene["chosen"]
        menus = {"feature1": (features, chosen[0]), "feature2": (features, chosen[1])}
        rest = [[REST, "all others"]] if self.settings["plane"] == FEATURES else []
        menus |= {"class1": (classes, chosen[2]), "class2": ([*rest, *classes], chosen[3])}
        for name, (entries, now) in menus.items():
            value = self.settings[name]
            if name.startswith("feature") and value < 0:
                label = next((text for number, text in features if number == now), str(now))
                entries = [[-1, f"{label} (strongest)" if name == "feature1" else f"{label} (next)"], *entries]
            if value not in [entry[0] for entry in entries]:
                entries = [*entries, [value, str(value)]]
            made[name] = {
                "id": name,
                "kind": "select",
                "label": self.labels[name],
                "doc": made[name]["doc"],
                "formula": "",
                "about": "",
                "about_formula": "",
                "value": value,
                "disabled": False,
                "reason": "",
                "choices": [
                    {"value": number, "label": text, "doc": "", "disabled": False, "reason": ""}
                    for number, text in entries
                ],
            }


registry.app_pages.add(GeometryPage.name, GeometryPage)
