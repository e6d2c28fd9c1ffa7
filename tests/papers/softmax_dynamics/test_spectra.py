import numpy as np
import pytest

from learning_dynamics.papers.softmax_dynamics.spectra import RANKS, alignment, separation


@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 2])
def test_alignment_is_the_cosine_of_the_leading_directions(angle):
    direction = np.array([np.cos(angle), np.sin(angle)])
    f = np.outer([3.0, 0.0, 0.0], [1.0, 0.0]) + np.outer([0.0, 1.0, 0.0], [0.0, 1.0])
    W = np.outer(direction, [2.0, 0.0, 0.0, 0.0])
    assert alignment(f, W) == pytest.approx(abs(np.cos(angle)))


def test_separation_is_the_distance_of_means_over_the_spread_within():
    points = np.array([[0.0, 1.0], [0.0, -1.0], [4.0, 1.0], [4.0, -1.0]])
    assert separation(points, np.array([True, True, False, False])) == pytest.approx(4.0)


def test_centring_takes_away_a_common_feature():
    f = np.array([[10.0, 1.0], [10.0, -1.0], [11.0, 0.0], [9.0, 0.0]])
    assert RANKS["rankme_centred"](f) == pytest.approx(2.0)
    assert RANKS["rankme"](f) < 1.1
