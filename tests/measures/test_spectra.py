"""Singular values and effective rank."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.measures.spectra import effective_rank, singular_values


@settings(max_examples=30)
@given(rows=st.integers(1, 6), columns=st.integers(1, 60), seed=st.integers(0, 1000))
def test_wide_matrices_lose_no_accuracy_to_the_qr(rows, columns, seed):
    matrix = np.random.default_rng(seed).standard_normal((3, rows, columns))
    plain = np.linalg.svd(matrix, compute_uv=False)
    np.testing.assert_allclose(singular_values(matrix), plain, rtol=1e-12, atol=1e-13)


def test_padding_and_cutting():
    values = singular_values(np.diag([3.0, 2.0]), 4)
    np.testing.assert_allclose(values, [3.0, 2.0, 0.0, 0.0])
    np.testing.assert_allclose(singular_values(np.diag([3.0, 2.0]), 1), [3.0])


@pytest.mark.parametrize(("values", "rank"), [([1, 1, 1, 0], 3.0), ([1, 0, 0, 0], 1.0), ([2, 2, 2, 2], 4.0)])
def test_effective_rank_counts_equal_values(values, rank):
    assert effective_rank(np.array(values, dtype=float)) == pytest.approx(rank, rel=1e-14)


@pytest.mark.parametrize("values", [[0, 0], [], [np.nan, 1], [[0, 0], [0, 0]]])
def test_nothing_has_no_effective_rank(values):
    assert np.isnan(effective_rank(np.array(values, dtype=float))).all()
