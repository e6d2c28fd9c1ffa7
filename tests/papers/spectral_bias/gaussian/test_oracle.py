"""Flows from Gaussian layers against scipy's integrator, and the layers that they start from."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from learning_dynamics.datasets import regression
from learning_dynamics.papers.spectral_bias.gaussian import metrics, runs
from learning_dynamics.pipeline.commands.functions import arguments_for

INTEGRATION = {"horizon": 1.0, "points": 3, "residual": 1e-9, "patience": 1e3, "rtol": 1e-11, "atol": 1e-14}
SETTINGS = {"width": 7, "variance": 0.3, "integration": INTEGRATION}
OUTPUT_VARIANCES = [0.0, 0.05]


def network_flow(X, Y, first, second, times):
    shape, split = first.shape, first.size

    def slope(_time, state):
        W, a = state[:split].reshape(shape), state[split:].reshape(second.shape)
        error = X.T @ (Y - X @ W @ a)
        return np.concatenate([(error @ a.T).ravel(), (W.T @ error).ravel()])

    start = np.concatenate([first.ravel(), second.ravel()])
    found = solve_ivp(slope, (0, times[-1]), start, "RK45", t_eval=times, rtol=1e-10, atol=1e-13).y.T
    return found[:, :split].reshape(-1, *shape), found[:, split:].reshape(-1, *second.shape)


def spectrum(matrix):
    return np.sqrt(np.clip(np.linalg.eigvalsh(matrix @ matrix.T), 0, None))[::-1]


@pytest.mark.parametrize("output_variance", OUTPUT_VARIANCES)
def test_the_flow_is_scipys(output_variance):
    data = regression.gaussian(samples=2, inputs=4, outputs=2, seeds=1, seed=5)
    settings = SETTINGS | {"output_variance": output_variance}
    trajectory = runs.gaussian_flow(data, **arguments_for(runs.gaussian_flow, settings), seed=2)
    trajectory.settings = settings
    table = metrics.gaussian_flow(trajectory)
    start = trajectory.series["W1"][0, 0], trajectory.series["W2"][0, 0]
    W1, W2 = network_flow(data["X"][0], data["Y"][0], *start, np.array([0.0, 0.5, 1.0, 300.0]))

    def values(quantity, phase, column="value"):
        rows = table[(table["quantity"] == quantity) & (table["phase"] == phase)]
        return rows.pivot(index="time", columns="index", values=column).to_numpy()

    hidden = [spectrum(layer) for layer in W1]
    np.testing.assert_allclose(values("sigma_w1", "flow"), hidden[:3], rtol=1e-7)
    np.testing.assert_allclose(values("sigma_w1", "limit")[0], hidden[3], rtol=1e-7)
    products = [np.sort(np.sqrt(np.linalg.eigvalsh((one @ two).T @ (one @ two)).clip(0)))[::-1]
                for one, two in zip(W1, W2, strict=True)]  # fmt: skip
    np.testing.assert_allclose(values("sigma_beta", "flow"), products[:3], atol=1e-7)
    np.testing.assert_allclose(values("sigma_beta", "limit")[0], products[3], rtol=1e-7)
    # beside it: what orthogonal rows of the same mean square length would end at
    rows = np.sqrt(7 * 0.3) * np.eye(4, 7)
    equal, _ = network_flow(data["X"][0], data["Y"][0], rows, np.zeros((7, 2)), np.array([0.0, 300.0]))
    np.testing.assert_allclose(values("sigma_w1", "limit", "predicted")[0], spectrum(equal[-1]), rtol=1e-7)


@pytest.mark.parametrize("output_variance", OUTPUT_VARIANCES)
def test_layers_start_with_the_variance_that_is_said(output_variance):
    data = regression.gaussian(samples=2, inputs=4, outputs=2, seeds=100, seed=0)
    brief = {"integration": INTEGRATION | {"horizon": 1e-3, "points": 2, "patience": 1e-3}}
    settings = SETTINGS | {"output_variance": output_variance} | brief
    starts = runs.gaussian_flow(data, **arguments_for(runs.gaussian_flow, settings), seed=3)
    for name, entries, variance in (("W1", 28, 0.3), ("W2", 14, output_variance)):
        found = np.sum(starts.series[name][:, 0] ** 2, axis=(1, 2)) / entries
        # a mean of squares, each of variance 2 v^2
        error = variance * np.sqrt(2 / (100 * entries))
        assert abs(found.mean() - variance) <= 4 * error
