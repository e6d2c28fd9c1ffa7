"""Flows from Gaussian layers against scipy's integrator, and the layers that they start from."""

import numpy as np
import pytest

from learning_dynamics.datasets import regression
from learning_dynamics.papers.spectral_bias.gaussian import metrics, runs
from tests.papers.spectral_bias.plain import at_rest, by_time, flow, spectrum, trajectory_and_table
from tests.support import trajectory_of

INPUTS, OUTPUTS, WIDTH, VARIANCE = 4, 2, 7, 0.3
SHAPE = {"samples": 2, "inputs": INPUTS, "outputs": OUTPUTS}
# times 0, 0.5 and 1 are recorded
INTEGRATION = {"horizon": 1.0, "points": 3, "residual": 1e-9, "patience": 1e3, "rtol": 1e-11, "atol": 1e-14}
SETTINGS = {"width": WIDTH, "variance": VARIANCE, "integration": INTEGRATION}
OUTPUT_VARIANCES = [0.0, 0.05]
LATE = 300.0  # `at_rest` asserts that scipy's flow has come to rest by then
RTOL = 1e-7  # errors of both integrators are some hundreds of 1e-11, and a spectrum is the root of eigenvalues


@pytest.fixture(scope="module", params=OUTPUT_VARIANCES, ids="output_variance={}".format)
def flow_from_gaussian_layers(request):
    """Return data of one draw, and trajectory and table of the flow on them."""
    data = regression.gaussian(**SHAPE, seeds=1, seed=5)
    settings = SETTINGS | {"output_variance": request.param}
    return data, *trajectory_and_table(runs.gaussian_flow, metrics.gaussian_flow, settings, data, seed=2)


def test_the_flow_from_gaussian_layers_is_scipys(flow_from_gaussian_layers):
    data, trajectory, table = flow_from_gaussian_layers
    W1_at_0, W2_at_0 = trajectory.series["W1"][0, 0], trajectory.series["W2"][0, 0]
    W1, W2 = flow(data["X"][0], data["Y"][0], W1_at_0, W2_at_0, trajectory.time)
    np.testing.assert_allclose(by_time(table, "sigma_w1", phase="flow"), spectrum(W1), rtol=RTOL)
    # W1 W2 starts at zero where W2 does
    sigma_beta = by_time(table, "sigma_beta", phase="flow")
    np.testing.assert_allclose(sigma_beta, spectrum(W1 @ W2, OUTPUTS), rtol=0, atol=RTOL)


def test_the_limit_from_gaussian_layers_is_scipys(flow_from_gaussian_layers):
    data, trajectory, table = flow_from_gaussian_layers
    W1_at_0, W2_at_0 = trajectory.series["W1"][0, 0], trajectory.series["W2"][0, 0]
    W1, W2 = at_rest(data["X"][0], data["Y"][0], W1_at_0, W2_at_0, LATE)
    np.testing.assert_allclose(by_time(table, "sigma_w1", phase="limit")[0], spectrum(W1), rtol=RTOL)
    np.testing.assert_allclose(by_time(table, "sigma_beta", phase="limit")[0], spectrum(W1 @ W2, OUTPUTS), rtol=RTOL)


def test_the_predicted_limit_is_that_from_orthogonal_rows_of_the_mean_length(flow_from_gaussian_layers):
    """Of the root mean square length of the Gaussian rows."""
    data, _, table = flow_from_gaussian_layers
    rows = np.sqrt(WIDTH * VARIANCE) * np.eye(INPUTS, WIDTH)
    W1, _ = at_rest(data["X"][0], data["Y"][0], rows, np.zeros((WIDTH, OUTPUTS)), LATE)
    predicted = by_time(table, "sigma_w1", column="predicted", phase="limit")[0]
    np.testing.assert_allclose(predicted, spectrum(W1), rtol=RTOL)


@pytest.mark.parametrize("output_variance", OUTPUT_VARIANCES)
def test_layers_start_with_the_variances_that_are_set(output_variance):
    draws = 100
    data = regression.gaussian(**SHAPE, seeds=draws, seed=0)
    brief = INTEGRATION | {"horizon": 1e-3, "points": 2, "patience": 1e-3}  # only the start is read
    settings = SETTINGS | {"output_variance": output_variance, "integration": brief}
    starts = trajectory_of(runs.gaussian_flow, data, **settings, seed=3)
    for name, entries, variance in (
        ("W1", INPUTS * WIDTH, VARIANCE),
        ("W2", WIDTH * OUTPUTS, output_variance),
    ):
        # the run keeps fewer than WIDTH hidden directions, with the norm of all entries
        mean_square = np.sum(starts.series[name][:, 0] ** 2) / (draws * entries)
        # of a mean of squares of Gaussian entries, each of variance 2 v^2
        standard_error = variance * np.sqrt(2 / (draws * entries))
        assert abs(mean_square - variance) <= 4 * standard_error, name
