"""Flows and descent that keep features at identity within-class covariance (Han, Papyan, Donoho 2022, appendix D).

Two maps take a gradient to the tangent space of the manifold X C X^T = I, C = (I - Y^T Y / N) / (C N): the one that the
paper prints, which moves back along X -> A X, and the orthogonal projection. Each gives a flow. The discrete
algorithm of appendix D.1 takes a plain gradient step and renormalises; as its step goes to zero it follows the first.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Flow, Tolerances, integrate
from learning_dynamics.papers.neural_collapse.central_path import models
from learning_dynamics.papers.neural_collapse.central_path.quantities import ORTHOGONAL, PRINTED

TangentMap = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def constraint(X: np.ndarray, Z: np.ndarray, classes: int, *, sign: int = 1) -> np.ndarray:
    """Return X C Z^T + Z C X^T, zero for Z tangent to the manifold at X (Proposition 3), (..., features, features).

    `sign` is that of the first product.
    """
    product = models.deviations(X, classes) @ Z.mT / X.shape[-1]
    return sign * product + product.mT


def printed_map(X: np.ndarray, Z: np.ndarray, classes: int) -> np.ndarray:
    """Return Z - (X C Z^T + Z C X^T) X / 2, the shape of X (Proposition 4).

    For X on the manifold this is tangent; what it removes has the form S X with S symmetric, a move that changes
    no prediction.
    """
    return Z - 0.5 * constraint(X, Z, classes) @ X


def orthogonal_projection(X: np.ndarray, Z: np.ndarray, classes: int) -> np.ndarray:
    """Return the tangent matrix nearest to Z in the Frobenius norm, the shape of X.

    Z - (C N / 2) (X C Z^T + Z C X^T) X C. The normal space at X is {S X C : S symmetric}: the inner product of S X C
    with Z is half that of S with X C Z^T + Z C X^T. The factor C N comes from C C = C / (C N).
    """
    return Z - 0.5 * constraint(X, Z, classes) @ models.deviations(X, classes)


def printed_adjoint(X: np.ndarray, Z: np.ndarray, classes: int) -> np.ndarray:
    """Return the adjoint of `printed_map` in the Frobenius inner product: Z - (Z X^T + X Z^T) X C / 2."""
    product = Z @ X.mT / X.shape[-1]
    return Z - 0.5 * (product + product.mT) @ models.deviations(X, classes)


TANGENT_MAPS: dict[str, TangentMap] = {ORTHOGONAL: orthogonal_projection, PRINTED: printed_map}


def velocity(X: np.ndarray, classes: int, tangent_map: TangentMap) -> np.ndarray:
    """Return dX/dt of the continually renormalised flow: minus the mapped gradient (eq. 5)."""
    return -tangent_map(X, models.gradient(X, classes), classes)


def renormalised_flow(
    initial: np.ndarray, classes: int, tangent_map: TangentMap, *, times: np.ndarray, tolerances: Tolerances
) -> Flow:
    """Integrate eq. 5 from features on the manifold, in the variable log(1 + t).

    The field is evaluated at the renormalised features, so that the integrator's drift off the manifold is not fed
    back: there the tangent maps would amplify it, by a factor that grows with the signal.

    Parameters
    ----------
    initial : ndarray, shape (features, samples)
    times : ndarray, shape (times,), ascending from 0

    Returns
    -------
    Flow
        States are packed features; times are those of the integrator, log(1 + t).
    """

    def field(log_time: float, state: np.ndarray) -> np.ndarray:
        X = models.renormalised(state.reshape(initial.shape), classes)
        return np.exp(log_time) * velocity(X, classes, tangent_map).ravel()

    return integrate(field, initial.ravel(), np.log1p(times), rtol=tolerances.rtol, atol=tolerances.atol)


def renormalised_descent(initial: np.ndarray, classes: int, step: float, recorded_steps: np.ndarray) -> np.ndarray:
    """Gradient descent with renormalisation after each step (appendix D.1), over any leading axes.

    Parameters
    ----------
    initial : ndarray, shape (..., features, samples)
        Renormalised features.
    step : float
        The step size eta.
    recorded_steps : ndarray of int, shape (times,), ascending from 0
        After how many steps to record.

    Returns
    -------
    ndarray, shape (..., times, features, samples)
    """

    def descend(X: np.ndarray) -> np.ndarray:
        return models.renormalised(X - step * models.gradient(X, classes), classes)

    return np.stack(list(iterates(descend, initial, recorded_steps)), axis=-3)


def iterates(
    move: Callable[[np.ndarray], np.ndarray], state: np.ndarray, recorded_steps: Sequence[int] | np.ndarray
) -> Iterator[np.ndarray]:
    """Yield what a map makes of a state in so many steps, for each number of steps recorded, ascending from 0."""
    for n_steps in np.diff(recorded_steps, prepend=0):
        for _ in range(n_steps):
            state = move(state)
        yield state
