"""Integrals along closed curves against plain quadrature of what layers do, and the judge on doctored integrals.

A curve runs around a sector of the plane that two matrices span: out along a ray, along the outer arc, back in along
another ray, and back along the inner arc. Along it runs the preconditioned gradient, P_W vec(grad l).
"""

from itertools import pairwise

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
INPUTS = 3
TARGET = 1.3  # the target is this multiple of the first matrix of the plane
NODES = 24  # of the quadrature of each side
DRAWS, SEED = 2, 5
SETTINGS = {
    "inputs": INPUTS,
    "target": TARGET,
    "inner": 0.2,
    "outer": 0.9,
    "first_angle": 0.4,
    "last_angle": 1.9,
    "nodes": NODES,
    "seeds": DRAWS,
    "depths": DEPTHS,
    "seed": SEED,
}
WHITENED, CORRELATED, SEVERAL = quantities.WHITENED, quantities.CORRELATED, quantities.TWO_OUTPUTS
OUTPUTS = {WHITENED: 1, CORRELATED: 1, SEVERAL: 2}


def preconditioned(W, gradient, depth):
    """Return -dW/dt of balanced layers with the product W: J J^T applied to the gradient, J by torch."""
    J = plain.jacobian(plain.balanced_layers(W, depth))
    return (J @ (J.T @ gradient.ravel())).reshape(W.shape)


def drawn_problem(draw, case):
    """Return what the run draws: the plane's two matrices, the inputs' covariance, and the corners of the sector.

    Corners are pairs of a radius and an angle, in the order of the curve, which ends where it begins.
    """
    rng = list(generators(SEED, "deep_linear.closed_curve", DRAWS))[draw]
    factor = rng.standard_normal((INPUTS, INPUTS))
    # each interval of the settings is cut into thirds: one bound is in the first of them, the other in the last
    from_inner, from_outer = rng.uniform(size=2) / 3 * (SETTINGS["outer"] - SETTINGS["inner"])
    from_first, from_last = rng.uniform(size=2) / 3 * (SETTINGS["last_angle"] - SETTINGS["first_angle"])
    inner, outer = SETTINGS["inner"] + from_inner, SETTINGS["outer"] - from_outer
    first, last = SETTINGS["first_angle"] + from_first, SETTINGS["last_angle"] - from_last
    planes = {}
    for name, outputs in OUTPUTS.items():
        planes[name] = haar(rng, outputs * INPUTS)[:2].reshape(2, outputs, INPUTS)
    covariance = factor @ factor.T / INPUTS if case == CORRELATED else np.eye(INPUTS)
    corners = np.array([(inner, first), (outer, first), (outer, last), (inner, last), (inner, first)])
    return planes[case], covariance, corners


def relative_integral(plane, covariance, corners, depth):
    """Return the integral around a sector over that of the absolute value, by Gauss and Legendre's rule.

    It has as many nodes as the run's: an absolute value is not smooth, so that other nodes give another number.
    """
    nodes, weights = scipy.special.roots_legendre(NODES)
    nodes, weights = (nodes + 1) / 2, weights / 2  # from [-1, 1] to [0, 1]

    def ray(angle):
        return np.cos(angle) * plane[0] + np.sin(angle) * plane[1]

    integral = integral_of_absolute = 0.0
    for begin, end in pairwise(corners):
        integrand = []
        for x in nodes:
            radius, angle = begin + (end - begin) * x
            d_radius, d_angle = end - begin  # by x
            W = radius * ray(angle)
            dW = d_radius * ray(angle) + radius * d_angle * ray(angle + np.pi / 2)
            gradient = (W - TARGET * plane[0]) @ covariance
            integrand.append(np.sum(dW * preconditioned(W, gradient, depth)))
        integral += weights @ integrand
        integral_of_absolute += weights @ np.abs(integrand)
    return integral / integral_of_absolute


@pytest.fixture(scope="module")
def integrals():
    """Metrics of the run under SETTINGS."""
    return trajectory_and_table(runs.closed_curve, metrics.closed_curve, SETTINGS)[1]


every_curve = pytest.mark.parametrize(("draw", "depth"), [(draw, depth) for draw in range(DRAWS) for depth in DEPTHS])


