"""Runs from ever smaller starts, and the judge of the times at which classes are learned."""

import itertools

import numpy as np
import pandas as pd
import pytest

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.errors import ProjectError
from learning_dynamics.judging import evaluate
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import theory, toy_flow
from learning_dynamics.papers.softmax_dynamics.biases import claims, metrics, runs
from learning_dynamics.seeds import generators
from tests.papers.softmax_dynamics.network import trajectory_with_settings

SETTINGS = {
    "counts": [[9, 3, 2, 1]],
    "dimensions": [2],
    "scales": [1e-2, 1e-4],
    "seeds": 2,
    "start": 0.1,
    "horizon": 2.0,
    "points": 60,
    "rtol": 1e-9,
    "atol": 1e-9,
}
FIRST_EXAMPLES = [0, 9, 12, 14]  # of each class, examples sorted by class


def test_a_turned_start_has_the_logits_of_a_gaussian_one_and_grows_first_along_its_first_axis():
    sizes = [9, 3, 2, 1]
    f, W = model.unpack(runs._start(np.random.default_rng(1), sizes, 3, 0.1), 4, 3, 4)
    rows, classifier = model.gaussian(np.random.default_rng(1), 4, 3, 4, scale=0.1)
    np.testing.assert_allclose(f @ W, rows / np.sqrt(sizes)[:, None] @ classifier, atol=1e-16)
    start, times = 1e-9 * model.pack(f, W)[None], np.array([0.0, 10.0])
    features, _ = toy_flow.class_flow(sizes, start, 3, times=times, tolerances=Tolerances(1e-8, 1e-19))
    grown = np.linalg.norm(features[0, -1], axis=0)
    # without the turn all axes grow alike
    assert (grown[1:] < 1e-3 * grown[0]).all()


@pytest.fixture(scope="module")
def escaped():
    return trajectory_with_settings(runs.escapes, SETTINGS, seed=3)


@pytest.mark.parametrize("seed", [0, 1])
def test_probabilities_are_those_of_flows_of_every_example(escaped, seed):
    rng = list(generators(3, "softmax_dynamics.escapes.9-3-2-1.2", 2))[seed]
    f, W = model.unpack(runs._start(rng, [9, 3, 2, 1], 2, 1e-2), 4, 2, 4)
    labels = model.one_hot([9, 3, 2, 1])
    states = toy_flow.flow(
        labels[None],
        model.pack(labels @ f, W)[None],
        2,
        loss="cross_entropy",
        times=np.log(100) * escaped.time,
        tolerances=Tolerances(1e-9, 1e-12),
    )
    f, W = model.unpack(states[0], 15, 2, 4)
    expected = np.sum(model.softmax(f @ W) * labels, axis=-1)[:, FIRST_EXAMPLES]
    at_scale = escaped.constants["scale"] == 1e-2
    np.testing.assert_allclose(escaped.series["probabilities"][at_scale][seed], expected, atol=1e-6)


def test_a_class_is_learned_when_its_probability_passes_one_half(escaped):
    table = metrics.escapes(escaped)
    row = table[(table["scale"] == 1e-4) & (table["seed"] == 1) & (table["index"] == 2)]
    at_scale = escaped.constants["scale"] == 1e-4
    own = escaped.series["probabilities"][at_scale][1, :, 1]
    # np.interp needs what rises; near the start the probability rests at 1/4 but for rounding, up and down
    rising = own > 0.3
    expected = np.interp(0.5, own[rising], escaped.time[rising]) * np.log(1e4)
    assert float(row["value"].iloc[0]) == pytest.approx(expected, rel=1e-2)


def test_scales_of_one_have_no_unit_of_time():
    with pytest.raises(ProjectError, match="below one"):
        trajectory_with_settings(runs.escapes, {**SETTINGS, "scales": [1.0]}, seed=3)


SIZES = [[64, 16, 4, 1], [27, 9, 3, 1]]


def times(factors) -> pd.DataFrame:
    """Times of two cells at four scales: a delay, and factors times the logarithm of one over the scale."""
    rows = [
        {
            "counts": "-".join(map(str, sizes)),
            "dimension": 2,
            "scale": scale,
            "seed": seed,
            "quantity": "learning_time",
            "index": index,
            "value": 1 + seed / 10 + factor * np.log(1 / scale),
        }
        for sizes, scale, seed in itertools.product(SIZES, (1e-3, 1e-8, 1e-16, 1e-32), range(5))
        for index, factor in enumerate(factors(sizes), start=1)
    ]
    table = pd.DataFrame(rows)
    table.attrs["settings"] = {"integration": {"start": 0.03, "horizon": 3.0, "points": 800}}
    return table


