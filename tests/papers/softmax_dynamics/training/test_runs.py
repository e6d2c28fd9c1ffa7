"""Trainings compared with torch's, with one row of features a class and with all; metrics with scipy's and by hand."""

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

SIZES = [4, 2, 1]  # of classes
LABELS = torch.tensor([0, 0, 0, 0, 1, 1, 2])  # of seven examples
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


def torch_optimiser(method: str, decay: float, parameters: list[torch.Tensor]) -> torch.optim.Optimizer:
    """Return torch's optimiser with the rate and the momentum of `SETTINGS`."""
    (rate,) = SETTINGS["learning_rates"]
    momentum = SETTINGS["momentum"]
    if method == "SGD":
        return torch.optim.SGD(parameters, rate, weight_decay=decay)
    if method == "momentum":
        # the run's learning rate is the effective one, torch's over one minus the momentum
        return torch.optim.SGD(parameters, rate * (1 - momentum), momentum=momentum, weight_decay=decay)
    if method == "Adam":
        return torch.optim.Adam(parameters, rate, weight_decay=decay)
    return torch.optim.AdamW(parameters, rate, weight_decay=decay)


@pytest.fixture(scope="module", params=["sum", "mean"])
def trained(request):
    """Return the trajectory of all combinations, and whether the loss is a sum or a mean over examples."""
    return runs.combinations(**{**SETTINGS, "loss": request.param}, seed=5), request.param


@pytest.mark.parametrize(("method", "decay"), list(itertools.product(METHODS, SETTINGS["decays"])))
def test_every_combination_ends_where_torchs_optimiser_does(trained, method, decay):
    trajectory, loss = trained
    constants = trajectory.constants
    # the first of two seeds
    member, _ = np.flatnonzero(
        (constants["method"] == method)
        & (constants["decay"] == decay)
        & (constants["counts"] == SIZES).all(axis=1)
        & (constants["dimension"] == 2)
    )
    rng, _ = generators(5, "softmax_dynamics.map.4-2-1.2.0.3", 2)
    start = toy.gaussian(rng, examples=len(LABELS), dimension=2, classes=3, scale=0.3)
    f, W = (torch.tensor(factor, requires_grad=True) for factor in start)
    optimiser = torch_optimiser(method, decay, [f, W])
    for _ in range(SETTINGS["steps"]):
        optimiser.zero_grad()
        (loss_of(f, W, LABELS, loss="cross_entropy") / (len(LABELS) if loss == "mean" else 1)).backward()
        optimiser.step()
    losses = torch.nn.functional.cross_entropy((f @ W).detach(), LABELS, reduction="none").numpy()
    np.testing.assert_allclose(trajectory.series["loss"][member, -1], [losses.mean(), losses.max()], rtol=1e-6)
    own = np.exp(-losses)  # the probability of each example's own class
    own_means = [own[:4].mean(), own[4:6].mean(), own[6]]
    np.testing.assert_allclose(trajectory.series["probabilities"][member, -1], own_means, rtol=1e-6)
    features = f.detach().numpy()
    means = np.stack([features[:4].mean(0), features[4:6].mean(0), features[6]])
    for population, rows in (("examples", features), ("classes", means)):
        eigenvalues, expected = trajectory.series[population][member], np.linalg.eigvalsh(np.cov(rows.T, bias=True))
        np.testing.assert_allclose(eigenvalues[-1, :2], expected, rtol=1e-6, atol=1e-9, err_msg=population)
        # arrays are padded to the larger dimension, three
        assert (eigenvalues[:, 2] == 0).all(), population


@pytest.mark.parametrize(
    "optimiser",
    [
        Optimiser(0.02, momentum=0.9, weight_decay=0.1),
        Optimiser(0.03, weight_decay=0.6, adam=True, decoupled=True),
    ],
    ids=["momentum and decay", "AdamW"],
)
def test_a_row_with_copies_moves_as_the_examples_that_start_together(optimiser):
    rng = np.random.default_rng(2)
    rows, W = toy.gaussian(rng, examples=3, dimension=2, classes=3, scale=0.5)
    records, sizes = np.array([0, 1, 30]), np.array(SIZES)
    one_row_a_class = np.ones(3, dtype=int)
    of_rows = train(one_row_a_class, rows, W, optimiser, records=records, minibatch_seed=1, copies=sizes)
    row_of_each_example = np.repeat(rows, sizes, axis=0)
    of_examples = train(sizes, row_of_each_example, W, optimiser, records=records, minibatch_seed=1, inputs=np.eye(7))
    for name in ("gram", "sums", "probabilities", "loss", "largest_loss"):
        np.testing.assert_allclose(
            getattr(of_rows, name), getattr(of_examples, name), rtol=1e-9, atol=1e-12, err_msg=name
        )


