"""Flows and descent that keep features at identity within-class covariance (Han, Papyan, Donoho 2022, appendix D).

The features X, (P, C N), are on the manifold X C X^T = I. Between features C is the class-centring matrix (I - Y^T Y /
N) / (C N) with the labels Y (eq. 21); elsewhere it is the number of classes, which have N examples each. Z is any
direction, of the shape of X.

Two maps take a gradient to the tangent space at X. The map that the paper prints subtracts a move along X -> A X, which
changes no prediction; the other one is the orthogonal projection. Each gives a flow. The algorithm of appendix D.1
takes a plain gradient step and renormalises; as its step goes to zero it follows the flow of the printed map.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from learning_dynamics.dynamics.gradient_flow import Flow, Tolerances, integrate
from learning_dynamics.papers.neural_collapse.central_path import models
from learning_dynamics.papers.neural_collapse.central_path.quantities import ORTHOGONAL, PRINTED

TangentMap = Callable[[np.ndarray, np.ndarray, int], np.ndarray]  # takes X, Z and the number of classes


def constraint(X: np.ndarray, Z: np.ndarray, classes: int, *, sign: int = 1) -> np.ndarray:
    """Return X C Z^T + Z C X^T, (..., P, P), which is zero for Z tangent to the manifold at X (Proposition 3).

    `sign` is that of the first product.
    """
    # X C Z^T: C takes class means away and divides by the number of examples
    product = models.deviations(X, classes) @ Z.mT / X.shape[-1]
    return sign * product + product.mT


def printed_map(X: np.ndarray, Z: np.ndarray, classes: int) -> np.ndarray:
    """Return Z - (X C Z^T + Z C X^T) X / 2, the shape of X (Proposition 4).

    For X on the manifold this is tangent. What the map takes away from Z has the form S X with S symmetric: a move
    along X -> A X, which changes no prediction.
    """
    return Z - 0.5 * constraint(X, Z, classes) @ X


def orthogonal_projection(X: np.ndarray, Z: np.ndarray, classes: int) -> np.ndarray:
    """Return the tangent matrix nearest to Z in the Frobenius norm, the shape of X.

    It is Z - (C N / 2) (X C Z^T + Z C X^T) X C, in which C N is the number of examples. The normal space at X is
    {S X C : S symmetric}, because the inner product of S X C with Z is half that of S with X C Z^T + Z C X^T. The
    factor C N comes from the product of two class-centring matrices, C C, which is C over the number of examples.
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

    The velocity is evaluated at the renormalised state, so that the integrator's drift off the manifold is not fed
    back: off the manifold the tangent maps would amplify it, by a factor that grows with the size of the class means.

    Parameters
    ----------
    initial : ndarray, shape (P, C N)
        Renormalised features.
    classes : int
    tangent_map : callable
        One of `TANGENT_MAPS`.
    times : ndarray, shape (times,), ascending from 0
        The flow times t that are recorded.
    tolerances : Tolerances
        Of the integrator.

    Returns
    -------
    Flow
        Its states, (times, P C N), are features as vectors, row by row. Its final time is the integrator's, log(1 + t).
    """

    def field(log_time: float, state: np.ndarray) -> np.ndarray:
        """Return d state / d log(1 + t), which is (1 + t) dX/dt."""
        X = models.renormalised(state.reshape(initial.shape), classes)
        return np.exp(log_time) * velocity(X, classes, tangent_map).ravel()

    return integrate(field, initial.ravel(), np.log1p(times), rtol=tolerances.rtol, atol=tolerances.atol)


def renormalised_descent(initial: np.ndarray, classes: int, step: float, recorded_steps: np.ndarray) -> np.ndarray:
    """Gradient descent with renormalisation after each step (appendix D.1), over any leading axes.

    Parameters
    ----------
    initial : ndarray, shape (..., P, C N)
        Renormalised features.
    step : float
        The step size eta.
    recorded_steps : ndarray of int, shape (times,), ascending from 0
        After how many steps to record.

    Returns
    -------
    ndarray, shape (..., times, P, C N)
    """

    def descend(X: np.ndarray) -> np.ndarray:
        return models.renormalised(X - step * models.gradient(X, classes), classes)

    return np.stack(list(iterates(descend, initial, recorded_steps)), axis=-3)


def iterates(
    move: Callable[[np.ndarray], np.ndarray], state: np.ndarray, recorded_steps: Sequence[int] | np.ndarray
) -> Iterator[np.ndarray]:
    """Yield a state after each of some numbers of steps, ascending from 0; a step replaces it by ``move(state)``."""
    # steps from one recorded state to the next; the first difference is from no step at all
    for n_steps in np.diff(recorded_steps, prepend=0):
        for _ in range(n_steps):
            state = move(state)
        yield state
