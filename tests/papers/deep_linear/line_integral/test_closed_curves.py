"""Integrals along closed curves against plain quadrature of what layers do, and the judge on doctored integrals."""

import numpy as np
import pytest
import scipy

from learning_dynamics.datasets.whitened import haar
from learning_dynamics.papers.deep_linear.line_integral import metrics, runs, theory
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import select
from tests.papers.deep_linear import plain
from tests.support import claim_tables, verdict

SETTINGS = {"inputs": 3, "target": 1.3, "inner": 0.2, "outer": 0.9, "first_angle": 0.4, "last_angle": 1.9,
            "nodes": 24, "seeds": 2}  # fmt: skip
DEPTHS = [1, 2, 3, 4]
CASES = ((1, False), (1, True), (2, False))


def preconditioned(W, gradient, depth):
    """-dW/dt of layers that share W's singular values evenly: J J^T applied to the gradient, J by torch."""
    U, values, Vt = np.linalg.svd(W, full_matrices=False)
    roots = np.diag(values ** (1 / depth))
    layers = [roots @ Vt, *[roots] * (depth - 2), U @ roots] if depth > 1 else [W]
    J = plain.jacobian(layers)
    return (J @ (J.T @ gradient.ravel())).reshape(W.shape)


SECTOR = (0.2, 0.9, 0.4, 1.9)


def integrals(basis, covariance, depth, sector=SECTOR):
    """Return the integral around a sector, side by side by Gauss and Legendre's rule."""
    inner, outer, first, last = sector
    ray = lambda angle: np.cos(angle) * basis[0] + np.sin(angle) * basis[1]  # noqa: E731
    turned = lambda angle: -np.sin(angle) * basis[0] + np.cos(angle) * basis[1]  # noqa: E731

    def pull(W, along):
        return np.sum(along * preconditioned(W, (W - SETTINGS["target"] * basis[0]) @ covariance, depth))

    sides = [
        (lambda r: pull(r * ray(first), ray(first)), inner, outer, 1),
        (lambda a: pull(outer * ray(a), outer * turned(a)), first, last, 1),
        (lambda r: pull(r * ray(last), ray(last)), inner, outer, -1),
        (lambda a: pull(inner * ray(a), inner * turned(a)), first, last, -1),
    ]
    nodes, weights = np.polynomial.legendre.leggauss(30)
    total = 0.0
    for side, begin, end, sign in sides:
        at = begin + (end - begin) * (nodes + 1) / 2
        total += sign * (end - begin) / 2 * sum(w * side(x) for w, x in zip(weights, at, strict=True))
    return total


@pytest.fixture(scope="module")
def curve():
    trajectory = runs.closed_curve(depths=DEPTHS, **SETTINGS, seed=5)
    trajectory.settings = SETTINGS
    return trajectory


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_closed_form_is_what_layers_integrate_to(depth):
    basis = np.eye(3)[:2, None, :]
    expected = theory.sector_integral(depth, SETTINGS["target"], *SECTOR)
    assert integrals(basis, np.eye(3), depth) == pytest.approx(expected, abs=1e-11)


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("case", [0, 1, 2])
def test_measured_integrals_are_those_of_layers(curve, case, depth):
    # the problem is drawn as the run draws it; everything after that is plain
    for member, rng in enumerate(generators(5, "deep_linear.closed_curve", SETTINGS["seeds"])):
        factor = rng.standard_normal((3, 3))
        radii, angles = rng.uniform(size=2) / 3, rng.uniform(size=2) / 3
        sector = 0.2 + 0.7 * radii[0], 0.9 - 0.7 * radii[1], 0.4 + 1.5 * angles[0], 1.9 - 1.5 * angles[1]
        bases = [haar(rng, outputs * 3)[:2].reshape(2, outputs, 3) for outputs, _ in CASES]
        covariance = factor @ factor.T / 3 if CASES[case][1] else np.eye(3)
        row = select(metrics.closed_curve(curve), "integral", depth=depth, seed=member, case=theory.CURVES[case])
        constants = curve.constants
        place = np.flatnonzero((constants["depth"] == depth) & (constants["case"] == theory.CURVES[case])
                               & (constants["member"] == member))[0]  # fmt: skip
        scale = np.abs(np.sum(curve.series["velocity"][place] * curve.series["element"][place], axis=-1)).sum()
        np.testing.assert_allclose(constants["sector"][place], sector)
        expected = integrals(bases[case], covariance, depth, sector)
        assert row["value"].item() == pytest.approx(expected / scale, abs=1e-10)
        assert row["predicted"].isna().item() == (case > 0)


