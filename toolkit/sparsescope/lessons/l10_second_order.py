"""Lesson 10: conditioning and second order, in two parts: coordinates first, curvature then."""

from __future__ import annotations

from .. import registry
from ._coordinates import (
    NOTICED,
    fista_and_units,
    is_whitening_enough,
    nothing_changed,
    rotated_digits,
    units_check,
    units_right,
    who_notices,
)
from ._curvature import (
    LANES,
    digits_cost,
    doubling,
    from_below,
    overtaken,
    overtaken_check,
    short_memory,
    sweeps_alone,
    two_parabolas,
)
from ._runs import code_of
from .base import Exercise, Input, Lesson, Part, Prediction, Scene, Source, cases
from .kinds import Choice, Order, Sketch

COORDINATES = Scene(
    title="Nothing about wine has changed",
    text=(
        "Least squares on wine, with hardly any ridge, in four coordinates: in its own units, where proline goes to "
        "hundreds and hue is around 1; with each column divided by its deviation; rotated; and whitened, so that all "
        "columns have deviation 1 and no correlation."
    ),
    run=nothing_changed,
    question="The smallest F is the same, and so are the predictions. What may be different on the way there?",
)
CURVATURE = Scene(
    title="Two parabolas",
    text=(
        "F of logistic regression on wine (ridge, λ = 0.01), on the straight way from W = 0 to its solution. Two "
        "parabolas touch it at the beginning: one has the curvature that F has there, the other the largest that it "
        "can have anywhere. A method goes to the lowest point of its parabola, and draws the next one there."
    ),
    run=two_parabolas,
    question="Which parabola would you follow, and what would you have to know about F to draw it?",
)

