"""Predictions of the SNR singular values omega(t): speed, course, asymptote and exponent agree, at any speed.

A speed is d omega / dt, a course omega(t) from its start, an asymptote its leading order at large t, and the exponent
that of t in it.
"""

import numpy as np
import pytest

from learning_dynamics.papers.neural_collapse.central_path import predictions

CLASSES, EXAMPLES = 3, 5
OMEGA = np.array([1.5, 0.7])  # (C - 1,)
every_prediction = pytest.mark.parametrize(
    "prediction",
    [pytest.param(predictions.PAPER, id="PAPER"), pytest.param(predictions.ALGORITHM, id="ALGORITHM")],
)
every_factor = pytest.mark.parametrize("factor", [1.0, 0.5, 3.0])


def at(time: float) -> np.ndarray:
    """Return one time as courses and asymptotes take times, (times, 1)."""
    return np.array([[time]])


@every_factor
@every_prediction
def test_a_prediction_at_a_multiple_of_its_speed_has_that_speed(prediction, factor):
    np.testing.assert_array_equal(
        predictions.at_speed(prediction, factor).speed(OMEGA, CLASSES, EXAMPLES),
        factor * prediction.speed(OMEGA, CLASSES, EXAMPLES),
    )


@every_factor
@every_prediction
def test_a_course_runs_at_its_speed(prediction, factor):
    dynamics = predictions.at_speed(prediction, factor)
    step = 1e-4
    (later,) = dynamics.course(OMEGA, at(step), CLASSES, EXAMPLES)
    # half a step times the derivative of the speed in omega, which is largest at omega = 0: 1 / (N C^2) for both
    second_order = step / 2 * factor / (EXAMPLES * CLASSES**2)
    rounding = 10 * np.finfo(float).eps / 5e-7  # omega moves by 5e-7 or more
    np.testing.assert_allclose(
        (later - OMEGA) / step, dynamics.speed(OMEGA, CLASSES, EXAMPLES), rtol=second_order + rounding
    )


@every_factor
@every_prediction
def test_a_course_tends_to_its_asymptote(prediction, factor):
    dynamics = predictions.at_speed(prediction, factor)
    (end,) = dynamics.course(OMEGA, at(1e12), CLASSES, EXAMPLES)
    asymptote = dynamics.asymptote(at(1e12), CLASSES, EXAMPLES).item()
    # what the asymptote leaves out, relative: C / omega^2 for PAPER, and log omega times that for ALGORITHM
    next_order = CLASSES / asymptote**2
    if prediction is predictions.ALGORITHM:
        next_order *= np.log(asymptote)
    np.testing.assert_allclose(end, asymptote, rtol=2 * next_order)


@every_factor
@every_prediction
def test_the_exponent_is_the_asymptotes_power_of_time(prediction, factor):
    dynamics = predictions.at_speed(prediction, factor)
    early, late = (dynamics.asymptote(at(time), CLASSES, EXAMPLES).item() for time in (1.0, 16.0))
    np.testing.assert_allclose(late / early, 16.0**dynamics.exponent, rtol=10 * np.finfo(float).eps)
