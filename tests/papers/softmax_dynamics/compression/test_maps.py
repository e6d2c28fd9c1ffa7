"""Trainings of the maps compared with torch's optimisers, and metrics of the maps with searches by loops."""

import itertools
from functools import partial

import numpy as np
import pytest
import torch
from scipy import stats
from scipy.signal import find_peaks

from learning_dynamics.papers.softmax_dynamics import models as toy
from learning_dynamics.papers.softmax_dynamics.cases import map_draws
from learning_dynamics.papers.softmax_dynamics.compression import metrics, runs
from learning_dynamics.seeds import generators
from tests.papers.softmax_dynamics.network import (
    LearningPlaces,
    learning_places,
    loss_of,
    rank_of,
    trajectory_with_settings,
)

VARIANTS = {
    "counts": [[3, 1, 1]],
    "dimensions": [2],
    "scales": [0.5],
    "seeds": 1,
    "learning_rate": 0.1,
    "steps": 40,
    "points": 5,
    # of each variant the one thing in which it differs from gradient descent
    "learning_rates": [0.3],
    "momenta": [0.5],
    "weight_decays": [0.2],
    "batches": [1],
    "adam_rates": [0.05],
    "shared_inputs": [0.4],
    "class_inputs": [1.0],
}


@pytest.fixture(scope="module")
def grams_of_variants() -> dict[str, np.ndarray]:
    """Return f^T f at each record, by variant."""
    trajectory = trajectory_with_settings(runs.variants_map, VARIANTS, seed=5)
    return dict(zip(trajectory.constants["variant"], trajectory.series["gram"], strict=True))


def descent(parameters: list[torch.Tensor]) -> torch.optim.Optimizer:
    """Return gradient descent, in one thing of which each variant differs."""
    return torch.optim.SGD(parameters, lr=0.1)


@pytest.mark.parametrize(
    # inner products of two inputs, of any classes, and how much larger they are within a class
    ("variant", "optimiser", "shared", "within_class"),
    [
        ("gradient descent", descent, 0.0, 0.0),
        ("learning rate", partial(torch.optim.SGD, lr=0.3), 0.0, 0.0),
        # the rate times one minus the momentum, which is the same effective rate
        ("momentum", partial(torch.optim.SGD, lr=0.05, momentum=0.5), 0.0, 0.0),
        ("weight decay", partial(torch.optim.SGD, lr=0.1, weight_decay=0.2), 0.0, 0.0),
        ("Adam", partial(torch.optim.Adam, lr=0.05), 0.0, 0.0),
        ("inputs shared", descent, 0.4, 0.0),
        ("inputs by class", descent, 0.0, 1.0),
    ],
)
def test_each_variant_ends_where_torchs_optimiser_does_on_inputs_of_its_correlation(
    grams_of_variants, variant, optimiser, shared, within_class
):
    classes = torch.tensor([0, 0, 0, 1, 2])
    same_class = classes[:, None] == classes[None, :]
    kernel = (1 - shared - within_class) * torch.eye(5) + shared + within_class * same_class
    values, vectors = torch.linalg.eigh(kernel.double())
    inputs = vectors * values.clamp(min=0).sqrt() @ vectors.T
    # all variants start from the same parameters
    (rng,) = generators(5, "softmax_dynamics.map.3-1-1.2.0.5", 1)
    start = toy.gaussian(rng, examples=5, dimension=2, classes=3, scale=0.5)
    theta, W = (torch.tensor(factor, requires_grad=True) for factor in start)
    torchs_optimiser = optimiser([theta, W])
    for _ in range(VARIANTS["steps"]):
        torchs_optimiser.zero_grad()
        loss_of(inputs @ theta, W, classes, loss="cross_entropy").backward()
        torchs_optimiser.step()
    f = (inputs @ theta).detach().numpy()
    np.testing.assert_allclose(grams_of_variants[variant][-1], f.T @ f, rtol=1e-6, atol=1e-9)