def test_the_curve_is_closed_and_has_a_sectors_length_and_area(curve):
    inner, outer, first, last = curve.constants["sector"][0]
    angle = last - first
    points, elements = curve.series["end_to_end"][0], curve.series["element"][0]
    np.testing.assert_allclose(elements.sum(axis=0), 0, atol=1e-13)
    length = np.linalg.norm(elements, axis=1).sum()
    assert length == pytest.approx(2 * (outer - inner) + angle * (outer + inner))
    # twice the area is the integral of r x dr, in the plane of the curve
    plane = np.linalg.svd(points)[2][:2]
    x, dx = points @ plane.T, elements @ plane.T
    area = abs(np.sum(x[:, 0] * dx[:, 1] - x[:, 1] * dx[:, 0])) / 2
    assert area == pytest.approx(angle * (outer**2 - inner**2) / 2)


def test_every_draw_has_a_sector_of_its_own(curve):
    sectors = np.unique(curve.constants["sector"], axis=0)
    assert len(sectors) == SETTINGS["seeds"]
    assert len(np.unique(sectors)) == sectors.size


CLAIM = "no_regulariser"
ROUNDING = 1e-12


def of(alter=None):
    tables = claim_tables("deep_linear", CLAIM)
    return verdict("deep_linear", CLAIM, alter(tables) if alter else tables, rounding=ROUNDING)


@pytest.mark.parametrize(
    ("value", "case", "depth"),
    [
        (2 * ROUNDING, 0, 2),
        (-2 * ROUNDING, 0, 2),
        (2 * ROUNDING, 1, 1),
        (0.5e6 * ROUNDING, 1, 3),
        (0.5e6 * ROUNDING, 2, 2),
        (np.nan, 2, 3),
    ],
)
def test_integrals_on_the_wrong_side_of_rounding_are_refused(value, case, depth):
    assert of() == "corrected"
    assert of(plain.placed("integral", value, case=theory.CURVES[case], depth=depth)) != "corrected"


def test_a_difference_from_the_closed_form_beyond_rounding_is_refused():
    for sign in (1, -1):
        moved = plain.placed("integral", 2 * sign * ROUNDING, add=True, case=theory.CURVES[0], depth=3, seed=0)
        assert of(moved) == "contradicted"
    assert of(plain.placed("integral", 0.3 * ROUNDING, add=True, case=theory.CURVES[0], depth=3)) == "corrected"


def test_what_is_printed_holds_where_it_vanishes_nowhere_beyond_depth_one():
    def filled(tables):
        table = tables["curve"]
        chosen = (table["depth"] == 2) & (table["case"] == theory.CURVES[0])
        table.loc[chosen, ["value", "predicted"]] = 0.1
        return tables

    assert of(filled) == "reproduced"


def test_quadrature_by_scipy_agrees_on_one_side():
    basis = np.eye(3)[:2, None, :]
    along = basis[0] * np.cos(0.4) + basis[1] * np.sin(0.4)
    side = lambda r: np.sum(along * preconditioned(r * along, r * along - basis[0], 3))  # noqa: E731
    # along a ray W = r w: 3 r^(4/3) (r - cos)
    expected = (
        3 * (0.9 ** (10 / 3) - 0.2 ** (10 / 3)) * 3 / 10 - 3 * np.cos(0.4) * (0.9 ** (7 / 3) - 0.2 ** (7 / 3)) * 3 / 7
    )
    assert scipy.integrate.quad(side, 0.2, 0.9)[0] == pytest.approx(expected)
