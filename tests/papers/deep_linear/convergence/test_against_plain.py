"""Guarantees, saddles and random starts against torch's derivatives, scalar flows and hand-made tables."""

import itertools

import numpy as np
import pytest
import scipy
import torch

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear.convergence import convergence_time, metrics, runs, theory
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import by_draw, select
from tests.papers.deep_linear import plain
from tests.papers.deep_linear.shared import put, trajectory_and_table, verdict_on
from tests.support import claim_tables, evaluation, named_after_its_call

VALUES = [1.0, 0.7]


@pytest.mark.parametrize("depth", [2, 3, 5])
@pytest.mark.parametrize("margin", [0.1, 0.4])
def test_the_guaranteed_rate_is_a_2nth_of_the_flows_first_one(depth, margin):
    """From the target with its last singular value lowered to c, log loss falls at 2 N c^(2 - 2/N) at first."""
    target = np.diag(VALUES)
    layers = plain.balanced(np.diag([VALUES[0], margin]), depth)
    changes = plain.gradients(layers, plain.squared(target))
    falls = sum(np.sum(change**2) for change in changes)
    rate = falls / (0.5 * (VALUES[1] - margin) ** 2)
    assert theory.guaranteed_rate(margin, depth) == pytest.approx(rate / (2 * depth))


def test_the_allowed_imbalance_is_the_theorems():
    # c^2 / (256 N^3 F^(2 - 2/N)) by hand: 1/4, 2048, 9; and 1/16, 6912, 16
    assert theory.allowed_imbalance(0.5, 2, np.diag([9.0, 0.0])) == pytest.approx(0.25 / (2048 * 9))
    assert theory.allowed_imbalance(0.25, 3, np.array([[8.0]])) == pytest.approx(0.0625 / (6912 * 16))


def test_flows_from_the_smallest_direction_are_scalar():
    settings = {
        "depths": [2, 3],
        "size": 2,
        "smallest": 0.7,
        "largest": 1.0,
        "fractions": [0.5, 0.1],
        "horizon": 10.0,
        "first_time": 1e-3,
        "points": 30,
        "seeds": 1,
        "rtol": 1e-9,
        "atol": 1e-12,
        "seed": 0,
    }
    trajectory, table = trajectory_and_table(runs.margins, metrics.margins, settings, floor=1e-8)
    last = np.linalg.svd(trajectory.constants["target"][0], compute_uv=False)[1]
    times = np.concatenate([[0.0], np.geomspace(1e-3, 10.0, 30)])
    for depth in (2, 3):
        for fraction in (0.5, 0.1):
            c = fraction * last
            clock = c ** (2 / depth - 1) * times
            path = scipy.integrate.solve_ivp(
                lambda _t, s, N=depth: N * s ** (2 - 2 / N) * (last - s),
                (0, clock[-1]),
                [c],
                t_eval=clock,
                rtol=1e-11,
                atol=1e-14,
            ).y[0]
            loss = ((path - last) / (c - last)) ** 2
            kept = (loss > 1e-8) & (np.abs(loss - 1) > 1e-6)
            rate = np.min(-np.log(loss[kept]) / clock[kept])
            rows = select(table, "smallest_rate", depth=depth, start="smallest direction")
            row = rows[np.isclose(rows["margin"], c, rtol=1e-9)]
            assert row["value"].item() == pytest.approx(rate, rel=1e-5), f"{depth=}, {fraction=}"
            assert row["predicted"].item() == pytest.approx(c ** (2 - 2 / depth)), f"{depth=}, {fraction=}"
            here = np.isclose(trajectory.constants["margin"], c, rtol=1e-9) & (trajectory.constants["depth"] == depth)
            away = trajectory.series["end_to_end"][here, 0]
            gaps = np.linalg.norm(away - trajectory.constants["target"][0], axis=(1, 2))
            np.testing.assert_allclose(gaps, last - c, rtol=1e-6, err_msg=f"{depth=}, {fraction=}")


