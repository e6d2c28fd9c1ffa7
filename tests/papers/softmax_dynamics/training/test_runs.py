"""Combined optimisers against torch's, one row a class against all its examples, and what is measured by hand."""

import itertools

import numpy as np
import pytest
import torch
from scipy import stats

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics import falls
from learning_dynamics.papers.softmax_dynamics import models as toy
from learning_dynamics.papers.softmax_dynamics.optimisers import Optimiser, train
from learning_dynamics.papers.softmax_dynamics.training import metrics, runs
from learning_dynamics.seeds import generators
from learning_dynamics.trajectories import Trajectory
from tests.papers.softmax_dynamics.network import loss_of, recorded

SIZES = [4, 2, 1]
LABELS = torch.tensor([0, 0, 0, 0, 1, 1, 2])
METHODS = ["SGD", "momentum", "Adam", "AdamW"]
SETTINGS = {
    "counts": [SIZES, [2, 2, 2]],
    "dimensions": [2, 3],
    "scales": [0.3],
    "seeds": 2,
    "methods": METHODS,
    "learning_rates": [0.05],
    "momentum": 0.8,
    "decays": [0.0, 0.3],
    "batches": [0],
    "loss": "sum",
    "rows": "examples",
    "steps": 40,
    "points": 6,
}


def torchs(method: str, rate: float, decay: float, parameters: list[torch.Tensor]) -> torch.optim.Optimizer:
    if method == "SGD":
        return torch.optim.SGD(parameters, rate, weight_decay=decay)
    if method == "momentum":
        return torch.optim.SGD(parameters, rate * (1 - 0.8), momentum=0.8, weight_decay=decay)
    return {"Adam": torch.optim.Adam, "AdamW": torch.optim.AdamW}[method](parameters, rate, weight_decay=decay)


@pytest.mark.parametrize("loss", ["sum", "mean"])
def test_every_combination_is_torchs(loss):
    trajectory = runs.combinations(**{**SETTINGS, "loss": loss}, seed=5)
    constants = trajectory.constants
    found = {
        (str(constants["method"][k]), constants["decay"][k]): k
        for k in range(trajectory.members)
        if constants["counts"][k].tolist() == SIZES and constants["dimension"][k] == 2 and k % 2 == 0
    }
    assert set(found) == set(itertools.product(METHODS, (0.0, 0.3)))
    rng, _ = generators(5, "softmax_dynamics.map.4-2-1.2.0.3", 2)
    start = toy.gaussian(rng, 7, 2, 3, scale=0.3)
    for (method, decay), member in found.items():
        f, W = (torch.tensor(part, requires_grad=True) for part in start)
        optimiser = torchs(method, 0.05, decay, [f, W])
        for _ in range(40):
            optimiser.zero_grad()
            (loss_of(f, W, LABELS, "cross_entropy") / (7 if loss == "mean" else 1)).backward()
            optimiser.step()
        logits = (f @ W).detach()
        each = torch.nn.functional.cross_entropy(logits, LABELS, reduction="none").numpy()
        features = f.detach().numpy()
        means = np.stack([features[:4].mean(0), features[4:6].mean(0), features[6]])
        case = f"{method} {decay}"
        expected = [np.linalg.eigvalsh(np.cov(part.T, bias=True)) for part in (features, means)]
        for population, values in zip(("examples", "classes"), expected, strict=True):
            np.testing.assert_allclose(
                trajectory.series[population][member, -1, :2], values, rtol=1e-6, atol=1e-9, err_msg=case
            )
            assert (trajectory.series[population][member, :, 2] == 0).all()
        np.testing.assert_allclose(trajectory.series["loss"][member, -1], [each.mean(), each.max()], rtol=1e-6)
        own = np.exp(-each)
        own_means = [own[:4].mean(), own[4:6].mean(), own[6]]
        np.testing.assert_allclose(trajectory.series["probabilities"][member, -1], own_means, rtol=1e-6, err_msg=case)


@pytest.mark.parametrize(
    "optimiser",
    [
        Optimiser(0.02, momentum=0.9, weight_decay=0.1),
        Optimiser(0.03, weight_decay=0.6, adam=True, decoupled=True),
    ],
)
def test_a_row_stands_for_examples_that_start_together(optimiser):
    rng = np.random.default_rng(2)
    rows, W = toy.gaussian(rng, 3, 2, 3, scale=0.5)
    records, n = np.array([0, 1, 30]), np.array(SIZES)
    few = train(np.ones(3, dtype=int), rows, W, optimiser, records=records, draws=1, copies=n)
    every = train(n, np.repeat(rows, n, axis=0), W, optimiser, records=records, draws=1, inputs=np.eye(7))
    for name in ("gram", "sums", "probabilities", "loss", "largest_loss"):
        np.testing.assert_allclose(getattr(few, name), getattr(every, name), rtol=1e-9, atol=1e-12, err_msg=name)


def test_losses_stay_finite_where_probabilities_round_to_nothing():
    f, W = np.array([[0.0, 60.0], [60.0, 0.0]]), 60.0 * np.eye(2)
    course = train(np.array([1, 1]), f, W, Optimiser(0.1), records=np.array([0]), draws=1)
    np.testing.assert_allclose([course.loss[0], course.largest_loss[0]], 3600.0)


