"""The weights: rows of W by classes, or one image a class where features are pixels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import plotly.graph_objects as go
import scipy.sparse as sp
from plotly.subplots import make_subplots

from .. import registry
from ..registry import field
from . import drawing, style
from .active_set import first_entries
from .base import View

if TYPE_CHECKING:
    from ..problems.prediction import Problem
    from ..runs.trace import Snapshot, Trace

SORTS = ("norm", "name", "first", "block")
# Of a sequence of models: the last stage, the predictions in it, all stages on the columns of X.
PARTS = ("stage", "calibration", "model")
MAX_SEPARATORS = 150  # lines between blocks; with more of them the picture would be lines only
ROW_PIXELS = 15  # the height of a row at which its name is still legible
MAX_HEIGHT = 1400
MOST_CLASSES = 600  # columns of the picture; more classes share them (a cell is about a pixel wide then)
IMAGES_ACROSS = 5


def image_shape(trace: Trace, problem: Problem | None) -> tuple[int, int] | None:
    """(height, width) of the images the features are pixels of, or ``None``."""
    shape = getattr(problem, "image_shape", None) if problem is not None else trace.info.get("image_shape")
    return None if shape is None else (int(shape[0]), int(shape[1]))


def pick(trace: Trace, index: int) -> Snapshot:
    """Snapshot ``index`` of the trace, counted from the end if negative; ``ValueError`` names what there is."""
    snapshots = trace.snapshots
    count = len(snapshots)
    if not -count <= index < count:
        raise ValueError(f"view 'weights': snapshot is {index}; this trace stored {count} snapshots of W "
                         f"(allowed: 0 to {count - 1}, or -1 to {-count} counted from the end)")  # fmt: skip
    return snapshots[index]


@dataclass(frozen=True)
class Grouping:
    """Blocks of features, for a penalty that has them. ``of_feature`` (d,): the block of each feature; ``names`` of
    blocks that have any; ``norm``: of one block in one class, if the penalty is at hand."""

    of_feature: np.ndarray
    names: tuple[str, ...] | None
    norm: Callable[[np.ndarray], float] | None

    def name(self, b: int) -> str:
        """Return the name of block b."""
        return f"block {b}" if self.names is None else self.names[b]

    def hover(self, rows: np.ndarray, values: np.ndarray) -> dict[int, list[str]]:
        """Return a line for each class of each block among ``rows`` (all with weights; values of shape (rows, m))."""
        found: dict[int, list[str]] = {}
        of = self.of_feature[rows]
        for b in map(int, np.unique(of)):
            label = style.escape(self.name(b))
            columns = values[of == b].T
            found[b] = [
                label if self.norm is None else f"{label}: norm {self.norm(np.ascontiguousarray(w)):.4g} in this class"
                for w in columns
            ]
        return found


def grouping(trace: Trace, problem: Problem | None) -> Grouping | None:
    """The blocks of the problem's penalty, or those that the trace began with; ``None`` if there are none."""
    if problem is not None:
        blocks = problem.regulariser.blocks if hasattr(problem, "regulariser") else None  # an inverse covariance
        if blocks is None:
            return None
        return Grouping(blocks.of_feature, blocks.names, cast(Any, problem.penalty).row.value)
    kept = trace.info.get("blocks")
    if not kept:
        return None
    return Grouping(np.asarray(kept["of_feature"]), None if kept["names"] is None else tuple(kept["names"]), None)


def ordered(
    names: list[str],
    rows: np.ndarray,
    norms: np.ndarray,
    first: dict[int, int],
    sort: str,
    blocks: Grouping | None = None,
) -> np.ndarray:
    """The order in which to draw some rows: positions into ``rows``. Ties fall back to the norm, then to the index."""
    if sort == "block":
        return np.lexsort((rows,) if blocks is None else (rows, blocks.of_feature[rows]))
    if sort == "norm":
        return np.lexsort((rows, -norms))
    if sort == "name":
        return np.array(sorted(range(len(rows)), key=lambda k: (names[k].casefold(), names[k], rows[k])), dtype=int)
    entry = np.array([first.get(int(j), np.iinfo(np.int64).max) for j in rows], dtype=np.int64)
    return np.lexsort((rows, -norms, entry))


