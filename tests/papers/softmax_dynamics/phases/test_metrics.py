"""Metrics of grids of flows in three dimensions, compared with numpy's, and of flows that fail or end as predicted."""

import numpy as np
import pytest
from scipy.special import softmax

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics.grids import Grid, Moment
from learning_dynamics.papers.softmax_dynamics.phases import metrics, runs
from learning_dynamics.papers.softmax_dynamics.spectra import SPECTRA
from learning_dynamics.trajectories import Trajectory
from tests.papers.softmax_dynamics.network import learning_places, trajectory_with_settings

SETTINGS = {
    "counts": [[2, 2, 1, 1], [3, 1, 1, 1]],
    "dimension": 3,
    "loss": "cross_entropy",
    "inits": ["gaussian"],
    "scales": [0.01, 0.1],
    "seeds": 3,
    # of the integration: recorded at 0, then evenly in the logarithm of time
    "first_time": 0.1,
    "horizon": 300.0,
    "points": 30,
    "rtol": 1e-7,
    "atol": 1e-12,
}
# `thresholds`: least changes of the rank that count as a fall or a rise; `lower` and `upper`: probabilities at which a
# class begins to be learned, and is
MEASURE = {"thresholds": [0.05], "lower": 0.3, "upper": 0.9, "populations": ["examples", "classes"]}


@pytest.fixture(scope="module")
def trajectory():
    return trajectory_with_settings(runs.flow_grid, SETTINGS, seed=1)


def points_of(trajectory, population) -> np.ndarray:
    """Return the features of all examples, or their means by class, shape (members, times, points, d)."""
    f, labels = trajectory.series["f"].astype(float), trajectory.constants["labels"]
    if population == "examples":
        return f
    return np.einsum("mec,mted->mtcd", labels, f) / labels.sum(axis=1)[:, None, :, None]


SINGLE = 1e-6  # states are stored in single precision: metrics that compute with them alike agree to better than this


@pytest.mark.parametrize("population", ["examples", "classes"])
def test_singular_values_are_roots_of_the_eigenvalues_of_the_second_moments(trajectory, population):
    grid, names = Grid(metrics.flow_grid(trajectory, **MEASURE)), SPECTRA[population]
    last = points_of(trajectory, population)[:, -1]
    squares = np.linalg.eigvalsh(np.swapaxes(last, -1, -2) @ last)  # ascending
    np.testing.assert_allclose(grid.at(Moment.END, names.sigma_1) ** 2, squares[:, -1], rtol=SINGLE)
    np.testing.assert_allclose(grid.at(Moment.END, names.sigma_2) ** 2, squares[:, -2], rtol=SINGLE)


@pytest.mark.parametrize("population", ["examples", "classes"])
def test_variances_are_eigenvalues_of_the_covariance(trajectory, population):
    grid, names = Grid(metrics.flow_grid(trajectory, **MEASURE)), SPECTRA[population]
    last = points_of(trajectory, population)[:, -1]
    variances = np.array([np.linalg.eigvalsh(np.cov(points.T, bias=True)) for points in last])  # ascending
    np.testing.assert_allclose(grid.at(Moment.END, names.variance_1), variances[:, -1], rtol=SINGLE)
    np.testing.assert_allclose(grid.at(Moment.END, names.variance_2), variances[:, -2], rtol=SINGLE)


@pytest.mark.parametrize("population", ["examples", "classes"])
def test_directions_are_compared_with_the_leading_one_when_the_rarest_classes_are_learned(trajectory, population):
    grid, names = Grid(metrics.flow_grid(trajectory, **MEASURE)), SPECTRA[population]
    points = points_of(trajectory, population)
    _, vectors = np.linalg.eigh(np.swapaxes(points, -1, -2) @ points)
    leading = vectors[..., -1]  # of the largest eigenvalue, shape (members, times, d)
    f, W, labels = trajectory.series["f"], trajectory.series["W"], trajectory.constants["labels"]
    # mean probability of its own class over a class's examples
    own = np.einsum("mtec,mec->mtc", softmax(f.astype(float) @ W, axis=-1), labels) / labels.sum(axis=1)[:, None]
    for member, counts in enumerate(trajectory.constants["counts"]):
        learned = learning_places(own[member], counts, MEASURE["lower"], MEASURE["upper"]).rare_learned
        # before the end, so that it is another moment than END
        assert 0 < learned < len(trajectory.time) - 1
        cosines = np.abs(leading[member] @ leading[member, learned])
        for moment, place in ((Moment.START, 0), (Moment.RARE_LEARNED, learned), (Moment.END, -1)):
            measured = grid.at(moment, names.direction)[member]
            np.testing.assert_allclose(measured, cosines[place], rtol=0, atol=SINGLE, err_msg=f"{member=}, {moment}")


def test_a_member_that_failed_is_undecided_and_its_siblings_are_not(trajectory):
    without_failure = Grid(metrics.flow_grid(trajectory, **MEASURE))
    failed = np.arange(trajectory.members) == 4  # one of twelve
    series = {name: states.copy() for name, states in trajectory.series.items()}
    for states in series.values():
        states[failed, 10:] = np.nan  # from the eleventh record on
    broken = Trajectory(trajectory.time, series, trajectory.constants, SETTINGS, undecided=failed)
    grid = Grid(metrics.flow_grid(broken, **MEASURE))
    # any quantity of a rank would do
    np.testing.assert_array_equal(np.isnan(grid.number("fall", measure="rankme", threshold=0.05)), failed)
    assert grid.courses("rankme", 0.05).isna().tolist() == failed.tolist()
    sigma, expected = grid.at(Moment.END, "sigma_2"), without_failure.at(Moment.END, "sigma_2")
    np.testing.assert_array_equal(sigma[~failed], expected[~failed])


def test_under_the_squared_loss_two_dimensions_learn_the_two_largest_classes():
    """Outputs end at the best approximation of the labels of rank two."""
    settings = {**SETTINGS, "counts": [[4, 2, 1, 1]], "dimension": 2, "loss": "squared", "scales": [0.1]}
    trajectory = trajectory_with_settings(runs.flow_grid, settings, seed=1)
    final = Grid(metrics.flow_grid(trajectory, **MEASURE)).entries("final")
    # of each of three draws; the slowest directions have not quite converged at the horizon
    np.testing.assert_allclose(final, np.tile([1.0, 1.0, 0.0, 0.0], (3, 1)), rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    "counts", [[[2, 2], [3, 2]], [[2, 2], [2, 1, 1]]], ids=["other numbers of examples", "other numbers of classes"]
)
def test_grids_of_unequal_shapes_are_refused(counts):
    with pytest.raises(ProjectError, match="all entries of `counts` must have as many classes and as many examples"):
        trajectory_with_settings(runs.flow_grid, {**SETTINGS, "counts": counts}, seed=1)
