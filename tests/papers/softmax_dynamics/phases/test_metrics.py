"""Metrics of grids of flows: directions, singular values, draws that failed."""

import numpy as np
import pytest

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics.grids import Grid, Moment
from learning_dynamics.papers.softmax_dynamics.phases import metrics, runs
from learning_dynamics.papers.softmax_dynamics.spectra import SPECTRA
from learning_dynamics.trajectories import Trajectory
from tests.papers.softmax_dynamics.network import trajectory_with_settings

SETTINGS = {
    "counts": [[2, 2, 1, 1], [3, 1, 1, 1]],
    "dimension": 3,
    "loss": "cross_entropy",
    "inits": ["gaussian"],
    "scales": [0.01, 0.1],
    "seeds": 3,
    "start": 0.1,
    "horizon": 300.0,
    "points": 30,
    "rtol": 1e-7,
    "atol": 1e-12,
}
MEASURE = {"thresholds": [0.05], "lower": 0.3, "upper": 0.9, "populations": ["examples", "classes"]}


@pytest.fixture(scope="module")
def trajectory():
    return trajectory_with_settings(runs.flow_grid, SETTINGS, seed=1)


@pytest.mark.parametrize("population", ["examples", "classes"])
def test_directions_are_those_of_the_largest_singular_value(trajectory, population):
    grid, names = Grid(metrics.flow_grid(trajectory, **MEASURE)), SPECTRA[population]
    f, labels = trajectory.series["f"].astype(float), trajectory.constants["labels"]
    means = np.einsum("mec,mted->mtcd", labels, f) / labels.sum(axis=1)[:, None, :, None]
    points = means if population == "classes" else f
    squares, vectors = np.linalg.eigh(np.swapaxes(points, -1, -2) @ points)
    np.testing.assert_allclose(grid.at(Moment.END, names.sigma_1) ** 2, squares[:, -1, -1], rtol=1e-6)
    np.testing.assert_allclose(grid.at(Moment.END, names.sigma_2) ** 2, squares[:, -1, -2], rtol=1e-6)
    cosines = np.abs(np.einsum("mtd,msd->mts", vectors[..., -1], vectors[..., -1]))
    start, rare, end = (
        grid.at(moment, names.direction)[:, None] for moment in (Moment.START, Moment.RARE_LEARNED, Moment.END)
    )
    np.testing.assert_allclose(rare, 1.0)
    # the grid does not say which time is RARE_LEARNED: one recorded time must explain both cosines
    explained = (np.isclose(cosines[:, 0], start) & np.isclose(cosines[:, -1], end)).any(axis=1)
    for member, found in enumerate(explained):
        np.testing.assert_equal(found, True, err_msg=f"member {member}")


def test_a_member_that_failed_is_undecided_and_its_siblings_are_not(trajectory):
    whole = Grid(metrics.flow_grid(trajectory, **MEASURE))
    failed = np.arange(12) == 4
    series = {name: part.copy() for name, part in trajectory.series.items()}
    for part in series.values():
        part[failed, 10:] = np.nan
    broken = Trajectory(trajectory.time, series, trajectory.constants, SETTINGS, undecided=failed)
    grid = Grid(metrics.flow_grid(broken, **MEASURE))
    np.testing.assert_array_equal(np.isnan(grid.number("fall", measure="rankme", threshold=0.05)), failed)
    assert grid.courses("rankme", 0.05).isna().tolist() == failed.tolist()
    sigma, expected = (each.at(Moment.END, "sigma_2")[~failed] for each in (grid, whole))
    np.testing.assert_array_equal(sigma, expected)


def test_the_squared_loss_ends_at_the_best_approximation_of_low_rank():
    settings = {**SETTINGS, "counts": [[4, 2, 1, 1]], "dimension": 2, "loss": "squared", "scales": [0.1]}
    final = Grid(metrics.flow_grid(trajectory_with_settings(runs.flow_grid, settings, seed=1), **MEASURE)).entries(
        "final"
    )
    # converged to the size of exp(-300) but for what slow directions leave
    np.testing.assert_allclose(final, np.tile([1.0, 1.0, 0.0, 0.0], (3, 1)), rtol=0, atol=1e-4)


def test_grids_of_unequal_shapes_are_refused():
    with pytest.raises(ProjectError, match="as many classes"):
        trajectory_with_settings(runs.flow_grid, {**SETTINGS, "counts": [[2, 2], [3, 2]]}, seed=1)
