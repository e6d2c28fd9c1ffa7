"""Flows from Gaussian layers against scipy's integrator, and the layers that they start from."""

import numpy as np
import pytest

from learning_dynamics.datasets import regression
from learning_dynamics.papers.spectral_bias.gaussian import metrics, runs
from tests.papers.spectral_bias.plain import by_time, flow, spectrum, trajectory_and_table
from tests.support import trajectory_of

INTEGRATION = {"horizon": 1.0, "points": 3, "residual": 1e-9, "patience": 1e3, "rtol": 1e-11, "atol": 1e-14}
SETTINGS = {"width": 7, "variance": 0.3, "integration": INTEGRATION}
OUTPUT_VARIANCES = [0.0, 0.05]


@pytest.mark.parametrize("output_variance", OUTPUT_VARIANCES)
def test_the_flow_is_scipys(output_variance):
    data = regression.gaussian(samples=2, inputs=4, outputs=2, seeds=1, seed=5)
    settings = SETTINGS | {"output_variance": output_variance}
    trajectory, table = trajectory_and_table(runs.gaussian_flow, metrics.gaussian_flow, settings, data, seed=2)
    X, Y = data["X"][0], data["Y"][0]
    start = trajectory.series["W1"][0, 0], trajectory.series["W2"][0, 0]
    W1, W2 = flow(X, Y, *start, np.array([0.0, 0.5, 1.0, 300.0]))
    hidden, products = spectrum(W1), spectrum(W1 @ W2, 2)
    np.testing.assert_allclose(by_time(table, "sigma_w1", phase="flow"), hidden[:3], rtol=1e-7)
    np.testing.assert_allclose(by_time(table, "sigma_w1", phase="limit")[0], hidden[3], rtol=1e-7)
    np.testing.assert_allclose(by_time(table, "sigma_beta", phase="flow"), products[:3], rtol=0, atol=1e-7)
    np.testing.assert_allclose(by_time(table, "sigma_beta", phase="limit")[0], products[3], rtol=1e-7)
    # beside it: what orthogonal rows of the same mean square length would end at
    equal, _ = flow(X, Y, np.sqrt(7 * 0.3) * np.eye(4, 7), np.zeros((7, 2)), np.array([0.0, 300.0]))
    predicted = by_time(table, "sigma_w1", "predicted", phase="limit")[0]
    np.testing.assert_allclose(predicted, spectrum(equal[-1]), rtol=1e-7)


@pytest.mark.parametrize("output_variance", OUTPUT_VARIANCES)
def test_layers_start_with_the_variance_that_is_said(output_variance):
    data = regression.gaussian(samples=2, inputs=4, outputs=2, seeds=100, seed=0)
    brief = {"integration": INTEGRATION | {"horizon": 1e-3, "points": 2, "patience": 1e-3}}
    settings = SETTINGS | {"output_variance": output_variance} | brief
    starts = trajectory_of(runs.gaussian_flow, data, **settings, seed=3)
    for name, entries, variance in (("W1", 28, 0.3), ("W2", 14, output_variance)):
        found = np.sum(starts.series[name][:, 0] ** 2, axis=(1, 2)) / entries
        # a mean of squares, each of variance 2 v^2
        error = variance * np.sqrt(2 / (100 * entries))
        assert abs(found.mean() - variance) <= 4 * error, name