def test_descent_of_the_guarantee_is_plain_descent():
    settings = {
        "depth": 3,
        "size": 2,
        "smallest": 0.6,
        "largest": 1.0,
        "margin": 0.4,
        "step": 0.5,
        "rescaling": 5.0,
        "horizon": 1.0,
        "points": 5,
        "seeds": 1,
        "seed": 2,
    }
    trajectory, table = trajectory_and_table(runs.guarantee, metrics.guarantee, settings, floor=1e-12)
    target = trajectory.constants["target"][0]
    loss, rate, allowed = plain.squared(target), 0.5 * 0.4**4, theory.allowed_imbalance(0.4, 3, target)
    U, (first, last), Vt = np.linalg.svd(target)
    kept, beyond = (plain.balanced(U @ np.diag([first, second]) @ Vt, 3) for second in (0.4, -last))

    def imbalance(layers):
        return max(np.linalg.norm(up.T @ up - down @ down.T) for down, up in itertools.pairwise(layers))

    def stretched(factor):
        return [kept[0] * factor, kept[1] / factor, kept[2]]

    slightly = scipy.optimize.brentq(lambda factor: imbalance(stretched(factor)) - allowed, 1.0, 2.0)
    starts = {
        "assumptions hold": (kept, rate),
        "beyond a singular matrix": (beyond, rate),
        "unbalanced": (stretched(5.0), rate),
        "imbalance allowed": (stretched(slightly), rate),
        "unbalanced, shorter step": (stretched(5.0), rate / 25),
    }
    for case, (layers, eta) in starts.items():
        measured = select(table, "imbalance", case=case)["value"].item()
        assert measured == pytest.approx(imbalance(layers), abs=1e-12), case
        start = 0.5 * np.sum((plain.multiply(layers) - target) ** 2)
        assert select(table, "initial_excess", case=case)["value"].item() == pytest.approx(start), case
        steps = trajectory.time.astype(int)
        _, losses = plain.descend_until(layers, loss, eta, 0.0, steps[-1])
        relative = np.array(losses)[steps] / losses[0]
        measured = by_draw(table, "relative_excess", case=case)[0]
        np.testing.assert_allclose(measured, relative, rtol=1e-9, err_msg=case)
        smallest = np.min(-np.log(relative[1:]) / (eta * steps[1:]))
        measured = select(table, "smallest_rate", case=case)["value"].item()
        assert measured == pytest.approx(smallest, rel=1e-6), case
    held = select(table, "relative_excess", case="assumptions hold")
    np.testing.assert_allclose(held["predicted"], np.exp(-(0.4 ** (4 / 3)) * held["time"]))

    far = plain.balanced((4 / rate) ** 0.75 / first * target, 3)
    (turned, *_), losses = plain.descend_until(far, loss, rate, 0.0, 1)
    assert np.linalg.norm(turned, 2) == pytest.approx(3 * np.linalg.norm(far[0], 2), rel=0.05)
    of_far = select(table, "relative_excess", case="too far").sort_values("time")["value"].to_numpy()
    assert trajectory.time[1] == 1
    np.testing.assert_allclose(of_far[:2], np.array(losses) / losses[0], rtol=1e-9)
    assert of_far[-1] == of_far[1] > 10, "it stays where it has diverged"


@pytest.mark.parametrize("name", ["log cosh", "squares and fourth powers"])
def test_flows_on_other_losses_are_those_of_torch(name):
    settings = {
        "depth": 2,
        "singular_values": VALUES,
        "share": 0.8,
        "first_time": 1e-2,
        "horizon": 3.0,
        "points": 3,
        "seeds": 1,
        "rtol": 1e-9,
        "atol": 1e-12,
        "seed": 0,
    }
    trajectory, table = trajectory_and_table(runs.convex_losses, metrics.convex_losses, settings)
    target = torch.tensor(trajectory.constants["target"][0])
    losses = {
        "log cosh": lambda W: torch.sum(torch.log(torch.cosh(W - target))),
        "squares and fourth powers": lambda W: torch.sum(0.5 * (W - target) ** 2 + 0.25 * (W - target) ** 4),
    }
    least = {"log cosh": np.log(np.cosh(0.7)), "squares and fourth powers": 0.5 * 0.49 + 0.25 * 0.7**4 / 4}
    place = {"log cosh": 2, "squares and fourth powers": 4}[name]
    for offset, start in enumerate(("below", "beyond")):
        W = trajectory.series["end_to_end"][place + offset]
        path = plain.flow(plain.balanced(W[0], 2), losses[name], trajectory.time)
        np.testing.assert_allclose(
            W, [plain.multiply(layers) for layers in path], rtol=0, atol=1e-6, err_msg=f"{start=}"
        )
        expected = np.array([float(losses[name](torch.tensor(each))) for each in W])
        excess = by_draw(table, "relative_loss", loss=name, start=start)[0]
        np.testing.assert_allclose(excess, expected / expected[0], rtol=1e-9, err_msg=f"{start=}")
        fraction = select(table, "loss_over_singular", loss=name, start=start)["value"].item()
        assert fraction == pytest.approx(expected[0] / least[name]), f"{start=}"
        assert (fraction == pytest.approx(0.8)) == (start == "below"), f"{start=}"


