"""Guarantees, saddles and random starts against torch's derivatives, scalar flows and hand-made tables."""

import numpy as np
import pytest
import scipy
import torch

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear import networks
from learning_dynamics.papers.deep_linear.convergence import metrics, runs, theory
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import by_draw, select
from tests.papers.deep_linear import plain
from tests.papers.deep_linear.plain import placed
from tests.support import called, claim_tables, evaluation, verdict

VALUES = [1.0, 0.7]


def with_settings(trajectory, settings):
    trajectory.settings = settings
    return trajectory


@pytest.mark.parametrize("depth", [2, 3, 5])
@pytest.mark.parametrize("margin", [0.1, 0.4])
def test_the_guaranteed_rate_is_a_2nth_of_the_flows_first_one(depth, margin):
    """From the target with its last singular value lowered to c, log loss falls at 2 N c^(2 - 2/N) at first."""
    target = np.diag(VALUES)
    layers = networks.balanced_layers(np.diag([VALUES[0], margin]), [2] * (depth + 1))
    changes = plain.gradients(layers, plain.squared(target))
    falls = sum(np.sum(change**2) for change in changes)
    rate = falls / (0.5 * (VALUES[1] - margin) ** 2)
    assert theory.guaranteed_rate(margin, depth) == pytest.approx(rate / (2 * depth))


def test_the_allowed_imbalance_is_the_theorems():
    # c^2 / (256 N^3 F^(2 - 2/N)) by hand: 1/4, 2048, 9; and 1/16, 6912, 16
    assert theory.allowed_imbalance(0.5, 2, np.diag([9.0, 0.0])) == pytest.approx(0.25 / (2048 * 9))
    assert theory.allowed_imbalance(0.25, 3, np.array([[8.0]])) == pytest.approx(0.0625 / (6912 * 16))


def test_flows_from_the_smallest_direction_are_scalar():
    settings = {"depths": [2, 3], "size": 2, "smallest": 0.7, "largest": 1.0, "fractions": [0.5, 0.1], "horizon": 10.0,
                "start": 1e-3, "points": 30, "seeds": 1, "rtol": 1e-9, "atol": 1e-12}  # fmt: skip
    trajectory = with_settings(called(runs.margins, **settings, seed=0), settings)
    table = metrics.margins(trajectory, floor=1e-8)
    last = np.linalg.svd(trajectory.constants["target"][0], compute_uv=False)[1]
    times = np.concatenate([[0.0], np.geomspace(1e-3, 10.0, 30)])
    for depth in (2, 3):
        for fraction in (0.5, 0.1):
            c = fraction * last
            clock = c ** (2 / depth - 1) * times
            path = scipy.integrate.solve_ivp(
                lambda _t, s, N=depth: N * s ** (2 - 2 / N) * (last - s), (0, clock[-1]), [c], t_eval=clock,
                rtol=1e-11, atol=1e-14,
            ).y[0]  # fmt: skip
            loss = ((path - last) / (c - last)) ** 2
            kept = (loss > 1e-8) & (np.abs(loss - 1) > 1e-6)
            rate = np.min(-np.log(loss[kept]) / clock[kept])
            rows = select(table, "rate", depth=depth, start="smallest direction")
            row = rows[np.isclose(rows["margin"], c, rtol=1e-9)]
            assert row["value"].item() == pytest.approx(rate, rel=1e-5)
            first = 2 * depth * c ** (2 - 2 / depth)
            assert row["predicted"].item() == pytest.approx(first / (2 * depth))
            here = np.isclose(trajectory.constants["margin"], c, rtol=1e-9) & (trajectory.constants["depth"] == depth)
            away = trajectory.series["end_to_end"][here, 0]
            gaps = np.linalg.norm(away - trajectory.constants["target"][0], axis=(1, 2))
            np.testing.assert_allclose(gaps, last - c, rtol=1e-6)