def nonzero_rows(snapshot: Snapshot) -> tuple[np.ndarray, Any, int]:
    """Numbers of the non-zero rows of a snapshot, their values (dense or CSR), and how many there are."""
    values = snapshot.values
    if sp.issparse(values):
        keep = np.flatnonzero(np.diff(values.indptr))
    else:
        values = np.asarray(values, dtype=np.float64)
        keep = np.flatnonzero(np.any(values != 0, axis=1)) if values.size else np.zeros(0, dtype=np.int64)
    return np.asarray(snapshot.rows)[keep], values[keep], len(keep)


def row_norms(values: Any) -> np.ndarray:
    """‖W_j‖₂ of the rows of a CSR matrix."""
    return np.sqrt(np.asarray(values.multiply(values).sum(axis=1)).ravel())


def binned(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Neighbouring classes put together in :data:`MOST_CLASSES` columns: of each bin and row the entry of largest
    magnitude, and the class that it belongs to. Both (rows, MOST_CLASSES)."""
    m = values.shape[1]
    edges = (np.arange(MOST_CLASSES + 1) * m) // MOST_CLASSES
    chosen = np.column_stack([a + np.abs(values[:, a:b]).argmax(axis=1) for a, b in pairwise(edges.tolist())])
    return np.take_along_axis(values, chosen, axis=1), chosen


class Weights(View):
    """Non-zero rows of W by classes, or the weights of each class as an image where features are pixels."""

    name = "weights"
    title = "Weights W"
    menu_order = 50
    kinds = ("prediction", "sequence")
    doc = "The non-zero rows of W by classes, or the weights of each class as an image where features are pixels."
    needs = "at least one stored snapshot of W"
    empty = "Nothing to draw yet: no snapshot of W has been stored."

    snapshot = field(-1, doc="which stored snapshot of W; negative numbers count from the end")
    sort = field("norm", choices=SORTS, doc="rows by norm (largest first), by name, by first entry, or by block")
    rows = field(40, 1, 600, doc="how many rows at most; the ones with the largest norm are taken")
    picture = field("auto", choices=("auto", "rows", "images"), doc="auto: images where features are pixels")
    values = field("signed", choices=("signed", "magnitude"), doc="the weights, or their absolute values")

    def spec(self, problem: Problem) -> dict[str, Any]:
        if problem.stages:
            return {
                "id": self.name,
                "title": "Coefficients",
                "kind": "stages",
                "sorts": ["norm", "block"],
                "images": problem.image_shape is not None,
                "parts": list(PARTS),
                "empty": "Nothing to draw yet: no stage has been fitted.",
            }
        return {
            "id": self.name,
            "title": self.title,
            "kind": "matrix",
            "sorts": list(SORTS),
            "images": getattr(problem, "image_shape", None) is not None and self.picture != "rows",
            "empty": self.empty,
        }

    def _draw(self, trace: Trace, problem: Problem | None) -> go.Figure:
        fig = drawing.new_figure(self, trace, problem, height=400)
        fig.update_xaxes(title_text="classes", showgrid=False)
        fig.update_yaxes(title_text="rows of W (features)", showgrid=False)
        if not trace.snapshots:
            return drawing.add_sentence(fig, self, self.empty)
        snapshot = pick(trace, self.snapshot)
        shape = image_shape(trace, problem)
        if self.picture == "images" and shape is None:
            raise ValueError("view 'weights': picture is 'images', but the features of these data are not pixels; "
                             "allowed here: 'auto' or 'rows'")  # fmt: skip
        rows, stored, found = nonzero_rows(snapshot)
        when = f"after iteration {snapshot.iteration}"
        if not found:
            return drawing.add_sentence(fig, self, drawing.all_zero(when, snapshot.iteration))
        images = shape is not None and self.picture != "rows"
        if sp.issparse(stored):
            if not images and grouping(trace, problem) is None:  # only what is drawn becomes dense
                strongest = np.sort(np.lexsort((rows, -row_norms(stored)))[: self.rows])
                rows, stored = rows[strongest], stored[strongest]
            stored = stored.toarray()
        values = np.asarray(stored, dtype=np.float64)
        if self.values == "magnitude":
            values = np.abs(values)
        if shape is not None and images:
            return self._images(trace, problem, rows, values, shape, when)
        return self._matrix(fig, trace, problem, rows, values, when, found)

    def _colour(self, values: np.ndarray) -> dict[str, Any]:
        """One colour axis for the whole figure: symmetric about zero for signed values."""
        top = float(np.abs(values).max()) or 1.0
        signed = self.values == "signed"
        title = "weight" if signed else "|weight|"
        muted = style.theme(self.theme)["muted"]
        return {
            "colorscale": style.colour_scale(style.DIVERGING[self.theme] if signed else style.SEQUENTIAL),
            "cmin": -top if signed else 0.0,
            "cmax": top,
            "colorbar": {
                "title": {"text": title, "side": "right", "font": {"size": 12, "color": muted}},
                "thickness": 12, "outlinewidth": 0, "len": 1.0, "tickfont": {"size": 11, "color": muted},
            },
        }  # fmt: skip

    def _matrix(
        self,
        fig: go.Figure,
        trace: Trace,
        problem: Problem | None,
        rows: np.ndarray,
        values: np.ndarray,
        when: str,
        found: int,
    ) -> go.Figure:
        d, blocks = drawing.size(trace, problem, "d"), grouping(trace, problem)
        lines = {} if blocks is None else blocks.hover(rows, values)
        norms = np.linalg.norm(values, axis=1)
        strongest = np.sort(np.lexsort((rows, -norms))[: self.rows])
        rows, values, norms = rows[strongest], values[strongest], norms[strongest]
        names = drawing.feature_names(trace, problem, rows)
        first = first_entries(trace) if self.sort == "first" else {}
        order = ordered(names, rows, norms, first, self.sort, blocks)
        rows, values, norms = rows[order], values[order], norms[order]
        names = [style.escape(names[k]) for k in order]
        classes = [style.escape(name) for name in drawing.class_names(trace, problem, values.shape[1])]
        width = values.shape[1]
        if blocks is None and width > MOST_CLASSES:
            values, chosen = binned(values)
            labels = [[classes[c] for c in row] for row in chosen.tolist()]
        else:
            labels = [classes] * len(rows)
        hover = [[f"{name} (row {j})<br>class {label}<br>row norm {norm:.4g}"
                  + ("" if blocks is None else f"<br>{lines[int(blocks.of_feature[j])][k]}")
                  for k, label in enumerate(line)]
                 for name, j, norm, line in zip(names, rows, norms, labels, strict=True)]  # fmt: skip
        fig.add_trace(
            go.Heatmap(
                z=values, coloraxis="coloraxis", text=hover, hovertemplate="%{text}<br>weight %{z:.4g}<extra></extra>",
                xgap=1 if values.shape[1] <= 60 else 0, ygap=1 if len(rows) <= 120 else 0,
            )
        )  # fmt: skip
        many = values.shape[1] > 60
        fig.update_xaxes(ticks="", tickvals=None if many else list(range(width)),
                         ticktext=None if many else classes, constrain="domain")  # fmt: skip
        if values.shape[1] < width:
            fig.update_xaxes(title_text=f"{width} classes, {width / values.shape[1]:.3g} to a column: of each the one "
                                        "with the largest weight")  # fmt: skip
        shown = len(rows) * ROW_PIXELS <= MAX_HEIGHT
        fig.update_yaxes(autorange="reversed", ticks="", tickvals=list(range(len(rows))) if shown else [],
                         ticktext=names if shown else [])  # fmt: skip
        if blocks is not None and self.sort == "block":
            self._separate(fig, blocks, rows, names if shown else None)
        fig.update_layout(
            height=self.height or min(MAX_HEIGHT, max(300, 190 + ROW_PIXELS * len(rows))), showlegend=False,
            coloraxis=self._colour(values),
        )  # fmt: skip
        which = f"all {found}" if found == len(rows) else f"the {len(rows)} strongest of {found}"
        of = f" (d = {d})" if d else ""
        by = {"norm": "by norm", "name": "by name", "first": "by first entry",
              "block": "by index" if blocks is None else "by block"}[self.sort]  # fmt: skip
        return self._subtitle(fig, trace, problem, f"{when}: {which} non-zero rows{of}, sorted {by}")

    def _separate(self, fig: go.Figure, blocks: Grouping, rows: np.ndarray, names: list[str] | None) -> None:
        """Lines between blocks that stand together, and the name of a block before its first row (without names of
        rows: beside its middle)."""
        of = blocks.of_feature[rows]
        starts = np.concatenate([[0], np.flatnonzero(np.diff(of)) + 1])
        if len(starts) > MAX_SEPARATORS:
            return
        colour = style.theme(self.theme)["axis"]
        fig.update_layout(shapes=[
            {"type": "line", "xref": "x domain", "yref": "y", "x0": 0, "x1": 1, "y0": k - 0.5, "y1": k - 0.5,
             "line": {"color": colour, "width": 1.2}} for k in starts[1:].tolist()
        ])  # fmt: skip
        labels = [f"<b>{style.escape(blocks.name(int(of[k])))}</b>" for k in starts]
        if names is None:
            stops = np.append(starts[1:], len(rows))
            fig.update_yaxes(tickvals=((starts + stops - 1) / 2).tolist(), ticktext=labels)
            return
        first = dict(zip(starts.tolist(), labels, strict=True))
        fig.update_yaxes(ticktext=[f"{first[k]}   {name}" if k in first else name for k, name in enumerate(names)])

    def _images(
        self, trace: Trace, problem: Problem | None, rows: np.ndarray, values: np.ndarray, shape: tuple[int, int],
        when: str,
    ) -> go.Figure:  # fmt: skip
        h, w = shape
        m = values.shape[1]
        classes = drawing.class_names(trace, problem, m)
        across = min(IMAGES_ACROSS if m <= 20 else 10, m)
        down = math.ceil(m / across)
        grid = make_subplots(rows=down, cols=across, subplot_titles=[style.escape(c) for c in classes],
                             horizontal_spacing=0.02, vertical_spacing=min(0.12, 0.3 / down))  # fmt: skip
        names = [style.escape(name) for name in drawing.feature_names(trace, problem, range(h * w))]
        blocks = grouping(trace, problem)
        if blocks is not None:
            names = [f"{name}<br>{style.escape(blocks.name(int(b)))}"
                     for name, b in zip(names, blocks.of_feature, strict=True)]  # fmt: skip
        for k in range(m):
            image = np.zeros(h * w)
            image[rows] = values[:, k]
            text = [[f"{names[r * w + c]}<br>class {style.escape(classes[k])}" for c in range(w)] for r in range(h)]
            grid.add_trace(
                go.Heatmap(z=image.reshape(h, w), coloraxis="coloraxis", text=text,
                           hovertemplate="%{text}<br>weight %{z:.4g}<extra></extra>"),
                row=k // across + 1, col=k % across + 1,
            )  # fmt: skip
        grid.update_annotations(font={"size": 12})
        frame = {"showticklabels": False, "ticks": "", "showgrid": False, "mirror": True, "automargin": False}
        grid.update_xaxes(constrain="domain", **frame)
        grid.update_yaxes(autorange="reversed", **frame)
        for number in range(1, m + 1):  # square pixels, each image against its own x axis
            suffix = "" if number == 1 else str(number)
            grid.layout[f"yaxis{suffix}"].update(scaleanchor=f"x{suffix}", constrain="domain")
        base = drawing.new_figure(self, trace, problem, height=130 + 150 * down)
        grid.update_layout(
            template=base.layout.template, title=base.layout.title, height=base.layout.height, showlegend=False,
            margin={"l": 24, "b": 24}, coloraxis=self._colour(values),
        )  # fmt: skip
        return self._subtitle(grid, trace, problem, f"{when}: {len(rows)} of {h * w} pixels have weights")

    def _subtitle(self, fig: go.Figure, trace: Trace, problem: Problem | None, text: str) -> go.Figure:
        about = drawing.about(trace, problem)
        fig.update_layout(title_subtitle_text="<br>".join(style.escape(line) for line in (about, text) if line))
        return fig


registry.views.add(Weights.name, Weights, title=Weights.title, doc=Weights.doc)
