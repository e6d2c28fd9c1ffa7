"""Singular values along descent: plain descent by torch, entropies by scipy, and rises whose times are known."""

import numpy as np
import pandas as pd
import pytest
import scipy
import torch

from learning_dynamics.datasets.matrix_completion import low_rank
from learning_dynamics.papers.deep_linear.singular_values import metrics, runs
from learning_dynamics.tidy import by_draw, select
from tests.papers.deep_linear import plain
from tests.papers.deep_linear.shared import trajectory_and_table
from tests.support import evaluation

SIZE = 6  # rows, and columns
SETTINGS = {"depth": 2, "scale": 0.05, "learning_rate": 0.7, "iterations": 12, "points": 4, "draws": 2, "top": 3}
STEPS = [0, 4, 8, 12]  # recorded: `points` of them, evenly spaced up to `iterations`
TOP = SETTINGS["top"]  # singular values that are measured


@pytest.fixture(scope="module")
def data():
    """Three draws, of which the run follows two: `truth` and `mask`, shape (3, SIZE, SIZE)."""
    return low_rank(size=SIZE, rank=2, observed=20, draws=3, seed=8)


@pytest.fixture(scope="module")
def paths(data):
    """The run under SETTINGS, recorded at STEPS, and its metrics."""
    return trajectory_and_table(runs.singular_value_paths, metrics.singular_value_paths, SETTINGS, data)


def plain_loss(data, draw):
    return plain.loss_on_observed(data["truth"][draw], data["mask"][draw])


def plain_descent(data, draw, step):
    """Return the end-to-end matrix after so many steps from scaled identity layers, by torch."""
    start = [SETTINGS["scale"] ** (1 / 2) * np.eye(SIZE)] * 2
    return plain.multiply(plain.descend(start, plain_loss(data, draw), SETTINGS["learning_rate"], step))


def measured(table, quantity, draw, step, **where):
    """Return one number: a quantity of a draw after so many steps."""
    return by_draw(table, quantity, draw="draw", **where)[draw, STEPS.index(step)]


def test_time_is_steps_times_the_learning_rate(paths):
    trajectory, _ = paths
    np.testing.assert_allclose(trajectory.time, np.array(STEPS) * SETTINGS["learning_rate"])


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("draw", [0, 1])
def test_losses_and_spectra_are_those_of_plain_descent(data, paths, draw, step):
    _, table = paths
    W = plain_descent(data, draw, step)
    values = np.linalg.svd(W, compute_uv=False)
    expected = {
        "train_loss": float(plain_loss(data, draw)(torch.tensor(W))),
        "error": np.mean((W - data["truth"][draw]) ** 2),
        "effective_rank": np.exp(scipy.stats.entropy(values)),
    }
    assert {name: measured(table, name, draw, step) for name in expected} == pytest.approx(expected)
    sigma = [measured(table, "sigma", draw, step, index=index) for index in range(1, TOP + 1)]
    np.testing.assert_allclose(sigma, values[:TOP])


# not at the start, where all singular values are equal, and every basis is one of singular vectors
@pytest.mark.parametrize("step", STEPS[1:])
@pytest.mark.parametrize("draw", [0, 1])
def test_the_gradient_is_measured_in_the_basis_of_leading_singular_vectors(data, paths, draw, step):
    _, table = paths
    W = plain_descent(data, draw, step)
    U, _, Vt = np.linalg.svd(W)
    (gradient,) = plain.gradients([W], plain_loss(data, draw))
    leading = np.abs(U.T @ gradient @ Vt.T)[:TOP, :TOP]
    is_diagonal = np.eye(TOP, dtype=bool)
    assert measured(table, "diagonal", draw, step) == pytest.approx(np.mean(leading[is_diagonal]), rel=1e-6)
    assert measured(table, "off_diagonal", draw, step) == pytest.approx(np.mean(leading[~is_diagonal]), rel=1e-6)


def test_the_rank_of_each_matrix_to_complete_is_in_a_row_of_time_zero(data):
    of_rank_1_4_and_6 = np.stack([np.diag(np.arange(SIZE) < rank).astype(float) for rank in (1, 4, 6)])
    run, measure = runs.singular_value_paths, metrics.singular_value_paths
    _, table = trajectory_and_table(run, measure, SETTINGS, data | {"truth": of_rank_1_4_and_6})
    ranks = select(table, "rank")  # of the two draws that the run follows
    assert ranks["draw"].tolist() == [0, 1]
    assert ranks["value"].tolist() == [1, 4]
    assert ranks["time"].tolist() == [0, 0]


