"""Training against torch's own optimisers, and the map's measures against searches by loops."""

import itertools

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.signal import find_peaks

from learning_dynamics.papers.softmax_dynamics import models as toy
from learning_dynamics.papers.softmax_dynamics.cases import map_draws
from learning_dynamics.papers.softmax_dynamics.compression import metrics, runs
from learning_dynamics.seeds import generators
from tests.papers.softmax_dynamics.network import learning_places, loss_of, rank_of, trajectory_with_settings


def test_variants_change_what_they_say():
    settings = {
        "counts": [[3, 1, 1]],
        "dimensions": [2],
        "scales": [0.5],
        "seeds": 1,
        "learning_rate": 0.1,
        "steps": 40,
        "points": 5,
        "learning_rates": [0.3],
        "momenta": [0.5],
        "weight_decays": [0.2],
        "batches": [1],
        "adam_rates": [0.05],
        "shared_inputs": [0.4],
        "class_inputs": [1.0],
    }
    trajectory = trajectory_with_settings(runs.variants_map, settings, seed=5)
    grams = dict(zip(trajectory.constants["variant"], trajectory.series["gram"], strict=True))
    # all start from the same parameters: features are equal where inputs are
    (rng,) = generators(5, "softmax_dynamics.map.3-1-1.2.0.5", 1)
    start = toy.gaussian(rng, 5, 2, 3, scale=0.5)
    expected = {
        "gradient descent": (lambda p: torch.optim.SGD(p, 0.1), (0.0, 0.0)),
        "learning rate": (lambda p: torch.optim.SGD(p, 0.3), (0.0, 0.0)),
        "momentum": (lambda p: torch.optim.SGD(p, 0.05, momentum=0.5), (0.0, 0.0)),
        "weight decay": (lambda p: torch.optim.SGD(p, 0.1, weight_decay=0.2), (0.0, 0.0)),
        "Adam": (lambda p: torch.optim.Adam(p, 0.05), (0.0, 0.0)),
        "inputs shared": (lambda p: torch.optim.SGD(p, 0.1), (0.4, 0.0)),
        "inputs by class": (lambda p: torch.optim.SGD(p, 0.1), (0.0, 1.0)),
    }
    classes = torch.tensor([0, 0, 0, 1, 2])
    for name, (theirs, (shared, within)) in expected.items():
        same = classes[:, None] == classes[None, :]
        kernel = (1 - shared - within) * torch.eye(5) + shared + within * same
        values, vectors = torch.linalg.eigh(kernel.double())
        data = vectors * values.clamp(min=0).sqrt() @ vectors.T
        theta, W = (torch.tensor(part, requires_grad=True) for part in start)
        optimiser = theirs([theta, W])
        for _ in range(40):
            optimiser.zero_grad()
            loss_of(data @ theta, W, classes, "cross_entropy").backward()
            optimiser.step()
        f = (data @ theta).detach().numpy()
        np.testing.assert_allclose(grams[name][-1], f.T @ f, rtol=1e-6, atol=1e-9, err_msg=name)
    assert np.abs(grams["minibatch"][-1] - grams["gradient descent"][-1]).max() > 1e-2


@pytest.fixture(scope="module")
def mapped():
    settings = {
        "counts": [[6, 2, 1]],
        "dimensions": [2],
        "scales": [0.3],
        "seeds": 6,
        "learning_rate": 0.3,
        "steps": 400,
        "points": 40,
    }
    trajectory = trajectory_with_settings(runs.descent_map, settings, seed=5)
    return trajectory, metrics.descent_map(trajectory, thresholds=[0.01], lower=0.3, upper=0.8)


@pytest.mark.parametrize("member", range(6))
def test_windows_and_falls_of_a_map_by_hand(mapped, member):
    trajectory, table = mapped
    fallen = {
        name: map_draws(table, name, "rankme_centred", 0.01)["value"].to_numpy()
        for name in ("fall", "fall_rare", "fall_since_rare", "fall_learning", "fall_before", "fall_after")
    }
    net = map_draws(table, "net", "rankme_centred", 0.0)["value"].to_numpy()
    learned = map_draws(table, "learned", "rankme_centred", 0.0)["value"].to_numpy()
    gram, sums = trajectory.series["gram"][member], trajectory.series["sums"][member]
    covariances = [g - np.outer(s.sum(0), s.sum(0)) / 9 for g, s in zip(gram, sums, strict=True)]
    ranks = [np.exp(stats.entropy(np.linalg.eigvalsh(part))) for part in covariances]
    own = trajectory.series["probabilities"][member]
    last = len(own) - 1
    first, begin, end, every = learning_places(own, [6, 2, 1], 0.3, 0.8)
    assert net[member] == pytest.approx(ranks[end] - ranks[begin])
    assert learned[member] == (own[-1].min() > 0.8)
    windows = {
        "fall": (0, last),
        "fall_rare": (begin, end),
        "fall_since_rare": (begin, last),
        "fall_learning": (first, every),
        "fall_before": (max(2 * begin - end, 0), begin),
        "fall_after": (end, min(2 * end - begin, last)),
    }
    for name, (low, high) in windows.items():
        assert fallen[name][member] == pytest.approx(deepest(ranks, low, high, 0.01, first), abs=1e-12), name


