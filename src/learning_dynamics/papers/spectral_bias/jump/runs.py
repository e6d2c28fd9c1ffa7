"""Gradient flow on whitened data, down to the vanishing scales of the jump process."""

from typing import Any

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Span
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias import two_layer_flow
from learning_dynamics.settings import Positive
from learning_dynamics.trajectories import Trajectory, ensemble


def jump_flow(*, teacher_singular_values: list[Positive], gammas: list[Positive], integration: Span) -> Trajectory:
    """Gradient flow on whitened data down to vanishing scales, in time rescaled by ln(1/gamma).

    Gradient flow commutes with rotations of inputs, outputs and hidden units. So X = I, labels Y that are the diagonal
    matrix of `teacher_singular_values`, and W1(0) = sqrt(2 gamma) I stand for every whitened problem. A mode is a
    singular value of the predictor with its vectors. In other coordinates the rounding of the modes that are learnt
    first would drown the others, which start at scales down to gamma = 1e-32. In these coordinates modes do not mix;
    entries off the diagonal are integrated too.

    Returns
    -------
    Trajectory
        Members are scales. Time is t / ln(1/gamma): the integration's times, and between them the predicted times
        1 / (2 s) at which the singular values s of the teacher jump. Series W1 and W2, shape (gammas, times, k, k) for
        k singular values. Constants teacher, shape (k,), the singular values in the order given; gamma, and steps, how
        many the integrator took, shape (gammas,).

    Raises
    ------
    ProjectError
        If atol is above rtol times the smallest weight at the start, whose growth would then not be resolved, or if a
        singular value is so small that its jump is at no finite time.
    """
    max_atol = integration.rtol * np.sqrt(2 * min(gammas))
    if integration.atol > max_atol:
        raise ProjectError(
            f"gammas: weights from {min(gammas):g} are not resolved; lower atol to {max_atol:.1g}, or raise the gamma"
        )
    teacher = np.array(teacher_singular_values)
    size = len(teacher)
    with np.errstate(over="ignore"):
        times = np.unique(np.r_[integration.times, 1 / (2 * teacher)].round(12))
    if not np.isfinite(times).all():
        raise ProjectError(f"teacher_singular_values: {teacher.min():g} jumps later than times can tell; raise it")

    def jump(gamma: float) -> dict[str, Any]:
        start, rescaled = np.sqrt(2 * gamma) * np.eye(size), times * np.log(1 / gamma)
        flow = two_layer_flow.follow(
            np.eye(size), np.diag(teacher), start, np.zeros((size, size)), times=rescaled, tolerances=integration
        )
        return {"W1": flow.W1, "W2": flow.W2, "steps": flow.steps}

    return ensemble(jump, gammas, times, "W1", "W2", label="jump process", teacher=teacher, gamma=np.array(gammas))