def test_descent_of_the_guarantee_is_plain_descent():
    settings = {"depth": 3, "size": 2, "smallest": 0.6, "largest": 1.0, "margin": 0.4, "step": 0.5, "rescaling": 5.0,
                "horizon": 1.0, "points": 5, "seeds": 1}  # fmt: skip
    trajectory = with_settings(runs.guarantee(**settings, seed=2), settings)
    table = metrics.guarantee(trajectory, floor=1e-12)
    target = trajectory.constants["target"][0]
    loss = plain.squared(target)
    U, values, Vt = np.linalg.svd(target)
    first, last = values
    starts = {
        "assumptions hold": U @ np.diag([first, 0.4]) @ Vt,
        "beyond a singular matrix": U @ np.diag([first, -last]) @ Vt,
        "unbalanced": U @ np.diag([first, 0.4]) @ Vt,
    }
    for case, start in starts.items():
        layers = networks.balanced_layers(start, [2, 2, 2, 2])
        if case == "unbalanced":
            layers = [layers[0] * 5, layers[1] / 5, layers[2]]
        row = by_draw(table, "loss", case=case)[0]
        first = float(loss(torch.tensor(start)))
        rates = []
        for step, measured in zip(trajectory.time.astype(int), row, strict=True):
            ended = plain.multiply(plain.descend(layers, loss, 0.5 * 0.4**4, step))
            value = float(loss(torch.tensor(ended))) / first
            assert measured == pytest.approx(value, rel=1e-9)
            if step:
                rates.append(-np.log(value) / (step * 0.5 * 0.4**4))
        assert select(table, "rate", case=case)["value"].item() == pytest.approx(min(rates), rel=1e-6)
    held = select(table, "loss", case="assumptions hold")
    np.testing.assert_allclose(held["predicted"], np.exp(-(0.4 ** (4 / 3)) * held["time"]))


@pytest.mark.parametrize("name", ["log cosh", "squares and fourth powers"])
def test_flows_on_other_losses_are_those_of_torch(name):
    settings = {"depth": 2, "singular_values": VALUES, "share": 0.8, "start": 1e-2, "horizon": 3.0, "points": 3,
                "seeds": 1, "rtol": 1e-9, "atol": 1e-12}  # fmt: skip
    trajectory = with_settings(called(runs.convex_losses, **settings, seed=0), settings)
    table = metrics.convex_losses(trajectory)
    target = torch.tensor(trajectory.constants["target"][0])
    losses = {
        "log cosh": lambda W: torch.sum(torch.log(torch.cosh(W - target))),
        "squares and fourth powers": lambda W: torch.sum(0.5 * (W - target) ** 2 + 0.25 * (W - target) ** 4),
    }
    least = {"log cosh": np.log(np.cosh(0.7)), "squares and fourth powers": 0.5 * 0.49 + 0.25 * 0.7**4 / 4}
    place = {"log cosh": 2, "squares and fourth powers": 4}[name]
    for offset, start in enumerate(("below", "beyond")):
        W = trajectory.series["end_to_end"][place + offset]
        path = plain.flow(networks.balanced_layers(W[0], [2, 2, 2]), losses[name], trajectory.time)
        np.testing.assert_allclose(W, [plain.multiply(layers) for layers in path], atol=1e-6)
        expected = [float(losses[name](torch.tensor(each))) for each in W]
        np.testing.assert_allclose(
            by_draw(table, "excess", loss=name, start=start)[0], np.array(expected) / expected[0], rtol=1e-9
        )
        fraction = select(table, "fraction", loss=name, start=start)["value"].item()
        assert fraction == pytest.approx(expected[0] / least[name])
        assert (fraction == pytest.approx(0.8)) == (start == "below")


@pytest.mark.parametrize("depth", [2, 3])
def test_second_derivatives_at_zero_are_torchs(depth):
    settings = {"depths": [depth], "size": 2, "smallest": 1e-3, "largest": 0.3, "points": 5, "seeds": 1}
    trajectory = with_settings(runs.zero_weights(**settings, seed=3), settings)
    target = trajectory.constants["target"][0]
    loss = plain.squared(target)

    def objective(state):
        return loss(plain.end_to_end(list(state.reshape(depth, 2, 2))))

    hessian = torch.autograd.functional.hessian(objective, torch.zeros(depth * 4, dtype=torch.float64)).numpy()
    table = metrics.zero_weights(trajectory)
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
    assert select(table, "next")["value"].item() == pytest.approx(e[0] ** depth / (2 * first))


@pytest.mark.parametrize("given", [{"depths": [1, 2], "points": 5}, {"depths": [2], "points": 1}])
def test_what_is_no_saddle_is_refused(given):
    with pytest.raises(ProjectError, match="must be 2 or more"):
        runs.zero_weights(**given, size=2, smallest=1e-3, largest=0.3, seeds=1, seed=3)


