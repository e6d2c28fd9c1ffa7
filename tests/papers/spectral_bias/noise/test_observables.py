"""What is read of a path of the noise-driven process, against outer products."""

import numpy as np
import pytest

from learning_dynamics.papers.spectral_bias.noise import observables


@pytest.mark.parametrize("inputs", [2, 5])
def test_commutators_of_rows_keep_their_accuracy(inputs):
    rng = np.random.default_rng(5)
    W, a = rng.standard_normal((4, inputs, inputs)), rng.standard_normal((4, inputs))
    # a row that is all but parallel to a, whose angle a difference of squares would lose
    W[0, 0] = a[0] + 1e-9 * W[0, 1]
    norms = observables.commutator_norms(W, a)
    # a row's part across a is the row less its part along a, so that it rounds at the size of the row: no bound in
    # units of the result holds, which is 1e9 times smaller in the row that is all but parallel. There are d products
    # and d sums of the inner product, a root and a division for the unit vector, which is used twice, a product and
    # the difference: 2 d + 6 roundings by half an eps, in both of what is compared
    rounding = (2 * inputs + 6) * np.finfo(float).eps
    outer = W[..., :, None] * a[:, None, None, :]  # w_i a^T, by path and row
    commutators = outer - np.swapaxes(outer, -1, -2)
    factors = np.sqrt(2) * np.linalg.norm(W, axis=2) * np.linalg.norm(a, axis=1)[:, None]
    errors = np.abs(norms - np.linalg.norm(commutators, axis=(2, 3)))
    np.testing.assert_array_less(errors, rounding * factors)
    sizes = np.linalg.norm(W[:, 0], axis=1) * np.linalg.norm(a, axis=1)
    sines = observables.on_each_path(W, a, np.zeros((4, inputs)))["sine_of_angle"]
    np.testing.assert_allclose(sines, norms[:, 0] / np.sqrt(2) / sizes, rtol=0, atol=rounding)
