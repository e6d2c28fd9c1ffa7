"""The power of the initialisation scale in what completion leaves beyond the rank, sigma_(r+1).

The gradient along a descent is compared with torch's, the law at rank one with descents and flows by torch, and the
judge is tried on made-up powers.
"""

import numpy as np
import pandas as pd
import pytest
import scipy
import torch

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear import given_spectrum
from learning_dynamics.papers.deep_linear.completion_exponents import metrics, runs, theory
from learning_dynamics.papers.deep_linear.completion_exponents.powers import measured_powers, predicted_powers
from learning_dynamics.seeds import generators
from learning_dynamics.tidy import select
from tests.papers.deep_linear import plain
from tests.papers.deep_linear.shared import trajectory_and_table
from tests.support import evaluation

# -- matrices of a given spectrum ------------------------------------------------------------------

SIZE = 6  # rows, and columns
OBSERVED = [28, 33]  # numbers of observed entries of each matrix, the fewer among the more
SPECTRUM = [3.0, 1.0]  # singular values, up to a factor: the rank is 2
DRAWS = 2


@pytest.fixture(scope="module")
def data():
    """Matrices `truth`, shape (DRAWS, SIZE, SIZE), and `mask`, true where one of two sets has an entry.

    The shape of `mask` is (DRAWS, 2, SIZE, SIZE), with sets in the order of OBSERVED.
    """
    return given_spectrum.nested(size=SIZE, singular_values=SPECTRUM, observed=OBSERVED, draws=DRAWS, seed=6)


@pytest.mark.parametrize("draw", [0, 1])
def test_matrices_have_the_given_spectrum_and_entries_of_mean_square_one(data, draw):
    truth, rank = data["truth"][draw], len(SPECTRUM)
    values = scipy.linalg.svdvals(truth)
    np.testing.assert_allclose(values[:rank] / values[0], np.array(SPECTRUM) / SPECTRUM[0], rtol=1e-12)
    np.testing.assert_allclose(values[rank:], 0, atol=1e-12)
    assert np.mean(truth**2) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("draw", [0, 1])
def test_the_larger_set_of_entries_contains_the_smaller_one(data, draw):
    fewer, more = data["mask"][draw]
    assert [fewer.sum(), more.sum()] == OBSERVED
    assert np.all(more[fewer])


def test_draws_have_matrices_and_entries_of_their_own(data):
    assert not np.allclose(data["truth"][0], data["truth"][1])
    assert not np.array_equal(data["mask"][0], data["mask"][1])


@pytest.mark.parametrize(
    "excess",
    [
        pytest.param({"observed": [SIZE**2 + 1]}, id="37 of 36 entries"),
        pytest.param({"singular_values": [1.0] * (SIZE + 1)}, id="7 singular values of a 6 x 6 matrix"),
    ],
)
def test_more_entries_or_singular_values_than_a_matrix_has_are_refused(excess):
    settings = {"size": SIZE, "singular_values": SPECTRUM, "observed": OBSERVED, "draws": 1, "seed": 1}
    with pytest.raises(ProjectError, match="a 6 x 6 matrix has 36 entries and 6 singular values; lower observed"):
        given_spectrum.nested(**settings | excess)


@pytest.mark.parametrize(("values", "count"), [([0.4, 0.4], 0), ([0.6, 0.4], 1), ([0.6, 0.6], 2), ([0.4, 0.6], 0)])
def test_a_singular_value_counts_as_learned_only_after_those_before_it(values, count):
    assert theory.learned(np.array(values), truth=np.ones(2), share=0.5) == count


def test_a_singular_value_is_learned_relative_to_its_true_one():
    truth = np.array([4.0, 0.5])
    # shares of 0.6 are 2.4 and 0.3: the first is just below its share, then above
    assert theory.learned(np.array([2.3, 0.31]), truth=truth, share=0.6) == 0
    assert theory.learned(np.array([2.5, 0.31]), truth=truth, share=0.6) == 2


# -- the recorded gradient ------------------------------------------------------------------------

# the gradient is recorded at each of `every` steps, until both singular values are learned: have passed `share` of the
# true ones
SETTINGS = {"depth": 2, "scale": 1e-3, "learning_rate": 0.4, "share": 0.5, "every": 1, "max_steps": 400, "seed": 8}


