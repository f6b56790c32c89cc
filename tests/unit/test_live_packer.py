"""Frames: only what is new, in full precision where differences count, and the picture of W."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from recordings import record
from sparsescope.live import picture as pictures
from sparsescope.live.packer import DRAWN, EXACT, MAX_EVENTS, STATUS, Block, Packer
from sparsescope.live.pages.predictions import OF_SETS
from sparsescope.live.thinning import keep


class FakeTrace:
    """A trace as the packer reads it, with columns and supports that a test chooses."""

    columns = tuple(dict.fromkeys((*EXACT, *DRAWN, *OF_SETS, *STATUS, "segment")))

    def __init__(self, supports: list[set[int]], segment: list[int] | None = None) -> None:
        n = len(supports)
        self.data = {name: np.arange(n, dtype=float) for name in self.columns}
        self.data["objective"] = 1.0 + 1e-13 * np.arange(n)[::-1]
        self.data["segment"] = np.array(segment if segment is not None else [0] * n, dtype=float)
        for name in ("gap", "relative_gap", "train_accuracy", "test_accuracy"):
            self.data[name] = np.where(np.arange(n) % 7 == 0, np.arange(n, dtype=float), np.nan)
        self.supports = supports
        self.working: list[set[int]] = [set()] * n
        self.marks: list[SimpleNamespace] = []
        self.size = n

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, name: str) -> np.ndarray:
        return self.data[name][: self.size]

    def entered(self, i: int) -> np.ndarray:
        return np.array(sorted(self.supports[i] - (self.supports[i - 1] if i else set())), dtype=np.int32)

    def left(self, i: int) -> np.ndarray:
        return np.array(sorted((self.supports[i - 1] if i else set()) - self.supports[i]), dtype=np.int32)

    def taken(self, i: int) -> np.ndarray:
        return np.array(sorted(self.working[i] - (self.working[i - 1] if i else set())), dtype=np.int32)

    def dropped(self, i: int) -> np.ndarray:
        return np.array(sorted((self.working[i - 1] if i else set()) - self.working[i]), dtype=np.int32)

    optima = 0

    def optimum(self, segment: int = -1) -> None:
        """No reference is known."""

    def like(self, segment: int) -> list[int]:
        """No two segments have the same problem."""
        return [segment]

    def best(self, segment: int) -> float:
        return 1.0

    def lower(self, segment: int) -> float:
        return float("nan")


def unpack(header: dict, block: Block) -> dict[str, np.ndarray]:
    data = b"".join(block.buffers())

    def cut(place: tuple[str, int, int]) -> np.ndarray:
        dtype, offset, length = place
        assert offset % 8 == 0
        return np.frombuffer(data, dtype=dtype, count=length, offset=offset)

    out = {name: cut(place) for name, *place in header["columns"]}
    for part, prefix in (("raster", ""), ("working", "working_")):
        none = {"entered": np.zeros(0), "left": np.zeros(0), "counts": np.zeros(2 * header["count"], dtype=np.int32)}
        found = none if header[part] is None else {name: cut(place) for name, place in header[part].items()}
        out.update({prefix + name: values for name, values in found.items()})
    return out


def replay(frames: list[dict[str, np.ndarray]], prefix: str = "") -> list[set[int]]:
    """The supports (``working_``: working sets) that a page would believe in, after each event it got."""
    now: set[int] = set()
    seen = []
    for frame in frames:
        e = left = 0
        for come, gone in frame[prefix + "counts"].reshape(-1, 2):
            now |= set(frame[prefix + "entered"][e : e + come].tolist())
            now -= set(frame[prefix + "left"][left : left + gone].tolist())
            e, left = e + come, left + gone
            seen.append(set(now))
    return seen


def random_supports(n: int, d: int = 30) -> list[set[int]]:
    rng = np.random.default_rng(1)
    return [set(np.flatnonzero(rng.random(d) < 0.3).tolist()) for _ in range(n)]


def test_the_measures_of_label_sets_are_sent_for_label_sets_only() -> None:
    trace = FakeTrace([set()] * 4)
    for sets in (False, True):
        block = Block()
        packer = Packer(trace, 3, OF_SETS if sets else ())
        columns = unpack(packer.columns(block), block)
        assert all((name in columns) == sets for name in OF_SETS)
        assert packer.status().get("test_micro_f1") == (3.0 if sets else None)


def test_each_event_is_sent_once_and_the_support_can_be_followed() -> None:
    trace = FakeTrace(random_supports(25))
    packer = Packer(trace, 30)
    frames, index = [], []
    for size in (3, 3, 10, 25):
        trace.size = size
        block = Block()
        header = packer.columns(block)
        frames.append(unpack(header, block))
        index += frames[-1].get("index", np.zeros(0)).tolist()
        if not header["count"]:
            frames.pop()
    assert index == list(range(25))
    assert replay(frames) == trace.supports
    assert not packer.pending()
    first = []
    for support in trace.supports:
        first += [j for j in sorted(support) if j not in first]
    assert packer.first_order == first


def test_the_working_set_can_be_followed_too() -> None:
    trace = FakeTrace([{1}] * 25)
    packer, block = Packer(trace, 30), Block()
    trace.size = 10
    header = packer.columns(block)
    assert header["working"] is None, "no working set: the solver works on all rows"
    trace.size, trace.working = 25, [set()] * 10 + random_supports(15)
    later = Block()
    frame = unpack(packer.columns(later), later)
    assert replay([frame], "working_") == trace.working[10:]
    assert packer.first_order == [1] and frame["counts"].sum() == 0, "the support is another matter"


def test_differences_of_1e_12_survive() -> None:
    trace = FakeTrace(random_supports(10))
    block = Block()
    columns = unpack(Packer(trace, 30).columns(block), block)
    assert columns["objective"].dtype == np.float64
    np.testing.assert_array_equal(columns["objective"], trace["objective"])
    assert columns["violation"].dtype == np.float32


def test_many_new_events_are_thinned_but_nothing_important_is_lost() -> None:
    n = 5000
    trace = FakeTrace(random_supports(n, 12), segment=[0] * 3000 + [1] * 2000)
    trace.marks = [SimpleNamespace(index=3000, iteration=2999, passes=1.0, seconds=1.0, text="λ", kind="lam")]
    packer = Packer(trace, 12)
    block = Block()
    header = packer.columns(block)
    columns = unpack(header, block)
    index = columns["index"].astype(int)
    assert header["count"] <= MAX_EVENTS + 4 and header["total"] == n
    assert index[0] == 0 and index[-1] == n - 1 and {2999, 3000} <= set(index.tolist())
    assert np.all(np.diff(index) > 0)
    assert replay([columns]) == [trace.supports[i] for i in index]
    known = np.isfinite(columns["gap"]).mean()
    assert known > 0.5  # one event in seven has a gap, yet most of the chosen ones do
    assert packer.status()["iteration"] == n - 1


def test_the_newest_known_gap_belongs_to_the_present_segment() -> None:
    trace = FakeTrace(random_supports(16), segment=[0] * 10 + [1] * 6)
    packer = Packer(trace, 30)
    trace.size = 10
    packer.columns(Block())
    assert packer.status()["gap"] == 7.0 and packer.status()["gap_iteration"] == 7
    trace.size = 12
    packer.columns(Block())
    assert packer.status()["gap"] is None  # event 14 will be the first of segment 1 with a gap
    trace.size = 16
    packer.columns(Block())
    assert packer.status()["gap"] == 14.0


def test_an_empty_trace_makes_an_empty_frame() -> None:
    block = Block()
    packer = Packer(FakeTrace([]), 30)
    header = packer.columns(block)
    assert (header["count"], header["columns"], block.buffers()) == (0, [], [])
    assert packer.status()["objective"] is None


def test_names_are_sent_once() -> None:
    packer = Packer(FakeTrace([]), 3)
    assert packer.names([2, 0], ["a", "b", "c"]) == {"2": "c", "0": "a"}
    assert packer.names([2, 1], ["a", "b", "c"]) == {"1": "b"}
    assert packer.names([1], None) == {}


@pytest.mark.parametrize("limit", [10, 100, 1000])
def test_thinning_keeps_ends_pins_and_order(limit: int) -> None:
    chosen = keep(20_000, limit, pinned=np.array([17, 12_345, -1, 99_999]))
    assert chosen[0] == 0 and chosen[-1] == 19_999
    assert {17, 12_345} <= set(chosen.tolist())
    assert len(chosen) <= limit + 5
    assert np.all(np.diff(chosen) > 0)
    assert np.array_equal(keep(limit, limit), np.arange(limit))


def weights(d: int = 50, m: int = 4, rows: tuple[int, ...] = (3, 7, 20)) -> np.ndarray:
    W = np.zeros((d, m))
    W[list(rows)] = np.arange(1, len(rows) * m + 1).reshape(len(rows), m) * 0.1
    W[rows[0], 1] = -2.0
    return W


def test_a_picture_shows_the_rows_with_weight() -> None:
    W = weights()
    shot = pictures.take(W, pictures.Wish(rows=100))
    assert shot.nonzero == 3 and shot.binned == 1.0
    assert set(shot.rows.tolist()) == {3, 7, 20}
    assert np.all(np.diff(shot.norms) <= 0)
    shown = shot.cells * shot.scale / 127
    np.testing.assert_allclose(shown, W[shot.rows], atol=shot.scale / 127)


def test_small_weights_do_not_vanish() -> None:
    W = weights()
    W[7] = 1e-9
    shot = pictures.take(W, pictures.Wish(rows=100))
    assert np.all(shot.cells[shot.rows.tolist().index(7)] == 1)


def test_too_many_rows_are_binned_by_the_largest_magnitude() -> None:
    rng = np.random.default_rng(0)
    W = rng.normal(size=(1000, 5))
    W[123, 2] = -50.0
    shot = pictures.take(W, pictures.Wish(rows=64))
    assert shot.cells.shape == (64, 5)
    assert shot.binned == pytest.approx(1000 / 64)
    assert shot.cells.min() == -127
    assert 123 in shot.rows.tolist()  # its bin is named after the row with the largest norm


@pytest.mark.parametrize(
    "wish",
    [
        pictures.Wish(rows=100),
        pictures.Wish(rows=20),
        pictures.Wish(kind="images"),
        pictures.Wish(row=7, asks=(("q", 3, 1),), visible=False),
    ],
)
def test_sparse_weights_have_the_picture_of_dense_ones(wish: pictures.Wish) -> None:
    rng = np.random.default_rng(0)
    W = rng.standard_normal((300, 9)) * (rng.random((300, 9)) < 0.1)
    known, shot = pictures.take(W, wish), pictures.take(sp.csr_array(W), wish)
    for name in ("scale", "cells", "rows", "norms", "nonzero", "binned", "row_values", "answers"):
        np.testing.assert_array_equal(getattr(shot, name), getattr(known, name), err_msg=name)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_very_many_classes_share_columns_and_those_without_weights_are_left_out(kind: Any) -> None:
    rng = np.random.default_rng(0)
    W = np.zeros((400, 900))
    W[:, ::3] = rng.standard_normal((400, 300)) * (rng.random((400, 300)) < 0.02)
    W[123, 600] = -50.0
    wish = pictures.Wish(rows=100, columns=60, sort="block", cells=(("q", 30, 40), ("r", 999, 0)))
    shot = pictures.take(kind(W), wish)
    assert shot.cells.shape == (100, 60) and shot.used == np.any(W, axis=0).sum() and shot.classes is not None
    assert shot.together == pytest.approx(shot.used / 60) and np.all(np.diff(shot.classes) > 0)
    support, used = np.flatnonzero(W.any(axis=1)), np.flatnonzero(W.any(axis=0))
    for line, column in ((0, 0), (30, 40), (99, 59)):
        rows = support[line * support.size // 100 : (line + 1) * support.size // 100]
        classes = used[column * used.size // 60 : (column + 1) * used.size // 60]
        cell = W[np.ix_(rows, classes)]
        assert shot.classes[column] == classes[0]
        top = cell.flat[np.abs(cell).argmax()]
        assert shot.cells[line, column] * shot.scale / 127 == pytest.approx(top, abs=shot.scale / 127)
        if (line, column) == (30, 40):  # what hovering tells: the very weight behind the cell
            ((key, j, c, value, _, _),) = shot.answers
            assert key == "q" and j in rows and c in classes and value == W[j, c] and abs(value) == abs(top)
    assert shot.cells.min() == -127
    near = pictures.take(kind(W), pictures.Wish(rows=100, columns=60, sort="block", zoom=(10, 40, 580, 620)))
    assert near.cells.shape == (30, 40) and near.rows.tolist() == support[10:40].tolist() and near.binned == 1.0
    assert near.classes is not None and near.classes.tolist() == list(range(580, 620)), "room for each: all are shown"
    far = pictures.take(kind(W), pictures.Wish(zoom=(9999, 10_000, 9999, 10_000)))
    assert far.cells.shape == (1, 1), "a window that nothing is in any more shows the last row and class"
    assert far.classes is not None and far.classes.tolist() == [899]
    edge = pictures.take(kind(W), pictures.Wish(sort="block", zoom=(support.size - 3, 10_000, 880, 2000)))
    assert edge.rows.tolist() == support[-3:].tolist(), "a window that reaches out shows what is inside"
    assert edge.cells.shape == (3, 20) and edge.classes is not None and edge.classes.tolist() == list(range(880, 900))


def test_a_row_of_very_many_classes_is_sent_by_its_largest_weights() -> None:
    W = sp.csr_array((np.array([3.0, -4.0]), ([1, 1], [70_000, 2])), shape=(5, 90_000))
    shot = pictures.take(W, pictures.Wish(row=1))
    assert shot.cells.shape == (1, 2) and shot.classes is not None and shot.classes.tolist() == [2, 70_000]
    assert shot.row_values is not None and shot.row_values.tolist() == [-4.0, 3.0]
    assert shot.row_classes is not None and shot.row_classes.tolist() == [2, 70_000]
    assert (shot.row_nonzero, shot.row_norm) == (2, 5.0)
    block = Block()
    header = shot.header(block.add)
    assert [header[name][2] for name in ("classes", "row_classes")] == [2, 2] and header["row_norm"] == 5.0


def test_a_picture_of_very_many_classes_makes_no_large_array() -> None:
    W = sp.random_array((50_000, 40_000), density=2e-6, random_state=np.random.default_rng(0), format="csr")
    shot = pictures.take(W, pictures.Wish(rows=200, columns=200))
    assert shot.cells.shape == (200, 200) and shot.nonzero == np.count_nonzero(np.diff(W.indptr)) and shot.binned > 10
    assert shot.scale >= W.data.max() and (shot.cells != 0).any(axis=1).all() and (shot.cells != 0).any(axis=0).all()


def test_sorting_by_name_and_first_entry() -> None:
    W = weights(rows=(3, 7, 20))
    rank = pictures.name_rank([f"w{50 - j:02d}" for j in range(50)], 50)
    assert pictures.take(W, pictures.Wish(sort="name", rank=rank)).rows.tolist() == [20, 7, 3]
    rank = pictures.first_rank([7, 20], 50)
    assert pictures.take(W, pictures.Wish(sort="first", rank=rank)).rows.tolist() == [7, 20, 3]


def test_blocks_stand_together_and_come_with_their_names_and_norms() -> None:
    names = [f"{'ab'[j % 2]}{j}" for j in range(50)]
    problem = ss.Problem(
        np.eye(50), np.arange(50) % 4, penalty=ss.penalties.BlockL1Linf(blocks=["b", "a"]), feature_names=names
    )
    W = weights(rows=(3, 6, 7, 20))
    wish = pictures.Wish(sort="block", asks=(("q", 7, 1), ("p", 6, 2)))
    shot = pictures.take(W, wish, problem.regulariser)
    assert shot.rows.tolist() == [3, 7, 6, 20] and shot.blocks is not None
    assert shot.blocks.tolist() == [0, 0, 1, 1] and shot.block_names == {0: "b", 1: "a"}
    assert shot.answers == (("q", 7, 1, W[7, 1], "b", 2.0), ("p", 6, 2, W[6, 2], "a", W[20, 2]))
    block = Block()
    header = shot.header(block.add)
    kind, at, length = header["blocks"]
    np.testing.assert_array_equal(np.frombuffer(block.buffers()[0], kind, length, at), shot.blocks)
    assert header["block_names"] == {0: "b", 1: "a"}
    numbered = problem.with_(penalty=ss.penalties.BlockL1L2(size=7))
    shot = pictures.take(W, wish, numbered.regulariser)
    assert shot.rows.tolist() == [3, 6, 7, 20] and shot.block_names is None
    assert shot.answers[0][4:] == ("block 1", pytest.approx(W[7, 1]))
    plain = pictures.take(W, wish, problem.with_(penalty="l1").regulariser)
    assert plain.rows.tolist() == [3, 6, 7, 20] and plain.blocks is None
    assert plain.header(Block().add)["blocks"] is None


def test_images_have_every_row_in_the_order_of_the_pixels() -> None:
    W = weights()
    shot = pictures.take(W, pictures.Wish(kind="images"))
    assert shot.cells.shape == W.shape
    assert np.array_equal(np.sign(shot.cells), np.sign(W))


def test_exact_values_and_the_inspected_row_come_along() -> None:
    W = weights()
    shot = pictures.take(W, pictures.Wish(row=7, asks=(("q", 3, 1), ("far", 999, 0)), visible=False))
    assert shot.answers == (("q", 3, 1, -2.0, None, None),)
    assert shot.row_values is not None
    np.testing.assert_array_equal(shot.row_values, W[7])
    assert shot.cells.size == 0


def test_scales_are_round_and_large_enough() -> None:
    for top in (1e-8, 0.3, 0.99, 1.0, 7.1, 123.4):
        scale = pictures.nice_scale(top)
        assert top <= scale * (1 + 1e-9) < 2 * top
    assert pictures.nice_scale(0.0) == 1.0
    assert pictures.nice_scale(float("nan")) == 1.0


def test_bounds_are_sent_for_the_segments_for_which_they_changed() -> None:
    trace = record(30, changes=(10, 20)).trace
    packer = Packer(trace, 12)
    header = packer.columns(Block())
    assert [bound[0] for bound in header["bounds"]] == [0, 1, 2]
    assert header["bounds"][1][1:] == [trace.best(1), trace.lower(1), None, None]
    assert packer.columns(Block())["bounds"] == [], "2000 changes of λ do not make every frame larger"


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_a_table_lies_in_the_block_as_its_columns_one_by_one(dtype: Any, size: int) -> None:
    columns = [np.linspace(-3.0, 7.0 + k, size) for k in range(4)]
    one_by_one, table = Block(), Block()
    one_by_one.add(np.ones(3, np.uint8))
    table.add(np.ones(3, np.uint8))
    places = [one_by_one.add(column.astype(dtype)) for column in columns]
    assert table.add_table(columns, dtype) == places
    assert table.buffers() == one_by_one.buffers() and table.add_table([], dtype) == []


def test_bounds_of_a_problem_that_comes_back_are_sent_for_its_earlier_segments_too() -> None:
    """Changes of λ there and back: only segments with the problem of the newest events are asked."""

    class BackAgain(FakeTrace):
        asked: list[int] = []

        def like(self, segment: int) -> list[int]:
            return [s for s in range(3) if s % 2 == segment % 2]

        def best(self, segment: int) -> float:
            self.asked.append(segment)
            return float(self.size) if segment % 2 == 0 else 9.0

    trace = BackAgain([{0}] * 6, segment=[0, 0, 1, 1, 2, 2])
    packer = Packer(trace, 8)
    trace.size = 4
    assert packer.columns(Block())["bounds"] == [[0, 4.0, None, None, None], [1, 9.0, None, None, None]]
    trace.size, trace.asked[:] = 6, []
    assert packer.columns(Block())["bounds"] == [[0, 6.0, None, None, None], [2, 6.0, None, None, None]]
    assert trace.asked == [0, 2]