@every_curve
@pytest.mark.parametrize("case", quantities.CASES)
def test_measured_integrals_are_those_of_balanced_layers_by_torch(integrals, case, draw, depth):
    measured = select(integrals, "integral", depth=depth, seed=draw, case=case)["value"].item()
    # rounding alone, as both have the same nodes; no relative integral exceeds 1
    assert measured == pytest.approx(relative_integral(*drawn_problem(draw, case), depth), abs=1e-10)


@every_curve
def test_with_one_output_and_whitened_inputs_the_closed_form_is_the_integral(integrals, draw, depth):
    predicted = select(integrals, "integral", depth=depth, seed=draw, case=WHITENED)["predicted"].item()
    # the quadrature of smooth sides by so many nodes is exact to rounding
    assert predicted == pytest.approx(relative_integral(*drawn_problem(draw, WHITENED), depth), abs=1e-10)


@pytest.mark.parametrize("case", [CORRELATED, SEVERAL])
def test_with_correlated_inputs_or_two_outputs_there_is_no_closed_form(integrals, case):
    assert select(integrals, "integral", case=case)["predicted"].isna().all()


# -- the judge ------------------------------------------------------------------------------------

# As corrected, integrals vanish at depth 1, and at depth 2 with one output and whitened inputs; no others do. The slide
# has them vanish at depth 1 alone.
CLAIM = "no_regulariser"
ROUNDING = 1e-12  # up to this an integral counts as zero, from a million times this on as not zero


@pytest.mark.parametrize(
    ("value", "case", "depth", "verdict"),
    [
        pytest.param(0.9 * ROUNDING, CORRELATED, 1, "corrected", id="zero at depth 1"),
        pytest.param(1.1 * ROUNDING, CORRELATED, 1, "contradicted", id="not zero at depth 1"),
        pytest.param(0.9 * ROUNDING, WHITENED, 2, "corrected", id="zero in the exception at depth 2"),
        pytest.param(1.1 * ROUNDING, WHITENED, 2, "contradicted", id="above zero in the exception"),
        pytest.param(-1.1 * ROUNDING, WHITENED, 2, "contradicted", id="below zero in the exception"),
        pytest.param(1.1e6 * ROUNDING, CORRELATED, 3, "corrected", id="not zero with correlated inputs"),
        pytest.param(0.9e6 * ROUNDING, CORRELATED, 3, "contradicted", id="too small with correlated inputs"),
        pytest.param(-1.1e6 * ROUNDING, SEVERAL, 2, "corrected", id="not zero with two outputs"),
        pytest.param(0.9e6 * ROUNDING, SEVERAL, 2, "contradicted", id="too small with two outputs"),
        pytest.param(np.nan, SEVERAL, 3, "undecided", id="not a number"),
    ],
)
def test_integrals_must_vanish_where_the_correction_has_them_vanish_and_nowhere_else(value, case, depth, verdict):
    alter = put("integral", value, case=case, depth=depth)
    assert verdict_on(CLAIM, alter, rounding=ROUNDING) == verdict


@pytest.mark.parametrize(
    ("difference", "verdict"),
    [
        (1.1 * ROUNDING, "contradicted"),
        (-1.1 * ROUNDING, "contradicted"),
        (0.9 * ROUNDING, "corrected"),
        (-0.9 * ROUNDING, "corrected"),
    ],
)
def test_a_difference_from_the_closed_form_beyond_rounding_is_refused(difference, verdict):
    alter = put("integral", difference, add=True, case=WHITENED, depth=3, seed=0)
    assert verdict_on(CLAIM, alter, rounding=ROUNDING) == verdict


def test_the_slide_is_reproduced_as_printed_if_no_integral_beyond_depth_one_vanishes():
    def integral_of_a_tenth(tables):
        """Give the one exception, depth 2 with one output and whitened inputs, an integral that its form predicts."""
        table = tables["curve"]
        is_exception = (table["depth"] == 2) & (table["case"] == WHITENED)
        table.loc[is_exception, ["value", "predicted"]] = 0.1
        return tables

    assert verdict_on(CLAIM, integral_of_a_tenth, rounding=ROUNDING) == "reproduced"
