"""One row a class against the full network: torch's gradients of all examples, integrated by scipy."""

import itertools

import numpy as np
import pytest
from scipy import stats

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.softmax_dynamics.phases import metrics as phases
from learning_dynamics.papers.softmax_dynamics.phases import runs as full_runs
from learning_dynamics.papers.softmax_dynamics.population import metrics, runs
from tests.papers.softmax_dynamics.network import integrated, velocity
from tests.support import called

SETTINGS = {
    "counts": [[5, 2, 1], [3, 3, 3]], "dimensions": [2, 3], "scales": [0.01, 0.3], "seeds": 3, "start": 0.1,
    "horizon": 60.0, "points": 25, "rtol": 1e-9, "atol": 1e-13,
}  # fmt: skip
MEASURE = {"thresholds": [0.02], "lower": 0.4, "upper": 0.9}


@pytest.fixture(scope="module")
def flows():
    trajectory = called(runs.class_flows, **SETTINGS, seed=3)
    trajectory.settings = SETTINGS
    return trajectory


def test_a_row_stands_for_all_examples_of_its_class(flows):
    for member in (0, 4, 11, 13, 23):
        counts = flows.constants["counts"][member].tolist()
        dimension = flows.constants["dimension"][member]
        f, W = (flows.series[name][member].astype(float) for name in "fW")
        assert (f[..., dimension:] == 0).all()
        f, W = f[..., :dimension], W[:, :dimension]
        every = np.repeat(np.arange(3), counts)
        expected = integrated(f[0][every], W[0], flows.time, lambda f, W, n=counts: velocity(f, W, n, "cross_entropy"))
        # stored in single precision
        np.testing.assert_allclose(f[:, every], expected[0], atol=2e-5)
        np.testing.assert_allclose(W, expected[1], atol=2e-5)


def test_members_know_their_cells_and_starts_their_sizes():
    settings = {**SETTINGS, "counts": [[100, 1]], "dimensions": [2], "scales": [0.5], "seeds": 600, "points": 1}
    trajectory = called(runs.class_flows, **{**settings, "start": 1e-3, "horizon": 1e-3}, seed=3)
    spread = trajectory.series["f"][:, 0].std(axis=(0, 2))
    # 1200 entries: a standard error of two per cent
    np.testing.assert_allclose(spread, [0.05, 0.5], rtol=0.1)
    assert trajectory.series["W"][:, 0].std() == pytest.approx(0.5, rel=0.07)
    trajectory = called(runs.class_flows, **{**SETTINGS, "points": 1}, seed=3)
    assert [tuple(row) for row in zip(trajectory.constants["dimension"], trajectory.constants["scale"], strict=True)][
        ::3
    ] == [(2, 0.01), (2, 0.3)] * 2 + [(3, 0.01), (3, 0.3)] * 2
    with pytest.raises(ProjectError, match="as many classes"):
        called(runs.class_flows, **{**SETTINGS, "counts": [[1, 1], [1, 1, 1]]}, seed=1)


def test_ranks_and_falls_by_hand(flows):
    table = metrics.class_flows(flows, **MEASURE)
    members = list(itertools.product((2, 3), ("5-2-1", "3-3-3"), (0.01, 0.3), range(3)))
    for member, (dimension, counts, scale, seed) in enumerate(members):
        f, W = (flows.series[name][member].astype(float) for name in "fW")
        sizes = [int(size) for size in counts.split("-")]
        weights = np.exp(f @ W)
        own = np.stack([weights[:, k, k] / weights[:, k].sum(axis=1) for k in range(3)], axis=1)
        rarest = [k for k in range(3) if sizes[k] == min(sizes)]
        last = len(own) - 1
        begin = max(next((t for t in range(len(own)) if own[t, rarest].max() > 0.4), last) - 1, 0)
        end = next((t for t in range(len(own)) if own[t, rarest].min() > 0.9), last)
        for population, copies in (("examples", sizes), ("classes", None)):
            ranks = [
                np.exp(stats.entropy(np.clip(np.linalg.eigvalsh(np.cov(f[t].T, fweights=copies, bias=True)), 0, None)))
                for t in (begin, end)
            ]
            rows = table[
                (table["dimension"] == dimension) & (table["counts"] == counts) & (table["scale"] == scale)
                & (table["seed"] == seed) & (table["population"] == population) & (table["quantity"] == "net")
            ]  # fmt: skip
            assert rows["value"].tolist() == [pytest.approx(ranks[1] - ranks[0], abs=1e-6)]
            assert rows["skewed"].tolist() == [counts == "5-2-1"]


