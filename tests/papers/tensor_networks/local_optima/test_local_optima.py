"""Local optima by trial, escapes by hand, limits by the flow of all layers, and what the claim refuses."""

import numpy as np
import pytest
from scipy.integrate import quad

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks import points, tensor_network
from learning_dynamics.papers.tensor_networks.exponential_flow import Accuracy, exponential_flow
from learning_dynamics.papers.tensor_networks.local_optima import metrics, runs, theory
from learning_dynamics.papers.tensor_networks.local_optima.flow import limits_of_layers
from learning_dynamics.papers.tensor_networks.solutions import margin_vertices
from learning_dynamics.trajectories import Trajectory
from tests.papers.tensor_networks.plain import judged, rewriting, setting, verdict

CLAIM = "global_optimum_share"
FLOW = {"sharpness": 1e4, "reach": 1e10, "rtol": 1e-5}
# the first input alone classifies, and so does the third
SIGNED = np.array([[2.0, 1.0, 0.4], [1.0, -1.0, 0.8]])


@pytest.fixture(scope="module")
def data():
    return points.separable(samples=2, inputs=4, margin=0.5, seeds=6, seed=5)


@pytest.mark.parametrize("depth", [3, 4, 6])
def test_blow_up_times_are_integrals(depth):
    squares = np.geomspace(1e-4, 20.0, 2 * depth - 2).reshape(depth - 1, 2)
    for found, column in zip(theory.blow_up_times(squares), squares.T, strict=True):
        expected, _ = quad(lambda q, column=column: 1 / np.sqrt(np.prod(column + q**2)), 0, np.inf, limit=1000)
        assert found == pytest.approx(expected, rel=1e-9), f"{column=}"


@pytest.mark.parametrize("depth", [3, 5])
def test_local_optima_are_those_that_no_small_step_improves(data, depth):
    rng = np.random.default_rng(1)
    seen = set()
    for seed, (X, y) in enumerate(zip(data["X"], data["y"], strict=True)):
        signed = y[:, None] * X
        vertices = margin_vertices(signed)
        optimal = theory.are_local_optima(signed, vertices, 2 / depth)
        seen |= set(optimal)
        for vertex, best in zip(vertices, optimal, strict=True):
            near = vertex + 1e-6 * rng.standard_normal((4000, 4)) * rng.choice([0.0, 1.0], (4000, 4))
            near = near / np.minimum((near @ signed.T).min(axis=1), 1.0)[:, None]  # all margins at least one
            assert (near @ signed.T).min() > 1 - 1e-12, f"{seed=} {vertex=}"
            lower = np.sum(np.abs(near) ** (2 / depth), axis=1) < np.sum(np.abs(vertex) ** (2 / depth)) - 1e-12
            assert lower.any() != best, f"{seed=} {vertex=}"
    assert seen == {True, False}


def test_a_coordinate_that_classifies_by_itself_escapes_alone():
    vertices = margin_vertices(SIGNED)
    # theta grows like 3 s, 0, and 1.2 s
    np.testing.assert_array_equal(theory.escaping_signs(SIGNED, np.array([1.0, 1.0, 1.0]), vertices), [1, 0, 0])
    np.testing.assert_array_equal(theory.escaping_signs(SIGNED, np.array([2.6, 1.0, 1.0]), vertices), [0, 0, 1])


def test_escapes_follow_one_another_while_points_are_misclassified():
    signed = np.array([[3.0, -0.1, 1.0], [-1.0, 1.0, 0.5]])
    vertices = margin_vertices(signed)
    # first x_1 at s = 1/2, where theta = (1, 0.45, 0.75); then exp(-3 a) * 3 = exp(a), and residuals are 1 to 3
    times = np.array([1.0, 10.0, 3.0])
    pace = np.array([-0.1 + 3, 1 + 3 / 2])
    waits = (times[1:] - [0.45, 0.75]) / pace
    assert waits[1] < waits[0]
    np.testing.assert_array_equal(theory.escaping_signs(signed, times, vertices), [1, 0, 1])
    times[1] = 0.45 + 0.99 * pace[0] * waits[1]
    np.testing.assert_array_equal(theory.escaping_signs(signed, times, vertices), [1, 1, 0])
    times[1] = 0.45 + 1.01 * pace[0] * waits[1]
    np.testing.assert_array_equal(theory.escaping_signs(signed, times, vertices), [1, 0, 1])