def plain_gradient_path(data, draw, entry_set, settings):
    """Return singular values of the gradient at recorded steps: outside of what is learned, and of the whole gradient.

    Both arrays have the shape (steps, 2) and end where both singular values of W are learned. The two of the first
    array move W's second and third singular value: while none is learned, they are the second and third of the
    gradient, while one is, the first two of the gradient outside of W's first singular vectors. The second array has
    the second and third of the whole gradient at all these steps.
    """
    truth = data["truth"][draw]
    loss = plain.loss_on_observed(truth, data["mask"][draw, entry_set])
    rng = list(generators(settings["seed"], "deep_linear.completion_exponents", DRAWS))[draw]
    # at depth 2 the scale's square root is that of a layer
    layers = list(rng.standard_normal((2, SIZE, SIZE)) * np.sqrt(settings["scale"] / SIZE))
    outside, whole = [], []
    for _ in range(0, settings["max_steps"], settings["every"]):
        W = plain.multiply(layers)
        (gradient,) = plain.gradients([W], loss)
        U, values, Vt = scipy.linalg.svd(W)
        is_learned = values[:2] > settings["share"] * scipy.linalg.svdvals(truth)[:2]
        if is_learned.all():
            break
        n_learned = int(is_learned[0])  # 0 or 1: the second counts only once the first is learned
        left_complement = np.eye(SIZE) - U[:, :n_learned] @ U[:, :n_learned].T
        right_complement = np.eye(SIZE) - Vt[:n_learned].T @ Vt[:n_learned]
        remaining = scipy.linalg.svdvals(left_complement @ gradient @ right_complement)
        outside.append(remaining[1 - n_learned : 3 - n_learned])
        whole.append(scipy.linalg.svdvals(gradient)[1:3])
        layers = plain.descend(layers, loss, settings["learning_rate"], settings["every"])
    return np.array(outside), np.array(whole)


@pytest.fixture(scope="module", params=[(0.3, 1), (0.5, 2)], ids=["share 0.3, every step", "share 0.5, every other"])
def path_settings(request):
    share, every = request.param
    return SETTINGS | {"share": share, "every": every}


@pytest.fixture(scope="module")
def gradients(path_settings, data):
    """The run of the gradient along the path, whose members are sets of entries within draws, and its metrics.

    Its series `outside` has the shape (members, steps, 2).
    """
    return trajectory_and_table(runs.gradient_along_path, metrics.gradient_along_path, path_settings, data)


every_path = pytest.mark.parametrize(("draw", "entry_set"), [(0, 0), (0, 1), (1, 0), (1, 1)])


@every_path
def test_the_gradient_outside_of_learned_singular_vectors_is_recorded(data, gradients, path_settings, draw, entry_set):
    trajectory, _ = gradients
    expected, _ = plain_gradient_path(data, draw, entry_set, path_settings)
    outside = trajectory.series["outside"][len(OBSERVED) * draw + entry_set]
    # both singular values are learned after more than a few steps, and before the last
    assert 20 < len(expected) < len(outside), "the path has an end"
    # layers add rounding, of about 1e-14 a step, which the smaller of two singular values has relative to the larger
    np.testing.assert_allclose(outside[: len(expected)], expected, rtol=1e-7)
    assert not outside[len(expected) :].any()


@every_path
def test_ratios_and_growths_are_those_by_the_plain_gradient(data, gradients, path_settings, draw, entry_set):
    _, table = gradients
    outside, whole = plain_gradient_path(data, draw, entry_set, path_settings)
    measured = select(table, draw=draw, observed=OBSERVED[entry_set]).set_index("quantity")["value"]
    # a step multiplies layers by 1 + rate g, and so W by its square: growth of W is twice these logarithms
    rate = path_settings["learning_rate"]
    growth, growth_of_whole = np.log(1 + rate * outside), np.log(1 + rate * whole)
    expected = {
        "alpha": growth[:, 1].sum() / growth[:, 0].sum(),
        "alpha_of_the_whole": growth_of_whole[:, 1].sum() / growth_of_whole[:, 0].sum(),
        "alpha_at_the_start": growth[0, 1] / growth[0, 0],
        "alpha_of_the_flow": outside[:, 1].sum() / outside[:, 0].sum(),
        "growth": 2 * path_settings["every"] * growth[:, 0].sum(),
        "growth_in_one_step": 2 * growth[:, 1].max(),
    }
    assert measured[list(expected)].to_dict() == pytest.approx(expected)


