"""Integrals along closed curves against plain quadrature of what layers do, and the judge on doctored integrals."""

from functools import partial

import numpy as np
import pytest
import scipy

from learning_dynamics.datasets.whitened import haar
from learning_dynamics.papers.deep_linear.line_integral import metrics, quantities, runs
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import select
from tests.papers.deep_linear import plain
from tests.papers.deep_linear.shared import put, trajectory_and_table, verdict_on

DEPTHS = [1, 2, 3, 4]
SETTINGS = {
    "inputs": 3,
    "target": 1.3,
    "inner": 0.2,
    "outer": 0.9,
    "first_angle": 0.4,
    "last_angle": 1.9,
    "nodes": 24,
    "seeds": 2,
    "depths": DEPTHS,
    "seed": 5,
}
# by the name of a curve: outputs, and whether inputs are correlated
CASES = dict(zip(quantities.CASES, ((1, False), (1, True), (2, False)), strict=True))
WHITENED, CORRELATED, SEVERAL = quantities.CASES


def preconditioned(W, gradient, depth):
    """-dW/dt of layers that share W's singular values evenly: J J^T applied to the gradient, J by torch."""
    J = plain.jacobian(plain.balanced(W, depth))
    return (J @ (J.T @ gradient.ravel())).reshape(W.shape)


def integrals(basis, covariance, depth, sector):
    """Return the integral around a sector over that of the absolute value, by Gauss and Legendre's rule."""
    inner, outer, first, last = sector
    ray = lambda angle: np.cos(angle) * basis[0] + np.sin(angle) * basis[1]  # noqa: E731
    turned = lambda angle: -np.sin(angle) * basis[0] + np.cos(angle) * basis[1]  # noqa: E731

    def pull(W, along):
        return np.sum(along * preconditioned(W, (W - SETTINGS["target"] * basis[0]) @ covariance, depth))

    sides = [
        (lambda r: pull(r * ray(first), ray(first)), inner, outer),
        (lambda a: pull(outer * ray(a), outer * turned(a)), first, last),
        (lambda r: -pull(r * ray(last), ray(last)), inner, outer),
        (lambda a: -pull(inner * ray(a), inner * turned(a)), first, last),
    ]

    def integral(change):
        # with as many nodes as the run has: an absolute value is not smooth
        rule = partial(scipy.integrate.fixed_quad, n=SETTINGS["nodes"])
        return sum(rule(np.vectorize(lambda x, side=side: change(side(x))), *ends)[0] for side, *ends in sides)

    return integral(float) / integral(abs)


@pytest.fixture(scope="module")
def curve():
    return trajectory_and_table(runs.closed_curve, metrics.closed_curve, SETTINGS)[1]


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("case", CASES)
def test_measured_integrals_are_those_of_layers(curve, case, depth):
    # the problem is drawn as the run draws it; everything after that is plain
    for member, rng in enumerate(generators(5, "deep_linear.closed_curve", SETTINGS["seeds"])):
        factor = rng.standard_normal((3, 3))
        radii, angles = rng.uniform(size=2) / 3, rng.uniform(size=2) / 3
        inner, outer, first, last = (SETTINGS[name] for name in ("inner", "outer", "first_angle", "last_angle"))
        sector = (
            inner + (outer - inner) * radii[0],
            outer - (outer - inner) * radii[1],
            first + (last - first) * angles[0],
            last - (last - first) * angles[1],
        )
        bases = {name: haar(rng, outputs * 3)[:2].reshape(2, outputs, 3) for name, (outputs, _) in CASES.items()}
        covariance = factor @ factor.T / 3 if CASES[case][1] else np.eye(3)
        row = select(curve, "integral", depth=depth, seed=member, case=case)
        expected = integrals(bases[case], covariance, depth, sector)
        assert row["value"].item() == pytest.approx(expected, abs=1e-10), f"{member=}"
        # only with one output and whitened inputs is there a closed form
        assert row["predicted"].item() == pytest.approx(
            expected if case == WHITENED else np.nan, abs=1e-10, nan_ok=True
        ), f"{member=}"


CLAIM = "no_regulariser"
ROUNDING = 1e-12
HALF = "half of the million roundings that a non-zero integral needs"


@pytest.mark.parametrize(
    ("value", "case", "depth"),
    [
        (2 * ROUNDING, WHITENED, 2),
        (-2 * ROUNDING, WHITENED, 2),
        (2 * ROUNDING, CORRELATED, 1),
        pytest.param(0.5e6 * ROUNDING, CORRELATED, 3, id=f"{HALF}, {CORRELATED}"),
        pytest.param(0.5e6 * ROUNDING, SEVERAL, 2, id=f"{HALF}, {SEVERAL}"),
        (np.nan, SEVERAL, 3),
    ],
)
def test_integrals_on_the_wrong_side_of_their_bound_are_refused(value, case, depth):
    assert verdict_on(CLAIM, rounding=ROUNDING) == "corrected"
    wrong = put("integral", value, case=case, depth=depth)
    assert verdict_on(CLAIM, wrong, rounding=ROUNDING) != "corrected"


@pytest.mark.parametrize(
    ("moved", "verdict"),
    [(2 * ROUNDING, "contradicted"), (-2 * ROUNDING, "contradicted"), (0.3 * ROUNDING, "corrected")],
)
def test_a_difference_from_the_closed_form_beyond_rounding_is_refused(moved, verdict):
    alter = put("integral", moved, add=True, case=WHITENED, depth=3, seed=0)
    assert verdict_on(CLAIM, alter, rounding=ROUNDING) == verdict


def test_the_slide_is_reproduced_as_printed_if_no_integral_beyond_depth_one_vanishes():
    def filled(tables):
        table = tables["curve"]
        chosen = (table["depth"] == 2) & (table["case"] == WHITENED)
        table.loc[chosen, ["value", "predicted"]] = 0.1
        return tables

    assert verdict_on(CLAIM, filled, rounding=ROUNDING) == "reproduced"
