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

SETTINGS = {"depth": 2, "scale": 0.05, "learning_rate": 0.7, "iterations": 12, "points": 4, "draws": 2, "top": 3}
STEPS = [0, 4, 8, 12]


@pytest.fixture(scope="module")
def data():
    return low_rank(size=6, rank=2, observed=20, draws=3, seed=8)


@pytest.fixture(scope="module")
def paths(data):
    return trajectory_and_table(runs.singular_value_paths, metrics.singular_value_paths, SETTINGS, data)


def completion_at_step(data, draw, step):
    """Return the matrix to complete, the loss, and the end-to-end matrix after so many steps by torch."""
    truth = data["truth"][draw]
    loss = plain.observed(truth, data["mask"][draw])
    layers = plain.descend([SETTINGS["scale"] ** 0.5 * np.eye(6)] * 2, loss, SETTINGS["learning_rate"], step)
    return truth, loss, plain.multiply(layers)


every_record = pytest.mark.parametrize(("place", "step"), list(enumerate(STEPS)))


@every_record
@pytest.mark.parametrize("draw", [0, 1])
def test_losses_and_spectra_are_those_of_plain_descent(data, paths, draw, place, step):
    trajectory, table = paths
    truth, loss, W = completion_at_step(data, draw, step)
    values = np.linalg.svd(W, compute_uv=False)
    expected = {
        "train_loss": float(loss(torch.tensor(W))),
        "error": np.mean((W - truth) ** 2),
        "effective_rank": np.exp(scipy.stats.entropy(values)),
    }
    measured_there = {name: by_draw(table, name, draw="draw")[draw, place] for name in expected}
    assert measured_there == pytest.approx(expected)
    sigma = [by_draw(table, "sigma", draw="draw", index=index)[draw, place] for index in (1, 2, 3)]
    np.testing.assert_allclose(sigma, values[:3])
    assert trajectory.time[place] == pytest.approx(step * SETTINGS["learning_rate"])


# at the start all singular values are equal, and their vectors any
@pytest.mark.parametrize(("place", "step"), list(enumerate(STEPS))[1:])
@pytest.mark.parametrize("draw", [0, 1])
def test_the_gradient_is_measured_in_the_basis_of_leading_singular_vectors(data, paths, draw, place, step):
    _, table = paths
    _, loss, W = completion_at_step(data, draw, step)
    U, _, Vt = np.linalg.svd(W)
    rotated = np.abs(U.T @ plain.gradients([W], loss)[0] @ Vt.T)[:3, :3]
    diagonal, off_diagonal = (by_draw(table, name, draw="draw")[draw, place] for name in ("diagonal", "off_diagonal"))
    assert diagonal == pytest.approx(np.mean(np.diag(rotated)), rel=1e-6)
    assert off_diagonal == pytest.approx(np.mean(rotated[~np.eye(3, dtype=bool)]), rel=1e-6)


def test_the_rank_of_each_draw_is_that_of_its_matrix_to_complete(data):
    truth = np.stack([np.diag(np.arange(6) < rank).astype(float) for rank in (1, 4, 6)])
    run, measure = runs.singular_value_paths, metrics.singular_value_paths
    _, table = trajectory_and_table(run, measure, SETTINGS | {"draws": 2}, data | {"truth": truth})
    ranks = select(table, "rank")
    assert ranks["draw"].tolist() == [0, 1]
    assert ranks["value"].tolist() == [1, 4]
    assert ranks["time"].tolist() == [0, 0]


# -- rises whose times are known -----------------------------------------------------------------

BEGUN, RISEN, WIDTH = 0.1, 0.5, 0.4
TIMES = np.linspace(0, 40, 801)


def logistic_rises(first, last, depth, end=100.0, draws=2, spacing=1):
    """Return two logistic rises at given times, and a third singular value that ends `end` times lower."""
    rows = []
    times = TIMES[::spacing]
    for draw in range(draws):
        known = {"depth": depth, "draw": draw}
        for index, (at, size) in enumerate([(first, 2.0), (last, 1.0), (last, 1.0 / end)], start=1):
            values = size / (1 + np.exp(-(times - at) / WIDTH))
            rows.append(pd.DataFrame({**known, "time": times, "quantity": "sigma", "index": index, "value": values}))
        rows.append(pd.DataFrame({**known, "time": 0.0, "quantity": "rank", "index": 0, "value": [2.0]}))
    table = pd.concat(rows, ignore_index=True)
    table.attrs = {"settings": {"depth": depth}, "draw": ("depth", "draw")}
    return table


def evaluation_with(gaps=(0.0, 4.0, 12.0), ends=(5.0, 50.0, 500.0), spacing=1):
    """Judge one depth after the other: times between the two rises, and the second singular value over the third.

    Records are `spacing` times 0.05 apart.
    """
    tables = {
        f"depth_{depth}": logistic_rises(10.0, 10.0 + gap, depth, end, spacing=spacing)
        for depth, gap, end in zip((1, 2, 3), gaps, ends, strict=True)
    }
    return evaluation("deep_linear", "depth_separates_singular_values", tables, risen=RISEN, begun=BEGUN)


def test_separation_is_the_time_between_rises_over_that_of_a_rise():
    found = evaluation_with()
    assert found.verdict == "reproduced"
    duration = 2 * WIDTH * np.log((1 - BEGUN) / BEGUN)  # of a logistic rise from a share BEGUN to 1 - BEGUN
    separations = {"separation_1": 0.0, "separation_2": 4.0 / duration, "separation_3": 12.0 / duration}
    # values between records are interpolated
    assert {name: found.facts[name] for name in separations} == pytest.approx(separations, rel=2e-3, abs=1e-9)


def test_the_gap_is_the_second_singular_value_over_the_third_at_the_end():
    facts = evaluation_with(ends=(5.0, 50.0, 500.0)).facts
    assert (facts["gap_1"], facts["gap_3"]) == pytest.approx((5.0, 500.0))


@pytest.mark.parametrize("gaps", [(0.0, 12.0, 4.0), (4.0, 0.0, 12.0), (12.0, 4.0, 0.0)])
def test_rises_must_be_further_apart_with_every_layer(gaps):
    assert evaluation_with(gaps=gaps).verdict == "not reproduced"


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [
        ((50.0, 60.0, 70.0), "reproduced"),
        ((50.0, 5.0, 500.0), "not reproduced"),
        ((5.0, 500.0, 50.0), "not reproduced"),
    ],
)
def test_the_gap_at_the_end_must_grow_with_every_layer(ends, verdict):
    assert evaluation_with(ends=ends).verdict == verdict


@pytest.mark.parametrize(
    ("gain", "spacing", "state"), [(0.08, 1, "undecided"), (0.15, 1, "holds"), (0.15, 2, "undecided")]
)
def test_a_gain_of_less_than_two_times_between_records_is_undecided(gain, spacing, state):
    # separations are open by the time between records, spacing times 0.05, in each of two depths
    assert evaluation_with(gaps=(0.0, 4.0, 4.0 + gain), spacing=spacing).judgement.state == state