# -- the judge, on rises whose times are known ----------------------------------------------------

# The claim: with every layer the rises of the first and the second singular value are further apart, relative to the
# time that a rise takes, and at the end the second exceeds the third by a larger factor.
RISEN = 0.5  # share of its last value at which a singular value has risen
BEGUN = 0.1  # a rise is from this share of the last value to one minus this share
WIDTH = 0.4  # of a logistic rise: the time in which the logit of the share grows by one


def logistic_rises(depth, apart, gap, between_records):
    """Return two singular values that rise at the time 10 and by `apart` later, and a third one beyond the rank, 2.

    The third rises with the second and ends `gap` times lower.
    """
    time = np.arange(0.0, 40.0 + 1e-9, between_records)
    rises = {1: (10.0, 2.0), 2: (10.0 + apart, 1.0), 3: (10.0 + apart, 1.0 / gap)}  # time and last value, by index
    tables = []
    for draw in range(2):
        labels = {"depth": depth, "draw": draw}
        for index, (middle, size) in rises.items():
            sigma = size / (1 + np.exp(-(time - middle) / WIDTH))
            tables.append(pd.DataFrame({**labels, "time": time, "quantity": "sigma", "index": index, "value": sigma}))
        tables.append(pd.DataFrame({**labels, "time": 0.0, "quantity": "rank", "index": 0, "value": [2.0]}))
    table = pd.concat(tables, ignore_index=True)
    table.attrs = {"settings": {"depth": depth}, "draw": ("depth", "draw")}
    return table


def evaluation_with(apart=(0.0, 4.0, 12.0), gaps=(5.0, 50.0, 500.0), between_records=0.05):
    """Return what the claim says of depths 1, 2 and 3.

    Parameters
    ----------
    apart : sequence of float
        By depth the time between the rises of the first and the second singular value.
    gaps : sequence of float
        By depth the second singular value over the third at the end.
    between_records : float
        Time from one record to the next.
    """
    tables = {}
    for depth in (1, 2, 3):
        tables[f"depth_{depth}"] = logistic_rises(depth, apart[depth - 1], gaps[depth - 1], between_records)
    return evaluation("deep_linear", "depth_separates_singular_values", tables, risen=RISEN, begun=BEGUN)


def test_separation_is_the_time_between_rises_over_that_of_a_rise():
    judged = evaluation_with(apart=(0.0, 4.0, 12.0))
    assert judged.verdict == "reproduced"
    duration = 2 * WIDTH * np.log((1 - BEGUN) / BEGUN)  # of a logistic rise from a share BEGUN to 1 - BEGUN
    separations = {"separation_1": 0.0, "separation_2": 4.0 / duration, "separation_3": 12.0 / duration}
    # between records, an eighth of WIDTH apart, values are interpolated: chords miss them by less than a thousandth
    assert {name: judged.facts[name] for name in separations} == pytest.approx(separations, rel=2e-3, abs=1e-9)


def test_the_gap_is_the_second_singular_value_over_the_third_at_the_end():
    facts = evaluation_with(gaps=(5.0, 50.0, 500.0)).facts
    assert (facts["gap_1"], facts["gap_2"], facts["gap_3"]) == pytest.approx((5.0, 50.0, 500.0))


@pytest.mark.parametrize("apart", [(0.0, 12.0, 4.0), (4.0, 0.0, 12.0), (12.0, 4.0, 0.0)])
def test_rises_must_be_further_apart_with_every_layer(apart):
    assert evaluation_with(apart=apart).verdict == "not reproduced"


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [
        pytest.param((50.0, 51.0, 52.0), "reproduced", id="with both layers"),
        pytest.param((50.0, 49.0, 500.0), "not reproduced", id="not with the second layer"),
        pytest.param((5.0, 500.0, 490.0), "not reproduced", id="not with the third layer"),
    ],
)
def test_the_gap_at_the_end_must_grow_with_every_layer(gaps, verdict):
    assert evaluation_with(gaps=gaps).verdict == verdict


# the separations of two depths are each known up to the time between records
@pytest.mark.parametrize(
    ("gain", "between_records", "state"),
    [(0.09, 0.05, "undecided"), (0.11, 0.05, "holds"), (0.19, 0.1, "undecided"), (0.21, 0.1, "holds")],
)
def test_a_gain_of_less_than_two_times_between_records_is_undecided(gain, between_records, state):
    judged = evaluation_with(apart=(0.0, 4.0, 4.0 + gain), between_records=between_records)
    assert judged.judgement.state == state
