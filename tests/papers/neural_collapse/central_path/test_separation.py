"""Rank of the SNR matrix and separation of classes, against brute force over directions and pairs.

The SNR matrix has the class means as columns, centred and in units of the noise, the deviations within classes. Its
C - 1 singular values are omega.
"""

import itertools

import numpy as np
import pytest
import scipy

from learning_dynamics.papers.neural_collapse.central_path import separation
from learning_dynamics.tidy import select
from tests import support
from tests.papers.neural_collapse import altered, oracles

PAPER = "neural_collapse"
FIRST_DRAW = {"classes": 3, "seed": 0}


def separations(H, classes):
    """Return what is measured of features and their renormalised ones."""
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
    separation_along = np.linalg.norm(M.T @ whiten @ directions, axis=0)  # in units of the noise, of each direction
    # an extreme is missed by up to half of 1.6e-4, the step of the angles, and its value by the square of that
    expected = [separation_along.max(), separation_along.min()]
    assert separations(H, 3)["class_separation"] == pytest.approx(expected, rel=1e-6)


def test_separation_without_noise_is_in_singular_values_of_the_centred_class_means():
    H = oracles.features(3, 7, 5, seed=2)
    _, _, M = oracles.covariances(H, 3)
    expected = scipy.linalg.svdvals(M - M.mean(axis=1, keepdims=True))[:2]  # the third is zero
    assert separations(H, 3)["class_separation--without_noise"] == pytest.approx(expected)


def test_the_smallest_distance_is_that_of_the_nearest_class_means_in_units_of_noise():
    H = oracles.features(4, 7, 5, seed=2)
    within, _, M = oracles.covariances(H, 4)
    inverse = np.linalg.inv(within)
    distances = [scipy.spatial.distance.mahalanobis(a, b, inverse) for a, b in itertools.combinations(M.T, 2)]
    assert separations(H, 4)["least_pair_distance"] == pytest.approx(min(distances))


def test_class_means_on_a_square_stay_apart_however_small_the_least_singular_value():
    # the corners of a square of sides 6, two of them lifted by 0.3 and two lowered
    square = 3 * np.array([[1.0, 1.0, -1.0, -1.0], [1.0, -1.0, 1.0, -1.0], [0.1, -0.1, -0.1, 0.1]])
    noise = np.sqrt(3) * np.hstack([np.eye(3), -np.eye(3)])  # of six examples, with the identity as covariance
    H = np.kron(square, np.ones(6)) + np.tile(noise, 4)
    measured = separations(H, 4)
    # roots of sums of four squares, those of a row of `square`
    assert measured["class_separation"] == pytest.approx([6.0, 6.0, 0.6])
    # neighbours are 6 apart, and one of them is lifted
    assert measured["least_pair_distance"] == pytest.approx(np.hypot(6.0, 0.6))
    # along the third direction class means are scaled to a thousandth
    assert measured["least_pair_distance--flattened"] == pytest.approx(np.hypot(6.0, 0.6e-3))


def test_the_distance_of_two_class_means_is_the_root_of_two_times_their_separation():
    H = oracles.features(2, 6, 4)
    measured = separations(H, 2)
    assert measured["least_pair_distance"] == pytest.approx(np.sqrt(2) * measured["class_separation"][0])


# -- claims ----------------------------------------------------------------------------------------

# - `snr_rank`: the rank of the SNR matrix is C - 1; as corrected, the number of directions that class means span
# - `separation_by_singular_values`: omega are the stationary separations of classes over directions, and no two class
#   means are nearer than sqrt(2) omega_min


@pytest.mark.parametrize(("rank", "expected"), [(1.0, "corrected"), (2.0, "refused"), (np.nan, "refused")])
def test_a_rank_of_class_means_on_a_line_that_is_not_one_is_refused(rank, expected):
    """The rank at `index` is that of class means that span so many directions: 1 is a line."""
    tables = support.claim_tables(PAPER, "snr_rank")
    altered.put(tables, "features", "snr_rank", rank, **FIRST_DRAW, index=1)
    assert altered.verdict("snr_rank", tables) == expected


def test_if_every_rank_is_one_less_than_there_are_classes_the_paper_is_right():
    tables = support.claim_tables(PAPER, "snr_rank")
    for classes in (3, 4):
        altered.put(tables, "features", "snr_rank", classes - 1.0, classes=classes)
    assert altered.verdict("snr_rank", tables) == "reproduced"


# the tolerance of a draw is 1000 units of rounding times the square of the ratio of its two singular values
@pytest.mark.parametrize(("times_tolerance", "expected"), [(0.9, "reproduced"), (1.1, "refused"), (np.nan, "refused")])
def test_a_separation_that_is_no_singular_value_is_refused(times_tolerance, expected):
    tables = support.claim_tables(PAPER, "separation_by_singular_values")
    largest, smallest = select(tables["features"], "omega", **FIRST_DRAW).sort_values("index")["value"]
    tolerance = 1000 * np.finfo(float).eps * (largest / smallest) ** 2
    separation_off = smallest * (1 + times_tolerance * tolerance)
    altered.put(tables, "features", "class_separation", separation_off, **FIRST_DRAW, index=2)
    assert altered.verdict("separation_by_singular_values", tables) == expected


# 1000 units of rounding may be missing
@pytest.mark.parametrize(("missing", "expected"), [(900, "reproduced"), (1100, "refused"), (np.nan, "refused")])
def test_two_class_means_nearer_than_the_least_singular_value_allows_are_refused(missing, expected):
    tables = support.claim_tables(PAPER, "separation_by_singular_values")
    smallest = select(tables["features"], "omega", **FIRST_DRAW)["value"].min()
    factor = 1 - missing * np.finfo(float).eps
    altered.put(tables, "features", "least_pair_distance", factor * np.sqrt(2) * smallest, **FIRST_DRAW)
    assert altered.verdict("separation_by_singular_values", tables) == expected


def test_the_share_that_a_flattened_distance_keeps_is_the_median_of_draws():
    tables = support.claim_tables(PAPER, "separation_by_singular_values")
    shares = {(3, 0): 0.01, (3, 1): 0.2, (4, 0): 0.4, (4, 1): 0.9}  # by classes and seed
    for (classes, seed), share in shares.items():
        draw = {"classes": classes, "seed": seed}
        distance = select(tables["features"], "least_pair_distance", **draw)["value"].item()
        altered.put(tables, "features", "least_pair_distance--flattened", share * distance, **draw)
    kept = support.evaluation(PAPER, "separation_by_singular_values", tables).facts["median_share_kept"]
    assert kept == pytest.approx(np.median(list(shares.values())))
