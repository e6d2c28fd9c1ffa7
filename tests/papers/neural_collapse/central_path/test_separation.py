"""Rank of the SNR matrix and separation of classes, against brute force over directions and pairs."""

import itertools

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.neural_collapse.central_path import separation
from tests import support
from tests.papers.neural_collapse import altered, oracles

PAPER = "neural_collapse"
FIRST = {"classes": 3, "seed": 0}


def separations(H, classes):
    return separation.separations(H, oracles.renormalised(H, classes), classes)


@pytest.mark.parametrize(("classes", "examples", "features"), [(3, 7, 5), (4, 6, 3), (2, 6, 4)])
def test_the_rank_is_the_number_of_directions_that_class_means_span(classes, examples, features):
    H = oracles.features(classes, examples, features, seed=2)
    assert separations(H, classes)["snr_rank"].tolist() == list(range(1, classes))


def test_separation_is_least_and_largest_where_it_is_stationary():
    H = oracles.features(3, 7, 5, seed=2)
    within, _, M = oracles.covariances(H, 3)
    M = M - M.mean(axis=1, keepdims=True)
    whiten = np.linalg.inv(scipy.linalg.sqrtm(within))
    basis = scipy.linalg.orth(whiten @ M)  # directions of the class means, where noise is one
    angles = np.linspace(0, np.pi, 20001)
    directions = basis @ np.vstack([np.cos(angles), np.sin(angles)])
    over_noise = np.linalg.norm(M.T @ whiten @ directions, axis=0)
    found = separations(H, 3)["class_separation"]
    assert found == pytest.approx([over_noise.max(), over_noise.min()], rel=1e-6)
    assert separations(H, 3)["class_separation--without_noise"] == pytest.approx(scipy.linalg.svdvals(M)[:2])


def test_the_smallest_distance_is_that_of_the_nearest_two_class_means_in_units_of_noise():
    H = oracles.features(4, 7, 5, seed=2)
    within, _, M = oracles.covariances(H, 4)
    inverse = np.linalg.inv(within)
    distances = [scipy.spatial.distance.mahalanobis(a, b, inverse) for a, b in itertools.combinations(M.T, 2)]
    assert separations(H, 4)["least_pair_distance"] == pytest.approx(min(distances))


def test_class_means_on_a_square_are_apart_however_small_the_least_singular_value():
    square = 3 * np.array([[1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0], [0.1, -0.1, -0.1, 0.1]])
    noise = np.sqrt(3) * np.hstack([np.eye(3), -np.eye(3)])  # of covariance one
    H = np.kron(square, np.ones(6)) + np.tile(noise, 4)
    found = separations(H, 4)
    assert found["class_separation"] == pytest.approx([6.0, 6.0, 0.6])
    assert found["least_pair_distance--flattened"] == pytest.approx(np.hypot(6.0, 0.6e-3))
    assert found["least_pair_distance"] == pytest.approx(np.hypot(6.0, 0.6))


def test_two_class_means_are_at_the_bound():
    H = oracles.features(2, 6, 4)
    found = separations(H, 2)
    assert found["least_pair_distance"] == pytest.approx(np.sqrt(2) * found["class_separation"][0])


@pytest.mark.parametrize(("rank", "expected"), [(1.0, "corrected"), (2.0, "refused"), (np.nan, "refused")])
def test_a_rank_of_class_means_on_a_line_that_is_not_one_is_refused(rank, expected):
    tables = support.claim_tables(PAPER, "snr_rank")
    altered.put(tables, "features", "snr_rank", rank, **FIRST, index=1)
    assert altered.verdict("snr_rank", tables) == expected


def test_a_rank_that_centring_alone_decided_would_be_as_the_paper_has_it():
    tables = support.claim_tables(PAPER, "snr_rank")
    found = support.evaluation(PAPER, "snr_rank", tables)
    assert found.verdict == "corrected"
    assert set(found.rivals.values()) == {"contradicted"}
    for classes in (3, 4):
        altered.put(tables, "features", "snr_rank", classes - 1.0, classes=classes)
    assert altered.verdict("snr_rank", tables) == "reproduced"


# of the first draw: the tolerance is 2.2e-13 times the square of the ratio of its singular values
@pytest.mark.parametrize(("times_tolerance", "expected"), [(0.9, "reproduced"), (1.1, "refused"), (np.nan, "refused")])
def test_a_separation_that_is_no_singular_value_is_refused(times_tolerance, expected):
    name = "separation_by_singular_values"
    tables = support.claim_tables(PAPER, name)
    found = support.evaluation(PAPER, name, tables)
    assert found.verdict == "reproduced"
    assert set(found.rivals.values()) == {"contradicted"}
    rows = altered.rows_of(tables["features"], "omega", **FIRST)
    omega = tables["features"].loc[rows].sort_values("index")["value"].to_numpy()
    tolerance = 1000 * np.finfo(float).eps * (omega[0] / omega[1]) ** 2
    off = omega[1] * (1 + times_tolerance * tolerance)
    altered.put(tables, "features", "class_separation", off, **FIRST, index=2)
    assert altered.verdict(name, tables) == expected


@pytest.mark.parametrize(("factor", "expected"), [(1.0, "reproduced"), (1 - 1e-12, "refused"), (np.nan, "refused")])
def test_two_class_means_nearer_than_the_least_singular_value_allows_are_refused(factor, expected):
    name = "separation_by_singular_values"
    tables = support.claim_tables(PAPER, name)
    rows = altered.rows_of(tables["features"], "omega", **FIRST)
    least = tables["features"].loc[rows, "value"].min()
    altered.put(tables, "features", "least_pair_distance", factor * np.sqrt(2) * least, **FIRST)
    assert altered.verdict(name, tables) == expected


def test_the_share_that_a_flattened_distance_keeps_is_the_median_of_draws():
    name = "separation_by_singular_values"
    tables = support.claim_tables(PAPER, name)
    shares = {(3, 0): 0.01, (3, 1): 0.2, (4, 0): 0.4, (4, 1): 0.9}
    for (classes, seed), share in shares.items():
        one = {"classes": classes, "seed": seed}
        distance = altered.rows_of(tables["features"], "least_pair_distance", **one)
        kept = share * tables["features"].loc[distance, "value"].item()
        altered.put(tables, "features", "least_pair_distance--flattened", kept, **one)
    assert support.evaluation(PAPER, name, tables).facts["kept"] == pytest.approx(0.3)
