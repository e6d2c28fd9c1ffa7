"""Metrics of grids of flows: directions, singular values, draws that failed, final outputs; shapes a run refuses."""

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
    "first_time": 0.1,
    "horizon": 300.0,
    "points": 30,
    "rtol": 1e-7,
    "atol": 1e-12,
}
# `lower` and `upper`: probabilities at which a class begins to be learned, and is
MEASURE = {"thresholds": [0.05], "lower": 0.3, "upper": 0.9, "populations": ["examples", "classes"]}


@pytest.fixture(scope="module")
def trajectory():
    return trajectory_with_settings(runs.flow_grid, SETTINGS, seed=1)


@pytest.mark.parametrize("population", ["examples", "classes"])
def test_singular_values_variances_and_directions_are_those_of_numpys_eigenvectors(trajectory, population):
    grid = Grid(metrics.flow_grid(trajectory, **MEASURE))
    names = SPECTRA[population]
    f, W = (trajectory.series[name].astype(float) for name in ("f", "W"))
    labels = trajectory.constants["labels"]
    means = np.einsum("mec,mted->mtcd", labels, f) / labels.sum(axis=1)[:, None, :, None]
    points = means if population == "classes" else f
    squares, vectors = np.linalg.eigh(np.swapaxes(points, -1, -2) @ points)
    # -1 of the last time, then of the largest eigenvalue, as they ascend
    np.testing.assert_allclose(grid.at(Moment.END, names.sigma_1) ** 2, squares[:, -1, -1], rtol=1e-6)
    np.testing.assert_allclose(grid.at(Moment.END, names.sigma_2) ** 2, squares[:, -1, -2], rtol=1e-6)
    last = points[:, -1]
    centred = last - last.mean(axis=-2, keepdims=True)
    variances = np.linalg.eigvalsh(np.swapaxes(centred, -1, -2) @ centred) / centred.shape[-2]
    np.testing.assert_allclose(grid.at(Moment.END, names.variance_1), variances[:, -1], rtol=1e-6)
    np.testing.assert_allclose(grid.at(Moment.END, names.variance_2), variances[:, -2], rtol=1e-6)
    # mean probability of its own class over a class's examples
    own = np.einsum("mtec,mec->mtc", softmax(f @ W, axis=-1), labels) / labels.sum(axis=1)[:, None]
    for member, counts in enumerate(trajectory.constants["counts"]):
        # where the rarest classes are learned; before the end, so that it is another moment than END
        _, _, rare_learned, _ = learning_places(own[member], counts, MEASURE["lower"], MEASURE["upper"])
        assert 0 < rare_learned < len(trajectory.time) - 1
        leading = vectors[member, ..., -1]
        cosines = np.abs(leading @ leading[rare_learned])
        for moment, place in ((Moment.START, 0), (Moment.RARE_LEARNED, rare_learned), (Moment.END, -1)):
            found = grid.at(moment, names.direction)[member]
            np.testing.assert_allclose(found, cosines[place], rtol=0, atol=1e-6, err_msg=f"{member=}, {moment}")


def test_a_member_that_failed_is_undecided_and_its_siblings_are_not(trajectory):
    whole = Grid(metrics.flow_grid(trajectory, **MEASURE))
    failed = np.arange(trajectory.members) == 4
    series = {name: part.copy() for name, part in trajectory.series.items()}
    for part in series.values():
        part[failed, 10:] = np.nan  # from the eleventh record on
    broken = Trajectory(trajectory.time, series, trajectory.constants, SETTINGS, undecided=failed)
    grid = Grid(metrics.flow_grid(broken, **MEASURE))
    # any quantity of a rank would do
    np.testing.assert_array_equal(np.isnan(grid.number("fall", measure="rankme", threshold=0.05)), failed)
    assert grid.courses("rankme", 0.05).isna().tolist() == failed.tolist()
    sigma, expected = (each.at(Moment.END, "sigma_2")[~failed] for each in (grid, whole))
    np.testing.assert_array_equal(sigma, expected)


def test_the_squared_loss_ends_at_the_best_approximation_of_low_rank():
    settings = {**SETTINGS, "counts": [[4, 2, 1, 1]], "dimension": 2, "loss": "squared", "scales": [0.1]}
    trajectory = trajectory_with_settings(runs.flow_grid, settings, seed=1)
    final = Grid(metrics.flow_grid(trajectory, **MEASURE)).entries("final")
    # two dimensions learn the two largest classes; the slowest directions have not quite converged at the horizon
    np.testing.assert_allclose(final, np.tile([1.0, 1.0, 0.0, 0.0], (3, 1)), rtol=0, atol=1e-4)


@pytest.mark.parametrize("counts", [[[2, 2], [3, 2]], [[2, 2], [2, 1, 1]]], ids=["examples", "classes"])
def test_grids_of_unequal_shapes_are_refused(counts):
    with pytest.raises(ProjectError, match="as many classes and as many examples"):
        trajectory_with_settings(runs.flow_grid, {**SETTINGS, "counts": counts}, seed=1)