def test_random_starts_with_one_output_are_followed_as_plain_descent_does():
    settings = {"dimensions": [3], "depth": 3, "deviation": 0.6, "margin": 0.05, "draws": 6, "followed": 4,
                "learning_rate": 0.2, "tolerance": 1e-3, "max_steps": 60}  # fmt: skip
    trajectory = with_settings(runs.one_output(**settings, seed=1), settings)
    table = metrics.one_output(trajectory)
    (rng,) = generators(1, "deep_linear.one_output.3", 1)
    normal, target = rng.standard_normal((6, 3)), np.eye(3)[0]
    # the loss is the mean square of residuals, and so the squared distance
    squared = lambda W: torch.sum((W - torch.tensor(target)) ** 2)  # noqa: E731
    for kind, size in (("over the dimension", 0.2), ("over the root", 0.6 / np.sqrt(3))):
        near, arrived = [], []
        for draw, w in enumerate(size * normal):
            # the margin is that of entries over the dimension, for both kinds
            near.append(np.linalg.norm(w - target) < 1 - 0.05 * 0.6 / 3)
            length = np.linalg.norm(w)
            layers = [(w / length ** (2 / 3))[None], np.array([[length ** (1 / 3)]]), np.array([[length ** (1 / 3)]])]
            if draw < 4:
                losses = []
                for _ in range(61):
                    losses.append(float(squared(torch.tensor(plain.multiply(layers)))))
                    layers = plain.descend(layers, squared, 0.2, 1)
                arrived.append(float(min(losses) <= 1e-3))
        np.testing.assert_array_equal(by_draw(table, "holds", deviation=kind)[:, 0], near)
        np.testing.assert_array_equal(by_draw(table, "reached", deviation=kind)[:, 0], [*arrived, np.nan, np.nan])


def test_the_fewest_steps_of_an_initialisation_are_those_of_plain_descent():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 2))
    data = {"X": X, "Y": (X @ [1.0, -2.0])[:, None]}
    settings = {"depths": [2], "width": 2, "deviations": [0.5], "learning_rates": [0.3, 0.1], "tolerance": 1e-2,
                "max_steps": 200, "seeds": 1}  # fmt: skip
    trajectory = with_settings(runs.initialisation_range(data, **settings, seed=0), settings)
    table = metrics.initialisation_range(trajectory)
    # with whitened inputs the target is the direction of X'Y among whitened inputs
    U, _, Vt = np.linalg.svd(X, full_matrices=False)
    target = (Vt.T @ U.T @ X @ [1.0, -2.0])[None]
    target /= np.linalg.norm(target)
    (generator,) = generators(0, "deep_linear.initialisation_range.2", 1)
    normal = [generator.standard_normal(shape) for shape in ((2, 2), (1, 2))]
    direction = generator.standard_normal((1, 2))
    # entries of a product of two Gaussian layers of width 2 have variance 2 d^4
    of_layers = (0.5 / np.sqrt(2)) ** 0.5
    starts = {"layer_wise": [of_layers * layer for layer in normal],
              "balanced": networks.balanced_layers(0.5 * direction, [2, 2, 1])}  # fmt: skip
    for init, layers in starts.items():
        counts = {}
        for rate in (0.3, 0.1):
            current = layers
            for step in range(201):
                if 0.5 * np.sum((plain.multiply(current) - target) ** 2) <= 1e-2:
                    counts[rate] = step
                    break
                current = plain.descend(current, plain.squared(target), rate, 1)
        assert select(table, "steps", init=init)["value"].item() == min(counts.values())
        best = select(table, "learning_rate", init=init)["value"].item()
        assert counts[best] == min(counts.values())
        size = select(table, "size", init=init)["value"].item()
        assert size == pytest.approx(np.linalg.norm(plain.multiply(layers)))


# -- judges ---------------------------------------------------------------------------------------


def of(claim, alter=None, **settings):
    tables = claim_tables("deep_linear", claim)
    return verdict("deep_linear", claim, alter(tables) if alter else tables, **settings)


SADDLE, RATE, NEEDED = "saddle_at_zero", "linear_rate", "assumptions_necessary"
LOSSES, OUTPUT = "other_convex_losses", "output_dimension_one"


