"""Local optima by trial, escapes by hand, limits by the flow of all layers, and what the claim on them refuses.

Of the max-margin problem of diagonal networks local optima are compared with random steps, blow-up times with
quadrature, and the greedy choice with flows. The claim then reads tables at smoke scale in which optima are altered:
`put` and `rewrite` return an alteration, which `verdict` and `evaluation_on` apply to copies of a claim's tables.

- A diagonal network of L layers has the coefficients rho, the product of all layers entry by entry. Its problem is that
  of Corollary 2: of least sum_j |rho_j|^(2/L), the quasi-norm, with all margins at least one. Labelled points are the
  y_i x_i.
- The last layer starts at zero. Its j-th entry is a function of theta_j = sum_i nu_i y_i x_ij alone, where nu_i is the
  integral of exp(-margin_i) over time (Lemma 5.1). It becomes infinite where |theta_j| comes to the coordinate's
  blow-up time: from a small start the coordinate escapes there from zero.
- The greedy choice is the optimum that is predicted from which coordinates escape first. Optima are numbered from one,
  the global one, in the order of their quasi-norms.
"""

import numpy as np
import pytest
from scipy.integrate import quad

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.tensor_networks import points, tensor_network
from learning_dynamics.papers.tensor_networks.exponential_flow import Accuracy, exponential_flow
from learning_dynamics.papers.tensor_networks.local_optima import metrics, runs, theory
from learning_dynamics.papers.tensor_networks.local_optima.flow import limits_of_layers
from learning_dynamics.papers.tensor_networks.solutions import margin_vertices
from learning_dynamics.tidy import by_draw
from learning_dynamics.trajectories import Trajectory
from tests.papers.tensor_networks.plain import check_starting_with, evaluation_on, put, rewrite, verdict

CLAIM = "global_optimum_share"
SHARPNESS = 1e4
# Flows end at a margin of 1e10, where layers have forgotten how they started. The exponent of the loss is capped at
# margins of SHARPNESS (see `local_optima.flow`).
FLOW = {"sharpness": SHARPNESS, "final_margin": 1e10, "rtol": 1e-5}  # as `limits_of_layers` takes it
RUN = {"sharpness": SHARPNESS, "reach": 1e10, "rtol": 1e-5}  # the same as a run has it
# the first input alone classifies both, and so does the third
LABELLED_POINTS = np.array([[2.0, 1.0, 0.4], [1.0, -1.0, 0.8]])


@pytest.fixture(scope="module")
def data():
    """Six data sets of two points with four inputs."""
    return points.separable(samples=2, inputs=4, margin=0.5, seeds=6, seed=5)


@pytest.mark.parametrize("depth", [3, 4, 6])
def test_blow_up_times_are_integrals(depth):
    """Of 1 / prod_l sqrt(lambda_l + q^2) over all q > 0, with the squares lambda_l of all layers but the last."""
    squares = np.geomspace(1e-4, 20.0, 2 * depth - 2).reshape(depth - 1, 2)  # of two coordinates in each layer

    def integral(of_coordinate):
        return quad(lambda q: 1 / np.sqrt(np.prod(of_coordinate + q**2)), 0, np.inf, limit=1000)[0]

    np.testing.assert_allclose(theory.blow_up_times(squares), [integral(column) for column in squares.T], rtol=1e-9)


@pytest.mark.parametrize("depth", [3, 5])
def test_local_optima_are_the_vertices_that_no_small_step_improves(data, depth):
    """Vertices are those of the feasible set; 4,000 random steps are tried, in all coordinates and in some."""
    rng = np.random.default_rng(1)
    power = 2 / depth
    kinds = set()  # whether vertices are optima
    for seed, (X, y) in enumerate(zip(data["X"], data["y"], strict=True)):
        labelled_points = y[:, None] * X
        vertices = margin_vertices(labelled_points)
        optimal = theory.are_local_optima(labelled_points, vertices, power)
        kinds |= set(optimal)
        for vertex, is_optimum in zip(vertices, optimal, strict=True):
            is_moved = rng.choice([0.0, 1.0], (4000, 4))
            points_nearby = vertex + 1e-6 * rng.standard_normal((4000, 4)) * is_moved
            # a point whose smallest margin is below one is divided by it, which makes that margin one
            smallest_margins = (points_nearby @ labelled_points.T).min(axis=1, keepdims=True)
            points_nearby = points_nearby / np.minimum(smallest_margins, 1.0)
            costs = np.sum(np.abs(points_nearby) ** power, axis=1)
            # steps change the cost by 1e-6, rounding by 1e-15
            is_improved = (costs < np.sum(np.abs(vertex) ** power) - 1e-12).any()
            assert is_improved != is_optimum, f"{seed=} {vertex=}"
    assert kinds == {True, False}, "vertices of one kind alone were tried"


