"""What is measured of grids, against scipy's flow, torch's derivatives, and searches by loops."""

import numpy as np
import pytest
import scipy
import torch
from scipy import stats

from learning_dynamics.papers.softmax_dynamics.draws import learning_times, members, values
from learning_dynamics.papers.softmax_dynamics.phases import metrics, runs
from learning_dynamics.tidy import select
from tests.papers.softmax_dynamics.network import (
    integrated,
    learning_places,
    loss_of,
    rank_of,
    rates_of_singular_values,
    recorded,
    velocity,
)

SETTINGS = {
    "counts": [[2, 2, 1, 1], [3, 1, 1, 1]], "dimension": 2, "loss": "cross_entropy", "inits": ["balanced", "gaussian"],
    "scales": [0.1], "seeds": 2, "start": 0.1, "horizon": 100.0, "points": 40, "rtol": 1e-9, "atol": 1e-13,
}  # fmt: skip
MEASURE = {"thresholds": [0.05], "lower": 0.4, "upper": 0.9, "populations": ["examples"]}


@pytest.fixture(scope="module", params=["cross_entropy", "squared"])
def grid(request):
    trajectory = recorded(runs.flow_grid, {**SETTINGS, "loss": request.param}, seed=6)
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


def test_flows_are_scipys_from_torchs_gradient(grid):
    trajectory, _ = grid
    for member, counts in ((0, [2, 2, 1, 1]), (7, [3, 1, 1, 1])):
        f, W = states(trajectory, member)
        expected = integrated(
            f[0], W[0], trajectory.time, lambda f, W, n=counts: velocity(f, W, n, trajectory.settings["loss"])
        )
        # stored in single precision
        np.testing.assert_allclose(f, expected[0], atol=1e-5)
        np.testing.assert_allclose(W, expected[1], atol=1e-5)


def test_everything_about_a_member_by_hand(grid):
    trajectory, table = grid
    loss, times = trajectory.settings["loss"], trajectory.time
    lengths = []
    for member in range(trajectory.members):
        counts = trajectory.constants["counts"][member].tolist()
        f, W = states(trajectory, member)
        outputs = own_outputs(f, W, counts, loss)
        np.testing.assert_allclose(values(table, "final", None)[member], outputs[-1], atol=1e-6)
        for k, when in enumerate(learning_times(table)[member]):
            if np.isfinite(when):
                assert np.interp(when, times, outputs[:, k]) == pytest.approx(0.5, abs=1e-6)
                assert (outputs[times >= when, k] > 0.5).all()
            else:
                assert outputs[-1, k] <= 0.5
        first, begin, learned, _ = learning_places(outputs, counts, 0.4, 0.9)
        places = [0, first, begin, learned, len(times) - 1]
        lengths.append(len(set(places)))
        ranks = np.array([rank_of(points) for points in f])
        np.testing.assert_allclose(values(table, "rank", None, "rankme_centred")[member], ranks[places], atol=1e-6)
        half_decade = next(t for t in range(len(times)) if times[t] >= times[-1] / 10**0.5)
        changes = {"lowest": ranks.min(), "net": ranks[learned] - ranks[begin], "tail": ranks[-1] - ranks[half_decade]}
        for name, change in changes.items():
            assert values(table, name, 0, "rankme_centred")[member] == pytest.approx(change, abs=1e-6)
        for index, place in enumerate(places, start=1):
            sigma = np.sqrt(np.linalg.eigvalsh(f[place].T @ f[place])[::-1])
            rate = rates_of_singular_values(f[place], velocity(f[place], W[place], counts, loss)[0])
            aligned = leading_cosine(f[place], W[place])
            assert values(table, "alignment", index)[member] == pytest.approx(aligned, abs=1e-6)
            for k in (1, 2):
                assert values(table, f"sigma_{k}", index)[member] == pytest.approx(sigma[k - 1], abs=1e-6)
                assert values(table, f"rate_{k}", index)[member] == pytest.approx(rate[k - 1], abs=1e-6)
            for name, apart in (("f", separated(f[place], counts[0])), ("w", separated(W[place].T, 1))):
                assert values(table, f"separation_{name}", index)[member] == pytest.approx(apart, rel=1e-4)
    assert max(lengths) == 5 or loss == "squared"


def test_members_are_told_apart(grid):
    _, table = grid
    cells = members(table)
    assert cells["counts"].tolist() == ["2-2-1-1"] * 4 + ["3-1-1-1"] * 4
    assert cells["init"].tolist() == ["balanced", "balanced", "gaussian", "gaussian"] * 2
    assert cells["seed"].tolist() == [0, 1] * 4
    assert select(table, "final")["skewed"].all()


def test_a_single_cell_over_time_by_hand():
    settings = {
        "counts": [3, 1, 1], "dimension": 3, "loss": "cross_entropy", "init": "gaussian", "scale": 0.2, "seeds": 2,
        "start": 0.1, "horizon": 50.0, "points": 8, "rtol": 1e-8, "atol": 1e-12,
    }  # fmt: skip
    trajectory = recorded(runs.toy, settings, seed=1)
    table = metrics.toy(trajectory, coordinates=1, populations=["examples", "classes"])
    classes = torch.tensor([0, 0, 0, 1, 2])
    for seed in (0, 1):
        f, W = states(trajectory, seed)
        outputs = own_outputs(f, W, settings["counts"], "cross_entropy")
        rows = dict(list(table[table["seed"] == seed].groupby("quantity")))
        np.testing.assert_allclose(rows["probability"]["value"].to_numpy().reshape(-1, 3), outputs, atol=1e-12)
        means = np.stack([f[:, :3].mean(axis=1), f[:, 3], f[:, 4]], axis=1)
        for prefix, population in (("", f), ("class_", means)):
            ranks = {
                "rankme_centred": [rank_of(points) for points in population],
                "rankme": [rank_of(points, centred=False) for points in population],
                "effective_rank": [np.exp(stats.entropy(np.linalg.svd(points)[1])) for points in population],
            }
            for name, expected in ranks.items():
                np.testing.assert_allclose(rows[f"{prefix}{name}"]["value"], expected, rtol=1e-6)
        pairs = list(zip(f, W, strict=True))
        known = {
            "loss": [float(loss_of(torch.tensor(a), torch.tensor(b), classes, "cross_entropy")) for a, b in pairs],
            "alignment": [leading_cosine(a, b) for a, b in pairs],
            "separation_f": [separated(a, 3) for a in f],
            "separation_w": [separated(b.T, 1) for b in W],
        }
        for name, expected in known.items():
            np.testing.assert_allclose(rows[name]["value"], expected, rtol=1e-6)
        rates = [rates_of_singular_values(a, velocity(a, b, [3, 1, 1], "cross_entropy")[0]) for a, b in pairs]
        np.testing.assert_allclose(rows["rate"]["value"].to_numpy().reshape(-1, 3), rates, atol=1e-9)
        assert ("feature_x" in rows) == (seed == 0)
    f, W = states(trajectory, 0)
    last = table[(table["seed"] == 0) & (table["time"] == trajectory.time[-1])]
    for name, expected in (("feature_x", f[-1][:, 0]), ("feature_y", f[-1][:, 1]), ("class_x", W[-1][0]),
                           ("class_y", W[-1][1])):  # fmt: skip
        np.testing.assert_allclose(last[last["quantity"] == name]["value"], expected)