LESSON = Lesson(
    number=10,
    slug="second-order",
    title="Conditioning and second order",
    minutes=25,
    asks="Other units, a rotation, a curvature: which method notices them, and what does it win by that?",
    idea=(
        "First half, coordinates: each method has its own idea of round. FISTA survives rotations, BCD other units, "
        "methods with the metric of the data both. Second half, curvature: second order buys digits, not the first "
        "per cent."
    ),
    needs=("weights", "objective", "lambda", "seed", "gap", "penalty", "ridge", "l1", "lambda max",
           "coordinate descent", "fista", "restart"),
    introduces=("second order",),
    opening=COORDINATES,
    parts=(
        Part(
            "a", "Coordinates",
            "Each method has its own idea of round: data in other coordinates are another problem for it, or the same.",
            predictions=(1, 2), breaks=(1, 2), exercises=("a",), afterwards=(1, 3), opening=COORDINATES,
        ),
        Part(
            "b", "Curvature",
            "Second order methods use the curvature of F where they are. What does it buy, and from when on?",
            predictions=(3, 4, 5), breaks=(3, 4), exercises=("b",), afterwards=(2,), opening=CURVATURE,
        ),
    ),
    predictions=(
        Prediction(
            question=(
                "Least squares on digits, to 1e-4 above the smallest F. The columns are given in other "
                "units (×1 to ×1000), or the samples are rotated; the predictions stay the same. gls takes its steps "
                "in the metric of the data, XᵀX/n. Whose iterations change by more than a factor of 1.5?"
            ),
            kind=Choice(NOTICED, several=True),
            run=who_notices,
            claim="FISTA notices other units only, BCD a rotation only, and gls neither.",
            condition=(
                "on digits, and with two seeds on iris, where the rotation helps. On wine it costs BCD little; on "
                "breast_cancer, where columns nearly agree, BCD is within the limit in whitened coordinates only."
            ),
            explained=(
                "FISTA depends on lengths, which rotations keep. BCD takes each column in its own unit, so it sees "
                "no units. Ask which metric a method has."
            ),
            wrong={
                "gls-units": "gls measures its steps with XᵀX/n, which is stretched with the data.",
                "gls-rotated": "gls measures its steps with XᵀX/n, which is turned with the data.",
                "fista-units": "FISTA has one step for all columns, and the longest column dictates it.",
                "fista-rotated": "A rotation keeps all lengths, and lengths are all that FISTA sees.",
                "bcd-units": "BCD takes the best step for each column, whatever its unit.",
                "bcd-rotated": (
                    "BCD goes along the axes: it is quick where these suit the data, and a rotation mixes the columns. "
                    "How much that costs depends on the data."
                ),
            },
            holds=(*cases("digits"), *cases("iris", (0, 2))),
            fails=(*cases("wine breast_cancer"), *cases("iris", (1,))),
        ),
        Prediction(
            question=(
                "With least squares one step of gls is the solution. Now the logistic loss on wine with a ridge of "
                "λ = 1e-4, so small that the softmax becomes sure of its classes. How many iterations does gls take "
                "to 1e-6?"
            ),
            kind=Choice({"few": "ten or fewer", "tens": "tens", "hundreds": "hundreds"}),
            run=is_whitening_enough,
            claim="More than 100, and at least four times as many as working-set, which takes Newton steps.",
            condition=(
                "on all tables here with this ridge; where classes overlap, the softmax never becomes so sure, and gls "
                "takes fewer."
            ),
            explained=(
                "The metric of the data cures the data, not the link: a softmax that is sure has hardly any curvature, "
                "and gls goes on with the largest that it can have."
            ),
            wrong={
                "few": "The data are round for gls, but the softmax is not: where it is sure, it has no curvature.",
                "tens": "The curvature of a sure softmax is far below the bound that gls takes for it.",
                "hundreds": "Here the softmax keeps its curvature, so the metric of the data suffices.",
            },
            holds=(*cases("wine digits iris breast_cancer"),),
        ),
        Prediction(
            question=(
                "Logistic loss with ℓ1 at 0.1 λ_max on digits. newGLMNET and LHAC are second order methods: "
                "the first has the exact curvature, the second learns it from its last steps. FISTA has restarts. Who "
                "is at 1e-8 above the smallest F in the fewest iterations?"
            ),
            kind=Order(LANES, first="fewest iterations", last="most iterations"),
            run=digits_cost,
            claim="newGLMNET needs the fewest iterations to 1e-8, and at most five times those to 1e-2.",
            condition=(
                "on all tables here and on four others (docs/lessons.md). Who needs the most depends on the data: "
                "FISTA here, BCD on those four. An iteration is not a time."
            ),
            explained="Six more digits cost a Newton method a few iterations, and the others tens or hundreds.",
            wrong={
                "fista": "It knows no curvature but the largest: each further digit costs as many iterations again.",
                "bcd": "It knows the curvature of one row at a time, not that between rows.",
                "newglmnet": "Its iterations are dear, but with the exact curvature a few give all digits.",
                "lhac": "What it learns from ten steps is more than nothing, and less than the exact curvature.",
            },
            holds=cases("digits wine iris breast_cancer"),
        ),
        Prediction(
            question=(
                "Sparse inverse covariance of wine (correlations, λ = 0.1): QUIC is a Newton method, and solves its "
                "model almost exactly here. Draw its gap over the iterations, on a log axis."
            ),
            kind=Sketch("bend", "iterations", "gap, log", "0", "the end"),
            run=doubling,
            claim="The gap of QUIC falls faster and faster, and LHAC takes more than twice as many iterations.",
            condition="on all tables here at λ = 0.1; at λ = 0.5, which is easy, LHAC takes at most twice as many.",
            explained=(
                "Near the solution the number of right digits about doubles at each Newton step; a learnt curvature "
                "gives about the same number of digits each time."
            ),
            wrong={
                "straight": "That is a method with a constant rate; a Newton step squares the error once it is small.",
                "slower": "That is a first order method on a hard problem; a Newton step squares a small error.",
                "faster": "Here the model is not solved well enough for the error to be squared.",
                "flat": "Each Newton step lowers F, and the gap falls with it.",
            },
            holds=cases("wine digits iris breast_cancer"),
            fails=cases("wine@0.5", (0, 2)),
        ),
        Prediction(
            question=(
                "Paper 5 (Tang and Scheinberg, 2013) says that the working set of LHAC, the entries that it moves, "
                "comes to the solution from below. Is that so on digits, correlations, λ = 0.1?"
            ),
            kind=Choice({
                "below": "yes: it grows to its final size, give or take 15 %",
                "over": "no: it grows far beyond its final size, and shrinks then",
                "above": "no: it is largest at first, and shrinks",
            }),
            run=from_below,
            claim="The working set of LHAC grows more than 15 % beyond its final size before it shrinks.",
            condition="on the tables here with more than ten columns at λ = 0.1; at λ = 0.5 it comes from below.",
            explained="Half of the violated entries join at each step: from below is true only at the start.",
            wrong={
                "below": "Far from the solution many entries are violated that it does not use, and half of them join.",
                "over": "Where λ is large, few entries are violated on the way, and it comes from below.",
                "above": "Only the most violated half joins at each step, so the first working set is not the largest.",
            },
            holds=cases("digits wine breast_cancer"),
            fails=cases("digits@0.5 wine@0.5 breast_cancer@0.5"),
        ),
    ),
    breaks=(
        Scene(
            title="Rotate digits",
            text="The same pixels, rotated at random, and BCD on least squares: what was quick along the axes stalls.",
            run=rotated_digits,
        ),
        Scene(
            title="FISTA and the units of wine",
            text="FISTA with restarts on wine of the opening: once in its own units, and once in standard ones.",
            run=fista_and_units,
        ),
        Scene(
            title="A short memory",
            text="LHAC learns the curvature from its last ten steps. What if it remembers only three, or one?",
            run=short_memory,
        ),
        Scene(
            title="A model that is hardly solved",
            text=(
                "QUIC as published makes a few sweeps over its model and goes on (digits, λ = 0.1). Does the number of "
                "digits still double?"
            ),
            run=sweeps_alone,
        ),
    ),
    exercises={
        "a": Exercise(
            lambda student: (
                f"wine in its own units (seed {student % 3}), least squares: choose a unit for each of the 13 columns, "
                "by which it is divided, so that FISTA takes at most 1.5 times the iterations of standard units."
            ),
            units_check, units_right, lambda student: [1.0] * 13,
            (Input("value", "13 units, separated by commas", "numbers"),),
            code=(
                'data = ss.datasets.load("wine", seed=lesson.student % 3, scale="none")\n'
                "print(data.feature_names)\n"
                'lesson.check("a", [1.0] * 13)'
            ),
        ),
        "b": Exercise(
            lambda student: (
                f"digits (seed {student % 3}), logistic loss with ℓ1 at 0.1 λ_max. Work is counted in passes over the "
                "data, and the sweeps of newGLMNET over its model by their flops: a pass has 2·n·d·m. From which "
                "distance above the smallest F on has newGLMNET done less work than FISTA with restarts? (A share of "
                "F, within a factor of 3.)"
            ),
            overtaken_check, lambda student: overtaken(student % 3), lambda student: 1e-8,
            (Input("value", "distance, as a share of F"),),
            code=(
                code_of("digits", "logistic", "l1") +
                "a_pass = 2 * problem.n * problem.d * problem.m  # flops of a product with X\n"
                'fista = ss.registry.solvers.create("fista-ls", restart=True)\n'
                'for solver in (fista, "newglmnet"):\n'
                "    trace, model = [], 0.0\n"
                "    for event in ss.Run(problem, solver, stop=ss.stopping.Gap(1e-4)):\n"
                "        flops = event.coordinate_steps * event.step_flops  # of the sweeps of this iteration\n"
                "        model += flops / a_pass if flops == flops else 0.0  # NaN: there are none\n"
                "        trace.append((event.objective, event.passes + model))\n"
                "    print(event.solver.title, trace[-1])\n"
                'lesson.check("b", 0.1)'
            ),
        ),
    },
    sources=(
        Source("Agarwal et al. (2013)", "Alg. 1, Thm. 1, Sec. 3.3", ("solvers/gls.py", "solvers/shared/metric.py")),
        Source("Tang and Scheinberg (2013)", "Alg. 2.1, Sec. 3, 4.2, Fig. 2, Table 2",
               ("solvers/lhac.py", "solvers/lhac_covariance.py")),
        Source("Yuan, Ho and Lin (2012)", "newGLMNET", ("solvers/newglmnet.py",)),
        Source("Hsieh, Sustik, Dhillon and Ravikumar (2011)", "QUIC", ("solvers/quic.py",)),
    ),
    afterwards=(
        "Conditioning belongs to a pair: data and method.",
        "Second order pays for digits.",
        "The curvature of the data and that of the link are two things.",
    ),
)  # fmt: skip

registry.lessons.add(LESSON.slug, LESSON)