def test_losses_stay_finite_where_probabilities_round_to_nothing():
    # each example's own logit is 0 and the other one 60 * 60: its probability is exp(-3600), which is zero in double
    # precision
    f, W = np.array([[0.0, 60.0], [60.0, 0.0]]), 60.0 * np.eye(2)
    course = train(np.array([1, 1]), f, W, Optimiser(0.1), records=np.array([0]), minibatch_seed=1)
    np.testing.assert_allclose([course.loss[0], course.largest_loss[0]], 60.0 * 60.0)


def test_minibatches_of_rows_with_copies_are_refused():
    with pytest.raises(ValueError, match="a minibatch draws examples, not rows that stand for several"):
        train(
            np.array([1, 1]),
            np.eye(2),
            np.eye(2),
            Optimiser(0.1, batch=1),
            records=np.array([0]),
            minibatch_seed=1,
            copies=np.array([2, 1]),
        )


def test_a_run_with_minibatches_of_rows_of_classes_is_refused():
    with pytest.raises(ProjectError, match="`rows: classes` takes full batches alone"):
        runs.combinations(**{**SETTINGS, "rows": "classes", "batches": [0, 2]}, seed=1)


def test_class_sizes_of_unequal_numbers_of_classes_are_refused():
    with pytest.raises(ProjectError, match="all entries of `counts` must have as many classes"):
        runs.combinations(**{**SETTINGS, "counts": [[1, 1], [1, 1, 1]]}, seed=1)


@pytest.mark.parametrize(
    ("method", "variance"),  # of an entry of a row, in units of the squared scale
    [
        # what descent leaves of small starts is the mean of the four examples
        ("SGD", 1 / 4),
        ("momentum", 1 / 4),
        # Adam moves each example, however small its gradient
        ("Adam", 1),
        ("AdamW", 1),
    ],
)
def test_rows_of_classes_start_at_the_scale_under_adam_and_as_means_of_examples_under_descent(method, variance):
    settings = {**SETTINGS, "counts": [[4, 4]], "dimensions": [2], "rows": "classes", "decays": [0.0], "seeds": 600}
    trajectory = runs.combinations(**{**settings, "methods": [method], "steps": 1, "points": 1}, seed=3)
    # of two points the covariance has one eigenvalue that is not zero, a quarter of their squared distance
    squared_distances = 4 * trajectory.series["classes"][:, 0].sum(axis=-1)
    # two rows differ in two entries, each by twice the variance. The distances are chi squared with two degrees of
    # freedom: a mean of 600 has a relative standard error of 1 / sqrt(600)
    assert squared_distances.mean() == pytest.approx(2 * 2 * variance * 0.3**2, rel=4 / np.sqrt(600))


UNIFORM, ONE_HALF = np.log(4), np.log(2)  # losses of uniform predictions of four classes, of a probability of one half
LOWER, UPPER, THRESHOLD = 0.4, 0.9, 0.02  # of `metrics.combinations`, as in `falls`


@pytest.fixture(scope="module")
def trajectory():
    """Return trainings with skewed and equal sizes at two rates; some of them diverge."""
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
def table(trajectory):
    """Return what is measured after 60 steps and after all 800."""
    return metrics.combinations(trajectory, steps=[60, 800], thresholds=[THRESHOLD], lower=LOWER, upper=UPPER)


@pytest.mark.parametrize("steps", [60, 800])
def test_trainings_have_learned_or_diverged_by_their_losses_up_to_a_number_of_steps(trajectory, table, steps):
    assert trajectory.undecided.any()
    losses = trajectory.series["loss"][:, trajectory.time <= steps]  # the mean over examples, and the largest
    mean, largest = losses[:, -1].T
    # a loss is minus the logarithm of an example's own probability
    lowest_probability = np.exp(-losses[..., 1]).min(axis=1)
    is_normal = lowest_probability > np.finfo(float).tiny
    learned = ~trajectory.undecided & (np.exp(-largest) > 0.5) & is_normal
    diverged = trajectory.undecided | (mean > UNIFORM)
    np.testing.assert_array_equal(select(table, "learned", steps=steps)["value"], learned)
    np.testing.assert_array_equal(select(table, "diverged", steps=steps)["value"], diverged)


