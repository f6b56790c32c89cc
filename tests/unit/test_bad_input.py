"""Bad input at every door: a sentence that names what was wrong and what is allowed, or a rule that is written down.

Data, labels and settings of a Problem are in tests/contracts/test_problem.py, files in tests/unit/test_datasets*.py,
parameters of parts in tests/unit/test_registry.py, λ-paths in tests/unit/test_path.py; here are the other doors, and
what all doors share.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import sparsescope as ss
from helpers import iris
from sparsescope import cli
from sparsescope.inputs.design import Design
from sparsescope.registry import UnknownName
from sparsescope.runs.stopping import Gap, Iterations, Seconds


def go(problem: Any, **given: Any) -> None:
    """A run to its first event."""
    ss.Run(problem, **given).advance()


def one_step(problem: Any, **given: Any) -> None:
    """A solve of a single iteration."""
    ss.solve(problem, **{"max_iter": 1, **given})


def live(problem: Any, **given: Any) -> None:
    """A session, made and closed."""
    ss.Session(problem, **given).close()


def short_path(problem: Any, **given: Any) -> None:
    """A path of one λ."""
    ss.path(problem, **{"lams": [0.5], **given})


def tweak(problem: ss.Problem, **given: Any) -> None:
    """A change of a session; whatever is refused must change nothing."""
    with ss.Session(problem) as session:
        before = session.target, session.generation
        try:
            session.change(**given)
        finally:
            assert (session.target, session.generation) == before


RUNNERS = [go, one_step, live, short_path]


# ----------------------------------------------------------------------------------------------------- unknown names
@pytest.mark.parametrize("door", [*RUNNERS, tweak])
def test_an_unknown_solver_is_answered_with_the_nearest(door: Callable[..., Any], problem: ss.Problem) -> None:
    with pytest.raises(UnknownName, match=r"unknown solver 'bcd_ls'; did you mean 'bcd-ls'\? known: .*ista"):
        door(problem, solver="bcd_ls")
    for no_solver in (7, ss.losses.Squared(), ss.losses.Squared):
        with pytest.raises(TypeError, match=r"is not a solver; give a name \(bcd-ls"):
            door(problem, solver=no_solver)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"loss": "hinge"}, "unknown loss 'hinge'.* known: multiclass-squared-hinge"),
        ({"penalty": "l1l2"}, r"unknown penalty 'l1l2'; did you mean 'l1/l2'\?"),
        ({"lam": 0.0}, "lam is 0.0; it must be positive"),
        ({"lam": -1}, "lam is -1; it must be positive"),
        ({"lam": np.nan}, "lam is nan"),
        ({"lam": "big"}, "lam is 'big'; a positive number"),
    ],
)
def test_a_refused_tweak_changes_nothing(given: Any, message: str, problem: ss.Problem) -> None:
    with pytest.raises(ValueError, match=message):
        tweak(problem, **given)


def test_unknown_constants_and_scalings(problem: ss.Problem) -> None:
    with pytest.raises(ValueError, match="unknown constants 'best'; allowed: paper, tight, class-aware"):
        problem.block_constants("best")
    with pytest.raises(ValueError, match="unknown scaling 'lib'; known: liblinear"):
        problem.with_scaling("lib")
    with pytest.raises(ValueError, match="selection is 'cyclc'; did you mean 'cyclic'"):
        ss.solvers.BCD(selection="cyclc")


# ------------------------------------------------------------------------------------------- runs, and what they take
@pytest.mark.parametrize("door", RUNNERS)
def test_data_in_place_of_a_problem(door: Callable[..., Any]) -> None:
    X, _ = iris()
    with pytest.raises(TypeError, match=r"problem is of type ndarray; a Problem is needed: sparsescope\.Problem"):
        door(X)


@pytest.mark.parametrize("door", [go, one_step, short_path])
@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"callbacks": 3}, TypeError, "callbacks holds 3, which cannot be called"),
        ({"callbacks": [print, "x"]}, TypeError, "callbacks holds 'x'"),
        ({"certify_every": 0}, ValueError, "certify_every is 0; a whole number of at least 1"),
        ({"certify_every": "often"}, ValueError, "certify_every is 'often'"),
        ({"certify_every": np.inf}, ValueError, "certify_every is inf"),
        ({"test": 3}, ValueError, r"test is of type int; a pair \(X, y\)"),
        ({"test": (np.zeros((3, 4)),)}, ValueError, "test is 1 things; a pair"),
        ({"test": np.zeros((3, 4))}, ValueError, "test is of type ndarray"),
        ({"test": (np.full((3, 4), np.nan), [0, 1, 2])}, ValueError, "not finite"),
        ({"test": (np.empty((0, 4)), [])}, ValueError, "X is empty"),
        ({"test": (np.zeros((3, 4)), [0, 1, 3])}, ValueError, "label 3 is none of the classes; known: 0, 1, 2"),
    ],
)
def test_settings_of_runs(
    door: Callable[..., Any], given: Any, error: type[Exception], message: str, problem: ss.Problem
) -> None:
    with pytest.raises(error, match=message):
        door(problem, **given)


@pytest.mark.parametrize("door", [go, one_step, short_path])
@pytest.mark.parametrize("rule", ["gap", 1e-6, Gap])
def test_a_rule_is_an_object(door: Callable[..., Any], rule: Any, problem: ss.Problem) -> None:
    with pytest.raises(TypeError, match=r"stop rule.*sparsescope\.stopping\.Gap\(1e-6\)"):
        door(problem, stop=rule)


def test_a_single_callback_need_not_be_in_a_list(problem: ss.Problem) -> None:
    seen: list[Any] = []
    go(problem, callbacks=seen.append)
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tol": -1e-9}, "tol is -1e-09; it must be a number of at least 0"),
        ({"tol": np.nan}, "tol is nan"),
        ({"tol": "small"}, "tol is 'small'"),
        ({"max_iter": -1}, "limit is -1; a whole number of at least 0"),
        ({"max_iter": 1.5}, "limit is 1.5"),
        ({"max_iter": "many"}, "limit is 'many'"),
        ({"max_seconds": 0}, "limit is 0; it must be a number above 0"),
        ({"max_seconds": "1"}, "limit is '1'"),
        ({"W": np.zeros((2, 2))}, r"W has shape \(2, 2\)"),
        ({"W": np.full((4, 3), np.inf)}, "W has entries that are not"),
        ({"b": np.zeros(3)}, "has no intercept"),
    ],
)
def test_settings_of_solve(given: Any, message: str, problem: ss.Problem) -> None:
    with pytest.raises(ValueError, match=message):
        one_step(problem, **given)


def test_rules_combine_with_rules_only() -> None:
    with pytest.raises(TypeError, match="3 is not a stop rule"):
        Gap(1e-3) | 3  # type: ignore[operator]
    for make in (lambda: Gap("x"), lambda: Iterations(2.5), lambda: Seconds(None)):  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"is needed|must be"):
            make()


@pytest.mark.parametrize(("speed", "steps"), [(0, 0), (-1, -1), (np.nan, 1.5), ("fast", "two"), ([1], None)])
def test_commands_of_sessions(speed: Any, steps: Any, problem: ss.Problem) -> None:
    with pytest.raises(ValueError, match=r"speed is .* a positive number of iterations a second, or None"):
        live(problem, speed=speed)
    with ss.Session(problem) as session:
        with pytest.raises(ValueError, match="speed is"):
            session.set_speed(speed)
        with pytest.raises(ValueError, match=r"step: n is .* a whole number of at least 1"):
            session.step(steps)
        assert session.generation == 0 and session.status().mode == "idle"
    with pytest.raises(RuntimeError, match="the session is closed"):
        session.play()


# -------------------------------------------------------------------------------------------------------------- data
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([], r"X is empty: shape \(0,\)"),
        ([[]], r"X is empty: shape \(1, 0\)"),
        ([[1, 2], [3]], "different lengths"),
        (sp.csr_array((0, 3)), "X is empty"),
        ([1.0, 2.0], "1 dimension"),
        (sp.csc_array(np.array([[1.0, np.nan], [0.0, 1.0]])), "the first at sample 0, feature 1"),
        (np.array([[1, np.inf]] * 2, dtype=np.float32), "X has 2 entries that are not finite"),
    ],
)
def test_matrices_that_cannot_be_used(X: Any, message: str) -> None:
    for door in (lambda: ss.Problem(X, [0, 1]), lambda: ss.Design(X)):
        with pytest.raises(ValueError, match=message):
            door()


@pytest.mark.parametrize("lam", [0, 0.0, -0.0, -1e-300, np.nan, np.inf, -np.inf, "0.1x", [], [0.1], 1j])
def test_lam_must_be_positive_and_finite(lam: Any) -> None:
    X, y = iris()
    for door in (lambda: ss.Problem(X, y, lam=lam), lambda: ss.Problem(X, y).with_lam(lam)):
        with pytest.raises(ValueError, match=r"lam is .* positive"):
            door()


@pytest.mark.parametrize(
    "labels", [(1, 2, 3), (-1, 0, 1), (0, 5, 10), (1.0, 3.0, 7.0), ("b", "c", "d"), (2**40, 2**41, 2**42)], ids=str
)
def test_labels_that_are_not_0_to_m_1_are_numbered_in_sorted_order_and_keep_their_names(labels: Any) -> None:
    X, y = iris()
    given = np.array(labels)[y]
    problem, plain = ss.Problem(X, given, lam=0.3), ss.Problem(X, y, lam=0.3)
    names = [f"{x:g}" if isinstance(x, float) else str(x) for x in labels]
    assert problem.y.tolist() == y.tolist() and problem.class_names == names
    assert problem.encode(given[:7]).tolist() == y[:7].tolist()
    assert ss.solve(problem, max_iter=3).objective == ss.solve(plain, max_iter=3).objective
    run = ss.Run(problem, "bcd-ls", test=(X, given))
    event = [run.advance() for _ in range(3)][-1]
    assert event.test_accuracy == event.train_accuracy
    with pytest.raises(ValueError, match="is none of the classes"):
        problem.encode(np.array([np.array(labels)[0], "zebra" if isinstance(labels[0], str) else 77]))


@pytest.mark.parametrize("kind", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_data_without_any_information(kind: Any) -> None:
    """X = 0: zero weights are optimal whatever λ is. That is solved; only what needs the scale of λ is refused."""
    problem = ss.Problem(kind(np.zeros((6, 3))), [0, 1, 2] * 2, lam=0.1)
    assert problem.lam_max == 0.0
    for solver in ss.registry.solvers:
        if ss.registry.solvers.create(solver).solves(problem) is None:
            found = ss.solve(problem, solver, max_iter=3)
            assert found.objective == 2.0 and found.gap == pytest.approx(0.0, abs=1e-12) and not found.W.any()
    for door in (lambda: problem.lam_reference, lambda: ss.path(problem)):
        with pytest.raises(ValueError, match="λ_max is 0: no feature separates the classes"):
            door()
    assert ss.path(problem, lams=[1.0, 0.1]).nonzero_rows.tolist() == [0, 0]


# ---------------------------------------------------------------------------------------------------- the command line
FILES = {
    "one.csv": "a,b,label\n1,2,x\n3,4,x\n",
    "nan.csv": "a,b,label\n1,nan,x\n3,4,y\n",
    "inf.csv": "a,b,label\n1,inf,x\n3,4,y\n",
    "nothing.csv": "",
    "header.csv": "a,b,label\n",
    "label.csv": "label\nx\ny\n",
    "zeros.csv": "a,b,label\n0,0,x\n0,0,y\n0,0,x\n0,0,y\n",
    "bad.svm": "1 1:2 x\n",
    "nan.svm": "-1 1:nan\n1 2:1\n",
}


@pytest.mark.parametrize("lam", [10**400, -(10**400), 10**5000], ids=["large", "negative", "long"])
def test_a_whole_number_beyond_the_floats_is_no_lambda(lam: int) -> None:
    with pytest.raises(ValueError, match="lam is a whole number beyond 1e308"):
        ss.Problem(np.eye(3), [0, 1, 2], lam=lam)


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("one.csv", "y has one class only ('x'); at least 2 are needed"),
        ("nan.csv", "nan.csv has missing values in column 'b'"),
        ("inf.csv", "NaN or infinite, the first in row 0, col"),
        ("nothing.csv", "nothing.csv is empty"),
        ("header.csv", "needed: at least one row"),
        ("label.csv", "a feature column"),
        ("zeros.csv", "λ_max is 0"),
        ("bad.svm", "not a readable svmlight file"),
        ("nan.svm", "NaN or infinite"),
    ],
)
def test_files_without_a_problem_in_them(
    file: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / file).write_text(FILES[file])
    assert cli.main(["solve", str(tmp_path / file)]) == cli.FAILED
    told = capsys.readouterr().err
    assert told.startswith("sparsescope solve: ") and words in told and "Traceback" not in told


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--loss=hinge", "unknown loss 'hinge'"),
        ("--penalty=l1l2", "did you mean 'l1/l2'?"),
        ("--solver=bcd", "unknown solver 'bcd'"),
    ],
)
def test_unknown_names_on_the_command_line(option: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["solve", "iris", option]) == cli.FAILED
    assert words in capsys.readouterr().err


def test_a_negative_class_label_in_a_file_is_a_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "signs.svm"
    file.write_text("-1 1:2\n1 2:1\n-1 1:1\n1 2:3\n")
    assert ss.datasets.load(file).class_names == ["-1", "1"]
    assert cli.main(["solve", str(file)]) == cli.DONE
    assert "m 2" in capsys.readouterr().out


def _spoilt(kind: Any, name: str, change: Any) -> Any:
    """A good matrix with one of its arrays replaced by a changed copy."""
    matrix = kind(np.arange(1.0, 25.0).reshape(6, 4) * (np.arange(4) != 2))
    setattr(matrix, name, change(getattr(matrix, name).copy()))
    return matrix


def _put(place: int, value: int) -> Any:
    def change(array: np.ndarray) -> np.ndarray:
        array[place] = value
        return array

    return change


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.csr_matrix, sp.bsr_array], ids=lambda k: k.__name__)
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("indices", _put(0, 10**6)),
        ("indices", _put(-1, -3)),
        ("indptr", _put(-1, 10**6)),
        ("indptr", _put(1, -5)),
        ("indptr", _put(0, 2)),
        ("indptr", lambda array: array[:-1]),
        ("data", lambda array: array[:3]),
    ],
    ids=["too-large", "negative", "past-the-end", "falling", "not-from-zero", "too-few", "data-missing"],
)
def test_sparse_matrices_whose_indices_lead_astray_are_refused(kind: Any, name: str, change: Any) -> None:
    y = np.arange(6) % 2
    for use in (lambda X: ss.Problem(X, y), Design, lambda X: ss.datasets.from_arrays(X, y, name="spoilt")):
        with pytest.raises(ValueError, match="X is not a valid sparse matrix"):
            use(_spoilt(kind, name, change))


@pytest.mark.parametrize("place", [7, -1])
def test_coordinates_outside_a_matrix_are_refused_for_data_and_label_sets(place: int) -> None:
    matrix = sp.coo_array(np.eye(6, 4))
    matrix.coords = (np.array([0, 1, 2, place]), matrix.coords[1])
    with pytest.raises(ValueError, match="X is not a valid sparse matrix"):
        ss.Problem(matrix, np.arange(6) % 2)
    with pytest.raises(ValueError, match="y is not a valid sparse matrix"):
        ss.Problem(np.eye(6), matrix)


@pytest.mark.parametrize(
    "y",
    [
        np.linspace(0.1, 1.3, 6),
        [1, "a", 1, "a", 1, 1],
        np.array([1, "a"] * 3, dtype=object),
        [[0, 1, 0, 1, 0, 1]],
        np.array(["2020-01-01", "2020-01-02"] * 3, dtype="M8[D]"),
        [b"a", b"b"] * 3,
        np.array([1, 2] * 3, dtype=object),
        [1.0, 2.0] * 3,
        [1, None] * 3,
        [True, False] * 3,
        [-1, 1] * 3,
        [1j, 2] * 3,
        [[0], [1]] * 3,
        [1e300, 0.0] * 3,
    ],
    ids=str,
)
def test_both_doors_take_and_refuse_the_same_labels(y: Any) -> None:
    X = np.arange(12.0).reshape(6, 2)

    def said(door: Any) -> Any:
        try:
            return door()
        except ValueError as error:
            return str(error).removeprefix("data set 'x': ")

    problem = said(lambda: ss.Problem(X, y).class_names)
    assert problem == said(lambda: list(ss.datasets.from_arrays(X, y, name="x").class_names))
