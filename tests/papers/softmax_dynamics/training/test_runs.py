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
from learning_dynamics.tidy import select
from learning_dynamics.trajectories import Trajectory
from tests.papers.softmax_dynamics.network import loss_of, trajectory_with_settings

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


@pytest.fixture(scope="module", params=["sum", "mean"])
def trained(request):
    return runs.combinations(**{**SETTINGS, "loss": request.param}, seed=5), request.param


@pytest.mark.parametrize(("method", "decay"), list(itertools.product(METHODS, (0.0, 0.3))))
def test_every_combination_is_torchs(trained, method, decay):
    trajectory, loss = trained
    constants = trajectory.constants
    (member, _) = np.flatnonzero(  # two seeds, of which the first is computed
        (constants["method"] == method)
        & (constants["decay"] == decay)
        & (constants["counts"] == SIZES).all(axis=1)
        & (constants["dimension"] == 2)
    )
    rng, _ = generators(5, "softmax_dynamics.map.4-2-1.2.0.3", 2)
    f, W = (torch.tensor(part, requires_grad=True) for part in toy.gaussian(rng, 7, 2, 3, scale=0.3))
    optimiser = torchs(method, 0.05, decay, [f, W])
    for _ in range(40):
        optimiser.zero_grad()
        (loss_of(f, W, LABELS, "cross_entropy") / (7 if loss == "mean" else 1)).backward()
        optimiser.step()
    losses = torch.nn.functional.cross_entropy((f @ W).detach(), LABELS, reduction="none").numpy()
    np.testing.assert_allclose(trajectory.series["loss"][member, -1], [losses.mean(), losses.max()], rtol=1e-6)
    own = np.exp(-losses)
    own_means = [own[:4].mean(), own[4:6].mean(), own[6]]
    np.testing.assert_allclose(trajectory.series["probabilities"][member, -1], own_means, rtol=1e-6)
    features = f.detach().numpy()
    means = np.stack([features[:4].mean(0), features[4:6].mean(0), features[6]])
    for population, rows in (("examples", features), ("classes", means)):
        eigenvalues, expected = trajectory.series[population][member], np.linalg.eigvalsh(np.cov(rows.T, bias=True))
        np.testing.assert_allclose(eigenvalues[-1, :2], expected, rtol=1e-6, atol=1e-9, err_msg=population)
        assert (eigenvalues[:, 2] == 0).all(), population


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
    few = train(np.ones(3, dtype=int), rows, W, optimiser, records=records, minibatch_seed=1, copies=n)
    every = train(n, np.repeat(rows, n, axis=0), W, optimiser, records=records, minibatch_seed=1, inputs=np.eye(7))
    for name in ("gram", "sums", "probabilities", "loss", "largest_loss"):
        np.testing.assert_allclose(getattr(few, name), getattr(every, name), rtol=1e-9, atol=1e-12, err_msg=name)


def test_losses_stay_finite_where_probabilities_round_to_nothing():
    f, W = np.array([[0.0, 60.0], [60.0, 0.0]]), 60.0 * np.eye(2)
    course = train(np.array([1, 1]), f, W, Optimiser(0.1), records=np.array([0]), minibatch_seed=1)
    np.testing.assert_allclose([course.loss[0], course.largest_loss[0]], 3600.0)


def test_a_minibatch_draws_examples_alone():
    with pytest.raises(ValueError, match="minibatch draws examples"):
        train(
            np.array([1, 1]),
            np.eye(2),
            np.eye(2),
            Optimiser(0.1, batch=1),
            records=np.array([0]),
            minibatch_seed=1,
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
    return trajectory_with_settings(runs.combinations, settings, seed=5)


@pytest.fixture(scope="module")
def combined(searched):
    return metrics.combinations(searched, steps=[60, 800], thresholds=[0.02], lower=0.4, upper=0.9)


@pytest.mark.parametrize("steps", [60, 800])
def test_who_learned_and_who_diverged(searched, combined, steps):
    assert searched.undecided.any()
    mean, largest = searched.series["loss"][:, searched.time <= steps][:, -1].T
    # a loss below log 2 is a probability above one half
    on_the_way = np.exp(-searched.series["loss"][:, searched.time <= steps, 1]).min(axis=1)
    learned = ~searched.undecided & (np.exp(-largest) > 0.5) & (on_the_way > 1e-300)
    diverged = searched.undecided | (mean > np.log(4))
    np.testing.assert_array_equal(select(combined, "learned", steps=steps)["value"], learned)
    np.testing.assert_array_equal(select(combined, "diverged", steps=steps)["value"], diverged)


def test_more_learn_in_more_steps(combined):
    short, long = (select(combined, "learned", steps=steps)["value"].sum() for steps in (60, 800))
    assert 0 < short < long


@pytest.mark.parametrize("population", ["examples", "classes"])
@pytest.mark.parametrize("steps", [60, 800])
def test_what_falls_up_to_a_number_of_steps(searched, combined, steps, population):
    kept, failed = searched.time <= steps, searched.undecided
    own = np.where(failed[:, None, None], 0.0, searched.series["probabilities"])[:, kept]
    windows = falls.windows(own, searched.constants["counts"], 0.4, 0.9)
    spectra = np.where(failed[:, None, None], 1.0, searched.series[population])[:, kept]
    ranks = np.exp(stats.entropy(spectra, axis=-1))
    expected = {
        "end": ranks[:, -1],
        **falls.three_phases(ranks, 0.02, windows),
        **falls.falls_by_window(ranks, 0.02, windows),
    }
    for name, values in expected.items():
        found = select(combined, name, steps=steps, population=population)["value"].to_numpy()
        values = np.where(failed, np.nan, values)
        np.testing.assert_allclose(found, values, rtol=1e-9, atol=1e-12, err_msg=name)


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


def test_a_training_that_explodes_on_the_way_has_not_learned():
    """Between a thousand nats and none: parameters that jump as far end with no loss, where they cannot move."""
    loss = np.array([[[1.4, 1.4], [largest, largest], [1e-9, 1e-9]] for largest in (30.0, 1000.0)])
    constants = {"counts": np.array([[4, 2, 1, 1]] * 2)}
    trajectory = Trajectory(np.arange(3.0), {"loss": loss}, constants, undecided=np.zeros(2, dtype=bool))
    assert metrics.outcomes(trajectory, np.ones(3, dtype=bool))["learned"].tolist() == [1.0, 0.0]


def test_columns_name_each_training(searched):
    table = metrics.combinations(searched, steps=[800], thresholds=[0.02], lower=0.4, upper=0.9)
    learned = table[table["quantity"] == "learned"]
    keys = ["learning_rate", "batch", "counts", "dimension"]
    expected = itertools.product([0.1, 1.0], [2, 0], ["4-2-1-1", "2-2-2-2"], [2, 3])
    assert [tuple(row) for row in learned[keys].drop_duplicates().itertuples(index=False)] == list(expected)
    assert (learned["skewed"] == (learned["counts"] == "4-2-1-1")).all()
    assert learned["seed"].tolist() == list(range(6)) * 16
