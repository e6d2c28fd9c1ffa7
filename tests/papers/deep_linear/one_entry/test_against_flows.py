"""Two singular values under one measurement: closed forms and runs against scipy's flows of the layers by torch."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
import torch

from learning_dynamics.papers.deep_linear.one_entry import metrics, runs, theory
from learning_dynamics.tidy import by_draw, select
from tests.papers.deep_linear import plain

START, RATIO, TARGET = 0.3, 0.4, 2.0


@pytest.mark.parametrize("depth", [1, 2, 3, 4, 7])
def test_the_closed_curve_solves_its_own_equation(depth):
    """d sigma_2 / d sigma_1 is the ratio of two rates N sigma^(2 - 2/N) a."""
    larger = np.linspace(START, 5.0, 9)

    def slope(first, second):
        return RATIO * (second / first) ** (2 - 2 / depth)

    found = scipy.integrate.solve_ivp(slope, (START, 5.0), [START], t_eval=larger, rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(theory.smaller_singular_value(larger, START, RATIO, depth), found.y[0], rtol=1e-9)


@pytest.mark.parametrize("depth", [3, 4, 7])
def test_the_asymptote_is_where_the_curve_goes(depth):
    far = scipy.integrate.solve_ivp(
        # in log sigma_1 the curve is followed over many decades
        lambda x, y: RATIO * (y / np.exp(x)) ** (2 - 2 / depth) * np.exp(x),
        (np.log(START), 80.0), [START], rtol=1e-11, atol=1e-14,
    )  # fmt: skip
    assert theory.limiting_singular_value(START, RATIO, depth) == pytest.approx(far.y[0, -1], rel=1e-8)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_an_aligned_measurement_is_the_flow_of_diagonal_layers(depth):
    settings = {"ratio": RATIO, "start": START, "target": TARGET, "horizon": 2.0, "points": 6}
    trajectory = runs.aligned_measurement(depths=[depth], rtol=1e-10, atol=1e-13, **settings)
    trajectory.settings = settings
    measurement = torch.diag(torch.tensor([1.0, RATIO], dtype=torch.float64))
    layers = [START ** (1 / depth) * np.eye(2)] * depth
    path = plain.flow(layers, lambda W: 0.5 * (torch.sum(measurement * W) - TARGET) ** 2, trajectory.time)
    expected = np.array([np.diag(plain.multiply(each)) for each in path])
    table = metrics.aligned_measurement(trajectory)
    for index in (1, 2):
        np.testing.assert_allclose(by_draw(table, "sigma", index=index)[0], expected[:, index - 1], rtol=1e-7)
    predicted = select(table, "sigma", index=2)["predicted"]
    np.testing.assert_allclose(predicted, expected[:, 1], rtol=1e-7)
    assert select(table, "sigma", index=1)["predicted"].isna().all()


@pytest.fixture(scope="module")
def entry():
    settings = {"depths": [1, 2, 3], "ratio": RATIO, "start": START, "target": TARGET, "horizon": 3.0, "points": 5,
                "seeds": 3, "rtol": 1e-10, "atol": 1e-13, "seed": 4}  # fmt: skip
    trajectory = runs.one_entry(**settings)
    trajectory.settings = settings
    return trajectory


@pytest.mark.parametrize("depth", [2, 3])
def test_one_entry_is_the_flow_of_layers_from_balanced_roots(entry, depth):
    places = np.flatnonzero(entry.constants["depth"] == depth)
    for place in places[:2]:
        W = entry.series["end_to_end"][place, 0]
        U, values, Vt = np.linalg.svd(W)
        roots = np.diag(values ** (1 / depth))
        path = plain.flow([roots @ Vt, *[roots] * (depth - 2), U @ roots],
                          lambda W: 0.5 * (W[0, 1] - TARGET) ** 2, entry.time)  # fmt: skip
        expected = np.array([plain.multiply(each) for each in path])
        np.testing.assert_allclose(entry.series["end_to_end"][place], expected, atol=1e-7)


def test_starts_have_the_singular_values_asked_for_and_keep_orientation(entry):
    starts = entry.series["end_to_end"][:, 0]
    np.testing.assert_allclose(np.linalg.svd(starts, compute_uv=False), [[START, RATIO * START]] * len(starts))
    assert np.all(np.linalg.det(starts) > 0)
    # draws differ, depths share them
    assert len(np.unique(starts.round(9)[:3].reshape(3, -1), axis=0)) == 3
    np.testing.assert_allclose(starts[:3], starts[3:6], atol=1e-12)


def test_at_depth_one_the_observed_entry_alone_moves_exponentially(entry):
    W = entry.series["end_to_end"][entry.constants["depth"] == 1]
    expected = np.repeat(W[:, :1], len(entry.time), axis=1)
    expected[:, :, 0, 1] = TARGET + (W[:, :1, 0, 1] - TARGET) * np.exp(-entry.time)
    np.testing.assert_allclose(W, expected, atol=1e-8)


def test_measured_determinants_and_signs(entry):
    table = metrics.one_entry(entry)
    determinants = by_draw(table, "determinant", draw=["depth", "seed"])
    np.testing.assert_allclose(determinants, np.linalg.det(entry.series["end_to_end"]), atol=1e-12)
    for depth in (1, 2, 3):
        ends = entry.series["end_to_end"][entry.constants["depth"] == depth][:, 0].copy()
        ends[:, 0, 1] = TARGET
        signs = by_draw(table, "predicted_sign", depth=depth)[:, 0]
        np.testing.assert_array_equal(signs, np.sign(np.linalg.det(ends)))
    sizes = by_draw(table, "sigma", draw=["depth", "seed"], index=1)
    np.testing.assert_allclose(sizes, np.linalg.norm(entry.series["end_to_end"], 2, axis=(-2, -1)))


def test_a_lost_flow_has_no_singular_values(entry):
    entry.series["end_to_end"][0, 2:] = np.nan
    first = by_draw(metrics.one_entry(entry), "sigma", draw=["depth", "seed"], index=2)[0]
    np.testing.assert_array_equal(np.isnan(first), [False, False, True, True, True])