@pytest.mark.parametrize("depth", [2, 3])
def test_second_derivatives_at_zero_are_torchs(depth):
    settings = {"depths": [depth], "size": 2, "smallest": 1e-3, "largest": 0.3, "points": 5, "seeds": 1, "seed": 3}
    trajectory, table = trajectory_and_table(runs.zero_weights, metrics.zero_weights, settings)
    target = trajectory.constants["target"][0]
    loss = plain.squared(target)

    def objective(state):
        return loss(plain.end_to_end(list(state.reshape(depth, 2, 2))))

    hessian = torch.autograd.functional.hessian(objective, torch.zeros(depth * 4, dtype=torch.float64)).numpy()
    curvature = select(table, "curvature")
    first = np.linalg.norm(target, 2)
    assert curvature["value"].item() == pytest.approx(np.linalg.eigvalsh(hessian)[0] / first, abs=1e-9)
    assert curvature["predicted"].item() == (-1.0 if depth == 2 else 0.0)
    assert select(table, "order")["value"].item() == pytest.approx(depth, abs=1e-4)
    assert select(table, "order")["predicted"].item() == depth
    # along the steepest direction the loss is that of one number
    e = trajectory.time
    np.testing.assert_allclose(trajectory.series["fall"][0], e**depth * first - e ** (2 * depth) / 2, rtol=1e-9)
    assert select(table, "fall")["predicted"].item() == pytest.approx(e[0] ** depth * first)
    assert select(table, "next_term")["value"].item() == pytest.approx(e[0] ** depth / (2 * first))


@pytest.mark.parametrize("given", [{"depths": [1, 2], "points": 5}, {"depths": [2], "points": 1}])
def test_what_is_no_saddle_is_refused(given):
    with pytest.raises(ProjectError, match="must be 2 or more"):
        runs.zero_weights(**given, size=2, smallest=1e-3, largest=0.3, seeds=1, seed=3)