def test_more_learn_in_more_steps(table):
    after_60, after_800 = (select(table, "learned", steps=steps)["value"].sum() for steps in (60, 800))
    assert 0 < after_60 < after_800


@pytest.mark.parametrize("population", ["examples", "classes"])
@pytest.mark.parametrize("steps", [60, 800])
def test_ranks_and_their_falls_are_those_up_to_a_number_of_steps(trajectory, table, steps, population):
    """The falls are those that `falls` finds in ranks by scipy; tests of `falls` show that they are right."""
    until_end, failed = trajectory.time <= steps, trajectory.undecided
    # failed trainings take any finite numbers here, and nan below
    own = np.where(failed[:, None, None], 0.0, trajectory.series["probabilities"])[:, until_end]
    windows = falls.windows(own, trajectory.constants["counts"], LOWER, UPPER)
    spectra = np.where(failed[:, None, None], 1.0, trajectory.series[population])[:, until_end]
    ranks = np.exp(stats.entropy(spectra, axis=-1))
    expected = {
        "end": ranks[:, -1],
        **falls.three_phases(ranks, THRESHOLD, windows),
        **falls.falls_by_window(ranks, THRESHOLD, windows),
    }
    for name, values in expected.items():
        measured = select(table, name, steps=steps, population=population)["value"].to_numpy()
        np.testing.assert_allclose(measured, np.where(failed, np.nan, values), rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    ("mean", "largest", "learned", "diverged"),
    [
        pytest.param(1.01 * UNIFORM, 3.0, 0, 1, id="worse than uniform"),
        pytest.param(0.99 * UNIFORM, 3.0, 0, 0, id="better than uniform"),
        pytest.param(0.1, 1.01 * ONE_HALF, 0, 0, id="one example below one half"),
        pytest.param(0.1, 0.99 * ONE_HALF, 1, 0, id="every example above one half"),
        pytest.param(np.inf, np.inf, 0, 1, id="not finite"),
    ],
)
def test_diverged_is_worse_than_uniform_and_learned_is_every_example_above_one_half(mean, largest, learned, diverged):
    loss = np.array([[[UNIFORM, UNIFORM], [mean, largest]]])  # one member at two times
    trajectory = Trajectory(
        np.array([0.0, 1.0]), {"loss": loss}, {"counts": np.array([[4, 2, 1, 1]])}, undecided=~np.isfinite([mean])
    )
    outcomes = metrics.outcomes(trajectory, np.array([True, True]))  # of all times
    assert outcomes["learned"].tolist() == [learned]
    assert outcomes["diverged"].tolist() == [diverged]


@pytest.mark.parametrize(("largest", "learned"), [(30.0, True), (1000.0, False)])  # the largest loss on the way
def test_a_training_that_explodes_on_the_way_has_not_learned(largest, learned):
    """Parameters that explode can end with no loss, where they do not move any more.

    An example's probability exp(-30) is a normal number of double precision, exp(-1000) is not.
    """
    loss = np.array([[[1.4, 1.4], [largest, largest], [1e-9, 1e-9]]])
    constants = {"counts": np.array([[4, 2, 1, 1]])}
    trajectory = Trajectory(np.arange(3.0), {"loss": loss}, constants, undecided=np.array([False]))
    assert metrics.outcomes(trajectory, np.ones(3, dtype=bool))["learned"].tolist() == [learned]


def test_columns_name_each_training(table):
    learned = select(table, "learned", steps=800)
    keys = ["learning_rate", "batch", "counts", "dimension"]
    trainings = list(learned[keys].drop_duplicates().itertuples(index=False, name=None))
    expected = itertools.product([0.1, 1.0], [2, 0], ["4-2-1-1", "2-2-2-2"], [2, 3])
    assert trainings == list(expected)
    assert (learned["skewed"] == (learned["counts"] == "4-2-1-1")).all()
    assert learned["seed"].tolist() == list(range(6)) * len(trainings)
