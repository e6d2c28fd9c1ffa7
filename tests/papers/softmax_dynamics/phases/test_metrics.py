import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics.draws import learning_times, members, shapes, values
from learning_dynamics.papers.softmax_dynamics.phases import metrics, runs
from tests.support import called

SETTINGS = {
    "counts": [[2, 2, 1, 1], [3, 1, 1, 1]], "dimension": 2, "loss": "cross_entropy", "inits": ["gaussian"],
    "scales": [0.01, 0.1], "seeds": 3, "start": 0.1, "horizon": 300.0, "points": 30, "rtol": 1e-7, "atol": 1e-12,
}  # fmt: skip
MEASURE = {"thresholds": [0.05], "lower": 0.3, "upper": 0.9, "populations": ["examples"]}


@pytest.fixture(scope="module")
def trajectory():
    found = called(runs.flow_grid, **SETTINGS, seed=1)
    found.settings = SETTINGS
    return found


def test_values_come_in_the_order_of_members(trajectory):
    table = metrics.flow_grid(trajectory, **MEASURE)
    sigma = np.linalg.svd(trajectory.series["f"], compute_uv=False)
    np.testing.assert_allclose(values(table, "sigma_1", 1), sigma[:, 0, 0])
    np.testing.assert_allclose(values(table, "sigma_1", 5), sigma[:, -1, 0])
    np.testing.assert_array_equal(members(table)["scale"], trajectory.constants["scale"])
    some = values(table, "sigma_1", 5, counts="3-1-1-1", scale=0.1)
    np.testing.assert_allclose(some, sigma[9:, -1, 0])
    assert learning_times(table).shape == (12, 4)


def test_of_means_of_classes_singular_values_and_directions_are_measured_alike(trajectory):
    table = metrics.flow_grid(trajectory, **{**MEASURE, "populations": ["examples", "classes"]})
    f, labels = trajectory.series["f"].astype(float), trajectory.constants["labels"]
    means = np.einsum("mec,med->mcd", labels, f[:, -1]) / labels.sum(axis=1)[..., None]
    np.testing.assert_allclose(values(table, "class_sigma_2", 5), np.linalg.svd(means, compute_uv=False)[:, 1])
    for name in ("direction", "class_direction"):
        cosine = values(table, name, None)
        np.testing.assert_allclose(cosine[:, 3], 1.0)
        assert ((cosine >= 0) & (cosine < 1 + 1e-12)).all()
    # in the plane the leading direction is at half the angle of the second moments
    x, y = np.moveaxis(f, -1, 0)
    angle = np.arctan2(2 * (x * y).sum(-1), (x**2 - y**2).sum(-1)) / 2
    cosines = np.abs(np.cos(angle[:, [0]] - angle))
    assert np.isclose(cosines, values(table, "direction", 1)[:, None]).any(axis=1).all()


def test_in_three_dimensions_the_direction_is_that_of_the_largest_singular_value():
    settings = {**SETTINGS, "dimension": 3}
    found = called(runs.flow_grid, **settings, seed=1)
    found.settings = settings
    first = values(metrics.flow_grid(found, **MEASURE), "direction", 1)
    f = found.series["f"]
    squares = np.swapaxes(f, -1, -2) @ f
    leading = np.linalg.eigh(squares)[1][..., -1]
    cosines = np.abs(np.einsum("md,mtd->mt", leading[:, 0], leading))
    assert np.isclose(cosines, first[:, None]).any(axis=1).all()


def test_everything_is_learned_in_the_end_and_classes_in_their_windows(trajectory):
    table = metrics.flow_grid(trajectory, **MEASURE)
    assert (values(table, "final", None) > 0.9).all()
    assert (learning_times(table) < 300).all()
    assert all(set(word) <= {"F", "R"} for word in shapes(table, "rankme", 0.05))


def test_a_member_that_failed_is_undecided_and_its_siblings_are_not(trajectory):
    whole = metrics.flow_grid(trajectory, **MEASURE)
    f = trajectory.series["f"].copy()
    f[4, 10:] = np.nan
    W = trajectory.series["W"].copy()
    W[4, 10:] = np.nan
    broken = type(trajectory)(
        trajectory.time, {"f": f, "W": W}, trajectory.constants, SETTINGS, undecided=np.arange(12) == 4
    )
    table = metrics.flow_grid(broken, **MEASURE)
    np.testing.assert_array_equal(np.isnan(values(table, "fall", 0, "rankme", 0.05)), np.arange(12) == 4)
    assert shapes(table, "rankme", 0.05).isna().tolist() == (np.arange(12) == 4).tolist()
    others = np.arange(12) != 4
    np.testing.assert_array_equal(values(table, "sigma_2", 5)[others], values(whole, "sigma_2", 5)[others])


def test_the_squared_loss_ends_at_the_best_approximation_of_low_rank():
    settings = {**SETTINGS, "counts": [[4, 2, 1, 1]], "loss": "squared", "scales": [0.1]}
    found = called(runs.flow_grid, **settings, seed=1)
    found.settings = settings
    final = values(metrics.flow_grid(found, **MEASURE), "final", None)
    # converged to the size of exp(-300) but for what slow directions leave
    np.testing.assert_allclose(final, np.tile([1.0, 1.0, 0.0, 0.0], (3, 1)), atol=1e-4)


def test_grids_of_unequal_shapes_are_refused():
    with pytest.raises(Exception, match="as many classes"):
        called(runs.flow_grid, **{**SETTINGS, "counts": [[2, 2], [3, 2]]}, seed=1)
