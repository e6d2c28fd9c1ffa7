"""The printed tangent map and its adjoint; flows against closed forms; sizes, seeds and steps of runs."""

import functools

import numpy as np
import pytest

from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.neural_collapse.central_path import flows, metrics, models, runs, theory
from learning_dynamics.tidy import by_draw

CLASSES, EXAMPLES, FEATURES = 4, 8, 6
TIMES = np.concatenate([[0.0], np.geomspace(1.0, 1e10, 21)])
RTOL = 1e-9
BOUND = 20 * RTOL  # on relative errors; the largest in 200 such flows was 8 RTOL


def start():
    """Return renormalised features."""
    drawn = models.gaussian_features(np.random.default_rng(0), CLASSES, EXAMPLES, FEATURES, signal=0.5)
    return models.renormalised(drawn, CLASSES)


def test_the_printed_map_has_the_adjoint_that_is_given_and_not_itself():
    X = start()
    A, B = np.random.default_rng(1).standard_normal((2, FEATURES, CLASSES * EXAMPLES))
    product = np.sum(flows.printed_map(X, A, CLASSES) * B)
    assert product == pytest.approx(np.sum(A * flows.printed_adjoint(X, B, CLASSES)), rel=1e-12)
    # products of 192 entries of order one: were the map its own adjoint, they would agree to 1e-12
    assert product != pytest.approx(np.sum(A * flows.printed_map(X, B, CLASSES)), abs=0.1)


@functools.cache
def flow_by(name):
    """Return the flow that a tangent map gives, and its features, shape (times, features, samples)."""
    X = start()
    tangent_map, tolerances = flows.TANGENT_MAPS[name], Tolerances(RTOL, 1e-3 * RTOL)
    flow = flows.renormalised_flow(X, CLASSES, tangent_map, times=TIMES, tolerances=tolerances)
    return flow, flow.states.reshape(-1, *X.shape)


@pytest.mark.parametrize(
    ("name", "solution"), [("orthogonal", theory.snr_closed_form), ("printed", theory.algorithm_closed_form)]
)
def test_the_singular_values_of_a_flow_follow_their_closed_form(name, solution):
    _, features = flow_by(name)
    omega = models.snr_singular_values(features, CLASSES)
    np.testing.assert_allclose(omega, solution(omega[0], TIMES[:, None], CLASSES, EXAMPLES), rtol=BOUND)


@pytest.mark.parametrize("name", ["orthogonal", "printed"])
def test_a_flow_keeps_the_within_class_covariance_at_the_identity(name):
    _, features = flow_by(name)
    covariance = models.within_covariance(features, CLASSES)
    np.testing.assert_allclose(covariance, np.broadcast_to(np.eye(FEATURES), covariance.shape), rtol=0, atol=BOUND)


@pytest.mark.parametrize("name", ["orthogonal", "printed"])
def test_a_flow_takes_few_steps_over_ten_decades_of_time(name):
    flow, _ = flow_by(name)
    assert flow.steps < 80  # there were 31 to 45 in 200 such flows; many more if it became stiff


def test_step_sizes_that_do_not_divide_the_largest_are_refused():
    with pytest.raises(ProjectError, match="divide the largest"):  # 0.7 does not divide 1.0
        runs.renormalised_descent(
            sizes=[[3, 6, 4]], signal=0.5, seeds=1, horizon=10.0, points=3, steps=[1.0, 0.7], seed=0
        )


def test_a_draw_does_not_depend_on_how_many_there_are_and_differs_from_the_others():
    of_one_seed, of_three_seeds = (
        runs.free_features(sizes=[[3, 6, 4]], signal=0.5, seeds=seeds, condition=10.0, seed=5).series["H_C3_N6_P4"]
        for seeds in (1, 3)
    )
    np.testing.assert_array_equal(of_one_seed[0], of_three_seeds[0])
    assert np.abs(of_three_seeds[0] - of_three_seeds[1]).max() > 0.1  # entries are of order one


@pytest.mark.parametrize(
    "other_size", [[2, 6, 8], [3, 5, 8], [3, 6, 7]], ids=["other classes", "other examples", "other features"]
)
def test_sizes_that_differ_in_one_number_are_draws_of_their_own(other_size):
    sizes = [[3, 6, 8], other_size]
    run = runs.free_features(sizes=sizes, signal=0.5, seeds=2, condition=10.0, seed=5)
    run.settings = {"sizes": sizes}
    assert by_draw(metrics.free_features(run, decays=[0.0]), "trace").shape == (4, 1)  # 2 sizes x 2 seeds
