"""Guarantees, saddles and random starts against torch's derivatives and scalar flows; judges on doctored tables."""

import functools
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
from tests.support import claim_tables, evaluation, named_after_its_call, smoke

# -- the guarantee in closed form ------------------------------------------------------------------

LARGEST, SMALLEST = 1.0, 0.7  # singular values of a target
VALUES = [LARGEST, SMALLEST]


@pytest.mark.parametrize("depth", [2, 3, 5])
@pytest.mark.parametrize("margin", [0.1, 0.4])
def test_the_flows_first_rate_is_2n_times_the_guaranteed_one(depth, margin):
    """From the target with its last singular value lowered to c, log loss falls at 2 N c^(2 - 2/N) at first."""
    target = np.diag(VALUES)
    layers = plain.balanced_layers(np.diag([LARGEST, margin]), depth)
    loss = 0.5 * (SMALLEST - margin) ** 2
    loss_falls_at = sum(np.sum(gradient**2) for gradient in plain.gradients(layers, plain.squared_loss(target)))
    assert loss_falls_at / loss == pytest.approx(2 * depth * theory.guaranteed_rate(margin, depth))


# c^2 / (256 N^3 F^(2 - 2/N)) by hand, for a target of Frobenius norm F: 9^1 = 9, and 8^(4/3) = 16
@pytest.mark.parametrize(
    ("margin", "depth", "target", "expected"),
    [
        pytest.param(0.5, 2, np.diag([9.0, 0.0]), (1 / 4) / (2048 * 9), id="N = 2, norm 9"),
        pytest.param(0.25, 3, np.array([[8.0]]), (1 / 16) / (6912 * 16), id="N = 3, norm 8"),
    ],
)
def test_the_allowed_imbalance_is_the_theorems(margin, depth, target, expected):
    assert theory.allowed_imbalance(margin, depth, target) == pytest.approx(expected)


# -- flows at given margins ------------------------------------------------------------------------

FLOOR = 1e-8  # relative loss below which rates of fall are not read
MARGINS = {
    "depths": [2, 3],
    "size": 2,
    "smallest": 0.7,
    "largest": 1.0,
    "fractions": [0.5, 0.1],  # margins, as shares of the target's smallest singular value
    "horizon": 10.0,
    "first_time": 1e-3,
    "points": 30,
    "seeds": 1,
    "rtol": 1e-9,
    "atol": 1e-12,
    "seed": 0,
}
every_margin = pytest.mark.parametrize(
    ("depth", "fraction"), list(itertools.product(MARGINS["depths"], MARGINS["fractions"]))
)


@pytest.fixture(scope="module")
def margins():
    """The run of flows under MARGINS, and its metrics."""
    return trajectory_and_table(runs.margins, metrics.margins, MARGINS, floor=FLOOR)


def smallest_singular_value(target):
    return np.linalg.svd(target, compute_uv=False)[-1]


@every_margin
def test_starts_are_as_far_from_the_target_as_the_margin_lets_them(margins, depth, fraction):
    """As far as the margin is below the target's smallest singular value."""
    trajectory, _ = margins
    constants = trajectory.constants
    target = constants["target"][0]
    smallest = smallest_singular_value(target)
    margin = fraction * smallest
    is_member = np.isclose(constants["margin"], margin, rtol=1e-9) & (constants["depth"] == depth)
    starts = trajectory.series["end_to_end"][is_member, 0]
    assert len(starts) == 3, "the smallest direction, the same with imbalance, and a random direction"
    np.testing.assert_allclose(np.linalg.norm(starts - target, axis=(1, 2)), smallest - margin, rtol=1e-6)


