"""The central path of neural_collapse: closed forms against their equations, and runs' settings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.neural_collapse.central_path import metrics, theory
from learning_dynamics.papers.neural_collapse.central_path.runs import free_features, renormalised_descent
from learning_dynamics.tidy import by_draw

EXAMPLES = settings(max_examples=50)
SIZE = st.tuples(st.integers(2, 100), st.integers(2, 1000))
CLOSED_FORMS = pytest.mark.parametrize(
    ("solution", "velocity"),
    [
        (theory.snr_closed_form, theory.snr_velocity),
        (theory.algorithm_closed_form, theory.algorithm_velocity),
    ],
)


@CLOSED_FORMS
@EXAMPLES
@given(size=SIZE, start=st.floats(1e-2, 10.0), decades=st.floats(-2.0, 10.0))
def test_closed_form_solves_its_equation(solution, velocity, size, start, decades):
    time = np.array(10.0**decades)
    h = 1e-4 * time
    omega = solution(start, np.array([time - h, time, time + h]), *size)
    slope = (omega[2] - omega[0]) / (2 * h)
    # rounding in the difference, and its error of second order in h
    tolerance = 1e-7 * slope + 1e-14 * omega[1] / h
    assert slope == pytest.approx(velocity(omega[1], *size), abs=tolerance)
    np.testing.assert_allclose(solution(start, np.zeros(1), *size), start, rtol=1e-11)


def test_step_sizes_that_miss_each_others_times_are_refused():
    with pytest.raises(ProjectError, match="divide the largest"):
        renormalised_descent(sizes=[[3, 6, 4]], signal=0.5, seeds=1, horizon=10.0, points=3, steps=[1.0, 0.7], seed=0)


def test_members_do_not_depend_on_how_many_there_are():
    few, many = (free_features(sizes=[[3, 6, 4]], signal=0.5, seeds=seeds, condition=10.0, seed=5) for seeds in (1, 3))
    np.testing.assert_array_equal(few.series["H_C3_N6_P4"][0], many.series["H_C3_N6_P4"][0])
    assert np.abs(many.series["H_C3_N6_P4"][0] - many.series["H_C3_N6_P4"][1]).max() > 0.1


@pytest.mark.parametrize("other", [[2, 6, 8], [3, 5, 8], [3, 6, 7]])
def test_sizes_that_differ_in_one_number_are_draws_of_their_own(other):
    sizes = [[3, 6, 8], other]
    run = free_features(sizes=sizes, signal=0.5, seeds=2, condition=10.0, seed=5)
    run.settings = {"sizes": sizes}
    assert by_draw(metrics.free_features(run, decays=[0.0]), "trace").shape == (4, 1)
