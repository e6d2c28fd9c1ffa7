"""What a rank is taken over, against numpy's weighted covariance and scipy's entropy."""

import numpy as np
import pytest
from scipy import stats

from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics.spectra import ranks_of

COUNTS = [4, 2, 1]


@pytest.fixture
def features():
    return np.random.default_rng(0).standard_normal((2, 3, 7, 2)), np.repeat(model.one_hot(COUNTS)[None], 2, axis=0)


def test_ranks_of_both_populations_are_told_apart(features):
    f, labels = features
    found = ranks_of(f, labels, ["examples", "classes"])
    assert set(found) == {f"{start}{name}" for start in ("", "class_")
                          for name in ("rankme_centred", "rankme", "effective_rank")}  # fmt: skip
    means = np.array([f[1, 2, :4].mean(0), f[1, 2, 4:6].mean(0), f[1, 2, 6]])
    for prefix, points in (("", f[1, 2]), ("class_", means)):
        covariance = np.cov(points.T, bias=True)
        assert found[f"{prefix}rankme_centred"][1, 2] == pytest.approx(
            np.exp(stats.entropy(np.linalg.eigvalsh(covariance)))
        )
        second = points.T @ points
        assert found[f"{prefix}rankme"][1, 2] == pytest.approx(np.exp(stats.entropy(np.linalg.eigvalsh(second))))
    assert set(ranks_of(f, labels, ["examples"])) == {"rankme_centred", "rankme", "effective_rank"}