def judged(factors):
    return evaluate(claims.classes_are_learned_in_pairs, {"flows": [times(factors)]}, {})


def test_times_of_pairs_are_accepted_whatever_the_delay_and_no_other_factors_of_them():
    found = judged(theory.pair_times)
    assert found.verdict == "reproduced"
    assert set(found.rivals.values()) == {"not reproduced"}
    assert found.judgement.headline.value == pytest.approx(0.0, abs=1e-12)
    firsts = [theory.pair_times(sizes)[0] for sizes in SIZES]
    expected = np.median([1 + (1 + seed / 10) / np.log(1e3) / first for first in firsts for seed in range(5)])
    assert found.facts["first_class_delay"] == pytest.approx(expected)
    differences = [abs(float(_last_alone(counts) / theory.pair_times(counts)[2]) - 1) for counts in SIZES]
    assert found.facts["largest_difference"] == pytest.approx(max(differences))


def _last_alone(counts):
    """Two stages, the last at the root of the third class's size times one minus its share among four."""
    first, second = np.linalg.svd(theory.uniform_gain(counts))[1][:2]
    return 1 / first + (1 - second / first) / np.sqrt(counts[2] * 3 / 4)


# Slopes are between the scales 1e-16 and 1e-32, of L = ln(1 / scale) = 16 ln(10) and 32 ln(10).
# 800 records from 0.03 to 3, a hundredfold: a time is off by a share ln(100) / 799 of it at most, and so at both scales
# the slope by that share of (32 + 16) / (32 - 16) = 3
BY_RECORDS = 3 * np.log(100) / 799
# a time squared beside the exponential of the last stage: 2 ln(32 / 16) over the difference ln(1e16) of L; the test
# divides it by the stage's rate times the factor
BY_SQUARE = 2 * np.log(2) / np.log(1e16)


@pytest.mark.parametrize(
    ("index", "bound"),
    [
        pytest.param(0, BY_RECORDS, id="first class"),
        pytest.param(1, BY_RECORDS, id="second class"),
        pytest.param(2, BY_SQUARE, id="third class"),
    ],
)
@pytest.mark.parametrize("sign", [-1, 1])
def test_each_class_has_the_bound_of_its_stage_and_sizes(index, bound, sign):
    def off(share):
        def factors(counts):
            own = np.linalg.svd(theory.uniform_gain(counts, [0, 1]))[1][0] * theory.pair_times(counts)[2]
            allowed = bound / (own if index == 2 else 1.0)
            return np.where(np.arange(4) == index, 1 + sign * share * allowed, 1.0) * theory.pair_times(counts)

        return factors

    assert [judged(off(share)).judgement.state for share in (0.99, 1.01)] == ["holds", "fails"]


def test_the_fourth_class_is_measured_and_not_judged():
    late = np.array([1.0, 1.0, 1.0, 1.2])
    found = judged(lambda counts: late * theory.pair_times(counts))
    assert found.verdict == "reproduced"
    assert found.facts["fourth_ratio"] == found.facts["largest_fourth_ratio"] == pytest.approx(1.2)


def test_the_third_class_leaves_uniform_predictions_ever_further_before_it_is_learned():
    """Why the second stage is no limit: the third class's own column pushes its features, and these the column."""
    sizes, scale = [8, 4, 2, 1], 1e-32
    start = runs._start(np.random.default_rng(1), sizes, 2, scale)
    at = np.append(0.0, theory.pair_times(sizes)[[0, 2]] @ [[0.2, 0.1], [0.8, 0.9]]) * np.log(1 / scale)
    flows = toy_flow.class_flow(sizes, start[None], 2, times=at, tolerances=Tolerances(1e-8, 1e-8 * scale))
    f, W = (factor[0, 1:] for factor in flows)
    along = W[:, 0]
    # the pair's columns differ, all add up to nothing, and so the third is not zero
    np.testing.assert_allclose(along.sum(axis=1), 0.0, atol=1e-6)
    drift = np.abs(along[:, 2])
    assert drift[1] > drift[0] > 0.01
    predictions = model.softmax(f @ W)[:, 2]
    apart = np.abs(predictions - 1 / 4).max(axis=1)
    assert apart[1] > apart[0] > 0.05
    # its features rest where the mean column is its own: they get there faster than the column moves
    np.testing.assert_allclose((predictions * along).sum(axis=1), along[:, 2], rtol=0.2)