@pytest.mark.parametrize(
    ("blow_up_times", "escaped"),
    # theta = sum_i y_i x_i s grows like 3 s, 0, and 1.2 s, and a coordinate escapes where it comes to its blow-up time
    [
        ([1.0, 1.0, 1.0], [1, 0, 0]),  # the first at s = 1 / 3, the third would at 1 / 1.2
        ([2.6, 1.0, 1.0], [0, 0, 1]),  # the first would at s = 2.6 / 3, the third does at 1 / 1.2
    ],
)
def test_a_coordinate_that_classifies_by_itself_escapes_alone(blow_up_times, escaped):
    signs = theory.escaping_signs(LABELLED_POINTS, np.array(blow_up_times), margin_vertices(LABELLED_POINTS))
    np.testing.assert_array_equal(signs, escaped)


@pytest.mark.parametrize(
    ("wait_over_that_of_the_third", "escaped"), [(0.99, [1, 1, 0]), (1.01, [1, 0, 1]), (4.0, [1, 0, 1])]
)
def test_the_coordinate_that_waits_least_escapes_next_while_points_are_misclassified(
    wait_over_that_of_the_third, escaped
):
    labelled_points = np.array([[3.0, -0.1, 1.0], [-1.0, 1.0, 0.5]])
    # theta grows like (2, 0.9, 1.5) s: the first coordinate escapes at s = 1/2, where theta is (1, 0.45, 0.75)
    # then exp(-3 a) + exp(a) is least where 3 exp(-3 a) = exp(a): the second residual is three times the first
    second_pace, third_pace = -0.1 + 3 * 1.0, 1.0 + 3 * 0.5
    third_time = 3.0
    second_wait = wait_over_that_of_the_third * (third_time - 0.75) / third_pace
    blow_up_times = np.array([1.0, 0.45 + second_pace * second_wait, third_time])
    signs = theory.escaping_signs(labelled_points, blow_up_times, margin_vertices(labelled_points))
    np.testing.assert_array_equal(signs, escaped)


def test_a_coordinate_that_only_harms_falls_back():
    """Of two that have escaped with positive signs the second is on the wrong side of the first point."""
    signs, losses = theory._settle(np.array([[2.0, -1.0], [-1.0, 0.0]]), np.ones(2))
    # exp(-2 a + b) + exp(a) is least, among a and b that are not negative, at b = 0 and a = log(2) / 3
    np.testing.assert_array_equal(signs, [1, 0])
    np.testing.assert_allclose(losses, [2 ** (-2 / 3), 2 ** (1 / 3)], rtol=1e-6)


