"""Singular values along descent: plain descent by torch, entropies by scipy, and rises whose times are known."""

import numpy as np
import pandas as pd
import pytest
import scipy
import torch

from learning_dynamics.datasets.matrix_completion import low_rank
from learning_dynamics.papers.deep_linear.singular_values import metrics, runs
from learning_dynamics.tidy import by_draw
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


def test_the_rank_is_that_of_the_matrix_to_complete(paths):
    np.testing.assert_array_equal(by_draw(paths[1], "rank", draw="draw")[:, 0], [2, 2])


# -- rises whose times are known -----------------------------------------------------------------

BEGUN, RISEN, WIDTH = 0.1, 0.5, 0.4
TIMES = np.linspace(0, 40, 801)


def logistic_rises(first, last, depth, end=100.0, draws=2, spacing=1):
    """Return two logistic rises at given times, and a third singular value that ends `end` times lower."""
    rows = []
    times = TIMES[::spacing]
    for draw in range(draws):
        for index, (at, size) in enumerate([(first, 2.0), (last, 1.0), (last, 1.0 / end)], start=1):
            values = size / (1 + np.exp(-(times - at) / WIDTH))
            rows.append(
                pd.DataFrame(
                    {"depth": depth, "draw": draw, "time": times, "quantity": "sigma", "index": index, "value": values}
                )
            )
        rows.append(
            pd.DataFrame({"depth": depth, "draw": draw, "time": 0.0, "quantity": "rank", "index": 0, "value": [2.0]})
        )
    table = pd.concat(rows, ignore_index=True)
    table.attrs = {"settings": {"depth": depth}, "draw": ("depth", "draw")}
    return table


def evaluation_with(gaps=(0.0, 4.0, 12.0), ends=(5.0, 50.0, 500.0), spacing=1):
    tables = {
        f"depth_{depth}": logistic_rises(10.0, 10.0 + gap, depth, end, spacing=spacing)
        for depth, gap, end in zip((1, 2, 3), gaps, ends, strict=True)
    }
    return evaluation("deep_linear", "depth_separates_singular_values", tables, risen=RISEN, begun=BEGUN)


def test_separation_is_the_time_between_rises_over_that_of_a_rise():
    found = evaluation_with()
    assert found.verdict == "reproduced"
    duration = 2 * WIDTH * np.log((1 - BEGUN) / BEGUN)
    for name, gap in (("separation_1", 0.0), ("separation_2", 4.0), ("separation_3", 12.0)):
        # values between records are interpolated
        assert found.facts[name] == pytest.approx(gap / duration, rel=2e-3, abs=1e-9), f"{name=}"
    assert found.facts["gap_3"] == pytest.approx(500.0)
    assert found.facts["gap_1"] == pytest.approx(5.0)


def test_it_takes_a_gain_with_every_layer_and_larger_gaps():
    assert evaluation_with(gaps=(0.0, 12.0, 4.0)).verdict == "not reproduced"
    assert evaluation_with(gaps=(4.0, 0.0, 12.0)).verdict == "not reproduced"
    assert evaluation_with(gaps=(12.0, 4.0, 0.0)).verdict == "not reproduced"
    assert evaluation_with(ends=(50.0, 5.0, 500.0)).verdict == "not reproduced"
    assert evaluation_with(ends=(50.0, 60.0, 70.0)).verdict == "reproduced"
    assert evaluation_with(ends=(5.0, 500.0, 50.0)).verdict == "not reproduced"


def test_a_gain_below_the_time_between_records_is_not_decided():
    # records are 0.05 apart: separations are open by that in each of two depths
    assert evaluation_with(gaps=(0.0, 4.0, 4.08)).judgement.state == "undecided"
    assert evaluation_with(gaps=(0.0, 4.0, 4.15)).verdict == "reproduced"
    assert evaluation_with(gaps=(0.0, 4.0, 4.15), spacing=2).judgement.state == "undecided"