def test_a_path_without_an_end_has_no_ratio(data):
    settings = SETTINGS | {"max_steps": 5}  # in which nothing is learned
    trajectory, table = trajectory_and_table(runs.gradient_along_path, metrics.gradient_along_path, settings, data)
    assert trajectory.undecided.all()
    assert table["value"][table["quantity"] != "rank"].isna().all()


def test_the_rank_of_the_matrices_is_in_the_table(gradients):
    _, table = gradients
    assert (select(table, "rank")["value"] == len(SPECTRUM)).all()


# -- the law --------------------------------------------------------------------------------------


def rank_one_completion():
    """Return a 5 x 5 matrix of rank one, whose entries have mean square one, and a mask of 17 observed entries."""
    rng = np.random.default_rng(11)
    truth = np.outer(rng.standard_normal(5), rng.standard_normal(5))
    truth *= 5 / np.linalg.norm(truth)
    return truth, rng.permutation(5 * 5).reshape(5, 5) < 17


def gaussian_layers(depth, scale):
    """Return 5 x 5 layers of one draw, the same at every scale but for the factor that makes the product's scale."""
    return list(np.random.default_rng(3).standard_normal((depth, 5, 5)) * scale ** (1 / depth) / np.sqrt(5))


def power_of_scale(end_at, scales, loss):
    """Return the power of the scale in the second singular value of the ends from two scales, `end_at[scale]`."""
    beyond_rank = {}
    for scale in scales:
        W = plain.multiply(end_at[scale])
        assert float(loss(torch.tensor(W))) < 1e-4, f"{scale=}: the matrix is not learned"
        beyond_rank[scale] = scipy.linalg.svdvals(W)[1]
    larger, smaller = scales
    return np.log(beyond_rank[smaller] / beyond_rank[larger]) / np.log(smaller / larger)


@pytest.mark.parametrize("growth", [0.2, 0.8])
def test_at_rank_one_steps_of_descent_count_by_their_own_logarithm(growth):
    """Each step multiplies the first singular value by (1 + growth) squared; a flow's rates miss the power.

    Until it is learned the gradient stays that at zero, and no direction turns.
    """
    truth, mask = rank_one_completion()
    loss = plain.loss_on_observed(truth, mask)
    first, second = scipy.linalg.svdvals(2 * mask * truth / mask.sum())[:2]  # of the gradient at zero
    rate, scales = growth / first, (1e-6, 1e-14)
    end_at = {}
    for scale in scales:
        # twice as many as take the first singular value from the scale to one, and 400 to converge
        steps = 400 + int(np.log(1 / scale) / np.log1p(growth))
        end_at[scale] = plain.descend(gaussian_layers(2, scale), loss, rate, steps)
    power = power_of_scale(end_at, scales, loss)

    growth_of_first, growth_of_second = theory.step_growth(np.array([first, second]), rate)
    # from either scale the first is learned after a whole number of steps: one more or less moves the power by this
    of_one_step = growth_of_second / np.log(scales[0] / scales[1])
    assert power == pytest.approx(1 - growth_of_second / growth_of_first, abs=of_one_step)
    power_by_flow = 1 - second / first
    assert abs(power - power_by_flow) > of_one_step


def test_at_depth_three_the_power_is_one():
    truth, mask = rank_one_completion()
    loss, scales = plain.loss_on_observed(truth, mask), (1e-3, 1e-4)
    end_at = {}
    for scale in scales:
        # layers of size s^(1/3) grow from zero in a time in proportion to s^(-1/3); then they converge. That both times
        # are long enough is seen from the loss at the end, by `power_of_scale`
        times = np.array([0.0, 60.0 + 20 * scale ** (-1 / 3)])
        _, end_at[scale] = plain.flow(gaussian_layers(3, scale), loss, times, rtol=1e-10)
    # two scales of finite size: terms of higher order in s^(1/3), a tenth and a twentieth, are left
    assert power_of_scale(end_at, scales, loss) == pytest.approx(1.0, abs=0.1)


# -- the judge ------------------------------------------------------------------------------------