def test_a_coordinate_that_only_harms_falls_back():
    signs, losses = theory._settle(np.array([[2.0, -1.0], [-1.0, 0.0]]), np.ones(2))
    # of exp(-2 a + b) + exp(a) the least, with b not negative
    np.testing.assert_array_equal(signs, [1, 0])
    np.testing.assert_allclose(losses, [2 ** (-2 / 3), 2 ** (1 / 3)], rtol=1e-6)


def test_the_choice_is_the_optimum_of_most_entries_among_the_escaped():
    optima = np.array([[1.0, 0.0, 0.0], [0.5, -0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    assert theory.greedy_choice(np.array([1, 1, 0]), optima) == 2
    assert theory.greedy_choice(np.array([1, -1, 0]), optima) == 1
    assert theory.greedy_choice(np.array([1, 0, -1]), optima) == 0
    assert theory.greedy_choice(np.array([-1, 0, -1]), optima) == -1


@pytest.mark.parametrize("scale", [0.1, 1.0])
@pytest.mark.parametrize("depth", [3, 4])
def test_limits_are_those_of_the_flow_of_all_layers(data, depth, scale):
    network = tensor_network.diagonal(4, depth)
    layers = scale * np.random.default_rng(depth).standard_normal((6, depth - 1, 4))
    signed = data["y"][..., None] * data["X"]
    found = limits_of_layers(signed, layers**2, **FLOW)
    for X, y, start, limit in zip(data["X"], data["y"], layers, found, strict=True):
        state = np.concatenate([start.ravel(), np.zeros(4)])
        sigmas = np.array([0.0, 400.0])
        end = exponential_flow(network, X, y, state, sigmas=sigmas, integration=Accuracy(1e-8, 1e-14, 1e5))[-1]
        beta = network.coefficients(end)
        np.testing.assert_allclose(limit, beta / (y * (X @ beta)).min(), atol=2e-3, err_msg=f"{start=}")


@pytest.mark.parametrize("depth", [4, 5])
def test_small_starts_come_to_the_greedy_choice(depth):
    """Also where several coordinates escape: the flow knows nothing of the choice."""
    several = 0
    for seed in range(40):
        data = points.separable(samples=3, inputs=5, margin=0.5, seeds=1, seed=seed)
        signed = data["y"][0, :, None] * data["X"][0]
        layers = np.random.default_rng(seed).standard_normal((depth - 1, 5))
        vertices = margin_vertices(signed)
        signs = theory.escaping_signs(signed, theory.blow_up_times(layers**2), vertices)
        limit = limits_of_layers(signed[None], (1e-3 * layers[None]) ** 2, **FLOW)[0]
        entries = np.abs(limit) > 1e-6 * np.abs(limit).max()
        np.testing.assert_array_equal(np.sign(limit[entries]), signs[entries], err_msg=f"{seed=}")
        several += int(np.abs(signs).sum() > 1)
    assert several >= 5


def test_starts_are_the_same_at_every_scale(data):
    settings = {"depths": [3, 4], "starts": 2, "seed": 3, **FLOW}
    found = runs.from_scaled_starts(data, scales=[0.5, 2.0], **settings)
    assert found.series["limit_4"].shape == (6, 2, 2, 4)
    assert found.constants["layers_4"].shape == (6, 2, 3, 4)
    layers = found.constants["layers_3"]
    assert len(np.unique(layers)) == layers.size
    for place, scale in enumerate([0.5, 2.0]):
        signed = data["y"][4, :, None] * data["X"][4]
        alone = limits_of_layers(signed[None], (scale * layers[4, 1][None]) ** 2, **FLOW)[0]
        np.testing.assert_allclose(found.series["limit_3"][4, place, 1], alone, atol=1e-6, err_msg=f"{place=} {scale=}")


def test_what_overflows_is_nan(data):
    found = runs.from_scaled_starts(data, depths=[3], scales=[1.0, 1e200], starts=1, seed=3, **FLOW)
    assert np.isfinite(found.series["limit_3"][:, 0]).all()
    assert np.isnan(found.series["limit_3"][:, 1]).all()


def test_two_layers_are_refused(data):
    with pytest.raises(ProjectError, match="three layers"):
        runs.from_scaled_starts(data, depths=[2, 3], scales=[1.0], starts=1, seed=3, **FLOW)


def test_optima_are_numbered_by_their_quasi_norm():
    data = points.given(points=SIGNED.tolist(), labels=[1.0, 1.0])
    # of quasi-norms 1, 1.37, 1.84, 1.89; at (2 / 3, -1 / 3, 0) a multiplier is negative
    optima = np.array([[1.0, 0.0, 0.0], [1 / 3, 0.0, 5 / 6], [0.0, 0.0, 2.5], [0.0, 1 / 3, 5 / 3]])
    limits = np.stack([optima[0], 1.005 * optima[2], 1.1 * optima[2], np.full(3, np.nan), optima[1]])
    settings = {"depths": [3], "scales": [0.1], "starts": 5, "seed": 2, **FLOW}
    layers = np.tile([1.0, 3.0, 3.0], (5, 2, 1))
    layers[0] = [3.0, 1.0, 1.0]
    layers[1, :, 0] = 0.01  # blows up late
    constants = {"X": data["X"], "y": data["y"], "layers_3": layers[None]}
    made_up = Trajectory(np.array([0.1]), {"limit_3": limits[None, None]}, constants, settings)
    table = metrics.from_scaled_starts(made_up, near=0.01)
    by = {quantity: rows.sort_values("start") for quantity, rows in table.groupby("quantity")}
    assert by["optima"]["value"].item() == 4
    np.testing.assert_array_equal(by["optimum"]["value"], [1, 3, np.nan, np.nan, 2])
    np.testing.assert_array_equal(by["escaped"]["value"], [1, 1, np.nan, np.nan, 0])
    # theta grows like 3 s, 0 and 1.2 s; blow-up times are pi / 2 over the size of the layers
    np.testing.assert_array_equal(by["optimum"]["predicted"], [1, 3, 3, 3, 3])
    np.testing.assert_array_equal(by["optimum_even"]["predicted"], 1)
    np.testing.assert_array_equal(by["optimum_l1"]["predicted"], [1, 4, 2, 2, 2])


def counted(scale, number, **where):
    return setting("optimum", number, scale=scale, **where)


def test_the_share_of_the_global_optimum_decides():
    found = judged(CLAIM)
    assert found.facts["missed"] < 0.02
    assert found.judgement.headline.draws == 160
    # small starts that all come to it, or large ones
    assert verdict(CLAIM, counted(0.001, 1.0)) == "contradicted"
    assert verdict(CLAIM, counted(10.0, 1.0)) == "contradicted"
    # no dependence on scale
    assert verdict(CLAIM, *(counted(scale, 1.0, depth=3) for scale in (0.001, 1.0, 10.0))) != "reproduced"
    # a gain with five layers as large as any
    assert verdict(CLAIM, counted(1.0, 1.0, depth=5), counted(0.001, 2.0, depth=5)) == "contradicted"


@pytest.mark.parametrize("depth", [3, 4, 5])
def test_small_starts_that_miss_the_greedy_choice_decide(depth):
    few = counted(0.001, 99.0, depth=depth, seed=0)  # of 160
    many = counted(0.001, 99.0, depth=depth, seed=list(range(24)))
    assert verdict(CLAIM, few) == "reproduced"
    assert verdict(CLAIM, many) == "contradicted"


def test_starts_at_no_optimum_count_against_the_claim():
    assert verdict(CLAIM, counted(10.0, np.nan)) == "contradicted"
    assert verdict(CLAIM, counted(1.0, np.nan, depth=3)) == "contradicted"
    assert judged(CLAIM, counted(1.0, np.nan)).facts["later"] == 0


def test_the_weighted_norm_is_told_where_it_is_a_local_optimum():
    numbers = {0: np.nan, 1: 7.0, 2: 1.0, 3: 1.0, 4: 1.0}
    least = rewriting("optimum_l1", lambda rows: rows["start"].map(numbers), column="predicted", scale=10.0)
    facts = judged(CLAIM, least, counted(10.0, 1.0)).facts
    assert facts["weighted"] == pytest.approx(3 / 5)
    assert facts["possible"] == pytest.approx(3 / 4)


def test_greed_alone_is_told_without_flows():
    found = judged(CLAIM, rewriting("optimum", lambda _rows: 1.0, column="predicted"))
    assert found.facts["greedy"] == 1.0
    assert found.verdict == "contradicted"
