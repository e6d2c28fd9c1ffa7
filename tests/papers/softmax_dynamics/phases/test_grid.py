"""Flows and metrics of grids and of single cells, compared with scipy's flow, torch's derivatives and loops."""

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
    # of the integration: recorded at 0, then evenly in the logarithm of time
    "first_time": 0.1,
    "horizon": 100.0,
    "points": 40,
    "rtol": 1e-9,
    "atol": 1e-13,
}
# `thresholds`: least changes of the rank that count as a fall or a rise; `lower` and `upper`: probabilities at which a
# class begins to be learned, and is
MEASURE = {"thresholds": [0.05], "lower": 0.4, "upper": 0.9, "populations": ["examples"]}
# states are stored in single precision: metrics that compute with them alike agree to better than this
SINGLE = 1e-6


@pytest.fixture(scope="module", params=["cross_entropy", "squared"])
def trajectory(request):
    return trajectory_with_settings(runs.flow_grid, {**SETTINGS, "loss": request.param}, seed=6)


@pytest.fixture(scope="module")
def table(trajectory):
    return metrics.flow_grid(trajectory, **MEASURE)


def states(trajectory, member):
    """Return f and W of one member, shapes (times, examples, d) and (times, d, classes)."""
    return (trajectory.series[name][member].astype(float) for name in "fW")


def own_outputs(f, W, counts, loss):
    """Return the mean over each class's examples of its own probability or output, shape (times, classes)."""
    outputs = f @ W
    if loss == "cross_entropy":
        outputs = scipy.special.softmax(outputs, axis=-1)
    ends = np.cumsum([0, *counts])
    return np.stack([outputs[:, ends[k] : ends[k + 1], k].mean(axis=1) for k in range(len(counts))], axis=1)


def leading_cosine(f, W):
    """Return |cos| of the angle of the leading directions that f and W have in feature space."""
    return abs(np.linalg.svd(f)[2][0] @ np.linalg.svd(W)[0][:, 0])


def separation(points, size):
    """Return how far the mean of the first `size` rows is from that of the others, in units of the spread within."""
    first, others = points[:size], points[size:]
    squares = np.var(first, axis=0).sum() * len(first) + np.var(others, axis=0).sum() * len(others)
    return np.linalg.norm(first.mean(axis=0) - others.mean(axis=0)) / np.sqrt(squares / len(points))


# the first of the 16 members and the last
@pytest.mark.parametrize(("member", "counts"), [(0, [2, 2, 1, 1]), (15, [3, 1, 1, 1])])
def test_flows_are_scipys_from_torchs_gradient(trajectory, member, counts):
    f, W = states(trajectory, member)
    loss = trajectory.settings["loss"]
    expected_f, expected_W = integrate_by_scipy(f[0], W[0], trajectory.time, lambda f, W: velocity(f, W, counts, loss))
    # single precision of entries below ten, and what the flow makes of that in the start
    np.testing.assert_allclose(f, expected_f, rtol=0, atol=10 * SINGLE)
    np.testing.assert_allclose(W, expected_W, rtol=0, atol=10 * SINGLE)


@dataclass(frozen=True)
class Member:
    """A member whose states are the run's, and the rest is computed here: outputs, rank, and places of moments."""

    number: int
    counts: list[int]
    f: np.ndarray
    W: np.ndarray
    outputs: np.ndarray  # (times, classes), as `own_outputs`
    ranks: np.ndarray  # (times,), centred RankMe
    places: dict[Moment, int]

    def __str__(self) -> str:
        return f"member {self.number}"


@pytest.fixture(scope="module")
def members(trajectory):
    members = []
    for number in range(trajectory.members):
        counts = trajectory.constants["counts"][number].tolist()
        f, W = states(trajectory, number)
        outputs = own_outputs(f, W, counts, trajectory.settings["loss"])
        learning = learning_places(outputs, counts, MEASURE["lower"], MEASURE["upper"])
        places = {
            Moment.START: 0,
            Moment.FIRST_LEARNED: learning.first_learned,
            Moment.RARE_BEGIN: learning.rare_begin,
            Moment.RARE_LEARNED: learning.rare_learned,
            Moment.END: len(f) - 1,
        }
        ranks = np.array([rank_of(points) for points in f])
        members.append(Member(number=number, counts=counts, f=f, W=W, outputs=outputs, ranks=ranks, places=places))
    return members


def test_all_moments_are_apart_in_some_member_under_cross_entropy_alone(trajectory, members):
    """If they were in none, the tests below would not tell one moment from another.

    Under the squared loss not all classes are learned, and moments coincide.
    """
    all_are_apart = [len(set(member.places.values())) == len(Moment) for member in members]
    assert any(all_are_apart) == (trajectory.settings["loss"] == "cross_entropy")