@pytest.mark.parametrize(
    ("claim", "alter", "settings", "inside"),
    [
        (SADDLE, placed("order", 4e-5, add=True, depth=3, seed=0), {"rounding": 1e-9}, False),
        (SADDLE, placed("order", -4e-5, add=True, depth=2, seed=1), {"rounding": 1e-9}, False),
        (SADDLE, placed("order", 4e-9, add=True, depth=4, seed=1), {"rounding": 1e-9}, False),
        (SADDLE, placed("order", 0.5e-9, add=True, depth=4, seed=1), {"rounding": 1e-9}, True),
        (SADDLE, placed("order", 1e-7, add=True, depth=2, seed=1), {"rounding": 1e-9}, True),
        (SADDLE, placed("curvature", -2e-9, depth=3, seed=0), {"rounding": 1e-9}, False),
        (SADDLE, placed("curvature", -1 + 2e-9, depth=2), {"rounding": 1e-9}, False),
        (SADDLE, placed("curvature", 0.5e-9, depth=4), {"rounding": 1e-9}, True),
        (SADDLE, placed("fall", -1e-12, depth=4, seed=1), {"rounding": 1e-9}, False),
        (SADDLE, placed("fall", 1e-30, depth=3, seed=0), {"rounding": 1e-9}, False),
        (SADDLE, placed("fall", 1.0, depth=2, seed=1), {"rounding": 1e-9}, False),
        (NEEDED, placed("loss", 0.5e-5, case="beyond a singular matrix", seed=1), {"reached": 1e-5}, True),
        (NEEDED, placed("loss", 0.5e-5, case="beyond a singular matrix"), {"reached": 1e-5}, False),
        (NEEDED, placed("loss", 0.5e-5, case="unbalanced"), {"reached": 1e-5}, False),
        (NEEDED, placed("loss", 2e-5, case="assumptions hold", seed=0), {"reached": 1e-5}, False),
        (NEEDED, placed("loss", 2e-5, case="imbalance allowed", seed=1), {"reached": 1e-5}, False),
        (NEEDED, placed("loss", 2e-5, case="unbalanced, shorter step", seed=1), {"reached": 1e-5}, False),
        (NEEDED, placed("loss", 0.5e-5, case="unbalanced, shorter step"), {"reached": 1e-5}, True),
        (LOSSES, placed("excess", 2e-6, start="below", loss="log cosh"), {"reached": 1e-6}, False),
        (LOSSES, placed("excess", 0.5e-6, start="below", loss="log cosh"), {"reached": 1e-6}, True),
        (LOSSES, placed("excess", 0.5e-6, start="beyond", loss="log cosh"), {"reached": 1e-6}, False),
        (OUTPUT, placed("reached", 0.0, seed=lambda s: s < 5, deviation="over the dimension"), {}, False),
        (OUTPUT, placed("holds", 1.0, dimension=8, deviation="over the dimension"), {}, False),
        (OUTPUT, placed("holds", 1.0, deviation="over the root"), {}, True),
    ],
)  # fmt: skip
def test_tables_beyond_their_bound_are_refused(claim, alter, settings, inside):
    assert of(claim, **settings) == "reproduced"
    assert (of(claim, alter, **settings) == "reproduced") == inside


def relative_rate(role, factor, **where):
    """Place one rate at a multiple of the guaranteed one."""

    def alter(tables):
        table = tables[role]
        chosen = table["quantity"] == "rate"
        for column, value in where.items():
            chosen &= table[column] == value
        guaranteed = table["predicted"] if role == "flows" else 0.3 ** (4 / 3)
        place = table.index[chosen][0]
        table.loc[place, "value"] = factor * (guaranteed[place] if role == "flows" else guaranteed)
        return tables

    return alter


@pytest.mark.parametrize(
    ("alter", "inside"),
    [
        (relative_rate("flows", 0.9, depth=2, start="random direction"), False),
        (relative_rate("flows", 0.9, depth=3, start="smallest direction, imbalance allowed"), False),
        (relative_rate("flows", 1.1, depth=3, start="smallest direction"), True),
        (relative_rate("descent", 0.9, case="assumptions hold"), False),
        (relative_rate("descent", 0.9, case="imbalance allowed"), False),
        (relative_rate("descent", 1.1, case="imbalance allowed"), True),
        (relative_rate("descent", 0.1, case="unbalanced"), True),
    ],
)
def test_a_rate_below_the_guaranteed_one_is_refused(alter, inside):
    assert of(RATE) == "reproduced"
    assert (of(RATE, alter) == "reproduced") == inside


def test_shares_of_starts_are_held_to_two_standard_errors():
    """Shares made up around the probability of a noncentral chi-square."""
    tables = claim_tables("deep_linear", OUTPUT)
    table = tables["starts"]
    draws = table["seed"].nunique()
    for dimension, standard in ((2, 4.5), (8, -4.5)):
        deviation = 0.5 / dimension
        inside = 1 - 0.05 * deviation
        share = scipy.stats.ncx2.cdf((inside / deviation) ** 2, dimension, deviation**-2)
        for errors, expected in ((standard, False), (standard / 4, True)):
            count = round(draws * (share + errors * np.sqrt(share * (1 - share) / draws)))
            altered = claim_tables("deep_linear", OUTPUT)
            rows = altered["starts"]
            chosen = (rows["quantity"] == "holds") & (rows["dimension"] == dimension)
            chosen &= rows["deviation"] == "over the dimension"
            rows.loc[chosen, "value"] = (np.arange(chosen.sum()) < count).astype(float)
            reached = (rows["quantity"] == "reached") & rows["value"].notna()
            rows.loc[reached, "value"] = 1.0
            found = evaluation("deep_linear", OUTPUT, altered)
            assert (found.verdict == "reproduced") == expected, (dimension, errors)