# The claim: the singular value beyond the rank is a power of the initialisation scale, by the law 1 - ALPHA at depth 2
# and one at depth 3. Of each number of entries the median over draws of measured less predicted powers is zero, to a
# tolerance: a share, SHARE, of the median distance of ALPHA from ALPHA_AT_START. Distances are 0.1 and 0.3, so that the
# tolerance is half of 0.2.
COUNTS = [100, 200]  # numbers of observed entries, by which dicts are
SCALES = [1e-8, 1e-10, 1e-12]
SHARE = 0.5
WOBBLE = np.linspace(-0.01, 0.01, 8)  # of powers of eight draws around their median
ALPHA, ALPHA_AT_START = {100: 0.8, 200: 0.5}, {100: 0.9, 200: 0.8}
PREDICTED = {100: 0.2, 200: 0.5}  # 1 - ALPHA
AT_DEPTH_3 = {100: 1.0, 200: 1.0}
ERROR_OF_COARSE = 0.05  # by which powers from coarse scales, which are not judged, exceed those predicted
# growth in one step, such that a step more or less moves a power by 0.03: the slope over three evenly spaced scales is
# that from the first to the last
STEP = 0.03 * np.log(max(SCALES) / min(SCALES))


def end_table(powers, *, converged=True):
    """Return a table of what eight draws left beyond the rank from each scale: powers of it, by number of entries.

    Their median is that of `powers`; rows are in no order.
    """
    rows = [
        {
            "observed": count,
            "draw": draw,
            "scale": scale,
            "quantity": "beyond_rank",
            "converged": converged,
            "value": 3 * scale ** (powers[count] + wobble),
        }
        for count in COUNTS
        for draw, wobble in enumerate(WOBBLE)
        for scale in SCALES
    ]
    table = pd.DataFrame(rows).sample(frac=1, random_state=1)
    table.attrs["settings"] = {"scales": SCALES}
    return table


ALPHA_OF_WHOLE = {100: 0.95, 200: 0.9}
ALPHA_OF_FLOW = {100: 0.78, 200: 0.45}  # below ALPHA by 0.02 and 0.05


def path_table(start=ALPHA_AT_START, rank=2):
    """Return ratios as they are measured: ALPHA along the path, others at its start and of the whole gradient."""
    quantities = {
        "alpha": ALPHA,
        "alpha_at_the_start": start,
        "alpha_of_the_whole": ALPHA_OF_WHOLE,
        "alpha_of_the_flow": ALPHA_OF_FLOW,
        "growth_in_one_step": {100: STEP, 200: STEP},
        "rank": {100: rank, 200: rank},
    }
    rows = [
        {"observed": count, "draw": draw, "quantity": name, "value": values[count]}
        for count in COUNTS
        for draw in range(len(WOBBLE))
        for name, values in quantities.items()
    ]
    table = pd.DataFrame(rows)
    table.attrs["settings"] = {"scale": 1e-6}
    return table


def evaluation_with(**changed):
    """Return what the claim says of tables by the law, some of them changed.

    Singular values are uneven at depth 2 (`uneven`), at depth 3 (`deeper`) and from coarse scales (`coarse`), or those
    of Gaussian factors (`gaussian`); tables of paths have ALPHA.
    """
    tables = {
        "uneven": end_table(PREDICTED),
        "uneven_path": path_table(),
        "gaussian": end_table(PREDICTED),
        "gaussian_path": path_table(),
        "deeper": end_table(AT_DEPTH_3),
        "coarse": end_table({count: power + ERROR_OF_COARSE for count, power in PREDICTED.items()}),
    } | changed
    return evaluation("deep_linear", "completion_exponents", tables, share=SHARE)


def test_measured_powers_are_slopes_of_logarithms_by_draw():
    np.testing.assert_allclose(measured_powers(end_table(PREDICTED), 200), PREDICTED[200] + WOBBLE, rtol=1e-9)


def test_runs_that_did_not_converge_have_no_power():
    assert np.isnan(measured_powers(end_table(PREDICTED, converged=False), 100)).all()


def test_predicted_powers_are_one_less_alpha():
    np.testing.assert_allclose(predicted_powers(path_table(), 100), 1 - ALPHA[100])


def test_powers_that_the_gradient_predicts_are_reproduced():
    assert evaluation_with().verdict == "reproduced"


