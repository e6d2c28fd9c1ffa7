"""Low-rank matrices, the matrix of least nuclear norm against a general convex solver, and tables for regression."""

import zipfile

import numpy as np
import pytest

from learning_dynamics.datasets import nuclear_norm, regression_tables
from learning_dynamics.datasets.matrix_completion import low_rank
from learning_dynamics.errors import ProjectError

SMALL = {"size": 12, "rank": 2, "draws": 2, "seed": 5}


def test_matrices_have_the_rank_asked_for():
    values = np.linalg.svd(low_rank(**SMALL, observed=60)["truth"], compute_uv=False)  # shape (draws, size)
    rank = SMALL["rank"]
    assert np.all(values[:, rank:] < 1e-12 * values[:, :1])  # zero, but for rounding
    assert np.all(values[:, rank - 1] > 1e-3 * values[:, 0])  # of Gaussian factors, so of one order


def test_entries_have_mean_square_one():
    truth = low_rank(**SMALL, observed=60)["truth"]
    # so that the norm of a square matrix is its size
    np.testing.assert_allclose(np.linalg.norm(truth, axis=(-2, -1)), SMALL["size"], rtol=1e-12)


def test_as_many_entries_are_observed_as_asked_for():
    mask = low_rank(**SMALL, observed=60)["mask"]
    np.testing.assert_array_equal(mask.sum(axis=(-2, -1)), 60)


def test_more_observations_add_entries_to_the_same_matrix():
    few, many = low_rank(**SMALL, observed=30), low_rank(**SMALL, observed=90)
    np.testing.assert_array_equal(few["truth"], many["truth"])
    assert np.all(few["mask"] <= many["mask"])


def test_too_many_observations_are_refused():
    with pytest.raises(ProjectError, match=r"a 12 x 12 matrix has 144 entries .*; lower observed \(145\)"):
        low_rank(**SMALL, observed=145)


SLACK = 1e-3  # largest allowed error on an observed entry
ACCURACY = 1e-6  # relative gap to the least nuclear norm at which the solver stops
every_number_of_observations = pytest.mark.parametrize("observed", [40, 100])


def minimiser(observed):
    """Return, by draw: the truth, its mask, the matrix of least nuclear norm that fits, and the relative gap."""
    return nuclear_norm.minimiser(**SMALL, observed=observed, slack=SLACK, accuracy=ACCURACY, iterations=20000)


@every_number_of_observations
def test_the_minimiser_fits_the_observed_entries_and_proves_its_accuracy(observed):
    solved = minimiser(observed)
    errors = np.abs(solved["mask"] * (solved["minimiser"] - solved["truth"]))
    assert errors.max() <= SLACK * (1 + 1e-12)  # it is projected onto matrices that fit, and rounded
    assert (solved["gap"] <= ACCURACY).all()
    assert (solved["gap"] >= -1e-12).all()  # a gap is not negative, but for its rounding


@every_number_of_observations
def test_the_minimiser_has_the_nuclear_norm_that_a_general_solver_finds(observed):
    cp = pytest.importorskip("cvxpy")
    solved = minimiser(observed)
    for draw in range(SMALL["draws"]):
        truth, mask = solved["truth"][draw], solved["mask"][draw]
        W = cp.Variable(truth.shape)
        problem = cp.Problem(cp.Minimize(cp.normNuc(W)), [cp.abs(cp.multiply(mask, W - truth)) <= SLACK])
        least = problem.solve(solver=cp.SCS, eps_abs=1e-8, eps_rel=1e-8)
        # SCS's conditions, to 1e-8 in each of 144 entries, leave its norm less certain than ours
        norm = np.linalg.norm(solved["minimiser"][draw], "nuc")
        np.testing.assert_allclose(norm, least, rtol=10 * ACCURACY, err_msg=f"draw {draw}")


# iris has three classes; linnerud 16 weights in whole pounds; diabetes 214 grades of the progression of a disease
@pytest.mark.parametrize(
    ("table", "shape", "distinct_labels"),
    [("iris", (150, 4), 3), ("linnerud", (20, 3), 16), ("diabetes", (442, 10), 214)],
)
def test_shipped_tables_are_standardised_with_their_first_label(table, shape, distinct_labels):
    data = regression_tables.diabetes() if table == "diabetes" else regression_tables.shipped(table=table)
    assert data["X"].shape == shape
    assert data["Y"].shape == (shape[0], 1)
    assert len(np.unique(data["Y"])) == distinct_labels
    for columns in data.values():
        np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(columns.std(axis=0), 1, rtol=1e-12)


