"""Predictions of the SNR singular values: speed, course and asymptote belong together, at any pace."""

import numpy as np
import pytest

from learning_dynamics.papers.neural_collapse.central_path import predictions

CLASSES, EXAMPLES = 3, 5
OMEGA = np.array([[1.5, 0.7]])  # (draws, C - 1)


@pytest.mark.parametrize("factor", [1.0, 0.5, 3.0])
@pytest.mark.parametrize("name", ["PAPER", "ALGORITHM"])
def test_a_course_runs_at_its_speed_and_tends_to_its_asymptote(name, factor):
    dynamics = predictions.sped_up(getattr(predictions, name), factor)
    step = np.array([[[1e-4]]])
    later = dynamics.course(OMEGA[:, None], step, CLASSES, EXAMPLES)[:, 0]
    np.testing.assert_allclose(
        (later - OMEGA) / step[0], dynamics.speed(OMEGA, CLASSES, EXAMPLES), rtol=1e-3, err_msg="speed"
    )
    end = np.array([[[1e12]]])
    at_end = dynamics.course(OMEGA[:, None], end, CLASSES, EXAMPLES)
    asymptote = dynamics.asymptote(end, CLASSES, EXAMPLES)
    np.testing.assert_allclose(at_end, np.broadcast_to(asymptote, at_end.shape), rtol=1e-4, err_msg="asymptote")