def deepest(series, low, high, threshold, first):
    """The deepest part in a window of a fall after a rise since the trough: scipy's peaks, and troughs behind."""
    start = int(np.argmin(series[: first + 1]))
    series = np.asarray(series)
    peaks = [start + peak for peak in find_peaks(series[start:], prominence=threshold)[0].tolist()]
    found = 0.0
    for top, after in itertools.pairwise([*peaks, len(series)]):
        bottom = top + int(np.argmin(series[top:after]))
        begin, end = max(top, low), min(bottom, high)
        if end > begin:
            found = max(found, series[begin] - series[end])
    return found


def test_ranks_are_those_of_moments_and_of_means_of_classes_whatever_the_padding():
    """The map keeps moments alone; the class means' covariance is numpy's."""
    settings = {
        "counts": [[6, 2, 1], [3, 1, 1, 1]],
        "dimensions": [2, 3],
        "scales": [0.3],
        "seeds": 2,
        "learning_rate": 0.05,
        "decays": [0.0, 0.5],
        "steps": 60,
        "points": 12,
    }
    trajectory = trajectory_with_settings(runs.adamw_map, settings, seed=5)
    table = metrics.adamw_map(trajectory, thresholds=[0.01], lower=0.3, upper=0.6)
    measures = ("rankme_centred", "rankme", "class_rankme_centred", "class_rankme")
    net = {name: map_draws(table, "net", name, 0.0)["value"].to_numpy() for name in measures}
    assert map_draws(table, "net", "class_rankme", 0.0)["amount"].tolist() == [0.0] * 8 + [0.5] * 8
    for member in range(16):
        sizes = np.array([size for size in trajectory.constants["counts"][member].tolist() if size])
        d = trajectory.constants["dimension"][member]
        gram, sums = trajectory.series["gram"][member, :, :d, :d], trajectory.series["sums"][member]
        own = trajectory.series["probabilities"][member, :, : len(sizes)]
        _, begin, end, _ = learning_places(own, sizes, 0.3, 0.6)
        ranks = []
        for t in (begin, end):
            means, total = sums[t, : len(sizes), :d] / sizes[:, None], sums[t, : len(sizes), :d].sum(axis=0)
            second = (gram[t] - np.outer(total, total) / sizes.sum(), gram[t])
            over_examples = [np.exp(stats.entropy(np.linalg.eigvalsh(part))) for part in second]
            ranks.append([*over_examples, rank_of(means), rank_of(means, centred=False)])
        for name, begins, ends in zip(measures, *ranks, strict=True):
            assert net[name][member] == pytest.approx(ends - begins, abs=1e-9), name


def test_treated_and_controls_share_no_draw():
    settings = {
        "counts": [[2, 1, 1], [3, 1, 1, 1], [1, 1]],
        "dimensions": [1, 2],
        "scales": [0.3],
        "seeds": 2,
        "learning_rate": 0.2,
        "steps": 50,
        "points": 10,
    }
    table = metrics.descent_map(
        trajectory_with_settings(runs.descent_map, settings, seed=5), thresholds=[0.02], lower=0.3, upper=0.9
    )
    sizes = [len(map_draws(table, "fall", "rankme", 0.02, control=name)) for name in ("treated", "equal", "wide")]
    assert sizes == [4, 2, 2]  # two dimensions are as good as wide for three classes, and not for four


def test_training_that_diverges_is_empty_and_its_siblings_are_not():
    settings = {
        "counts": [[2, 1]],
        "dimensions": [2],
        "scales": [1.0],
        "seeds": 2,
        "learning_rate": 0.1,
        "steps": 50,
        "points": 8,
    }
    trajectory = trajectory_with_settings(runs.descent_map, settings, seed=5)
    for name in trajectory.series:
        trajectory.series[name][1] = np.nan
    trajectory.undecided = np.array([False, True])
    table = metrics.descent_map(trajectory, thresholds=[0.01], lower=0.3, upper=0.8)
    assert table[table["seed"] == 1]["value"].isna().all()
    assert table[table["seed"] == 0]["value"].notna().all()
