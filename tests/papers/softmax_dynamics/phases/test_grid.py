"""What is measured of grids, against scipy's flow, torch's derivatives, and searches by loops."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest
import scipy
import torch
from scipy import stats

from learning_dynamics.papers.softmax_dynamics import cells
from learning_dynamics.papers.softmax_dynamics.grids import Grid, Moment
from learning_dynamics.papers.softmax_dynamics.phases import metrics, runs
from learning_dynamics.tidy import select
from tests.papers.softmax_dynamics.network import (
    integrate_by_scipy,
    learning_places,
    loss_of,
    rank_of,
    rates_of_singular_values,
    trajectory_with_settings,
    velocity,
)

SETTINGS = {
    "counts": [[2, 2, 1, 1], [3, 1, 1, 1]],
    "dimension": 2,
    "loss": "cross_entropy",
    "inits": ["balanced", "gaussian"],
    "scales": [0.1, 0.3],
    "seeds": 2,
    "first_time": 0.1,
    "horizon": 100.0,
    "points": 40,
    "rtol": 1e-9,
    "atol": 1e-13,
}
MEASURE = {"thresholds": [0.05], "lower": 0.4, "upper": 0.9, "populations": ["examples"]}


@pytest.fixture(scope="module", params=["cross_entropy", "squared"])
def grid(request):
    trajectory = trajectory_with_settings(runs.flow_grid, {**SETTINGS, "loss": request.param}, seed=6)
    return trajectory, metrics.flow_grid(trajectory, **MEASURE)


def states(trajectory, member):
    return (trajectory.series[name][member].astype(float) for name in "fW")


def own_outputs(f, W, counts, loss):
    """Mean over each class's examples of its own output, shape (times, classes)."""
    outputs = f @ W
    if loss == "cross_entropy":
        outputs = scipy.special.softmax(outputs, axis=-1)
    ends = np.cumsum([0, *counts])
    return np.stack([outputs[:, ends[k] : ends[k + 1], k].mean(axis=1) for k in range(len(counts))], axis=1)


def leading_cosine(f, W):
    """Return |cos| of the angle of the leading directions that f and W have in feature space."""
    return abs(np.linalg.svd(f)[2][0] @ np.linalg.svd(W)[0][:, 0])


def separated(points, size):
    """Return how far the mean of the first rows lies from that of the others, in units of the spread within."""
    parts = points[:size], points[size:]
    spread = sum(np.var(part, axis=0).sum() * len(part) for part in parts) / len(points)
    return np.linalg.norm(parts[0].mean(axis=0) - parts[1].mean(axis=0)) / np.sqrt(spread)


@pytest.mark.parametrize(("member", "counts"), [(0, [2, 2, 1, 1]), (15, [3, 1, 1, 1])])
def test_flows_are_scipys_from_torchs_gradient(grid, member, counts):
    trajectory, _ = grid
    f, W = states(trajectory, member)
    expected = integrate_by_scipy(
        f[0], W[0], trajectory.time, lambda f, W: velocity(f, W, counts, trajectory.settings["loss"])
    )
    # stored in single precision
    np.testing.assert_allclose(f, expected[0], rtol=0, atol=1e-5)
    np.testing.assert_allclose(W, expected[1], rtol=0, atol=1e-5)


@dataclass(frozen=True)
class Member:
    """A member by hand: its states, the outputs of its classes, its rank, and where its moments are."""

    number: int
    counts: list[int]
    f: np.ndarray
    W: np.ndarray
    outputs: np.ndarray
    ranks: np.ndarray
    places: dict[Moment, int]


@pytest.fixture(scope="module")
def by_hand(grid):
    trajectory, _ = grid
    found = []
    for number in range(trajectory.members):
        counts = trajectory.constants["counts"][number].tolist()
        f, W = states(trajectory, number)
        outputs = own_outputs(f, W, counts, trajectory.settings["loss"])
        first, begin, learned, _ = learning_places(outputs, counts, 0.4, 0.9)
        places = dict(zip(Moment, [0, first, begin, learned, len(f) - 1], strict=True))
        ranks = np.array([rank_of(points) for points in f])
        found.append(Member(number=number, counts=counts, f=f, W=W, outputs=outputs, ranks=ranks, places=places))
    return found