def test_minibatches_of_one_example_end_elsewhere_than_full_batches(grams_of_variants):
    # entries of f^T f are of order one; on average over minibatches a step is that of the full batch
    # (`test_optimiser_steps.py`)
    difference = grams_of_variants["minibatch"][-1] - grams_of_variants["gradient descent"][-1]
    assert np.abs(difference).max() > 1e-2


# -- what is measured of a map -----------------------------------------------------------------------------------------

LOWER, UPPER = 0.4, 0.8  # probabilities at which a class begins to be learned, and is learned
THRESHOLD = 0.01  # the least change that counts as a fall or a rise
MEMBERS = 12
SIZES = [6, 2, 1]


@pytest.fixture(scope="module")
def mapped():
    """Return the trajectory of trainings of nine examples, and what is measured of them.

    Steps are large, so that ranks swing: there are falls before, while and after the rarest class is learned.
    """
    settings = {
        "counts": [SIZES],
        "dimensions": [2],
        "scales": [0.3],
        "seeds": MEMBERS,
        "learning_rate": 1.2,
        "steps": 400,
        "points": 40,
    }
    trajectory = trajectory_with_settings(runs.descent_map, settings, seed=5)
    return trajectory, metrics.descent_map(trajectory, thresholds=[THRESHOLD], lower=LOWER, upper=UPPER)


def places_and_ranks(trajectory, member) -> tuple[LearningPlaces, list[float]]:
    """Return where a member learns its classes, and the rank over its nine examples at each record."""
    gram, sums = trajectory.series["gram"][member], trajectory.series["sums"][member]
    ranks = []
    for second_moment, class_sums in zip(gram, sums, strict=True):
        total = class_sums.sum(axis=0)
        covariance = second_moment - np.outer(total, total) / sum(SIZES)  # times the number of examples
        ranks.append(np.exp(stats.entropy(np.linalg.eigvalsh(covariance))))
    return learning_places(trajectory.series["probabilities"][member], SIZES, LOWER, UPPER), ranks


def deepest_fall(series, begin, end, *, trough) -> float:
    """Return the deepest part, from `begin` to `end`, of a fall after a rise since the trough.

    A fall begins at one of scipy's peaks, whose prominence is the threshold, and ends where the series is lowest before
    the next.
    """
    series = np.asarray(series)
    peaks = [trough + peak for peak in find_peaks(series[trough:], prominence=THRESHOLD)[0].tolist()]
    deepest = 0.0
    for top, next_top in itertools.pairwise([*peaks, len(series)]):
        bottom = top + int(np.argmin(series[top:next_top]))
        first, last = max(top, begin), min(bottom, end)
        if last > first:
            deepest = max(deepest, series[first] - series[last])
    return deepest


every_fall = pytest.mark.parametrize(
    "name", ["fall", "fall_rare", "fall_since_rare", "fall_learning", "fall_before", "fall_after"]
)


@pytest.mark.parametrize("member", range(MEMBERS))
@every_fall
def test_each_fall_is_the_deepest_that_a_search_by_peaks_has_in_its_window(mapped, member, name):
    trajectory, table = mapped
    places, ranks = places_and_ranks(trajectory, member)
    last = len(ranks) - 1
    begin, end = places.rare_begin, places.rare_learned
    window_of = {
        "fall": (0, last),
        "fall_rare": (begin, end),
        "fall_since_rare": (begin, last),
        "fall_learning": (places.first_learned, places.all_learned),
        # as many records as in `fall_rare`, just before and just after
        "fall_before": (max(2 * begin - end, 0), begin),
        "fall_after": (end, min(2 * end - begin, last)),
    }
    trough = int(np.argmin(ranks[: places.first_learned + 1]))
    measured = map_draws(table, name, "rankme_centred", THRESHOLD)["value"].to_numpy()[member]
    assert measured == pytest.approx(deepest_fall(ranks, *window_of[name], trough=trough), abs=1e-12)


@every_fall
def test_some_rank_falls_in_each_window_so_that_the_search_by_peaks_has_something_to_find(mapped, name):
    _, table = mapped
    assert map_draws(table, name, "rankme_centred", THRESHOLD)["value"].max() > 0