@every_margin
def test_the_rate_from_the_smallest_direction_is_that_of_a_scalar_flow(margins, depth, fraction):
    """The last singular value s alone moves, from the margin to its target: ds/dt = N s^(2 - 2/N) (target - s)."""
    trajectory, table = margins
    last = smallest_singular_value(trajectory.constants["target"][0])
    margin = fraction * last
    scaled_time = np.concatenate([[0.0], np.geomspace(MARGINS["first_time"], MARGINS["horizon"], MARGINS["points"])])
    # a singular value leaves the margin c at a rate in proportion to c^(1 - 2/N), relative to itself
    time = margin ** (2 / depth - 1) * scaled_time
    s = scipy.integrate.solve_ivp(
        lambda _time, s: depth * s ** (2 - 2 / depth) * (last - s),
        (0, time[-1]),
        [margin],
        t_eval=time,
        rtol=1e-11,
        atol=1e-14,
    ).y[0]
    relative_loss = ((s - last) / (margin - last)) ** 2
    # a fall of less than 1e-6 is lost in rounding of the loss
    is_read = (relative_loss > FLOOR) & (np.abs(relative_loss - 1) > 1e-6)
    rows = select(table, "smallest_rate", depth=depth, start="smallest direction")
    row = rows[np.isclose(rows["margin"], margin, rtol=1e-9)]
    assert row["value"].item() == pytest.approx(np.min(-np.log(relative_loss[is_read]) / time[is_read]), rel=1e-5)
    assert row["predicted"].item() == pytest.approx(margin ** (2 - 2 / depth))


# -- descent with the assumptions, and without each ------------------------------------------------