def test_random_starts_with_one_output_are_followed_as_plain_descent_does():
    settings = {
        "dimensions": [3],
        "depth": 3,
        "deviation": 0.6,
        "margin": 0.05,
        "draws": 6,
        "followed": 4,
        "learning_rate": 0.2,
        "tolerance": 1e-3,
        "max_steps": 60,
        "seed": 1,
    }
    _, table = trajectory_and_table(runs.one_output, metrics.one_output, settings)
    (rng,) = generators(1, "deep_linear.one_output.3", 1)
    normal, target = rng.standard_normal((6, 3)), np.eye(3)[0]
    # the loss is the mean square of residuals, and so the squared distance
    squared = lambda W: torch.sum((W - torch.tensor(target)) ** 2)  # noqa: E731
    for kind, size in (("over the dimension", 0.2), ("over the root", 0.6 / np.sqrt(3))):
        # the margin is that of entries over the dimension, for both kinds
        near = np.linalg.norm(size * normal - target, axis=1) < 1 - 0.05 * 0.6 / 3
        ends = [plain.descend_until(plain.balanced(w[None], 3), squared, 0.2, 1e-3, 60)[1][-1] for w in size * normal]
        arrived = np.where(np.arange(6) < 4, np.array(ends) <= 1e-3, np.nan)
        np.testing.assert_array_equal(
            by_draw(table, "meets_assumption", deviation=kind)[:, 0], near, err_msg=f"{kind=}"
        )
        np.testing.assert_array_equal(by_draw(table, "converged", deviation=kind)[:, 0], arrived, err_msg=f"{kind=}")


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_the_fewest_steps_of_an_initialisation_are_those_of_plain_descent(monkeypatch, depth):
    monkeypatch.setattr(convergence_time, "AT_ONCE", 3)  # it is no matter to what is counted
    X = np.random.default_rng(0).standard_normal((9, 2))
    data, rates = {"X": X, "Y": (X @ [1.0, -2.0])[:, None]}, [0.1, 5.0, 0.3, 1.9]
    settings = {
        "depths": [depth],
        "width": 2,
        "deviations": [0.5],
        "learning_rates": rates,
        "tolerance": 1e-2,
        "max_steps": 200,
        "seeds": 1,
        "seed": 0,
    }
    _, table = trajectory_and_table(runs.initialisation_range, metrics.initialisation_range, settings, data)
    # with whitened inputs the target is the direction of X'Y among whitened inputs
    U, _, Vt = np.linalg.svd(X, full_matrices=False)
    target = (Vt.T @ U.T @ X @ [1.0, -2.0])[None]
    target /= np.linalg.norm(target)
    (generator,) = generators(0, f"deep_linear.initialisation_range.{depth}", 1)
    normal = [generator.standard_normal((rows, 2)) for rows in [*[2] * (depth - 1), 1]]
    direction = generator.standard_normal((1, 2))
    # entries of a product of N Gaussian layers of width 2 have variance 2^(N-1) d^(2N)
    of_layers = (0.5 / 2 ** ((depth - 1) / 2)) ** (1 / depth)
    starts = {
        "layer_wise": [of_layers * layer for layer in normal],
        "balanced": plain.balanced(0.5 * direction, depth),
    }
    for init, layers in starts.items():
        losses = {rate: plain.descend_until(layers, plain.squared(target), rate, 1e-2, 200)[1] for rate in rates}
        counts = {rate: len(path) - 1 for rate, path in losses.items() if path[-1] <= 1e-2}
        row = select(table, init=init).set_index("quantity")["value"]
        assert row["steps"] == counts[row["learning_rate"]] == min(counts.values()), f"{init=}"
        assert row["initial_norm"] == pytest.approx(np.linalg.norm(plain.multiply(layers))), f"{init=}"


# -- judges ---------------------------------------------------------------------------------------

SADDLE, RATE, NEEDED = "saddle_at_zero", "linear_rate", "assumptions_necessary"
LOSSES, OUTPUT = "other_convex_losses", "output_dimension_one"
BOUNDS = {SADDLE: {"rounding": 1e-9}, NEEDED: {"reached": 1e-5}, LOSSES: {"reached": 1e-6}}


def first_five(seeds):
    return seeds < 5


@named_after_its_call
def of_guaranteed(share, **where):
    """Place the rate of one draw at a share of the guaranteed one."""
    role = "descent" if "case" in where else "flows"
    value = share * 0.3 ** (4 / 3) if role == "descent" else lambda rows: share * rows["predicted"]
    return put("smallest_rate", value, role=role, seed=0, **where)


@pytest.mark.parametrize(
    ("claim", "alter", "inside"),
    [
        (SADDLE, put("order", 4e-9, add=True, depth=4, seed=1), False),
        (SADDLE, put("order", 0.5e-9, add=True, depth=4, seed=1), True),
        (SADDLE, put("order", -4e-5, add=True, depth=2, seed=1), False),
        (SADDLE, put("order", 1e-7, add=True, depth=2, seed=1), True),
        (SADDLE, put("curvature", -2e-9, depth=3, seed=0), False),
        (SADDLE, put("curvature", -1 + 2e-9, depth=2), False),
        (SADDLE, put("curvature", 0.5e-9, depth=4), True),
        (SADDLE, put("fall", 1e-30, depth=3, seed=0), False),
        (SADDLE, put("fall", 1.0, depth=2, seed=1), False),
        (NEEDED, put("relative_excess", 0.5e-5, case="beyond a singular matrix", seed=1), True),
        (NEEDED, put("relative_excess", 0.5e-5, case="beyond a singular matrix"), False),
        (NEEDED, put("relative_excess", 0.5e-5, case="unbalanced"), False),
        (NEEDED, put("relative_excess", 9.0, case="too far"), False),
        (NEEDED, put("relative_excess", 9.0, case="too far", seed=1), True),
        (NEEDED, put("relative_excess", 9.0, case="unbalanced"), False),
        (NEEDED, put("relative_excess", 2e-5, case="assumptions hold", seed=0), False),
        (NEEDED, put("relative_excess", 2e-5, case="imbalance allowed", seed=1), False),
        (NEEDED, put("relative_excess", 2e-5, case="unbalanced, shorter step", seed=1), False),
        (NEEDED, put("relative_excess", 0.5e-5, case="unbalanced, shorter step"), True),
        (LOSSES, put("relative_loss", 2e-6, start="below", loss="log cosh"), False),
        (LOSSES, put("relative_loss", 0.5e-6, start="below", loss="log cosh"), True),
        (LOSSES, put("relative_loss", 0.5e-6, start="beyond", loss="log cosh"), False),
        (OUTPUT, put("converged", 0.0, seed=first_five, deviation="over the dimension"), False),
        (OUTPUT, put("meets_assumption", 1.0, dimension=8, deviation="over the dimension"), False),
        (OUTPUT, put("meets_assumption", 1.0, deviation="over the root"), True),
    ],
)
def test_tables_beyond_their_bound_are_refused(claim, alter, inside):
    settings = BOUNDS.get(claim, {})
    assert verdict_on(claim, **settings) == "reproduced"
    assert (verdict_on(claim, alter, **settings) == "reproduced") == inside