@pytest.mark.parametrize(
    ("escaped", "chosen"), [([1, 1, 0], 2), ([1, -1, 0], 1), ([1, 0, -1], 0), pytest.param([-1, 0, -1], -1, id="none")]
)
def test_the_greedy_choice_is_the_optimum_of_most_entries_among_the_escaped(escaped, chosen):
    optima = np.array([[1.0, 0.0, 0.0], [0.5, -0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
    assert theory.greedy_choice(np.array(escaped), optima) == chosen


@pytest.mark.parametrize("scale", [0.1, 1.0])
@pytest.mark.parametrize("depth", [3, 4])
def test_limits_are_those_of_the_flow_of_all_layers(data, depth, scale):
    network = tensor_network.diagonal(4, depth)
    layers = scale * np.random.default_rng(depth).standard_normal((6, depth - 1, 4))
    labelled_points = data["y"][..., None] * data["X"]
    limits = limits_of_layers(labelled_points, layers**2, **FLOW)
    for X, y, start, limit in zip(data["X"], data["y"], layers, limits, strict=True):
        state = np.concatenate([start.ravel(), np.zeros(4)])
        log_log_times = np.array([0.0, 400.0])
        end = exponential_flow(
            network, X, y, state, log_log_times=log_log_times, integration=Accuracy(1e-8, 1e-14, 1e5)
        )[-1]
        beta = network.coefficients(end)
        expected = beta / (y * (X @ beta)).min()
        # margins of support vectors differ by the logarithm of the ratio of their multipliers, over the sharpness
        np.testing.assert_allclose(limit, expected, rtol=0, atol=10 / SHARPNESS, err_msg=f"{start=}")


@pytest.mark.parametrize("depth", [4, 5])
def test_small_starts_come_to_the_greedy_choice(depth):
    """Also where several coordinates escape; the flow knows nothing of the choice."""
    count_of_several = 0  # draws on which several coordinates escape
    for seed in range(40):
        data = points.separable(samples=3, inputs=5, margin=0.5, seeds=1, seed=seed)
        labelled_points = data["y"][0, :, None] * data["X"][0]
        layers = np.random.default_rng(seed).standard_normal((depth - 1, 5))
        vertices = margin_vertices(labelled_points)
        signs = theory.escaping_signs(labelled_points, theory.blow_up_times(layers**2), vertices)
        limit = limits_of_layers(labelled_points[None], (1e-3 * layers[None]) ** 2, **FLOW)[0]
        is_left = np.abs(limit) > 1e-6 * np.abs(limit).max()  # from a scale of 1e-3 others vanish
        np.testing.assert_array_equal(np.sign(limit[is_left]), signs[is_left], err_msg=f"{seed=}")
        count_of_several += int(np.abs(signs).sum() > 1)
    # the order of escapes matters on these draws alone; an eighth of all is enough to see a wrong one
    assert count_of_several >= 5, "few draws on which the order of escapes matters"


SCALES = [0.5, 2.0]


@pytest.fixture(scope="module")
def scaled_starts(data):
    """The limits of two starts on each data set, from each scale."""
    return runs.from_scaled_starts(data, depths=[3, 4], scales=SCALES, starts=2, seed=3, **RUN)


def test_a_run_has_a_limit_for_each_data_set_scale_and_start(scaled_starts):
    data_sets, starts, layers, inputs = 6, 2, 3, 4  # of four layers the last is zero, and not recorded
    assert scaled_starts.series["limit_4"].shape == (data_sets, len(SCALES), starts, inputs)
    assert scaled_starts.constants["layers_4"].shape == (data_sets, starts, layers, inputs)


def test_all_entries_of_starts_differ_within_and_between_data_sets(scaled_starts):
    layers = scaled_starts.constants["layers_3"]
    assert len(np.unique(layers)) == layers.size


@pytest.mark.parametrize("scale", SCALES)
def test_limits_from_each_scale_are_those_of_the_same_start_times_the_scale(data, scaled_starts, scale):
    data_set, start = 4, 1
    labelled_points = data["y"][data_set, :, None] * data["X"][data_set]
    layers = scaled_starts.constants["layers_3"][data_set, start]
    (alone,) = limits_of_layers(labelled_points[None], (scale * layers[None]) ** 2, **FLOW)
    limit = scaled_starts.series["limit_3"][data_set, SCALES.index(scale), start]
    # each flow has its own steps, whatever flows are followed beside it
    np.testing.assert_allclose(limit, alone, rtol=0, atol=1e-6)


def test_a_limit_that_overflows_is_nan(data):
    limits = runs.from_scaled_starts(data, depths=[3], scales=[1.0, 1e200], starts=1, seed=3, **RUN).series["limit_3"]
    assert np.isfinite(limits[:, 0]).all()
    assert np.isnan(limits[:, 1]).all()


def optima_by_scale(*, samples, inputs, seeds, scales):
    """Return the numbers of the optima that three layers reach, shape (data sets, starts) for each scale."""
    drawn = points.separable(samples=samples, inputs=inputs, margin=0.5, seeds=seeds, seed=1)
    settings = {"depths": [3], "scales": scales, "starts": 6, "seed": 3, **RUN}
    trajectory = runs.from_scaled_starts(drawn, **settings)
    trajectory.settings = settings
    table = metrics.from_scaled_starts(trajectory, near=0.01)
    return [by_draw(table, "optimum", depth=3, scale=scale) for scale in scales]


@pytest.mark.parametrize(("samples", "inputs"), [(2, 3), (3, 3), (3, 6)])
def test_small_starts_come_to_the_global_optimum_less_often_with_other_points_too(samples, inputs):
    """As the claim's text says; the difference is more than three standard errors over data sets."""
    small, middle = optima_by_scale(samples=samples, inputs=inputs, seeds=100, scales=[0.001, 1.0])
    gains = np.mean(middle == 1, axis=1) - np.mean(small == 1, axis=1)  # the global optimum has the number one
    assert gains.mean() > 3 * gains.std(ddof=1) / np.sqrt(len(gains))


def test_with_a_single_point_nothing_depends_on_the_scale():
    """Each start comes to the same optimum from every scale, and several optima are reached."""
    by_scale = optima_by_scale(samples=1, inputs=4, seeds=40, scales=[0.001, 1.0, 10.0])
    for optima in by_scale[1:]:
        np.testing.assert_array_equal(optima, by_scale[0])
    assert len(np.unique(by_scale[0])) > 1


def test_two_layers_are_refused(data):
    with pytest.raises(ProjectError, match="three layers"):
        runs.from_scaled_starts(data, depths=[2, 3], scales=[1.0], starts=1, seed=3, **RUN)


# all vertices but (2 / 3, -1 / 3, 0), where a multiplier is negative; their quasi-norms are 1, 1.37, 1.84 and 1.89
FIRST, SECOND, THIRD, FOURTH = [1.0, 0.0, 0.0], [1 / 3, 0.0, 5 / 6], [0.0, 0.0, 2.5], [0.0, 1 / 3, 5 / 3]


@pytest.fixture
def rows_of_five_starts():
    """What is measured of made-up limits and layers, as rows by quantity, sorted by start."""
    data = points.given(points=LABELLED_POINTS.tolist(), labels=[1.0, 1.0])
    limits = np.array(
        [
            FIRST,
            1.005 * np.array(THIRD),  # within a hundredth of an optimum it counts as reached
            1.1 * np.array(THIRD),  # at no optimum
            np.full(3, np.nan),  # a flow that was given up
            SECOND,
        ]
    )
    settings = {"depths": [3], "scales": [0.1], "starts": 5, "seed": 2, **RUN}
    layers = np.tile([1.0, 3.0, 3.0], (5, 2, 1))  # starts, layers, inputs
    layers[0] = [3.0, 1.0, 1.0]
    layers[1, :, 0] = 0.01  # this coordinate blows up late
    constants = {"X": data["X"], "y": data["y"], "layers_3": layers[None]}
    made_up = Trajectory(np.array([0.1]), {"limit_3": limits[None, None]}, constants, settings)
    table = metrics.from_scaled_starts(made_up, near=0.01)
    return {quantity: rows.sort_values("start") for quantity, rows in table.groupby("quantity")}


def test_optima_are_numbered_by_their_quasi_norm(rows_of_five_starts):
    assert rows_of_five_starts["number_of_optima"]["value"].item() == 4
    np.testing.assert_array_equal(rows_of_five_starts["optimum"]["value"], [1, 3, np.nan, np.nan, 2])


# theta grows like 3 s, 0 and 1.2 s. Of two equal layers blow-up times are pi / 2 over their size: in units of that
# (1/3, 1, 1) at the first start, (100, 1/3, 1/3) at the second, and (1, 1/3, 1/3) at the others


def test_an_optimum_is_within_the_escaped_coordinates_if_all_its_entries_are(rows_of_five_starts):
    # the first coordinate escapes at the first start, at s = 1/9, and the third at the others, at s = 0.28
    np.testing.assert_array_equal(rows_of_five_starts["within_escaped"]["value"], [1, 1, np.nan, np.nan, 0])


def test_the_greedy_choice_follows_blow_up_times(rows_of_five_starts):
    np.testing.assert_array_equal(rows_of_five_starts["optimum"]["predicted"], [1, 3, 3, 3, 3])


def test_the_choice_by_gradients_takes_blow_up_times_to_be_equal(rows_of_five_starts):
    np.testing.assert_array_equal(rows_of_five_starts["optimum_by_gradients"]["predicted"], 1)


def test_the_least_weighted_norm_has_blow_up_times_as_weights(rows_of_five_starts):
    """Of the four optima norms are 1/3, 0.94, 2.5 and 2; then 100, 34, 0.83 and 0.67; then 1, 0.61, 0.83 and 0.67."""
    np.testing.assert_array_equal(rows_of_five_starts["optimum_by_weighted_l1"]["predicted"], [1, 4, 2, 2, 2])


GLOBAL_OPTIMUM, ANOTHER_OPTIMUM, NO_OPTIMUM = 1.0, 2.0, np.nan


def ends(number, *, scale, **where):
    """Let starts from one scale end at the optimum with a number."""
    return put("optimum", number, scale=scale, **where)


@pytest.mark.parametrize("scale", [0.001, 10.0])
def test_starts_that_all_end_at_the_global_optimum_contradict_the_claim(scale):
    """The claim says that from small and from large scales fewer do than from the scale one."""
    assert verdict(CLAIM, ends(GLOBAL_OPTIMUM, scale=scale)) == "contradicted"


def test_a_share_that_does_not_depend_on_scale_contradicts_the_claim():
    at_all_scales = [ends(GLOBAL_OPTIMUM, scale=scale, depth=3) for scale in (0.001, 1.0, 10.0)]
    assert verdict(CLAIM, *at_all_scales) == "contradicted"


def test_the_gain_with_three_layers_fails_to_be_larger_where_five_gain_the_most():
    """With five layers no small start and every one of the scale one ends at the global optimum."""
    largest_gain = [
        ends(GLOBAL_OPTIMUM, scale=1.0, depth=5),
        ends(ANOTHER_OPTIMUM, scale=0.001, depth=5),
    ]
    assert check_starting_with("3 less 5 layers", evaluation_on(CLAIM, *largest_gain)).state == "fails"


@pytest.mark.parametrize(
    ("rival", "at_small", "at_large"),
    [
        ("the larger the start, the worse", GLOBAL_OPTIMUM, ANOTHER_OPTIMUM),
        ("the larger the start, the better", ANOTHER_OPTIMUM, GLOBAL_OPTIMUM),
    ],
)
def test_a_rival_on_the_order_of_scales_says_nothing_of_depths(rival, at_small, at_large):
    """The share falls, or grows, with the scale at all depths, and most with five layers."""
    starts = [
        ends(at_small, scale=0.001),
        ends(at_large, scale=1.0, depth=5),
        ends(at_large, scale=10.0),
        rewrite("optimum", lambda _rows: at_small, column="predicted"),  # the greedy choice of small starts
    ]
    assert evaluation_on(CLAIM, *starts).rivals[rival] == "reproduced"


@pytest.mark.parametrize(
    ("data_sets", "expected"),
    # of 160 a twentieth may miss, with an interval of twice the root of the share over 160
    [
        (3, "reproduced"),  # a share of 0.02, up to 0.04
        (16, "contradicted"),  # a share of 0.10, down to 0.053
    ],
)
@pytest.mark.parametrize("depth", [3, 4, 5])
def test_starts_of_few_data_sets_may_miss_the_greedy_choice_and_of_many_may_not(depth, data_sets, expected):
    at_an_optimum_of_no_number = ends(99.0, scale=0.001, depth=depth, seed=list(range(data_sets)))
    assert verdict(CLAIM, at_an_optimum_of_no_number) == expected


@pytest.mark.parametrize(
    "where",
    [
        # large starts must come to the global optimum less often
        pytest.param({"scale": 10.0}, id="large starts count as at the global optimum"),
        # those of the scale one must come to it more often
        pytest.param({"scale": 1.0, "depth": 3}, id="starts of the scale one count as elsewhere"),
    ],
)
def test_starts_at_no_optimum_count_against_the_claim(where):
    assert verdict(CLAIM, ends(NO_OPTIMUM, **where)) == "contradicted"


def test_starts_at_no_optimum_are_not_as_predicted():
    assert evaluation_on(CLAIM, ends(NO_OPTIMUM, scale=1.0)).facts["greedy_from_middle"] == 0


def test_shares_for_which_the_weighted_norm_is_right_are_stated():
    """Of all starts, and of those for which it is at a local optimum."""
    # by start; all come to the global optimum
    predicted = {0: NO_OPTIMUM, 1: ANOTHER_OPTIMUM, 2: GLOBAL_OPTIMUM, 3: GLOBAL_OPTIMUM, 4: GLOBAL_OPTIMUM}

    def numbers(rows):
        return rows["start"].map(predicted)

    least_weighted = rewrite("optimum_by_weighted_l1", numbers, column="predicted", scale=10.0)
    facts = evaluation_on(CLAIM, least_weighted, ends(GLOBAL_OPTIMUM, scale=10.0)).facts
    assert facts["weighted_from_largest"] == pytest.approx(3 / 5)
    assert facts["weighted_where_optimum"] == pytest.approx(3 / 4)


def test_a_greedy_choice_that_is_always_the_global_optimum_contradicts_the_claim():
    evaluated = evaluation_on(CLAIM, rewrite("optimum", lambda _rows: GLOBAL_OPTIMUM, column="predicted"))
    assert evaluated.facts["greedy_is_global"] == 1.0
    assert evaluated.verdict == "contradicted"