def test_final_outputs_are_those_of_each_class_at_the_end(table, members):
    final = Grid(table).entries("final")
    np.testing.assert_allclose(final, [member.outputs[-1] for member in members], rtol=0, atol=SINGLE)


def test_a_class_is_learned_when_its_output_passes_one_half_for_good(trajectory, table, members):
    times, learning_times = trajectory.time, Grid(table).learning_times()
    for member in members:
        for k, learning_time in enumerate(learning_times[member.number]):
            output = member.outputs[:, k]
            case = f"{member}, class {k}"
            if np.isinf(learning_time):
                assert output[-1] <= 0.5, case
            else:
                assert np.interp(learning_time, times, output) == pytest.approx(0.5, abs=SINGLE), case
                assert (output[times >= learning_time] > 0.5).all(), case


def test_changes_of_the_rank_are_those_between_its_places_in_time(trajectory, table, members):
    times, grid = trajectory.time, Grid(table)
    last_half_decade = next(place for place, time in enumerate(times) if time >= times[-1] / 10**0.5)
    for member in members:
        ranks, places = member.ranks, member.places
        # the warm-up's trough, where the rank is lowest until the first class is learned
        trough = int(np.argmin(ranks[: places[Moment.FIRST_LEARNED] + 1]))
        expected = {
            "warm_up": max(ranks[: trough + 1]) - ranks[trough],
            "growth": max(ranks[trough:]) - ranks[trough],
            "net": ranks[places[Moment.RARE_LEARNED]] - ranks[places[Moment.RARE_BEGIN]],
            "tail": ranks[-1] - ranks[last_half_decade],
        }
        measured = {name: grid.number(name, measure="rankme_centred")[member.number] for name in expected}
        assert measured == pytest.approx(expected, abs=SINGLE), member


@pytest.mark.parametrize("moment", Moment)
def test_the_rank_at_each_moment_is_that_at_its_place(table, members, moment):
    expected = [member.ranks[member.places[moment]] for member in members]
    np.testing.assert_allclose(Grid(table).at(moment, "rank", measure="rankme_centred"), expected, rtol=0, atol=SINGLE)


@pytest.mark.parametrize("moment", Moment)
def test_spectra_rates_and_alignment_at_each_moment_are_those_of_numpy_and_torch(trajectory, table, members, moment):
    grid = Grid(table)
    for member in members:
        place = member.places[moment]
        f, W = member.f[place], member.W[place]
        sigma = np.sqrt(np.linalg.eigvalsh(f.T @ f)[::-1])
        df, _ = velocity(f, W, member.counts, trajectory.settings["loss"])
        rate = rates_of_singular_values(f, df)
        expected = {
            "reached": trajectory.time[place],
            "sigma_1": sigma[0],
            "sigma_2": sigma[1],
            "rate_1": rate[0],
            "rate_2": rate[1],
            "alignment": leading_cosine(f, W),
        }
        measured = {name: grid.at(moment, name)[member.number] for name in expected}
        assert measured == pytest.approx(expected, abs=SINGLE), member


@pytest.mark.parametrize("moment", Moment)
def test_separations_at_each_moment_are_those_of_the_largest_class_from_the_others(table, members, moment):
    grid = Grid(table)
    for member in members:
        place = member.places[moment]
        expected = {
            "separation_f": separation(member.f[place], member.counts[0]),
            "separation_w": separation(member.W[place].T, 1),
        }
        measured = {name: grid.at(moment, name)[member.number] for name in expected}
        # a spread that is small beside the distance has fewer digits
        assert measured == pytest.approx(expected, rel=100 * SINGLE), member


def test_each_member_has_its_class_sizes_start_scale_and_seed(table):
    names = ["2-2-1-1", "3-1-1-1"]  # of SETTINGS["counts"]
    expected = itertools.product(names, SETTINGS["inits"], SETTINGS["scales"], range(SETTINGS["seeds"]))
    columns = Grid(table).members[["counts", "init", "scale", "seed"]]
    assert list(columns.itertuples(index=False, name=None)) == list(expected)


@pytest.mark.parametrize("scale", SETTINGS["scales"])
def test_features_start_as_large_as_the_scale_that_the_table_names(trajectory, table, scale):
    features = trajectory.series["f"][Grid(table).scale == scale, 0].astype(float)
    # the root mean square of N entries has the relative standard error 1 / sqrt(2 N), here 0.07; scales differ by a
    # factor of three
    assert np.sqrt(np.mean(features**2)) == pytest.approx(scale, rel=4 / np.sqrt(2 * features.size))