GUARANTEE = {
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
DEPTH = GUARANTEE["depth"]
RATE = GUARANTEE["step"] * GUARANTEE["margin"] ** 4  # as the run has it
RATES = {  # by start
    "assumptions hold": RATE,
    "beyond a singular matrix": RATE,
    "unbalanced": RATE,
    "imbalance allowed": RATE,
    "unbalanced, shorter step": RATE / GUARANTEE["rescaling"] ** 2,
}
every_start = pytest.mark.parametrize("case", RATES)


@pytest.fixture(scope="module")
def guarantee():
    """The run of descents under GUARANTEE, with one draw, and its metrics."""
    return trajectory_and_table(runs.guarantee, metrics.guarantee, GUARANTEE, floor=1e-12)


def largest_imbalance(layers):
    return max(np.linalg.norm(above.T @ above - below @ below.T) for below, above in itertools.pairwise(layers))


def plain_start(case, target):
    """Return the layers at which descent starts, by their definition."""
    U, (first, last), Vt = np.linalg.svd(target)
    if case == "beyond a singular matrix":
        return plain.balanced_layers(U @ np.diag([first, -last]) @ Vt, DEPTH)
    balanced = plain.balanced_layers(U @ np.diag([first, GUARANTEE["margin"]]) @ Vt, DEPTH)

    def rescaled(factor):
        """Return layers with the same product, the first by so many times larger than balanced, the second smaller."""
        return [balanced[0] * factor, balanced[1] / factor, balanced[2]]

    if case == "imbalance allowed":
        allowed = theory.allowed_imbalance(GUARANTEE["margin"], DEPTH, target)
        return rescaled(scipy.optimize.brentq(lambda factor: largest_imbalance(rescaled(factor)) - allowed, 1.0, 2.0))
    return balanced if case == "assumptions hold" else rescaled(GUARANTEE["rescaling"])


@every_start
def test_starts_have_the_imbalance_and_the_loss_of_their_definition(guarantee, case):
    trajectory, table = guarantee
    target = trajectory.constants["target"][0]
    layers = plain_start(case, target)
    imbalance = select(table, "imbalance", case=case)["value"].item()
    assert imbalance == pytest.approx(largest_imbalance(layers), abs=1e-12)
    initial_excess = select(table, "initial_excess", case=case)["value"].item()
    assert initial_excess == pytest.approx(0.5 * np.sum((plain.multiply(layers) - target) ** 2))


@every_start
def test_losses_and_their_smallest_rate_are_those_of_plain_descent(guarantee, case):
    trajectory, table = guarantee
    target, steps = trajectory.constants["target"][0], trajectory.time.astype(int)
    _, losses = plain.descend_until(plain_start(case, target), plain.squared_loss(target), RATES[case], 0.0, steps[-1])
    relative = np.array(losses)[steps] / losses[0]
    np.testing.assert_allclose(by_draw(table, "relative_excess", case=case)[0], relative, rtol=1e-9)
    smallest_rate = select(table, "smallest_rate", case=case)["value"].item()
    assert smallest_rate == pytest.approx(np.min(-np.log(relative[1:]) / (RATES[case] * steps[1:])), rel=1e-6)


def test_the_predicted_bound_falls_at_the_guaranteed_rate(guarantee):
    _, table = guarantee
    rows = select(table, "relative_excess", case="assumptions hold")
    guaranteed = GUARANTEE["margin"] ** (2 - 2 / DEPTH)
    np.testing.assert_allclose(rows["predicted"], np.exp(-guaranteed * rows["time"]))


def test_descent_from_too_far_turns_the_first_direction_over_and_stays_there(guarantee):
    """Along the first singular vectors layers become minus three times themselves, where the run gives them up."""
    trajectory, table = guarantee
    target = trajectory.constants["target"][0]
    # a layer's first singular value w, with w^3 that of the product, moves by -rate w^5, which is -4 w at this w
    w = (4 / RATE) ** (1 / 4)
    far = plain.balanced_layers(w**3 / np.linalg.norm(target, 2) * target, DEPTH)
    (first_layer, *_), losses = plain.descend_until(far, plain.squared_loss(target), RATE, 0.0, 1)
    U, singular_values, Vt = np.linalg.svd(far[0])
    # but for the target's part in the gradient, a hundredth, which makes 0.02
    assert U[:, 0] @ first_layer @ Vt[0] == pytest.approx(-3 * singular_values[0], rel=0.05)

    relative_excess = by_draw(table, "relative_excess", case="too far")[0]
    assert trajectory.time[1] == 1, "the second record is after one step"
    np.testing.assert_allclose(relative_excess[:2], np.array(losses) / losses[0], rtol=1e-9)
    assert relative_excess[1] > 10, "it has diverged"
    np.testing.assert_array_equal(relative_excess[1:], relative_excess[1])


# -- flows on other losses -------------------------------------------------------------------------

CONVEX_LOSSES = {
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
TORCH_LOSSES = {  # by name, functions of the residual W - target
    "log cosh": lambda residual: torch.sum(torch.log(torch.cosh(residual))),
    "squares and fourth powers": lambda residual: torch.sum(0.5 * residual**2 + 0.25 * residual**4),
}
# Bounds from below on a loss of singular matrices, which are at least SMALLEST from the target. The first loss is least
# with all of that distance in one entry, the second with a quarter of its square in each of four, so that fourth powers
# sum to a quarter of its fourth power.
LEAST_ON_SINGULAR = {
    "log cosh": np.log(np.cosh(SMALLEST)),
    "squares and fourth powers": 0.5 * SMALLEST**2 + 0.25 * SMALLEST**4 / 4,
}
every_loss_and_start = pytest.mark.parametrize(
    ("name", "start"), list(itertools.product(TORCH_LOSSES, ("below", "beyond")))
)


@pytest.fixture(scope="module")
def convex_losses():
    """The run of flows under CONVEX_LOSSES, with one draw, and its metrics."""
    return trajectory_and_table(runs.convex_losses, metrics.convex_losses, CONVEX_LOSSES)


def flow_and_loss(trajectory, name, start):
    """Return the end-to-end matrices of one flow at recorded times, and its loss as a function of W."""
    (member,) = np.flatnonzero((trajectory.constants["loss"] == name) & (trajectory.constants["start"] == start))
    target = torch.tensor(trajectory.constants["target"][member])
    return trajectory.series["end_to_end"][member], lambda W: TORCH_LOSSES[name](W - target)


@every_loss_and_start
def test_flows_on_other_losses_are_those_of_layers_by_torch(convex_losses, name, start):
    trajectory, _ = convex_losses
    W, loss = flow_and_loss(trajectory, name, start)
    path = plain.flow(plain.balanced_layers(W[0], 2), loss, trajectory.time)
    # both integrations have relative tolerances of 1e-9, whose errors add up along the flow
    np.testing.assert_allclose(W, [plain.multiply(layers) for layers in path], rtol=0, atol=1e-6)


@every_loss_and_start
def test_other_losses_are_measured_over_the_first_one_and_over_singular_ones(convex_losses, name, start):
    """Over singular ones: the first loss over a bound from below on that of singular matrices."""
    trajectory, table = convex_losses
    W, loss = flow_and_loss(trajectory, name, start)
    losses = np.array([float(loss(torch.tensor(at_one_time))) for at_one_time in W])
    relative_loss = by_draw(table, "relative_loss", loss=name, start=start)[0]
    np.testing.assert_allclose(relative_loss, losses / losses[0], rtol=1e-9)
    over_singular = select(table, "loss_over_singular", loss=name, start=start)["value"].item()
    assert over_singular == pytest.approx(losses[0] / LEAST_ON_SINGULAR[name])
    if start == "below":
        assert over_singular == pytest.approx(CONVEX_LOSSES["share"])
    else:
        assert over_singular > 1


# -- the saddle at zero weights --------------------------------------------------------------------

every_depth_of_saddles = pytest.mark.parametrize("depth", [2, 3])


@functools.cache
def saddle(depth):
    """Return the run of the loss near zero weights, with one draw of a 2 x 2 target, and its metrics."""
    settings = {"depths": [depth], "size": 2, "smallest": 1e-3, "largest": 0.3, "points": 5, "seeds": 1, "seed": 3}
    return trajectory_and_table(runs.zero_weights, metrics.zero_weights, settings)


@every_depth_of_saddles
def test_curvature_at_zero_weights_is_torchs_least_one_over_the_first_singular_value(depth):
    trajectory, table = saddle(depth)
    target = trajectory.constants["target"][0]

    def objective(weights):
        return plain.squared_loss(target)(plain.end_to_end(list(weights.reshape(depth, 2, 2))))

    hessian = torch.autograd.functional.hessian(objective, torch.zeros(depth * 4, dtype=torch.float64)).numpy()
    curvature = select(table, "curvature")
    expected = np.linalg.eigvalsh(hessian)[0] / np.linalg.norm(target, 2)
    assert curvature["value"].item() == pytest.approx(expected, abs=1e-9)
    assert curvature["predicted"].item() == (-1.0 if depth == 2 else 0.0)


@every_depth_of_saddles
def test_the_order_of_the_fall_is_the_depth(depth):
    _, table = saddle(depth)
    order = select(table, "order")
    # at distances of 1e-3 and 4e-3 the fall's next term is at most 1e-5 of it
    assert order["value"].item() == pytest.approx(depth, abs=1e-4)
    assert order["predicted"].item() == depth


@every_depth_of_saddles
def test_along_the_steepest_direction_the_loss_falls_as_that_of_one_number(depth):
    """With layers of norm e the product is e^N along the target's first singular value s: (s^2 - (s - e^N)^2) / 2."""
    trajectory, table = saddle(depth)
    s = np.linalg.norm(trajectory.constants["target"][0], 2)
    e = trajectory.time
    np.testing.assert_allclose(trajectory.series["fall"][0], e**depth * s - e ** (2 * depth) / 2, rtol=1e-9)
    assert select(table, "fall")["predicted"].item() == pytest.approx(e[0] ** depth * s)
    assert select(table, "next_term")["value"].item() == pytest.approx(e[0] ** depth / (2 * s))


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        pytest.param(
            {"depths": [1, 2], "points": 5}, r"depths \[1, 2\] and points 5", id="one layer, which has no saddle"
        ),
        pytest.param({"depths": [2], "points": 1}, r"depths \[2\] and points 1", id="one distance: no order"),
    ],
)
def test_a_saddle_takes_two_layers_and_two_distances(settings, named):
    with pytest.raises(ProjectError, match=f"{named}: each must be 2 or more"):
        runs.zero_weights(**settings, size=2, smallest=1e-3, largest=0.3, seeds=1, seed=3)