@pytest.mark.parametrize(
    ("alter", "inside"),
    [
        (of_guaranteed(0.9, depth=2, start="random direction"), False),
        (of_guaranteed(0.9, depth=3, start="smallest direction, imbalance allowed"), False),
        (of_guaranteed(1.1, depth=3, start="smallest direction"), True),
        (of_guaranteed(0.9, case="assumptions hold"), False),
        (of_guaranteed(0.9, case="imbalance allowed"), False),
        (of_guaranteed(1.1, case="imbalance allowed"), True),
        (of_guaranteed(0.1, case="unbalanced"), True),
    ],
)
def test_the_excess_falls_at_the_guaranteed_rate(alter, inside):
    assert verdict_on(RATE, least_loss=0.1) == "corrected"
    assert verdict_on(RATE, alter, least_loss=0.1) == ("corrected" if inside else "contradicted")


BOTH = {"case": lambda cases: cases.isin(["assumptions hold", "imbalance allowed"])}


@pytest.mark.parametrize(
    ("first", "least_loss", "printed"),
    [
        (0.5, 0.0, "holds"),
        (0.5, 1e-3, "fails"),  # the loss stays above what labels leave
        (50.0, 0.0, "fails"),  # the bound is one at the start, whatever the loss is there
    ],
)
def test_the_printed_bound_is_one_of_the_loss_itself(first, least_loss, printed):
    """Losses are made up: `first` times exp(-t), and what labels leave."""
    losses = put("relative_excess", lambda rows: np.exp(-rows["time"]), role="descent", **BOTH)
    tables = losses(put("initial_excess", first, role="descent", **BOTH)(claim_tables("deep_linear", RATE)))
    found = evaluation("deep_linear", RATE, tables, least_loss=least_loss)
    assert found.judgement.headline.state == printed
    time = np.unique(select(tables["descent"], "relative_excess", case="assumptions hold")["time"])
    time = time[time > 0]
    loss = first * np.exp(-time) + least_loss
    counted = loss > 1e-12 * first
    rate = np.min(-np.log(loss[counted]) / time[counted])
    assert found.judgement.headline.value == pytest.approx(rate / 0.3 ** (4 / 3))


@pytest.mark.parametrize(
    ("dimension", "errors", "inside"), [(2, 4.5, False), (2, 1.1, True), (8, -4.5, False), (8, -1.1, True)]
)
def test_shares_of_starts_are_held_to_two_standard_errors(dimension, errors, inside):
    """Shares made up around the probability of a noncentral chi-square."""
    deviation = 0.5 / dimension
    share = scipy.stats.ncx2.cdf((1 / deviation - 0.05) ** 2, dimension, deviation**-2)

    def holds(rows):
        count = len(rows) * share + errors * np.sqrt(len(rows) * share * (1 - share))
        return (np.arange(len(rows)) < round(count)).astype(float)

    some_hold = put("meets_assumption", holds, dimension=dimension, deviation="over the dimension")
    all_arrive = put("converged", 1.0, value=lambda reached: reached.notna())
    found = verdict_on(OUTPUT, lambda tables: all_arrive(some_hold(tables)))
    assert (found == "reproduced") == inside