def test_moments_are_apart_in_some_member(grid, by_hand):
    """Under the squared loss not all classes are learned, and moments coincide."""
    distinct = [len(set(member.places.values())) for member in by_hand]
    assert max(distinct) == len(Moment) or grid[0].settings["loss"] == "squared"


def test_outputs_at_the_end(grid, by_hand):
    final = Grid(grid[1]).entries("final")
    np.testing.assert_allclose(final, [member.outputs[-1] for member in by_hand], rtol=0, atol=1e-6)


def test_a_class_is_learned_when_its_output_passes_one_half_for_good(grid, by_hand):
    trajectory, table = grid
    times, learning_times = trajectory.time, Grid(table).learning_times()
    for member in by_hand:
        for k, when in enumerate(learning_times[member.number]):
            output, case = member.outputs[:, k], f"member {member.number}, class {k}"
            if np.isinf(when):
                assert output[-1] <= 0.5, case
            else:
                assert np.interp(when, times, output) == pytest.approx(0.5, abs=1e-6), case
                assert (output[times >= when] > 0.5).all(), case


def test_ranks_and_their_changes(grid, by_hand):
    trajectory, table = grid
    times, found = trajectory.time, Grid(table)
    half_decade = next(place for place, time in enumerate(times) if time >= times[-1] / 10**0.5)
    for member in by_hand:
        ranks, places = member.ranks, member.places
        # the warm-up's trough, where the rank is lowest until the first class is learned
        trough = min(range(places[Moment.FIRST_LEARNED] + 1), key=lambda place: ranks[place])
        expected = {
            "warm_up": max(ranks[: trough + 1]) - ranks[trough],
            "growth": max(ranks[trough:]) - ranks[trough],
            "net": ranks[places[Moment.RARE_LEARNED]] - ranks[places[Moment.RARE_BEGIN]],
            "tail": ranks[-1] - ranks[half_decade],
        }
        measured = {name: found.number(name, measure="rankme_centred")[member.number] for name in expected}
        assert measured == pytest.approx(expected, abs=1e-6), f"member {member.number}"
        at_moments = {moment: found.at(moment, "rank", measure="rankme_centred")[member.number] for moment in Moment}
        assert at_moments == pytest.approx({moment: ranks[places[moment]] for moment in Moment}, abs=1e-6), (
            f"member {member.number}"
        )


@pytest.mark.parametrize("moment", Moment)
def test_spectra_alignment_and_separation_at_each_moment(grid, by_hand, moment):
    trajectory, table = grid
    found = Grid(table)
    for member in by_hand:
        place, counts = member.places[moment], member.counts
        f, W = member.f[place], member.W[place]
        sigma = np.sqrt(np.linalg.eigvalsh(f.T @ f)[::-1])
        rate = rates_of_singular_values(f, velocity(f, W, counts, trajectory.settings["loss"])[0])
        expected = {
            "reached": trajectory.time[place],
            "sigma_1": sigma[0],
            "sigma_2": sigma[1],
            "rate_1": rate[0],
            "rate_2": rate[1],
            "alignment": leading_cosine(f, W),
        }
        apart = {"separation_f": separated(f, counts[0]), "separation_w": separated(W.T, 1)}
        measured = {name: found.at(moment, name)[member.number] for name in [*expected, *apart]}
        assert {name: measured[name] for name in expected} == pytest.approx(expected, abs=1e-6), member.number
        assert {name: measured[name] for name in apart} == pytest.approx(apart, rel=1e-4), member.number


def test_each_member_has_its_class_sizes_start_scale_and_seed(grid):
    _, table = grid
    names = ["2-2-1-1", "3-1-1-1"]  # of SETTINGS["counts"]
    expected = itertools.product(names, SETTINGS["inits"], SETTINGS["scales"], range(SETTINGS["seeds"]))
    members = Grid(table).members[["counts", "init", "scale", "seed"]]
    assert list(members.itertuples(index=False, name=None)) == list(expected)


def test_starts_are_as_large_as_the_scale_that_is_said(grid):
    trajectory, table = grid
    scale, sizes = Grid(table).scale, np.mean(trajectory.series["f"][:, 0].astype(float) ** 2, axis=(1, 2))
    for said in SETTINGS["scales"]:
        # 96 entries: their root mean square has a relative standard error of 0.07; scales differ by a factor of three
        assert np.sqrt(sizes[scale == said].mean()) == pytest.approx(said, rel=0.3), said


