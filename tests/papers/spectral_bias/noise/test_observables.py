"""Norms of commutators and sines of angles on a path of the noise-driven process, against outer products."""

import numpy as np
import pytest

from learning_dynamics.papers.spectral_bias.noise import observables

PATHS = 4


@pytest.fixture(params=[2, 5], ids="inputs={}".format)
def almost_parallel(request):
    """Return W and a of four paths; on the first, row 0 of W is parallel to a up to an angle of about 1e-9."""
    inputs = request.param
    rng = np.random.default_rng(5)
    W, a = rng.standard_normal((PATHS, inputs, inputs)), rng.standard_normal((PATHS, inputs))
    W[0, 0] = a[0] + 1e-9 * W[0, 1]
    return W, a


def commutators_by_outer_products(W, a):
    """Return w_i a^T - a w_i^T for each row w_i of W, shape (paths, d, d, d)."""
    outer = W[..., :, None] * a[:, None, None, :]
    return outer - np.swapaxes(outer, -1, -2)


def rounding_relative_to_the_row(inputs):
    """Return what a norm may round, relative to |w_i| |a|.

    A row's part across a is the row less its part along a, so that it rounds at the size of the row, even where the
    result is 1e9 times smaller. There are d products and d sums of the inner product, a root and a division for the
    unit vector, which is used twice, a product and the difference: 2 d + 6 roundings by half an eps, and as much in the
    outer products that it is compared with.
    """
    return (2 * inputs + 6) * np.finfo(float).eps


def test_norms_of_commutators_keep_their_accuracy_for_a_row_that_is_almost_parallel(almost_parallel):
    """|w|^2 |a|^2 - (w . a)^2, a difference of squares, would lose an angle of 1e-9 altogether."""
    W, a = almost_parallel
    expected = np.linalg.norm(commutators_by_outer_products(W, a), axis=(2, 3))
    errors = np.abs(observables.commutator_norms(W, a) - expected)
    sizes = np.sqrt(2) * np.linalg.norm(W, axis=2) * np.linalg.norm(a, axis=1)[:, None]
    np.testing.assert_array_less(errors, rounding_relative_to_the_row(W.shape[-1]) * sizes)


def test_the_sine_of_the_angle_between_the_first_row_and_a_keeps_its_accuracy(almost_parallel):
    """|w a^T - a w^T| is sqrt(2) |w| |a| times the sine."""
    W, a = almost_parallel
    norms = np.linalg.norm(commutators_by_outer_products(W[:, :1], a)[:, 0], axis=(1, 2))
    expected = norms / np.sqrt(2) / (np.linalg.norm(W[:, 0], axis=1) * np.linalg.norm(a, axis=1))
    sines = observables.on_each_path(W, a, average=np.zeros_like(a))["sine_of_angle"]
    # the quotient rounds a little more than the norm
    atol = rounding_relative_to_the_row(W.shape[-1]) + 5 * np.finfo(float).eps
    np.testing.assert_allclose(sines, expected, rtol=0, atol=atol)