@pytest.mark.parametrize("member", range(MEMBERS))
def test_the_net_change_is_that_of_the_rank_while_the_rarest_class_is_learned(mapped, member):
    trajectory, table = mapped
    places, ranks = places_and_ranks(trajectory, member)
    net = map_draws(table, "net", "rankme_centred", threshold=0.0)["value"].to_numpy()
    assert net[member] == pytest.approx(ranks[places.rare_learned] - ranks[places.rare_begin])


def test_a_member_has_learned_if_every_class_ends_above_the_upper_probability(mapped):
    trajectory, table = mapped
    learned = map_draws(table, "learned", "rankme_centred", threshold=0.0)["value"]
    assert learned.tolist() == (trajectory.series["probabilities"][:, -1].min(axis=1) > UPPER).tolist()


# -- members of unequal shapes -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def padded():
    """Return the trajectory of 16 trainings of unequal shapes, and what is measured of them.

    They are of two decays, two lists of class sizes, two dimensions and two seeds, in this order. Arrays are padded
    with zeros to four classes and three dimensions.
    """
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
    return trajectory, metrics.adamw_map(trajectory, thresholds=[0.01], lower=0.3, upper=0.6)


def test_the_amount_of_a_variant_is_its_decay(padded):
    _, table = padded
    # any quantity would do; eight trainings have the first decay
    assert map_draws(table, "net", "class_rankme", threshold=0.0)["amount"].tolist() == [0.0] * 8 + [0.5] * 8


@pytest.mark.parametrize("member", range(16))
def test_ranks_are_those_of_numpys_covariances_whatever_the_padding(padded, member):
    """Each rank's change while the rarest classes are learned, over examples and over means of classes."""
    trajectory, table = padded
    sizes = np.array([size for size in trajectory.constants["counts"][member].tolist() if size])
    classes, d = len(sizes), trajectory.constants["dimension"][member]
    gram = trajectory.series["gram"][member, :, :d, :d]
    sums = trajectory.series["sums"][member, :, :classes, :d]
    places = learning_places(trajectory.series["probabilities"][member, :, :classes], sizes, lower=0.3, upper=0.6)

    def ranks_at(place: int) -> dict[str, float]:
        means, total = sums[place] / sizes[:, None], sums[place].sum(axis=0)
        centred = gram[place] - np.outer(total, total) / sizes.sum()
        return {
            "rankme": np.exp(stats.entropy(np.linalg.eigvalsh(gram[place]))),
            "rankme_centred": np.exp(stats.entropy(np.linalg.eigvalsh(centred))),
            "class_rankme": rank_of(means, centred=False),
            "class_rankme_centred": rank_of(means),
        }

    before, after = ranks_at(places.rare_begin), ranks_at(places.rare_learned)
    for name in before:
        net = map_draws(table, "net", name, threshold=0.0)["value"].to_numpy()
        assert net[member] == pytest.approx(after[name] - before[name], abs=1e-9), name


def test_draws_are_treated_or_of_one_control_or_of_none_by_their_skew_and_dimension():
    """Treated are skewed sizes in the fewest dimensions.

    Controls are equal sizes in as many, and `wide`, skewed sizes in more, if these are the classes less one or more.
    """
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
    draws = {name: len(map_draws(table, "fall", "rankme", 0.02, case=name)) for name in ("treated", "equal", "wide")}
    # two seeds each. In one dimension both skewed sizes are treated, and the equal ones are their control. In two only
    # three classes have no bottleneck, which four have
    assert draws == {"treated": 2 * 2, "equal": 2, "wide": 2}


def test_rows_of_a_training_that_diverges_are_empty_and_those_of_its_siblings_are_not():
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
        trajectory.series[name][1] = np.nan  # the second seed
    trajectory.undecided = np.array([False, True])
    table = metrics.descent_map(trajectory, thresholds=[0.01], lower=0.3, upper=0.8)
    assert table[table["seed"] == 1]["value"].isna().all()
    assert table[table["seed"] == 0]["value"].notna().all()