ROWS, FEATURES = 2565, 128  # on ethanol in the published archive
ETHANOL, ANOTHER_GAS = 1, 2


def write_gas_archive(path, numbers, *, labels=range(1, FEATURES + 1), third=None):
    """Write an archive of the gas sensors, with a row on another gas and a file that is no batch.

    Parameters
    ----------
    numbers : ndarray, shape (rows, 1 + features)
        The concentration of ethanol, which is written to two digits, and the features, to four.
    labels : sequence of int
        What stands before each feature: 1 to 128.
    third : str, optional
        What stands as the feature with label 3, instead of its number.
    """
    lines = []
    for concentration, *features in numbers:
        words = [f"{ETHANOL};{concentration:.2f}"]
        for label, feature in zip(labels, features, strict=True):
            text = third if label == 3 and third is not None else f"{feature:.4f}"
            words.append(f"{label}:{text}")
        lines.append(" ".join(words))
    lines.append(f"{ANOTHER_GAS};5.0 1:1.0")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("batch1.dat", "\n".join(lines) + "\n")
        archive.writestr("readme.txt", "not a batch")


def random_numbers(rows, features=FEATURES):
    return np.random.default_rng(0).standard_normal((rows, 1 + features))


def test_of_the_gas_sensors_the_rows_on_ethanol_are_read_and_standardised(tmp_path):
    numbers = random_numbers(ROWS)
    write_gas_archive(tmp_path / "gas.zip", numbers)
    data = regression_tables.gas_sensor(file=str(tmp_path / "gas.zip"))
    expected = (numbers - numbers.mean(axis=0)) / numbers.std(axis=0)
    # half of the last digit written, and as much again for deviations that differ from one
    np.testing.assert_allclose(data["Y"], expected[:, :1], rtol=0, atol=0.01)
    np.testing.assert_allclose(data["X"], expected[:, 1:], rtol=0, atol=0.0001)
    assert len(str(data["sha256"])) == 64


@pytest.mark.parametrize(
    ("rows", "third", "sha256", "message"),
    [
        pytest.param(10, None, None, f"holds 10 rows on ethanol, not {ROWS}", id="fewer rows"),
        pytest.param(ROWS, None, "00", "its SHA-256 is .*, not 00;", id="another digest than the configured one"),
        pytest.param(ROWS, "inf", None, "a row on ethanol holds inf, which is no measurement", id="an infinite number"),
        pytest.param(ROWS, "7", None, "feature 3 is the same in every row", id="a constant column"),
    ],
)
def test_an_archive_that_is_not_the_published_one_is_refused(tmp_path, rows, third, sha256, message):
    write_gas_archive(tmp_path / "gas.zip", random_numbers(rows), third=third)
    with pytest.raises(ProjectError, match=message):
        regression_tables.gas_sensor(file=str(tmp_path / "gas.zip"), sha256=sha256)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([2, 1, *range(3, 129)], "feature 2 is where 1 must be, of 1 to 128 in order"),
        ([1, 2, 2, *range(4, 129)], "feature 2 is where 3 must be, of 1 to 128 in order"),
        (range(128), "feature 0 is where 1 must be, of 1 to 128 in order"),
        (range(1, 128), "has 127 features, not 128"),
        (range(1, 130), "has 129 features, not 128"),
    ],
)
def test_features_that_are_not_labelled_1_to_128_in_order_are_refused(labels, message, tmp_path):
    write_gas_archive(tmp_path / "gas.zip", random_numbers(20, features=len(labels)), labels=labels)
    with pytest.raises(ProjectError, match=rf"gas.zip: .*batch1.dat, line 1: {message}.*the archive comes from"):
        regression_tables.gas_sensor(file=str(tmp_path / "gas.zip"))


def test_a_file_that_is_no_archive_is_refused(tmp_path):
    (tmp_path / "gas.zip").write_text("an error page")
    with pytest.raises(ProjectError, match=r"gas.zip: cannot be read \(BadZipFile.*the archive comes from"):
        regression_tables.gas_sensor(file=str(tmp_path / "gas.zip"))
