"""Low-rank matrices, the convex baseline, and the regression tables."""

import zipfile

import numpy as np
import pytest

from learning_dynamics.datasets import nuclear_norm, regression_tables
from learning_dynamics.datasets.matrix_completion import low_rank
from learning_dynamics.errors import ProjectError

SMALL = {"size": 12, "rank": 2, "draws": 2, "seed": 5}


def test_matrices_have_the_rank_and_the_norm_asked_for():
    data = low_rank(**SMALL, observed=60)
    values = np.linalg.svd(data["truth"], compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(data["truth"], axis=(-2, -1)), 12, rtol=1e-12)
    assert np.all(values[:, 2:] < 1e-12 * values[:, :1])
    np.testing.assert_array_equal(data["mask"].sum(axis=(-2, -1)), 60)


def test_more_observations_add_entries_to_the_same_matrix():
    few, many = low_rank(**SMALL, observed=30), low_rank(**SMALL, observed=90)
    np.testing.assert_array_equal(few["truth"], many["truth"])
    assert np.all(few["mask"] <= many["mask"])


def test_too_many_observations_are_refused():
    with pytest.raises(ProjectError, match="144 entries"):
        low_rank(**SMALL, observed=145)


@pytest.mark.parametrize("observed", [40, 100])
def test_minimiser_fits_and_is_that_of_a_general_solver(observed):
    cp = pytest.importorskip("cvxpy")
    solved = nuclear_norm.minimiser(**SMALL, observed=observed, slack=1e-3, accuracy=1e-6, iterations=20000)
    arrays = [solved[key] for key in ("truth", "mask", "minimiser", "gap")]
    for draw, (truth, mask, found, gap) in enumerate(zip(*arrays, strict=True)):
        W = cp.Variable(truth.shape)
        task = cp.Problem(cp.Minimize(cp.normNuc(W)), [cp.abs(cp.multiply(mask, W - truth)) <= 1e-3])
        least = task.solve(solver=cp.SCS, eps_abs=1e-8, eps_rel=1e-8)
        assert np.abs(mask * (found - truth)).max() <= 1e-3 * (1 + 1e-12), draw
        assert -1e-12 <= gap <= 1e-6, draw
        np.testing.assert_allclose(np.linalg.norm(found, "nuc"), least, rtol=1e-5)


@pytest.mark.parametrize(
    ("table", "shape", "values"), [("iris", (150, 4), 3), ("linnerud", (20, 3), 16), ("diabetes", (442, 10), 214)]
)
def test_shipped_tables_are_standardised_with_their_first_label(table, shape, values):
    data = regression_tables.diabetes() if table == "diabetes" else regression_tables.shipped(table=table)
    assert data["X"].shape == shape
    assert data["Y"].shape == (shape[0], 1)
    # classes, weights of whole pounds, or the progression of a disease
    assert len(np.unique(data["Y"])) == values
    for columns in data.values():
        np.testing.assert_allclose(columns.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(columns.std(axis=0), 1, rtol=1e-12)


def _archive(path, rows, gas=1, third="{:.4f}", numbers=range(1, 129)):
    rng = np.random.default_rng(0)
    line = "{};{:.2f} " + " ".join(f"{i}:{third if i == 3 else '{:.4f}'}" for i in numbers)
    text = "\n".join(line.format(gas, *rng.standard_normal(1 + len(numbers))) for _ in range(rows))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("batch1.dat", text + "\n2;5.0 1:1.0\n")
        archive.writestr("readme.txt", "not a batch")


def test_gas_sensor_reads_the_ethanol_rows(tmp_path):
    _archive(tmp_path / "gas.zip", 2565)
    data = regression_tables.gas_sensor(file=str(tmp_path / "gas.zip"))
    assert data["X"].shape == (2565, 128)
    drawn = np.random.default_rng(0).standard_normal((2565, 129))
    scores = (drawn - drawn.mean(axis=0)) / drawn.std(axis=0)
    np.testing.assert_allclose(
        np.hstack([data["Y"], data["X"]]), scores, rtol=0, atol=0.01
    )  # of two digits, and of four
    assert len(str(data["sha256"])) == 64


@pytest.mark.parametrize(
    ("rows", "third", "sha256", "message"),
    [
        (10, "{:.4f}", None, "10 rows on ethanol"),
        (2565, "{:.4f}", "00", "SHA-256"),
        (2565, "inf", None, "holds inf"),
        (2565, "7", None, "feature 3 is the same in every row"),
    ],
)
def test_another_archive_is_refused(tmp_path, rows, third, sha256, message):
    _archive(tmp_path / "gas.zip", rows, third=third)
    with pytest.raises(ProjectError, match=message):
        regression_tables.gas_sensor(file=str(tmp_path / "gas.zip"), sha256=sha256)


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ([2, 1, *range(3, 129)], "feature 2 is where 1 must be, of 1 to 128 in order"),
        ([1, 2, 2, *range(4, 129)], "feature 2 is where 3 must be, of 1 to 128 in order"),
        (range(128), "feature 0 is where 1 must be, of 1 to 128 in order"),
        (range(1, 128), "has 127 features, not 128"),
        (range(1, 130), "has 129 features, not 128"),
    ],
)
def test_columns_are_where_their_numbers_say(numbers, message, tmp_path):
    _archive(tmp_path / "gas.zip", 20, numbers=numbers)
    with pytest.raises(ProjectError, match=rf"gas.zip: .*batch1.dat, line 1: {message}.*the archive comes from"):
        regression_tables.gas_sensor(file=str(tmp_path / "gas.zip"))


def test_what_is_no_archive_is_refused(tmp_path):
    (tmp_path / "gas.zip").write_text("an error page")
    with pytest.raises(ProjectError, match=r"gas.zip: cannot be read \(BadZipFile.*the archive comes from"):
        regression_tables.gas_sensor(file=str(tmp_path / "gas.zip"))