def test_lengths_ends_and_peaks_by_hand(flows):
    table = metrics.class_flows(flows, **MEASURE)
    orders = table[table["quantity"] == "length_order"]["value"].to_numpy()
    peaks, ends = (table[(table["quantity"] == name) & (table["population"] == "classes")]["value"].to_numpy()
                   for name in ("peak", "end"))  # fmt: skip
    for member in range(24):
        f, W = (flows.series[name][member].astype(float) for name in "fW")
        sizes = flows.constants["counts"][member]
        ranks = np.array([np.exp(stats.entropy(np.clip(np.linalg.eigvalsh(np.cov(part.T, bias=True)), 0, None)))
                          for part in f])  # fmt: skip
        weights = np.exp(f @ W)
        own = np.stack([weights[:, k, k] / weights[:, k].sum(axis=1) for k in range(3)], axis=1)
        first = next((t for t in range(len(own)) if own[t].max() > 0.5), len(own) - 1)
        trough = int(np.argmin(ranks[: first + 1]))
        assert ends[member] == pytest.approx(ranks[-1], abs=1e-6)
        assert peaks[member] == pytest.approx(ranks[trough:].max(), abs=1e-6)
        if len(set(sizes)) == 1:
            assert np.isnan(orders[member])
            continue
        margins = [f[-1, k] @ W[-1, :, k] for k in range(3)]
        squares = [f[-1, k] @ f[-1, k] / margins[k] for k in range(3)]
        assert orders[member] == pytest.approx(np.polyfit(np.log(sizes), np.log(squares), 1)[0], abs=1e-6)


def test_a_margin_that_is_not_positive_has_no_length_order():
    f, W = np.array([[[1.0, 0.0], [0.0, 1.0]]]), np.array([[[1.0, 0.0], [0.0, -1.0]]])
    assert np.isnan(metrics.length_orders(f, W, np.array([[2, 1]])))[0]
    assert metrics.length_orders(f, np.abs(W), np.array([[2, 1]]))[0] == 0.0


def test_the_full_network_and_one_row_a_class_agree_on_phases():
    """At 27 : 9 : 3 : 1 from small starts the spread within classes is a hundredth of what the classes grow to."""
    flow = {"scales": [0.001], "seeds": 12, "start": 0.01, "horizon": 300.0, "points": 80, "rtol": 1e-6, "atol": 1e-12}
    reduced = {**flow, "counts": [[27, 9, 3, 1]], "dimensions": [2]}
    whole = {**flow, "counts": [[27, 9, 3, 1]], "dimension": 2, "loss": "cross_entropy", "inits": ["gaussian"]}
    few, many = called(runs.class_flows, **reduced, seed=1), called(full_runs.flow_grid, **whole, seed=1)
    few.settings, many.settings = reduced, whole
    table = metrics.class_flows(few, thresholds=[0.05], lower=0.4, upper=0.9)
    other = phases.flow_grid(many, thresholds=[0.05], lower=0.4, upper=0.9, populations=["examples", "classes"])
    for population, measure in (("classes", "class_rankme_centred"), ("examples", "rankme_centred")):
        one = table[(table["quantity"] == "phases") & (table["population"] == population)]["value"].mean()
        both = other[(other["quantity"] == "phases") & (other["measure"] == measure)]["value"].mean()
        # the draws are not the same: twelve of twelve, but for one or two, against none
        assert (one > 0.7, both > 0.7) == ((True, True) if population == "classes" else (False, False))
        assert abs(one - both) <= 0.3


def test_a_member_that_failed_is_empty(flows):
    broken = type(flows)(flows.time, dict(flows.series), flows.constants, SETTINGS, undecided=np.arange(24) == 5)
    table = metrics.class_flows(broken, **MEASURE)
    empty = table["value"].isna()
    # of two populations a change, two falls, an end and a peak; of equal classes there is no order of lengths either
    measured = table["quantity"] != "length_order"
    assert empty[measured].sum() == 2 * 5
    assert set(table[empty & measured]["seed"]) == {2}


DIRECTIONS = {
    "counts": [[9, 3, 2, 1], [12, 4, 2, 1]], "dimensions": [2, 3], "scales": [1e-6, 1e-3], "start": 0.1,
    "horizon": 100.0, "points": 30, "rtol": 1e-9, "atol": 1e-15,
}  # fmt: skip


def test_a_start_of_growing_directions_is_balanced_and_each_axis_grows_at_a_singular_value_of_the_residual():
    trajectory = called(runs.growing_directions, **DIRECTIONS)
    for member, sizes in enumerate(trajectory.constants["counts"]):
        d, scale = trajectory.constants["dimension"][member], trajectory.constants["scale"][member]
        f, W = (trajectory.series[name][member, 0].astype(float) for name in "fW")
        f, W = f[:, :d], W[:d]
        np.testing.assert_allclose((f * sizes[:, None]).T @ f, scale**2 * np.eye(d), atol=1e-6 * scale**2)
        np.testing.assert_allclose(W @ W.T, scale**2 * np.eye(d), atol=1e-6 * scale**2)
        residual = np.repeat(np.eye(4), sizes, axis=0) - 1 / 4
        rates = np.linalg.svd(residual, compute_uv=False)[:d]
        every = f[np.repeat(np.arange(4), sizes)]
        np.testing.assert_allclose(residual @ W.T, every * rates, atol=1e-5 * scale)
        np.testing.assert_allclose(every.T @ residual, W * rates[:, None], atol=1e-5 * scale)


def test_what_is_measured_of_a_start_without_chance_has_one_seed():
    trajectory = called(runs.growing_directions, **DIRECTIONS)
    trajectory.settings = DIRECTIONS
    table = metrics.growing_directions(trajectory, **MEASURE)
    assert set(table["seed"]) == {0}
    ends = table[(table["quantity"] == "end") & (table["population"] == "classes")]
    assert ends.groupby(["counts", "dimension", "scale"]).size().tolist() == [1] * 8
