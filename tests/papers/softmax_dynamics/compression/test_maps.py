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
from learning_dynamics.papers.softmax_dynamics.optimisers import Optimiser, inputs_of, train
from tests.papers.softmax_dynamics.network import loss_of

COUNTS = np.array([3, 2, 1])
CLASSES = torch.tensor([0, 0, 0, 1, 1, 2])
STEPS = 30

PAIRS = {
    "descent": (Optimiser(0.1), lambda p: torch.optim.SGD(p, 0.1)),
    "momentum": (Optimiser(0.02, momentum=0.9), lambda p: torch.optim.SGD(p, 0.02, momentum=0.9)),
    "decay": (Optimiser(0.1, weight_decay=0.2), lambda p: torch.optim.SGD(p, 0.1, weight_decay=0.2)),
    "momentum and decay": (
        Optimiser(0.05, momentum=0.5, weight_decay=0.3),
        lambda p: torch.optim.SGD(p, 0.05, momentum=0.5, weight_decay=0.3),
    ),
    "adam": (Optimiser(0.05, adam=True), lambda p: torch.optim.Adam(p, 0.05)),
    "adam and decay": (
        Optimiser(0.05, weight_decay=0.2, adam=True), lambda p: torch.optim.Adam(p, 0.05, weight_decay=0.2),
    ),
    "adamw": (
        Optimiser(0.05, weight_decay=0.6, adam=True, decoupled=True),
        lambda p: torch.optim.AdamW(p, 0.05, weight_decay=0.6),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("correlations", [(0.0, 0.0), (0.1, 0.5)])
def test_training_is_torchs(name, correlations):
    ours, theirs = PAIRS[name]
    inputs = inputs_of(COUNTS, *correlations)
    start = toy.gaussian(np.random.default_rng(3), 6, 2, 3, 0.7)
    course = train(inputs, COUNTS, *start, ours, np.array([0, STEPS]), 1)
    theta, W = (torch.tensor(part, requires_grad=True) for part in start)
    optimiser = theirs([theta, W])
    data = torch.tensor(inputs)
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss_of(data @ theta, W, CLASSES, "cross_entropy").backward()
        optimiser.step()
    f = (data @ theta).detach().numpy()
    own = torch.softmax(data @ theta @ W, 1)[torch.arange(6), CLASSES].detach().numpy()
    np.testing.assert_allclose(course.gram[1], f.T @ f, rtol=1e-7)
    np.testing.assert_allclose(course.sums[1], [f[:3].sum(0), f[3:5].sum(0), f[5]], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(course.probabilities[1], [own[:3].mean(), own[3:5].mean(), own[5]], rtol=1e-7)
    np.testing.assert_allclose(course.gram[0], (inputs @ start[0]).T @ (inputs @ start[0]), rtol=1e-12)


def test_variants_change_what_they_say():
    settings = {
        "counts": [[2, 1, 1]], "dimensions": [2], "scales": [0.5], "seeds": 1, "learning_rate": 0.1, "steps": 40,
        "points": 5, "learning_rates": [0.3], "momenta": [0.5], "weight_decays": [0.2], "batches": [1],
        "adam_rates": [0.05], "shared_inputs": [0.4], "class_inputs": [0.5],
    }  # fmt: skip
    trajectory = runs.variants_map(**settings, seed=5)
    grams = dict(zip(trajectory.constants["variant"], trajectory.series["gram"], strict=True))
    # all start from the same parameters: features are equal where inputs are
    from learning_dynamics.seeds import generators

    (rng,) = generators(5, "softmax_dynamics.map.2-1-1.2.0.5", 1)
    start = toy.gaussian(rng, 4, 2, 3, 0.5)
    expected = {
        "gradient descent": (lambda p: torch.optim.SGD(p, 0.1), (0.0, 0.0)),
        "learning rate": (lambda p: torch.optim.SGD(p, 0.3), (0.0, 0.0)),
        "momentum": (lambda p: torch.optim.SGD(p, 0.05, momentum=0.5), (0.0, 0.0)),
        "weight decay": (lambda p: torch.optim.SGD(p, 0.1, weight_decay=0.2), (0.0, 0.0)),
        "Adam": (lambda p: torch.optim.Adam(p, 0.05), (0.0, 0.0)),
        "inputs shared": (lambda p: torch.optim.SGD(p, 0.1), (0.4, 0.0)),
        "inputs by class": (lambda p: torch.optim.SGD(p, 0.1), (0.0, 0.5)),
    }
    classes = torch.tensor([0, 0, 1, 2])
    for name, (theirs, (shared, within)) in expected.items():
        same = classes[:, None] == classes[None, :]
        kernel = (1 - shared - within) * torch.eye(4) + shared + within * same
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


def test_windows_and_falls_of_a_map_by_hand():
    settings = {
        "counts": [[6, 2, 1]], "dimensions": [2], "scales": [0.3], "seeds": 6, "learning_rate": 0.3, "steps": 400,
        "points": 40,
    }  # fmt: skip
    trajectory = runs.descent_map(**settings, seed=5)
    trajectory.settings = settings
    table = metrics.descent_map(trajectory, thresholds=[0.01], lower=0.3, upper=0.8)
    fallen = {name: map_draws(table, name, "rankme_centred", 0.01)["value"].to_numpy()
              for name in ("fall", "fall_rare", "fall_learning", "fall_before", "fall_after")}  # fmt: skip
    net = map_draws(table, "net", "rankme_centred", 0.0)["value"].to_numpy()
    learned = map_draws(table, "learned", "rankme_centred", 0.0)["value"].to_numpy()
    for member in range(6):
        gram, sums = trajectory.series["gram"][member], trajectory.series["sums"][member]
        covariances = [g - np.outer(s.sum(0), s.sum(0)) / 9 for g, s in zip(gram, sums, strict=True)]
        ranks = [np.exp(stats.entropy(np.linalg.eigvalsh(part))) for part in covariances]
        own = trajectory.series["probabilities"][member]
        last = len(own) - 1
        begin = next((t for t in range(len(own)) if own[t, 2] > 0.3), last) - 1
        end = next((t for t in range(len(own)) if own[t, 2] > 0.8), last)
        first = next((t for t in range(len(own)) if own[t].max() > 0.5), last)
        every = next((t for t in range(len(own)) if own[t].min() > 0.8), last)
        assert net[member] == pytest.approx(ranks[end] - ranks[max(begin, 0)])
        assert learned[member] == (own[-1].min() > 0.8)
        begin = max(begin, 0)
        windows = {
            "fall": (0, last), "fall_rare": (begin, end), "fall_learning": (first, every),
            "fall_before": (max(2 * begin - end, 0), begin), "fall_after": (end, min(2 * end - begin, last)),
        }  # fmt: skip
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


def test_ranks_of_classes_are_those_of_their_means():
    """The map keeps moments alone; the class means' covariance is numpy's, whatever pads the arrays."""
    settings = {
        "counts": [[6, 2, 1], [3, 1, 1, 1]], "dimensions": [2, 3], "scales": [0.3], "seeds": 2, "learning_rate": 0.05,
        "decays": [0.0, 0.5], "steps": 60, "points": 12,
    }  # fmt: skip
    trajectory = runs.adamw_map(**settings, seed=5)
    trajectory.settings = settings
    table = metrics.adamw_map(trajectory, thresholds=[0.01], lower=0.3, upper=0.6)
    net = {name: map_draws(table, "net", name, 0.0)["value"].to_numpy()
           for name in ("class_rankme_centred", "class_rankme")}  # fmt: skip
    assert map_draws(table, "net", "class_rankme", 0.0)["amount"].tolist() == [0.0] * 8 + [0.5] * 8
    for member in range(16):
        sizes = [size for size in trajectory.constants["counts"][member].tolist() if size]
        dimension = trajectory.constants["dimension"][member]
        means = trajectory.series["sums"][member, :, : len(sizes), :dimension] / np.array(sizes)[:, None]
        own = trajectory.series["probabilities"][member, :, : len(sizes)]
        last, rarest = len(own) - 1, [k for k, size in enumerate(sizes) if size == min(sizes)]
        begin = max(next((t for t in range(len(own)) if own[t, rarest].max() > 0.3), last) - 1, 0)
        end = next((t for t in range(len(own)) if own[t, rarest].min() > 0.6), last)
        for name, of in (
            ("class_rankme_centred", lambda m: np.cov(m.T, bias=True)),
            ("class_rankme", lambda m: m.T @ m),
        ):
            ranks = [np.exp(stats.entropy(np.clip(np.linalg.eigvalsh(of(means[t])), 0, None))) for t in (begin, end)]
            assert net[name][member] == pytest.approx(ranks[1] - ranks[0], abs=1e-9)


def test_training_that_diverges_is_empty_and_its_siblings_are_not():
    settings = {
        "counts": [[2, 1]], "dimensions": [2], "scales": [1.0], "seeds": 2, "learning_rate": 0.1, "steps": 50,
        "points": 8,
    }  # fmt: skip
    trajectory = runs.descent_map(**settings, seed=5)
    trajectory.settings = settings
    for name in trajectory.series:
        trajectory.series[name][1] = np.nan
    trajectory.undecided = np.array([False, True])
    table = metrics.descent_map(trajectory, thresholds=[0.01], lower=0.3, upper=0.8)
    assert table[table["seed"] == 1]["value"].isna().all()
    assert table[table["seed"] == 0]["value"].notna().all()
