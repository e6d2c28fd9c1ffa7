"""Corollary 4's filters and conditions."""

import numpy as np
import pytest

from learning_dynamics.papers.tensor_networks import one_point, tensor_network
from learning_dynamics.papers.tensor_networks.filters import theory


@pytest.mark.parametrize("sign", [1, -1])
def test_filters_of_length_two_pass_by_the_sign_of_the_autocorrelation(sign):
    x = np.array([2.0, 1.5, 0.5, 0.2, 0.3, 1.0]) * np.array([1, sign] * 3)
    network_direction = theory.filtered_direction(x, 1.0, 2)
    gain = np.abs(np.fft.rfft(network_direction)) / np.abs(np.fft.rfft(x))
    assert np.argmax(gain) == (0 if sign > 0 else 3)
    with pytest.raises(ValueError, match="no direction"):
        theory.filtered_direction(x, 1.0, 3)


@pytest.mark.parametrize("length", [1, 2])
def test_printed_conditions_are_those_of_theorem_3(length):
    rng = np.random.default_rng(3)
    x, first, second = rng.standard_normal(5), rng.standard_normal(length), 0.1 * rng.standard_normal(5)
    tensor = tensor_network.convolutional(5, [length, 5]).data_tensor(x)
    theorem = one_point.one_point_condition(tensor, first, second)
    assert theory.filter_condition(x, first, second) == pytest.approx(length * theorem, rel=1e-11)
