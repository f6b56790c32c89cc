"""Lesson 1: what the kink of a penalty and the shape of its ball set to zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import registry
from ..wording import plural
from . import pictures
from ._gap_card import GAP
from ._runs import accuracy_on_test, at, dense, fit, load, rows_used, title
from .answers import is_number
from .base import Case, Exercise, Finding, Input, Lesson, Mark, Message, Prediction, Scene, Show, Source, cases
from .growing import Bars, Table
from .kinds import Choice, Order, Slider

ROW = ("ridge", "l1", "sparse-group", "l1/l2", "l1/linf")
NAMES = {"ridge": "ridge", "l1": "ℓ1", "sparse-group": "sparse group", "l1/l2": "ℓ1/ℓ2", "l1/linf": "ℓ1/ℓ∞"}
FOUR = ("l1", "sparse-group", "l1/l2", "l1/linf")
V = np.array([3.0, -1.0, 0.5])
TIED = 1e-9  # of the largest entry: closer sizes are the same
PIXELS = 20


# ----------------------------------------------------------------------------------------------------------- the runs
def _vector(case: Case) -> np.ndarray:
    """Return the vector of the question, or another one for another seed."""
    return V if case.seed == 0 else np.random.default_rng(case.seed).normal(0.0, 2.0, 3).round(2)


def _who_dies_first(case: Case, show: Show) -> Finding:
    """Turn τ up and note where all of v is zero."""
    v = _vector(case)
    compared = ("l1", "l1/l2", "l1/linf", "ridge")
    parts = {name: registry.penalties.create(name) for name in compared}
    taus = np.linspace(0.0, 1.15 * np.abs(v).sum(), 47)
    left: dict[str, list[float]] = {name: [] for name in compared}
    picture: Message = {}
    for k, tau in enumerate(taus):
        for name, part in parts.items():
            left[name].append(float(np.abs(part.prox(v, tau)).max()))
        curves = {NAMES[name]: (taus[: k + 1], left[name]) for name in compared}
        picture = pictures.lines(curves, "τ", "largest entry of prox(v)")
        show(picture)
    critical = {name: float(part.zero_threshold(v)) for name, part in parts.items()}
    holds = critical["l1"] <= critical["l1/l2"] <= critical["l1/linf"] < critical["ridge"] == np.inf
    shown = ", ".join(f"{NAMES[name]} at τ = {critical[name]:.3g}" for name in compared[:3])
    vector = ", ".join(f"{x:g}" for x in v)
    return Finding(critical, bool(holds), f"v = ({vector}) is zero: {shown}; ridge at no τ.", picture)


def _inside(W: np.ndarray) -> tuple[int, float]:
    """Return the number of rows in use, and the share of zeros inside them."""
    used = rows_used(W)
    return int(used.sum()), float((W[used] == 0).mean()) if used.any() else 0.0


def _zeros_inside(case: Case, show: Show) -> Finding:
    """Fit each penalty at λ = 0.1 λ_max and count zeros inside the rows in use."""
    counted: dict[str, tuple[int, float]] = {}
    table = Table(show, "penalty", "rows in use", "zeros inside them")
    for name in ROW:
        problem = at(case.data, 0.1, case.seed, penalty=name)
        counted[name] = _inside(dense(fit(problem).W))
        table.add(NAMES[name], f"{counted[name][0]} of {problem.d}", f"{100 * counted[name][1]:.0f} %")
    answer = [name for name in ROW if counted[name][1] > 0]
    said = "; ".join(f"{NAMES[name]} {100 * share:.0f} %" for name, (_, share) in counted.items())
    holds = answer == ["l1", "sparse-group"]
    return Finding(answer, holds, f"Zeros inside the rows in use on {case.data}: {said}.", table.picture)


def _tied_share(case: Case, show: Show) -> Finding:
    """Measure the share of weights that have exactly the largest size of their row."""
    shares = Bars(show, "% of the weights tied at the top of their row")
    for name in ("l1/l2", "l1/linf"):
        W = dense(fit(at(case.data, 0.1, case.seed, penalty=name)).W)
        sizes = np.abs(W[rows_used(W)])
        shares.add(NAMES[name], 100.0 * (sizes >= (1 - TIED) * sizes.max(axis=1, keepdims=True)).mean())
    measured = shares.values[NAMES["l1/linf"]]
    m = W.shape[1]
    said = f"{measured:.0f} % of the weights on {case.data}, with {m} classes; one alone would be {100 / m:.0f} %."
    return Finding(measured, measured > 200.0 / m, said, shares.picture)


def _ridge_zeros(case: Case, show: Show) -> Finding:
    """Count the zero rows of ridge, at the usual strength and ten thousand times that."""
    problem = at(case.data, 0.1, case.seed, penalty="ridge")
    silent = int((np.asarray(abs(load(case.data, case.seed).X).sum(axis=0)) == 0).sum())
    zeros = Bars(show, f"zero rows of {problem.d}")
    for name, factor in (("λ", 1.0), ("10⁴ λ", 1e4)):
        W = dense(fit(problem.with_(lam=factor * problem.lam)).W)
        zeros.add(name, (~rows_used(W)).sum())
    usual, strong = zeros.values.values()
    answer = "none" if strong == 0 else "few" if strong < problem.d / 4 else "half"
    said = (
        f"{strong:.0f} of {problem.d} rows at 10⁴ times the strength (largest weight {np.abs(W).max():.1e}), and "
        f"{usual:.0f} at the usual one; {plural(silent, 'feature is', 'features are')} zero in every sample."
    )
    return Finding(answer, usual == silent == strong, said, zeros.picture)


def _same_for_two(case: Case, show: Show) -> Finding:
    """Fit four row penalties at the same share of λ_max and compare rows and objectives."""
    used = Bars(show, "rows in use")
    models, objectives = [], []
    for name in FOUR:
        problem = at(case.data, 0.1, case.seed, penalty=name)
        found = fit(problem, 1e-10)
        W = dense(found.W)
        models.append(W)
        objectives.append(found.objective)
        used.add(NAMES[name], rows_used(W).sum())
    apart = max(float(np.abs(W - models[0]).max()) for W in models)
    same = apart <= 1e-6 * float(np.abs(models[0]).max()) and np.ptp(objectives) <= 1e-9 * objectives[0]
    fewest = min(FOUR, key=lambda name: used.values[NAMES[name]])
    said = (
        f"Rows: {', '.join(f'{name} {n:.0f}' for name, n in used.values.items())}; the four W differ by at most "
        f"{apart:.1e} and the objectives by {np.ptp(objectives) / objectives[0]:.1e} of F."
    )
    return Finding("same" if same else fewest, bool(same), said, used.picture)


# ---------------------------------------------------------------------------------------------------------- the scenes
def _three_maps(show: Show) -> tuple[Message, str]:
    data = load("digits")
    models: dict[str, np.ndarray] = {}
    notes: dict[str, str] = {}
    for letter, name in zip("ABC", ("ridge", "l1", "l1/l2"), strict=True):
        problem = at("digits", 0.1, penalty=name)
        W = dense(fit(problem).W)
        models[letter] = W
        notes[letter] = f"test accuracy {accuracy_on_test(problem, W, data):.0f} %"
        show(pictures.maps(models, notes, "pixels"))
    return pictures.maps(models, notes, "pixels"), "; ".join(f"{key}: {text}" for key, text in notes.items()) + "."


def _more_ridge(show: Show) -> tuple[Message, str]:
    problem = at("digits", 0.1, penalty="ridge")
    used = Bars(show, "rows in use")
    for power, name in enumerate(("λ", "10 λ", "100 λ", "10³ λ", "10⁴ λ")):
        used.add(name, rows_used(fit(problem.with_(lam=10.0**power * problem.lam)).W).sum())
    low, high = min(used.values.values()), max(used.values.values())
    rows = f"{low:.0f}" if low == high else f"Between {low:.0f} and {high:.0f}"
    said = f"{rows} of {problem.d} rows are in use, however strong the penalty is."
    return used.picture, said


def _two_classes(show: Show) -> tuple[Message, str]:
    models = {}
    for name in FOUR:
        models[title(name)] = dense(fit(at("breast_cancer", 0.1, penalty=name), tol=1e-10).W)
        show(pictures.maps(models))
    first, *others = models.values()
    apart = max(float(np.abs(W - first).max()) for W in others)
    return pictures.maps(models), f"Four penalties, and W moves by at most {apart:.1e}."


# ------------------------------------------------------------------------------------------------------- the exercises
def _own_vector(student: int) -> np.ndarray:
    """Return four entries of clearly different sizes."""
    rng = np.random.default_rng([1, student])
    sizes = np.cumsum(rng.integers(2, 8, 4)) / 4.0
    return rng.permutation(sizes * rng.choice([-1.0, 1.0], 4))


def _tie_task(student: int) -> str:
    v = ", ".join(f"{x:g}" for x in _own_vector(student))
    return f"Your v is ({v}). Give a τ at which the prox of ℓ1/ℓ∞ ties exactly two of its entries."


def _tie_check(tau: Any, student: int) -> Mark:
    if not is_number(tau, 0):
        return Mark(False, f"τ is {tau!r}; a number of at least 0 is needed.")
    p = np.abs(registry.penalties.create("l1/linf").prox(_own_vector(student), float(tau)))
    if p.max() == 0:
        return Mark(False, "All entries are zero, so τ is at least the sum of their sizes.")
    tied = int((p >= (1 - TIED) * p.max()).sum())
    shown = ", ".join(f"{x:.3g}" for x in p)
    return Mark(tied == 2, f"The sizes are ({shown}): {plural(tied, 'of them has', 'of them have')} the largest.")


def _tie_right(student: int) -> float:
    a, b, c, _ = np.sort(np.abs(_own_vector(student)))[::-1]
    return float(((a - b) + (a + b - 2 * c)) / 2)


def _small_par() -> tuple[float, float]:
    """Return the best test accuracy of ℓ1/ℓ2 on a grid of λ with few enough rows, and its share of λ_max."""
    found = []
    data = load("digits")
    for ratio in np.geomspace(0.6, 0.1, 9):
        problem = at("digits", float(ratio))
        W = fit(problem, 1e-4).W
        if rows_used(W).sum() <= PIXELS:
            found.append((accuracy_on_test(problem, W, data), float(ratio)))
    return max(found)


def _small_check(answer: Any, student: int) -> Mark:
    try:
        penalty, ratio = answer["penalty"], float(answer["ratio"])
    except (TypeError, KeyError, ValueError):
        return Mark(False, 'Give {"penalty": name, "ratio": λ/λ_max}.')
    if penalty not in ROW or not 1e-3 <= ratio <= 1:
        return Mark(False, f"The penalties are {', '.join(ROW)}, and the ratio lies between 0.001 and 1.")
    problem = at("digits", ratio, penalty=penalty)
    W = fit(problem, 1e-4).W
    used, reached = int(rows_used(W).sum()), accuracy_on_test(problem, W, load("digits"))
    par, _ = _small_par()
    said = f"{plural(used, 'pixel')} in use, test accuracy {reached:.1f} %; par is {par:.1f} %."
    return Mark(used <= PIXELS and reached >= par - 2.0, said)


# ----------------------------------------------------------------------------------------------------------- the lesson
LESSON = Lesson(
    number=1,
    slug="why-rows-vanish",
    title="Why rows vanish",
    minutes=20,
    asks="What makes weights exactly zero, and why does one penalty take single weights and another one whole rows?",
    idea=(
        "A kink at zero makes exact zeros, and the shape of the penalty's ball decides what becomes zero together: "
        "single weights, whole rows, or nothing."
    ),
    needs=("weights", "gradient step", "objective", "lambda", "seed"),
    introduces=(
        "gap", "penalty", "prox", "dual norm", "ties", "ridge", "l1", "l1/l2", "l1/linf", "sparse group",
        "rows in use", "lambda max",
    ),
    before=GAP,
    opening=Scene(
        title="Three models of the same digits",
        text=(
            "W has a row for each feature (here a pixel) and a column for each class (a digit). These three were "
            "fitted to the same data with the same loss; only the penalty on W differs: ridge (the squared weights), "
            "ℓ1 (the sizes of the weights), ℓ1/ℓ2 (the lengths of the rows). A row that is not all zero is in use. "
            "λ is a tenth of λ_max, the λ from which on W = 0 is the solution."
        ),
        run=_three_maps,
        question="One has no holes, one has scattered holes, one has empty lines. Which is the lasso (ℓ1)?",
    ),
    predictions=(
        Prediction(
            question=(
                "v = (3, −1, ½) is a row of W. The prox of a penalty pulls it towards zero with a strength τ that is "
                "slowly turned up. ℓ1/ℓ∞ is the largest size in the row, ℓ1/ℓ2 its length. In which order do these "
                "penalties make all of v zero?"
            ),
            kind=Order(
                {"ridge": "ridge", "l1/linf": "ℓ1/ℓ∞", "l1/l2": "ℓ1/ℓ2", "l1": "ℓ1"},
                first="all of v is zero at the smallest τ", last="at the largest τ, or never",
            ),
            run=_who_dies_first,
            claim="ℓ1 is first, then ℓ1/ℓ2, then ℓ1/ℓ∞; ridge never makes v zero.",
            condition="for every v, because largest entry ≤ length ≤ sum of sizes.",
            explained=(
                "A row is zero when τ reaches the dual norm of v: the largest entry for ℓ1, the length for ℓ1/ℓ2, the "
                "sum of sizes for ℓ1/ℓ∞."
            ),
            wrong={
                "l1": "ℓ1 kills entry by entry, and still it is first: its dual norm, the largest entry, is smallest.",
                "l1/l2": "The length lies between the largest entry and the sum, so ℓ1/ℓ2 lies between the others.",
                "l1/linf": "The prox of ℓ1/ℓ∞ first cuts the largest entries; it has the whole sum to take away.",
                "ridge": "Ridge divides v by 1 + τ: that is small for a large τ, and never zero.",
            },
            holds=(Case("the vector"), *(Case("a random vector", seed) for seed in (1, 2, 3, 4))),
            takes_data=False,
        ),
        Prediction(
            question=(
                "digits, λ = 0.1 λ_max. Which of these penalties leave zeros inside the rows they use? (Sparse group "
                "is half ℓ1 and half ℓ1/ℓ2.)"
            ),
            kind=Choice(NAMES, several=True),
            run=_zeros_inside,
            claim="Only ℓ1 and sparse group leave zeros inside rows in use.",
            condition="with three classes or more.",
            explained="ℓ1 has a kink in each weight, ℓ1/ℓ2 and ℓ1/ℓ∞ only where the whole row is zero.",
            wrong={
                "ridge": "Ridge has no kink at all: what is pulled gently to zero never gets there.",
                "l1": "ℓ1 treats each weight alone, so a row that is used for one class is zero for others.",
                "sparse-group": "Half of the sparse group is ℓ1, which kills single weights inside a row.",
                "l1/l2": "It shrinks the length of a row, not its direction: all entries vanish together or none.",
                "l1/linf": "It cuts the largest entries and leaves the small ones as they are, so none becomes zero.",
            },
            holds=(*cases("digits wine"), Case("pydocs")),
            fails=cases("breast_cancer"),
        ),
        Prediction(
            question=(
                "In the rows that ℓ1/ℓ∞ keeps (digits), what share of the weights has exactly the largest size of "
                "their row?"
            ),
            kind=Slider(0.0, 100.0, "%", near=10.0),
            run=_tied_share,
            claim="Far more weights than one a row are tied at the top (more than twice as many).",
            condition="on all data here with three classes or more.",
            explained="Making a smaller entry as large as the largest is free; the prox clips, so ties are the rule.",
            wrong={
                "low": "One a row is what other penalties have. Here growing up to the largest size costs nothing.",
                "high": "Nearly all; for some classes the best weight lies below the clip.",
            },
            holds=(*cases("digits wine"), Case("pydocs")),
            fails=cases("breast_cancer"),
        ),
        Prediction(
            question=(
                "Ridge on digits, with a λ ten thousand times as large as in prediction 2: how many of the 64 rows are "
                "exactly zero?"
            ),
            kind=Choice({"none": "none", "few": "a few", "half": "about half"}),
            run=_ridge_zeros,
            claim="Exactly the rows of features that are zero in every sample are zero, however strong ridge is.",
            condition="on all data here.",
            explained="Ridge makes no zeros; a row stays zero only where its feature is zero in every sample.",
            wrong={
                "none": "Ridge makes no zeros, but a pixel that is never lit gets no weight to begin with.",
                "few": "Here every feature is non-zero in some sample, and ridge itself sets nothing to zero.",
                "half": "A smooth penalty has no kink that could hold so many rows at zero.",
            },
            holds=(*cases("digits wine breast_cancer"), Case("pydocs")),
        ),
        Prediction(
            question=(
                "Two classes (breast_cancer), the same λ/λ_max: which of ℓ1, sparse group, ℓ1/ℓ2 and ℓ1/ℓ∞ uses the "
                "fewest features?"
            ),
            kind=Choice({**{name: NAMES[name] for name in FOUR}, "same": "all are the same model"}),
            run=_same_for_two,
            claim="All four give the same W.",
            condition="with two classes; with three or more they differ.",
            explained=(
                "With two classes a row is (a, −a): every norm of it is a multiple of |a|. Row penalties are an affair "
                "of three classes or more."
            ),
            wrong={
                "l1": "ℓ1 can kill one weight of a row, but in (a, −a) both are zero together.",
                "sparse-group": "A mixture of two multiples of |a| is a multiple of |a|.",
                "l1/l2": "The length of (a, −a) is |a| times √2: the same penalty in other units.",
                "l1/linf": "The largest size in (a, −a) is |a| itself: the same penalty in other units.",
                "same": "With more than two classes a row has a direction, and the penalties treat it differently.",
            },
            holds=(*cases("breast_cancer"), *cases("digits:3,8 digits:0,1 digits:4,9", (0,))),
            fails=cases("digits"),
        ),
    ),
    breaks=(
        Scene(
            title="More ridge",
            text="Turn ridge up by a factor of ten, again and again. Surely rows begin to vanish?",
            run=_more_ridge,
        ),
        Scene(
            title="Two classes",
            text="Go through the penalties on two classes. Watch W.",
            run=_two_classes,
        ),
    ),
    exercises={
        "a": Exercise(
            _tie_task, _tie_check, _tie_right, lambda student: 0.0, (Input("tau", "τ"),),
            code='tau = 1.0\nlesson.check("a", tau)',
        ),
        "b": Exercise(
            lambda student: (
                f"digits, at most {PIXELS} pixels in use: choose a penalty and λ/λ_max for a good test accuracy. The "
                "checker fits, counts the rows and compares with the best of ℓ1/ℓ2 (within 2 points)."
            ),
            _small_check,
            lambda student: {"penalty": "l1/l2", "ratio": _small_par()[1]},
            lambda student: {"penalty": "ridge", "ratio": 0.1},
            (Input("penalty", "penalty", "choice", ROW), Input("ratio", "λ/λ_max")),
            code='lesson.check("b", {"penalty": "l1", "ratio": 0.3})',
        ),
    },
    sources=(
        Source("Blondel, Seki, Uehara (2013)", "Sec. 2, Fig. 1, Eq. 3–4, Sec. 4.7",
               ("penalties/l1_l2.py", "penalties/l1_linf.py", "kernels/blocks.py")),
        Source("Chierchia et al. (2015)", "Sec. 2.2", ("penalties/",)),
        Source("docs/mathematics.md", "Section 3"),
    ),
    afterwards=(
        "For a norm the prox is v minus its projection on the dual ball; what lies inside becomes zero.",
        "ℓ1 zeroes weights, ℓ1/ℓ2 features, ℓ1/ℓ∞ makes ties.",
        "For two classes it makes no difference.",
    ),
)  # fmt: skip

registry.lessons.add(LESSON.slug, LESSON)