def test_equal_classes_are_not_skewed():
    counts = np.array([[2, 2, 2, 2], [2, 2, 1, 1], [3, 3, 0, 0], [2, 1, 0, 0]])  # zeros are padding
    found = {name: values.tolist() for name, values in cells.class_sizes(counts).items()}
    assert found == {
        "counts": ["2-2-2-2", "2-2-1-1", "3-3", "2-1"],
        "skewed": [False, True, False, True],
        "classes": [4, 4, 2, 2],
    }


CELL = {
    "counts": [3, 1, 1],
    "dimension": 3,
    "loss": "cross_entropy",
    "init": "gaussian",
    "scale": 0.2,
    "seeds": 2,
    "first_time": 0.1,
    "horizon": 50.0,
    "points": 8,
    "rtol": 1e-8,
    "atol": 1e-12,
}


@pytest.fixture(scope="module")
def cell():
    trajectory = trajectory_with_settings(runs.toy, CELL, seed=1)
    return trajectory, metrics.toy(trajectory, coordinates=1, populations=["examples", "classes"])


def series_of(table, quantity, seed, entries=1):
    """Return a quantity of one draw over time, shape (times, entries)."""
    return select(table, quantity, seed=seed)["value"].to_numpy().reshape(-1, entries)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("prefix", ["", "class_"])
def test_ranks_of_a_cell_over_time(cell, prefix, seed):
    trajectory, table = cell
    f, _ = states(trajectory, seed)
    means = np.stack([f[:, :3].mean(axis=1), f[:, 3], f[:, 4]], axis=1)
    rows = means if prefix else f
    ranks = {
        "rankme_centred": [rank_of(points) for points in rows],
        "rankme": [rank_of(points, centred=False) for points in rows],
        "effective_rank": [np.exp(stats.entropy(np.linalg.svd(points)[1])) for points in rows],
    }
    for name, expected in ranks.items():
        measured = series_of(table, f"{prefix}{name}", seed)[:, 0]
        np.testing.assert_allclose(measured, expected, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("seed", [0, 1])
def test_loss_alignment_and_separation_of_a_cell_over_time(cell, seed):
    trajectory, table = cell
    pairs, classes = list(zip(*states(trajectory, seed), strict=True)), torch.tensor([0, 0, 0, 1, 2])
    by_hand = {
        "loss": [float(loss_of(torch.tensor(f), torch.tensor(W), classes, "cross_entropy")) for f, W in pairs],
        "alignment": [leading_cosine(f, W) for f, W in pairs],
        "separation_f": [separated(f, 3) for f, _ in pairs],
        "separation_w": [separated(W.T, 1) for _, W in pairs],
    }
    for name, expected in by_hand.items():
        np.testing.assert_allclose(series_of(table, name, seed)[:, 0], expected, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("seed", [0, 1])
def test_probabilities_and_rates_of_a_cell_over_time(cell, seed):
    trajectory, table = cell
    f, W = states(trajectory, seed)
    outputs = own_outputs(f, W, CELL["counts"], "cross_entropy")
    np.testing.assert_allclose(series_of(table, "probability", seed, 3), outputs, rtol=0, atol=1e-12)
    rates = [
        rates_of_singular_values(features, velocity(features, classifier, CELL["counts"], "cross_entropy")[0])
        for features, classifier in zip(f, W, strict=True)
    ]
    np.testing.assert_allclose(series_of(table, "rate", seed, 3), rates, rtol=0, atol=1e-9)


def test_coordinates_are_those_of_the_first_members(cell):
    trajectory, table = cell
    assert select(table, "feature_x")["seed"].unique().tolist() == [0]
    f, W = (factor[-1] for factor in states(trajectory, 0))
    for name, expected in (("feature_x", f[:, 0]), ("feature_y", f[:, 1]), ("class_x", W[0]), ("class_y", W[1])):
        measured = select(table, name, time=trajectory.time[-1])["value"]
        np.testing.assert_allclose(measured, expected, err_msg=name)