def test_errors_powers_and_numbers_of_draws_and_medians_are_facts():
    judged = evaluation_with()
    expected = {
        "largest_median_error": 0.0,
        "largest_rise_by_flow": ALPHA[200] - ALPHA_OF_FLOW[200],
        "largest_median_error_at_coarse_scales": ERROR_OF_COARSE,
        "power_at_fewest": PREDICTED[100],
        "power_at_most": PREDICTED[200],
        "draws_beyond_tolerance": 0,
        "all_draws": 3 * len(COUNTS) * len(WOBBLE),  # of three kinds of networks
        "medians_at_depth_2": 2 * len(COUNTS),  # of two kinds of networks at depth 2
        "largest_scale": max(SCALES),
        "smallest_scale": min(SCALES),
    }
    assert {name: judged.facts[name] for name in expected} == pytest.approx(expected, abs=1e-9)


def test_draws_that_are_off_by_more_than_the_tolerance_are_a_fact():
    # the median of draws with 200 entries is off by the tolerance, and half of their wobbles are above zero
    off_by_tolerance = end_table(PREDICTED | {200: PREDICTED[200] + 0.1})
    assert evaluation_with(uneven=off_by_tolerance).facts["draws_beyond_tolerance"] == np.sum(WOBBLE > 0)


@pytest.mark.parametrize(
    ("role", "powers"),
    [
        pytest.param("uneven", {100: 0.1, 200: 0.2}, id="at depth 2 those of the start of the path"),
        pytest.param("gaussian", {100: 0.2, 200: 0.7}, id="of Gaussian factors one is off"),
        pytest.param("deeper", PREDICTED, id="at depth 3 those of depth 2"),
        pytest.param("deeper", {100: 1.0, 200: 0.8}, id="at depth 3 one is off"),
    ],
)
def test_other_powers_are_contradicted(role, powers):
    assert evaluation_with(**{role: end_table(powers)}).verdict == "contradicted"


# the tolerance is 0.1, and the interval of a median over draws reaches 0.01 further
@pytest.mark.parametrize(("error", "verdict"), [(0.1, "reproduced"), (0.12, "contradicted")])
def test_a_power_may_be_off_by_half_of_the_distance_of_the_path_from_its_start(error, verdict):
    powers = PREDICTED | {200: PREDICTED[200] + error}
    assert evaluation_with(uneven=end_table(powers)).verdict == verdict


@pytest.mark.parametrize(
    ("distance", "error", "verdict"),
    [
        pytest.param(0.02, 0.03, "undecided", id="a tolerance of 0.03 cannot tell the path from its start"),
        pytest.param(0.04, 0.08, "contradicted", id="powers are off by more than the 0.03 of one step"),
    ],
)
def test_where_path_and_start_are_alike_the_tolerance_is_that_of_one_step(distance, error, verdict):
    near_its_start = path_table(start={count: alpha + distance for count, alpha in ALPHA.items()})
    paths = {"uneven_path": near_its_start, "gaussian_path": near_its_start}
    powers = {count: power - error for count, power in PREDICTED.items()}
    assert evaluation_with(uneven=end_table(powers), **paths).verdict == verdict


@pytest.mark.parametrize(
    ("role", "powers", "verdict"),
    [
        pytest.param("uneven", PREDICTED, "reproduced", id="as predicted"),
        # the interval of a median over draws reaches 0.01 further than one step, 0.03
        pytest.param("uneven", {100: 0.2, 200: 0.53}, "reproduced", id="off by one step"),
        pytest.param("uneven", {100: 0.2, 200: 0.55}, "contradicted", id="off by more than one step"),
        pytest.param("gaussian", {100: 0.35, 200: 0.35}, "contradicted", id="the same for all numbers of entries"),
        pytest.param("deeper", PREDICTED, "contradicted", id="at depth 3 those of depth 2"),
    ],
)
def test_at_rank_one_the_law_is_judged_with_the_tolerance_of_one_step(role, powers, verdict):
    start = {count: alpha + 0.001 for count, alpha in ALPHA.items()}
    of_rank_one = path_table(start=start, rank=1)
    tables = {"uneven_path": of_rank_one, "gaussian_path": of_rank_one} | {role: end_table(powers)}
    assert evaluation_with(**tables).verdict == verdict


def test_runs_that_did_not_converge_decide_nothing():
    assert evaluation_with(deeper=end_table(AT_DEPTH_3, converged=False)).judgement.state == "undecided"
