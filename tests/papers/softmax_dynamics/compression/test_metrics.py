import numpy as np

from learning_dynamics.papers.softmax_dynamics import falls
from learning_dynamics.papers.softmax_dynamics import models as toy
from learning_dynamics.papers.softmax_dynamics.cases import map_draws
from learning_dynamics.papers.softmax_dynamics.compression import metrics, runs
from learning_dynamics.papers.softmax_dynamics.spectra import RANKS
from learning_dynamics.seeds import generators

MEASURE = {"thresholds": [0.02], "lower": 0.3, "upper": 0.9}


def test_ranks_from_moments_are_those_of_features_whatever_the_padding():
    settings = {
        "counts": [[3, 1], [2, 1, 1, 1]], "dimensions": [2, 3], "scales": [0.3], "seeds": 4, "learning_rate": 0.2,
        "steps": 200, "points": 25,
    }  # fmt: skip
    trajectory = runs.descent_map(**settings, seed=5)
    trajectory.settings = settings
    table = metrics.descent_map(trajectory, **MEASURE)
    for counts, dimension in (([3, 1], 2), ([2, 1, 1, 1], 3)):
        name = "-".join(map(str, counts))
        rows = map_draws(table, "fall", "rankme_centred", 0.02)
        found = rows[(rows["counts"] == name) & (rows["dimension"] == dimension)]["value"].to_numpy()
        label = f"softmax_dynamics.map.{name}.{dimension}.0.3"
        labels = toy.one_hot(counts)
        expected = []
        for rng in generators(5, label, 4):
            f, W = toy.gaussian(rng, sum(counts), dimension, len(counts), 0.3)
            series, learned = [], []
            for step in range(201):
                if step in trajectory.time:
                    series.append(RANKS["rankme_centred"](f))
                    p = toy.softmax(f @ W)
                    own = max((p[:, k] * labels[:, k]).sum() / labels[:, k].sum() for k in range(len(counts)))
                    learned.append(own > 0.5)
                df, dW = toy.derivatives(f, W, labels, "cross_entropy")
                f, W = f + 0.2 * df, W + 0.2 * dW
            whole = (np.array([0]), np.array([len(series) - 1]))
            first = np.array([learned.index(True) if True in learned else len(series) - 1])
            since = falls.troughs(np.array([series]), first)
            expected.append(falls.falls_within(np.array([series]), 0.02, whole, since)[0])
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_treated_and_controls_share_no_draw():
    settings = {
        "counts": [[2, 1, 1], [1, 1, 1]], "dimensions": [2, 3], "scales": [0.3], "seeds": 2, "learning_rate": 0.2,
        "steps": 50, "points": 10,
    }  # fmt: skip
    trajectory = runs.descent_map(**settings, seed=5)
    trajectory.settings = settings
    table = metrics.descent_map(trajectory, **MEASURE)
    sizes = [len(map_draws(table, "fall", "rankme", 0.02, control=name)) for name in ("treated", "equal", "wide")]
    assert sizes == [2, 2, 2]


def test_windows_beside_another_are_as_long_as_the_series_lets_them():
    found = metrics._adjacent_windows((np.array([2, 10]), np.array([6, 14])), 16)
    assert [bound.tolist() for bound in found["before"]] == [[0, 6], [2, 10]]
    assert [bound.tolist() for bound in found["after"]] == [[6, 14], [10, 16]]