def test_a_minibatch_draws_examples_alone():
    with pytest.raises(ValueError, match="minibatch draws examples"):
        train(
            np.array([1, 1]),
            np.eye(2),
            np.eye(2),
            Optimiser(0.1, batch=1),
            records=np.array([0]),
            draws=1,
            copies=np.array([2, 1]),
        )
    with pytest.raises(ProjectError, match="full batches alone"):
        runs.combinations(**{**SETTINGS, "rows": "classes", "batches": [0, 2]}, seed=1)
    with pytest.raises(ProjectError, match="as many classes"):
        runs.combinations(**{**SETTINGS, "counts": [[1, 1], [1, 1, 1]]}, seed=1)


def test_rows_of_classes_start_as_what_is_left_of_their_examples():
    """Means of n examples under descent, rows of the scale under Adam; six hundred draws of two entries."""
    settings = {**SETTINGS, "counts": [[4, 4]], "dimensions": [2], "rows": "classes", "decays": [0.0], "seeds": 600}
    trajectory = runs.combinations(**{**settings, "steps": 1, "points": 1}, seed=3)
    # two points: the one eigenvalue of the means is a quarter of the squared distance of the rows
    distance = 4 * trajectory.series["classes"][:, 0].sum(axis=-1)
    for method, variance in (("SGD", 2 / 4), ("momentum", 2 / 4), ("Adam", 2), ("AdamW", 2)):
        mean = distance[trajectory.constants["method"] == method].mean()
        # of chi squared, mean of 600 draws: a standard error of four per cent
        assert mean == pytest.approx(2 * 0.3**2 * variance, rel=0.15), method


@pytest.fixture(scope="module")
def searched():
    settings = {
        "counts": [[4, 2, 1, 1], [2, 2, 2, 2]],
        "dimensions": [2, 3],
        "scales": [0.01],
        "seeds": 6,
        "methods": ["SGD"],
        "learning_rates": [0.1, 1.0],
        "momentum": 0.0,
        "decays": [0.0],
        "batches": [2, 0],
        "loss": "sum",
        "rows": "examples",
        "steps": 800,
        "points": 60,
    }
    return recorded(runs.combinations, settings, seed=5)


def test_who_learned_who_diverged_and_what_falls(searched):
    table = metrics.combinations(searched, steps=[60, 800], thresholds=[0.02], lower=0.4, upper=0.9)
    sizes, failed = searched.constants["counts"], searched.undecided
    assert failed.any()
    for end in (60, 800):
        rows = table[table["steps"] == end]
        kept = searched.time <= end
        mean, largest = searched.series["loss"][:, kept][:, -1].T
        learned = rows[rows["quantity"] == "learned"]["value"].to_numpy()
        diverged = rows[rows["quantity"] == "diverged"]["value"].to_numpy()
        for member in range(searched.members):
            whole = not failed[member]
            # a loss below log 2 is a probability above one half
            assert learned[member] == (whole and np.exp(-largest[member]) > 0.5)
            assert diverged[member] == (not whole or mean[member] > np.log(4))
        own = np.where(failed[:, None, None], 0.0, searched.series["probabilities"])[:, kept]
        windows = falls.windows(own, sizes, 0.4, 0.9)
        for population in ("examples", "classes"):
            spectra = np.where(failed[:, None, None], 1.0, searched.series[population])[:, kept]
            ranks = np.exp(stats.entropy(spectra, axis=-1))
            expected = {"phases": falls.three_phases(ranks, 0.02, windows), "end": ranks[:, -1]}
            expected |= falls.falls_by_window(ranks, 0.02, windows)
            part = rows[rows["population"] == population]
            for name, values in expected.items():
                found = part[part["quantity"] == name]["value"].to_numpy()
                assert np.isnan(found[failed]).all()
                np.testing.assert_allclose(found[~failed], values[~failed], rtol=1e-9, atol=1e-12, err_msg=name)
    short, long = (
        table[(table["steps"] == end) & (table["quantity"] == "learned")]["value"].sum() for end in (60, 800)
    )
    assert 0 < short < long


@pytest.mark.parametrize(
    ("mean", "largest", "expected"),
    [
        (1.01 * np.log(4), 3.0, (0, 1)),
        (0.99 * np.log(4), 3.0, (0, 0)),
        (0.1, 1.01 * np.log(2), (0, 0)),
        (0.1, 0.99 * np.log(2), (1, 0)),
        (np.inf, np.inf, (0, 1)),
    ],
)
def test_diverged_is_worse_than_uniform_and_learned_is_every_example_above_one_half(mean, largest, expected):
    loss = np.array([[[np.log(4)] * 2, [mean, largest]]])
    trajectory = Trajectory(
        np.array([0.0, 1.0]), {"loss": loss}, {"counts": np.array([[4, 2, 1, 1]])}, undecided=~np.isfinite([mean])
    )
    found = metrics.outcomes(trajectory, np.array([True, True]))
    assert (found["learned"][0], found["diverged"][0]) == expected


def test_columns_name_each_training(searched):
    table = metrics.combinations(searched, steps=[800], thresholds=[0.02], lower=0.4, upper=0.9)
    learned = table[table["quantity"] == "learned"]
    keys = ["learning_rate", "batch", "counts", "dimension"]
    expected = itertools.product([0.1, 1.0], [2, 0], ["4-2-1-1", "2-2-2-2"], [2, 3])
    assert [tuple(row) for row in learned[keys].drop_duplicates().itertuples(index=False)] == list(expected)
    assert (learned["skewed"] == (learned["counts"] == "4-2-1-1")).all()
    assert learned["seed"].tolist() == list(range(6)) * 16
