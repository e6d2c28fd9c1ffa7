"""Runs from ever smaller starts, and the judge of the times at which classes are learned."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.claims import evaluate
from learning_dynamics.dynamics import ensemble
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts, theory
from learning_dynamics.papers.softmax_dynamics.biases import claims, metrics, runs
from learning_dynamics.seeds import generators

SETTINGS = {"counts": [[9, 3, 2, 1]], "dimensions": [2], "scales": [1e-2, 1e-4], "seeds": 2, "start": 0.1,
            "horizon": 2.0, "points": 60, "rtol": 1e-9, "seed": 3}  # fmt: skip


def test_a_turned_start_has_the_logits_of_a_gaussian_one_and_grows_first_along_its_first_axis():
    sizes = [9, 3, 2, 1]
    f, W = model.unpack(runs._start(np.random.default_rng(1), sizes, 2, 0.1), 4, 2, 4)
    rows, classifier = model.gaussian(np.random.default_rng(1), 4, 2, 4, 0.1)
    np.testing.assert_allclose(f @ W, rows / np.sqrt(sizes)[:, None] @ classifier, atol=1e-16)
    field = model.vector_field(np.eye(4)[None], 2, "cross_entropy", np.array([sizes], dtype=float))
    states = ensemble.flow(field, 1e-9 * model.pack(f, W)[None], np.array([0.0, 10.0]), rtol=1e-8, atol=1e-19)
    grown = np.linalg.norm(model.unpack(states[0, -1], 4, 2, 4)[0], axis=0)
    # without the turn both axes grow alike
    assert grown[1] < 1e-3 * grown[0]


def test_probabilities_are_those_of_flows_in_which_every_example_has_a_row():
    trajectory = runs.escapes(**SETTINGS)
    members = trajectory.constants["scale"] == 1e-2
    for member, rng in enumerate(generators(3, "softmax_dynamics.escapes.9-3-2-1.2", 2)):
        f, W = model.unpack(runs._start(rng, [9, 3, 2, 1], 2, 1e-2), 4, 2, 4)
        labels = model.one_hot([9, 3, 2, 1])
        states = starts.flow(labels[None], model.pack(labels @ f, W)[None], 2, "cross_entropy",
                             np.log(100) * trajectory.time, rtol=1e-9, atol=1e-12)  # fmt: skip
        f, W = model.unpack(states[0], 15, 2, 4)
        expected = np.sum(model.softmax(f @ W) * labels, axis=-1)[:, [0, 9, 12, 14]]
        np.testing.assert_allclose(trajectory.series["probabilities"][members][member], expected, atol=1e-6)


def test_scales_of_one_have_no_unit_of_time():
    with pytest.raises(ProjectError, match="below one"):
        runs.escapes(**{**SETTINGS, "scales": [1.0]})


def test_times_are_those_at_which_a_half_is_passed_in_units_of_the_flow():
    trajectory = runs.escapes(**SETTINGS)
    trajectory.settings = SETTINGS
    table = metrics.escapes(trajectory)
    row = table[(table["scale"] == 1e-4) & (table["seed"] == 1) & (table["index"] == 2)]
    own = trajectory.series["probabilities"][3, :, 1]
    expected = np.interp(0.5, own[20:], trajectory.time[20:]) * np.log(1e4)
    assert float(row["value"].iloc[0]) == pytest.approx(expected, rel=1e-2)


SIZES = ["64-16-4-1", "27-9-3-1"]


def times(factors, delay: float = 1.0) -> pd.DataFrame:
    """Times of two cells at four scales: a delay, and factors times the logarithm of one over the scale."""
    rows = [
        {"counts": counts, "dimension": 2, "scale": scale, "seed": seed, "quantity": "learned", "index": index,
         "value": delay * (1 + seed / 10) + factor * np.log(1 / scale)}
        for counts, scale, seed in itertools.product(SIZES, (1e-3, 1e-8, 1e-16, 1e-32), range(5))
        for index, factor in enumerate(factors([int(size) for size in counts.split("-")]), start=1)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def verdict(factors) -> str:
    return evaluate(claims.classes_are_learned_in_pairs, {"flows": [times(factors)]}, {}).verdict


def test_times_of_pairs_are_accepted_whatever_the_delay():
    found = evaluate(claims.classes_are_learned_in_pairs, {"flows": [times(theory.pair_times)]}, {})
    assert found.verdict == "reproduced"
    assert found.judgement.headline.value == pytest.approx(1.0)
    firsts = [theory.pair_times(sizes)[0] for sizes in ([64, 16, 4, 1], [27, 9, 3, 1])]
    expected = np.median([1 + (1 + seed / 10) / np.log(1e3) / first for first in firsts for seed in range(5)])
    assert found.facts["first"] == pytest.approx(expected)


@pytest.mark.parametrize("other", claims.OTHER_FACTORS.values())
def test_other_times_are_refused(other):
    assert verdict(other) != "reproduced"


@pytest.mark.parametrize("index", range(4))
def test_one_class_that_is_a_tenth_late_refuses_it(index):
    late = np.where(np.arange(4) == index, 1.1, 1.0)
    assert verdict(lambda counts: late * theory.pair_times(counts)) == "not reproduced"