# -- random starts with one output -----------------------------------------------------------------

ONE_OUTPUT = {
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
(DIMENSION,) = ONE_OUTPUT["dimensions"]
DEVIATIONS = {  # by kind of start, the standard deviation of its entries
    "over the dimension": ONE_OUTPUT["deviation"] / DIMENSION,
    "over the root": ONE_OUTPUT["deviation"] / np.sqrt(DIMENSION),
}
every_kind_of_start = pytest.mark.parametrize("kind", DEVIATIONS)


@pytest.fixture(scope="module")
def one_output():
    """Metrics of the run under ONE_OUTPUT."""
    return trajectory_and_table(runs.one_output, metrics.one_output, ONE_OUTPUT)[1]


def random_starts(kind):
    """Return the end-to-end row vectors of all starts, shape (draws, DIMENSION), and the target, a unit vector."""
    (rng,) = generators(ONE_OUTPUT["seed"], f"deep_linear.one_output.{DIMENSION}", 1)
    return DEVIATIONS[kind] * rng.standard_normal((ONE_OUTPUT["draws"], DIMENSION)), np.eye(DIMENSION)[0]


@every_kind_of_start
def test_starts_meet_the_assumption_if_every_vector_of_the_margin_is_further_away(one_output, kind):
    """Further from the target; the nearest of such a length is on the way to it."""
    starts, target = random_starts(kind)
    margin = ONE_OUTPUT["margin"] * DEVIATIONS["over the dimension"]  # for both kinds
    is_near = np.linalg.norm(starts - target, axis=1) < 1 - margin
    np.testing.assert_array_equal(by_draw(one_output, "meets_assumption", deviation=kind)[:, 0], is_near)


@every_kind_of_start
def test_followed_starts_converge_where_plain_descent_does(one_output, kind):
    """The first of them are followed; of the others it is not known."""
    starts, target = random_starts(kind)
    n_followed = ONE_OUTPUT["followed"]
    rate, tolerance, max_steps = (ONE_OUTPUT[name] for name in ("learning_rate", "tolerance", "max_steps"))

    def loss(W):
        """Return the mean square of residuals, which with whitened inputs is the squared distance."""
        return torch.sum((W - torch.tensor(target)) ** 2)

    converged = []
    for start in starts[:n_followed]:
        layers = plain.balanced_layers(start[None], ONE_OUTPUT["depth"])
        _, losses = plain.descend_until(layers, loss, rate, tolerance, max_steps)
        converged.append(losses[-1] <= tolerance)
    measured = by_draw(one_output, "converged", deviation=kind)[:, 0]
    np.testing.assert_array_equal(measured[:n_followed], converged)
    np.testing.assert_array_equal(measured[n_followed:], np.nan)


# -- the fewest steps of an initialisation ---------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("init", ["layer_wise", "balanced"])
def test_the_fewest_steps_of_an_initialisation_are_those_of_plain_descent(monkeypatch, init, depth):
    monkeypatch.setattr(convergence_time, "AT_ONCE", 3)  # several calls of compiled code
    X = np.random.default_rng(0).standard_normal((9, 2))
    teacher = [1.0, -2.0]
    data = {"X": X, "Y": (X @ teacher)[:, None]}
    rates = [0.1, 5.0, 0.3, 1.9]
    deviation = 0.5
    settings = {
        "depths": [depth],
        "width": 2,
        "deviations": [deviation],
        "learning_rates": rates,
        "tolerance": 1e-2,
        "max_steps": 200,
        "seeds": 1,
        "seed": 0,
    }
    _, table = trajectory_and_table(runs.initialisation_range, metrics.initialisation_range, settings, data)
    # whitened, inputs are U Vt; the target is the direction of their products with the labels
    U, _, Vt = np.linalg.svd(X, full_matrices=False)
    target = (Vt.T @ U.T @ X @ teacher)[None]
    target /= np.linalg.norm(target)
    (rng,) = generators(0, f"deep_linear.initialisation_range.{depth}", 1)
    normal = [rng.standard_normal((rows, 2)) for rows in [*[2] * (depth - 1), 1]]
    direction = rng.standard_normal((1, 2))
    if init == "balanced":
        layers = plain.balanced_layers(deviation * direction, depth)
    else:
        # entries of a product of N Gaussian layers of width 2 and deviation d have variance 2^(N-1) d^(2N)
        layer_deviation = (deviation / 2 ** ((depth - 1) / 2)) ** (1 / depth)
        layers = [layer_deviation * layer for layer in normal]

    steps_by_rate = {}  # of rates that arrive
    for rate in rates:
        tolerance, max_steps = settings["tolerance"], settings["max_steps"]
        _, losses = plain.descend_until(layers, plain.squared_loss(target), rate, tolerance, max_steps)
        if losses[-1] <= tolerance:
            steps_by_rate[rate] = len(losses) - 1
    row = select(table, init=init).set_index("quantity")["value"]
    assert row["steps"] == min(steps_by_rate.values())
    assert row["steps"] == steps_by_rate[row["learning_rate"]], "the rate that is named takes that many"
    assert row["initial_norm"] == pytest.approx(np.linalg.norm(plain.multiply(layers)))


# -- judges ---------------------------------------------------------------------------------------

# What claims require of every draw, unless it says otherwise:
#
# SADDLE: the order of the fall from zero weights is the depth N, the curvature there over sigma_1 is -1 at N = 2 and 0
#     beyond, and the fall is its leading term; each to 1e-9, besides what the fall's next term changes
# NEEDED: descent from beyond a singular matrix ends above 1e-5 of its first loss on some draw; from too far and from
#     unbalanced layers above ten times it on some draw; from other starts at 1e-5 or less
# LOSSES: flows from below end at 1e-6 of their first loss or less; those from beyond, a rival, do not on some draw
# OUTPUT: the share of starts that meet the assumption is that of a closed form in each dimension, and those arrive
# LINEAR_RATE: in flows, and in descents from starts that meet both assumptions, losses are at most exp(-rate t) at the
#     guaranteed rate, margin^(2 - 2/N): as printed losses themselves, as corrected their excess over the least loss,
#     relative to the first excess
SADDLE, LINEAR_RATE, NEEDED = "saddle_at_zero", "linear_rate", "assumptions_necessary"
LOSSES, OUTPUT = "other_convex_losses", "output_dimension_one"
SETTINGS = {SADDLE: {"rounding": 1e-9}, NEEDED: {"reached": 1e-5}, LOSSES: {"reached": 1e-6}, OUTPUT: {}}


def first_five(seeds):
    return seeds < 5


@named_after_its_call
def fall_exceeds_leading_term(share, **where):
    """Return an alteration: the fall of the loss is its leading term and a share of it."""
    return put("fall", lambda rows: rows["predicted"] * (1 + share), **where)


@pytest.mark.parametrize(
    ("claim", "alter"),
    [
        (SADDLE, put("order", 0.9e-9, add=True, depth=4, seed=1)),
        # at depth 2 the fall's next term has lowered the order by all that it may
        (SADDLE, put("order", -0.9e-9, add=True, depth=2, seed=1)),
        (SADDLE, put("curvature", 0.9e-9, depth=4)),
        (SADDLE, fall_exceeds_leading_term(0.9e-9, depth=4, seed=0)),
        # at depth 2 the fall's next term is 1.64e-7 of the leading one
        (SADDLE, fall_exceeds_leading_term(1.6e-7, depth=2, seed=1)),
        # one start that fails is enough for "can lead to divergence"
        (NEEDED, put("relative_excess", 0.5e-5, case="beyond a singular matrix", seed=1)),
        (NEEDED, put("relative_excess", 9.0, case="too far", seed=1)),
        (NEEDED, put("relative_excess", 1.1e-5, case="beyond a singular matrix")),
        (NEEDED, put("relative_excess", 11.0, case="too far")),
        (NEEDED, put("relative_excess", 11.0, case="unbalanced")),
        (NEEDED, put("relative_excess", 0.9e-5, case="assumptions hold")),
        (NEEDED, put("relative_excess", 0.9e-5, case="imbalance allowed")),
        (NEEDED, put("relative_excess", 0.9e-5, case="unbalanced, shorter step")),
        (LOSSES, put("relative_loss", 0.9e-6, start="below", loss="log cosh")),
        # the claim is not about entries over the root of the dimension
        (OUTPUT, put("meets_assumption", 1.0, deviation="over the root")),
    ],
)
def test_values_within_their_bound_are_reproduced(claim, alter):
    assert verdict_on(claim, alter, **SETTINGS[claim]) == "reproduced"


@pytest.mark.parametrize(
    ("claim", "alter"),
    [
        (SADDLE, put("order", 1.1e-9, add=True, depth=4, seed=1)),
        (SADDLE, put("order", -1.1e-9, add=True, depth=2, seed=1)),
        (SADDLE, put("curvature", -1.1e-9, depth=3, seed=0)),
        (SADDLE, put("curvature", -1 + 1.1e-9, depth=2)),
        (SADDLE, fall_exceeds_leading_term(1.1e-9, depth=4, seed=0)),
        (SADDLE, fall_exceeds_leading_term(-1.0, depth=3, seed=0)),
        (SADDLE, fall_exceeds_leading_term(1.7e-7, depth=2, seed=1)),
        (NEEDED, put("relative_excess", 0.9e-5, case="beyond a singular matrix")),
        (NEEDED, put("relative_excess", 9.0, case="too far")),
        (NEEDED, put("relative_excess", 9.0, case="unbalanced")),
        (NEEDED, put("relative_excess", 1.1e-5, case="assumptions hold", seed=0)),
        (NEEDED, put("relative_excess", 1.1e-5, case="imbalance allowed", seed=1)),
        (NEEDED, put("relative_excess", 1.1e-5, case="unbalanced, shorter step", seed=1)),
        (LOSSES, put("relative_loss", 1.1e-6, start="below", loss="log cosh")),
        # some of the first five starts meet the assumption
        (OUTPUT, put("converged", 0.0, seed=first_five, deviation="over the dimension")),
        (OUTPUT, put("meets_assumption", 1.0, dimension=8, deviation="over the dimension")),
    ],
)
def test_values_beyond_their_bound_contradict_the_claim(claim, alter):
    assert verdict_on(claim, alter, **SETTINGS[claim]) == "contradicted"


def test_flows_that_arrive_without_the_hypothesis_leave_the_corollary_undecided():
    alter = put("relative_loss", 0.9e-6, start="beyond", loss="log cosh")
    assert verdict_on(LOSSES, alter, **SETTINGS[LOSSES]) == "undecided"


@named_after_its_call
def rate_of_flow(share, **where):
    """Return an alteration: flows of one draw have a share of the guaranteed rate."""
    return put("smallest_rate", lambda rows: share * rows["predicted"], role="flows", seed=0, **where)


DESCENT = smoke("deep_linear").run("deep_linear", "guarantee")["settings"]  # of the claim's `descent`
GUARANTEED_RATE = DESCENT["margin"] ** (2 - 2 / DESCENT["depth"])


@named_after_its_call
def rate_of_descent(share, case):
    """Return an alteration: descent of one draw from a kind of start has a share of the guaranteed rate."""
    return put("smallest_rate", share * GUARANTEED_RATE, role="descent", seed=0, case=case)


@pytest.mark.parametrize(
    ("alter", "verdict"),
    [
        (rate_of_flow(0.9, depth=2, start="random direction"), "contradicted"),
        (rate_of_flow(0.9, depth=3, start="smallest direction, imbalance allowed"), "contradicted"),
        (rate_of_flow(1.1, depth=3, start="smallest direction"), "corrected"),
        (rate_of_descent(0.9, "assumptions hold"), "contradicted"),
        (rate_of_descent(0.9, "imbalance allowed"), "contradicted"),
        (rate_of_descent(1.1, "imbalance allowed"), "corrected"),
        (rate_of_descent(0.1, "unbalanced"), "corrected"),  # to which the guarantee does not apply
    ],
)
def test_as_corrected_the_excess_must_fall_at_least_at_the_guaranteed_rate(alter, verdict):
    assert verdict_on(LINEAR_RATE, alter, least_loss=0.1) == verdict


@pytest.mark.parametrize(
    ("first_excess", "least_loss", "printed"),
    [
        pytest.param(0.5, 0.0, "holds", id="a loss of zero is left"),
        # while the bound falls below it
        pytest.param(0.5, 1e-3, "fails", id="labels leave a loss"),
        # while the bound is one at the start, whatever the loss is there
        pytest.param(50.0, 0.0, "fails", id="a first loss above one"),
    ],
)
def test_the_printed_bound_is_one_of_the_loss_itself(first_excess, least_loss, printed):
    """The loss of starts that meet both assumptions is made up: first_excess exp(-t), and what labels leave."""
    meets_both = {"case": lambda cases: cases.isin(["assumptions hold", "imbalance allowed"]), "role": "descent"}
    tables = claim_tables("deep_linear", LINEAR_RATE)
    put("relative_excess", lambda rows: np.exp(-rows["time"]), **meets_both)(tables)
    put("initial_excess", first_excess, **meets_both)(tables)
    _, rate_kept, first_loss, _ = evaluation("deep_linear", LINEAR_RATE, tables, least_loss=least_loss).judgement.checks
    state = "fails" if "fails" in (rate_kept.state, first_loss.state) else "holds"
    assert state == printed
    assert first_loss.value == pytest.approx(first_excess + least_loss)
    time = np.unique(select(tables["descent"], "relative_excess", case="assumptions hold")["time"])
    loss = first_excess * np.exp(-time) + least_loss
    last = np.sum(loss > tables["descent"].attrs["settings"]["floor"] * first_excess) - 1  # after that it is rounding
    middle = np.argmin(np.abs(time - time[last] / 2))
    rates = [np.log(loss[i] / loss[j]) / (time[j] - time[i]) for i, j in ((0, middle), (middle, last))]
    assert rate_kept.value == pytest.approx(rates[1] / rates[0])


# Wilson's interval reaches two standard errors from the share, and the tolerance is two more
@pytest.mark.parametrize(
    ("dimension", "standard_errors", "is_within"), [(2, 4.5, False), (2, 3.5, True), (8, -4.5, False), (8, -3.5, True)]
)
def test_a_share_of_starts_may_be_off_by_four_standard_errors(dimension, standard_errors, is_within):
    """Shares are made up around the probability, that of a noncentral chi-square."""
    settings = smoke("deep_linear").run("deep_linear", "one_output")["settings"]
    deviation = settings["deviation"] / dimension
    probability = scipy.stats.ncx2.cdf((1 / deviation - settings["margin"]) ** 2, dimension, deviation**-2)

    def meets_assumption(rows):
        """Return 1 for the first rows, and 0 for the others, so that the share is off by so many standard errors."""
        error = standard_errors * np.sqrt(probability * (1 - probability) / len(rows))
        return (np.arange(len(rows)) < round(len(rows) * (probability + error))).astype(float)

    def alter(tables):
        put("meets_assumption", meets_assumption, dimension=dimension, deviation="over the dimension")(tables)
        # starts that newly meet it must arrive, if they are followed
        return put("converged", 1.0, value=lambda converged: converged.notna())(tables)

    assert (verdict_on(OUTPUT, alter) == "reproduced") == is_within