def test_columns_of_class_sizes_leave_out_the_padding_and_call_unequal_ones_skewed():
    counts = np.array([[2, 2, 2, 2], [2, 2, 1, 1], [3, 3, 0, 0], [2, 1, 0, 0]])  # zeros are padding
    columns = {name: values.tolist() for name, values in cells.class_sizes(counts).items()}
    assert columns == {
        "counts": ["2-2-2-2", "2-2-1-1", "3-3", "2-1"],
        "skewed": [False, True, False, True],
        "classes": [4, 4, 2, 2],
    }


# -- a single cell, over time ------------------------------------------------------------------------------------------

CELL = {
    "counts": [3, 1, 1],
    "dimension": 3,
    "loss": "cross_entropy",
    "init": "gaussian",
    "scale": 0.2,
    "seeds": 2,
    # of the integration: recorded at 0, then evenly in the logarithm of time
    "first_time": 0.1,
    "horizon": 50.0,
    "points": 8,
    "rtol": 1e-8,
    "atol": 1e-12,
}


@pytest.fixture(scope="module")
def cell():
    """Return the flows of one cell and the table of what is measured of them."""
    trajectory = trajectory_with_settings(runs.toy, CELL, seed=1)
    return trajectory, metrics.toy(trajectory, coordinates=1, populations=["examples", "classes"])


def series_of(table, quantity, seed):
    """Return a quantity of one draw over time, shape (times, entries); of one entry (times,)."""
    rows = select(table, quantity, seed=seed)
    return rows["value"].to_numpy().reshape(rows["time"].nunique(), -1).squeeze()


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("population", "prefix"), [("examples", ""), ("classes", "class_")])
def test_ranks_of_a_cell_over_time_are_entropies_of_its_spectra(cell, population, prefix, seed):
    trajectory, table = cell
    f, _ = states(trajectory, seed)  # shape (times, examples, d)
    class_means = np.stack([f[:, :3].mean(axis=1), f[:, 3], f[:, 4]], axis=1)  # of 3, 1 and 1 examples
    rows = class_means if population == "classes" else f
    ranks = {
        "rankme_centred": [rank_of(points) for points in rows],
        "rankme": [rank_of(points, centred=False) for points in rows],
        "effective_rank": [np.exp(stats.entropy(np.linalg.svd(points)[1])) for points in rows],
    }
    for name, expected in ranks.items():
        measured = series_of(table, f"{prefix}{name}", seed)
        np.testing.assert_allclose(measured, expected, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("seed", [0, 1])
def test_loss_alignment_and_separation_of_a_cell_over_time_are_those_of_torch_and_numpy(cell, seed):
    trajectory, table = cell
    pairs = list(zip(*states(trajectory, seed), strict=True))  # f and W at each time
    classes = torch.tensor([0, 0, 0, 1, 2])  # of each example
    by_hand = {
        "loss": [float(loss_of(torch.tensor(f), torch.tensor(W), classes, "cross_entropy")) for f, W in pairs],
        "alignment": [leading_cosine(f, W) for f, W in pairs],
        "separation_f": [separation(f, 3) for f, _ in pairs],
        "separation_w": [separation(W.T, 1) for _, W in pairs],
    }
    for name, expected in by_hand.items():
        np.testing.assert_allclose(series_of(table, name, seed), expected, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("seed", [0, 1])
def test_probabilities_and_rates_of_a_cell_over_time_are_those_of_scipy_and_torch(cell, seed):
    trajectory, table = cell
    f, W = states(trajectory, seed)
    outputs = own_outputs(f, W, CELL["counts"], "cross_entropy")
    np.testing.assert_allclose(series_of(table, "probability", seed), outputs, rtol=0, atol=1e-12)
    rates = []
    for features, classifier in zip(f, W, strict=True):
        df, _ = velocity(features, classifier, CELL["counts"], "cross_entropy")
        rates.append(rates_of_singular_values(features, df))
    np.testing.assert_allclose(series_of(table, "rate", seed), rates, rtol=0, atol=1e-9)


def test_coordinates_are_written_of_as_many_members_as_asked_for(cell):
    trajectory, table = cell  # measured with `coordinates=1`, of two members
    assert select(table, "feature_x")["seed"].unique().tolist() == [0]
    f, W = (factor[-1] for factor in states(trajectory, member=0))
    for name, expected in (("feature_x", f[:, 0]), ("feature_y", f[:, 1]), ("class_x", W[0]), ("class_y", W[1])):
        measured = select(table, name, time=trajectory.time[-1])["value"]
        np.testing.assert_allclose(measured, expected, err_msg=name)
