"""The tangent space of the renormalised features: what moves along it, how fast, and what maps onto it (appendix D).

Shapes: X and Z (P, C N), one draw's, examples as columns, sorted by class, N of each; X is renormalised, Z any
direction. Functions return numbers, or one for each singular value, (C - 1,), descending, or for each of `STEPS`.
"""

from collections.abc import Callable

import numpy as np

from learning_dynamics.papers.neural_collapse.central_path import flows as renormalised
from learning_dynamics.papers.neural_collapse.central_path import models as central_path
from learning_dynamics.papers.neural_collapse.central_path import quantities
from learning_dynamics.papers.neural_collapse.central_path.quantities import (
    DESCENT,
    MINUS_SIGN,
    ORTHOGONAL,
    PRINTED,
    WHOLE,
    WHOLE_ORTHOGONAL,
)

# step of the central differences below, relative to the fastest relative change: its square is their error
DIFFERENCE = 1e-4
# relative sizes of the steps whose remainders Lemma 2 is about
STEPS = (4e-3, 2e-3, 1e-3)


# What the tangent maps are not, each wrong by a slip: the printed map with a minus between its two products, as the
# proof of Lemma 2 prints it, and both maps without their factor 1/2
ALTERED_MAPS: dict[str, renormalised.TangentMap] = {
    MINUS_SIGN: lambda X, Z, classes: Z - 0.5 * renormalised.constraint(X, Z, classes, sign=-1) @ X,
    WHOLE: lambda X, Z, classes: Z - renormalised.constraint(X, Z, classes) @ X,
    WHOLE_ORTHOGONAL: lambda X, Z, classes: (
        Z - renormalised.constraint(X, Z, classes) @ central_path.deviations(X, classes)
    ),
}
ALL_MAPS = renormalised.TANGENT_MAPS | ALTERED_MAPS


# What Proposition 3's equation is not: a minus between its products, and plain products without the class-centring C
def _with_minus_sign(X: np.ndarray, Z: np.ndarray, classes: int) -> np.ndarray:
    return renormalised.constraint(X, Z, classes, sign=-1)


def _uncentred(X: np.ndarray, Z: np.ndarray, _classes: int) -> np.ndarray:
    return (X @ Z.mT + Z @ X.mT) / X.shape[-1]


def manifold_gaps(X: np.ndarray, Z: np.ndarray, classes: int) -> central_path.Numbers:
    """What tells the solutions of Proposition 3's equation from the velocities of curves on the manifold.

    Quantities
    ----------
    curve_equation_gap
        X C V^T + V C X^T for the velocity V of the curve renormalised(X + h Z), which stays on the manifold, relative
        to X C Z^T + Z C X^T (Proposition 3).
    curve_velocity_gap
        Velocity of the curve renormalised(X + h Z) less Z, where Z is made to solve the equation of
        ``curve_equation_gap``, relative to Z (Proposition 3).
    codimension
        Rank of the map Z -> X C Z^T + Z C X^T.
    curve_equation_gap--minus_sign, codimension--minus_sign
        ``curve_equation_gap`` and ``codimension`` of an equation with a minus between its products.
    curve_equation_gap--uncentred, codimension--uncentred
        ``curve_equation_gap`` and ``codimension`` of an equation without the class-centring C.
    """

    def slope(direction: np.ndarray) -> np.ndarray:
        h = float(DIFFERENCE / np.linalg.norm(direction))
        return _central_difference(central_path.renormalised, X, direction, step=h, classes=classes)

    solution = central_path.centred(renormalised.orthogonal_projection(X, Z, classes))
    velocity = slope(central_path.centred(Z))

    def residual(equation: renormalised.TangentMap) -> float:
        velocity_left, any_left = (np.linalg.norm(equation(X, direction, classes)) for direction in (velocity, Z))
        return float(velocity_left / any_left)

    def rank(equation: renormalised.TangentMap) -> float:
        return float(np.linalg.matrix_rank(equation(X, _basis(X), classes).reshape(X.size, -1)))

    return {
        quantities.CURVE_VELOCITY_GAP: central_path.relative_gap(slope(solution), solution),
        quantities.CURVE_EQUATION_GAP: residual(renormalised.constraint),
        quantities.CODIMENSION: rank(renormalised.constraint),
        quantities.CURVE_EQUATION_GAP_MINUS_SIGN: residual(_with_minus_sign),
        quantities.CODIMENSION_MINUS_SIGN: rank(_with_minus_sign),
        quantities.CURVE_EQUATION_GAP_UNCENTRED: residual(_uncentred),
        quantities.CODIMENSION_UNCENTRED: rank(_uncentred),
    }


def map_gaps(X: np.ndarray, Z: np.ndarray, classes: int, tangent_map: renormalised.TangentMap) -> central_path.Numbers:
    """How far a tangent map is from a projection onto the tangent space, and from an orthogonal one.

    Quantities
    ----------
    image_tangency_gap
        X C T(Z)^T + T(Z) C X^T for the image of Z under the tangent map T, relative to X C Z^T + Z C X^T (Proposition
        4).
    idempotence_gap
        Image of a second application of the map less that of the first, relative to the first.
    tangent_change
        Change of a matrix that is tangent already under the map, relative to it.
    asymmetry
        ||T - T^T||_F / ||T||_F for the map as a matrix T, zero if and only if it is self-adjoint.
    """
    image = tangent_map(X, Z, classes)
    # another direction than Z: its rows in reverse order
    tangent = renormalised.orthogonal_projection(X, Z[::-1], classes)
    # a row for each entry of Z: the image of the matrix that has a one there and zeros elsewhere
    matrix = tangent_map(X, _basis(X), classes).reshape(X.size, X.size)
    residual = np.linalg.norm(renormalised.constraint(X, image, classes))
    return {
        quantities.IMAGE_TANGENCY_GAP: residual / np.linalg.norm(renormalised.constraint(X, Z, classes)),
        quantities.IDEMPOTENCE_GAP: central_path.relative_gap(tangent_map(X, image, classes), image),
        quantities.TANGENT_CHANGE: central_path.relative_gap(tangent_map(X, tangent, classes), tangent),
        quantities.ASYMMETRY: np.linalg.norm(matrix - matrix.T) / np.linalg.norm(matrix),
    }


def adjoint_gaps(X: np.ndarray, classes: int) -> central_path.Numbers:
    """What Lemma 4 does to the gradient when it moves the printed map across the inner product.

    Quantities
    ----------
    adjoint_gradient_change, printed_gradient_change
        Image of the gradient under the printed map's adjoint, and under the printed map, less the gradient, relative to
        it (Lemma 4).
    gradient_normal_share
        The part of the gradient that is normal to the manifold, relative to the gradient.
    """
    gradient = central_path.gradient(X, classes)
    adjoint_image = renormalised.printed_adjoint(X, gradient, classes)
    printed_image = renormalised.printed_map(X, gradient, classes)
    tangent_part = renormalised.orthogonal_projection(X, gradient, classes)
    return {
        quantities.ADJOINT_GRADIENT_CHANGE: central_path.relative_gap(adjoint_image, gradient),
        quantities.PRINTED_GRADIENT_CHANGE: central_path.relative_gap(printed_image, gradient),
        quantities.GRADIENT_NORMAL_SHARE: central_path.relative_gap(tangent_part, gradient),
    }


def velocity_gaps(X: np.ndarray, classes: int, tangent_map: renormalised.TangentMap) -> central_path.Numbers:
    """Gaps of Lemma 4's velocity, row by row in aligned coordinates, from that of eq. 5 under a tangent map.

    Quantities
    ----------
    velocity_gap--lemma_4
        omega_j / (C + omega_j^2)^2 (y_j / N - omega_j C x_j) less dx_j / dt, relative to it (Lemma 4).
    velocity_gap--means
        ``velocity_gap--lemma_4`` with the first product alone.
    velocity_gap--means_faster
        ``velocity_gap--means`` times 1 + omega_j^2 / C.
    """
    U, omega, V = central_path.snr_vectors(X, classes)
    examples = X.shape[-1] // classes
    labels = V.T @ central_path.one_hot(classes, examples)
    # C x_j, with the class-centring matrix C
    centred_rows = U.T @ central_path.deviations(X, classes) / X.shape[-1]
    rate = (omega / (classes + omega**2) ** 2)[:, None]
    omega = omega[:, None]
    velocity = renormalised.velocity(X, classes, tangent_map)
    formulas = {
        quantities.VELOCITY_GAP_LEMMA_4: rate * (labels / examples - omega * centred_rows),
        quantities.VELOCITY_GAP_MEANS: rate * labels / examples,
        quantities.VELOCITY_GAP_MEANS_FASTER: rate * (1 + omega**2 / classes) * labels / examples,
    }
    return {name: central_path.relative_gap(U @ rows, velocity) for name, rows in formulas.items()}


def speeds(X: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Return d omega_j / dt by central differences at two steps, extrapolated, shape (classes - 1,), for both flows
    and one step of the descent.

    The flows move the features along their velocity; the descent takes a plain gradient step of size h forwards
    and backwards and renormalises.
    """
    moves = {
        name: renormalised.velocity(X, classes, tangent_map) for name, tangent_map in renormalised.TANGENT_MAPS.items()
    }
    moves[DESCENT] = -central_path.gradient(X, classes)
    derivatives = {}
    for name, move in moves.items():
        fastest = np.max(np.linalg.norm(move, axis=0) / np.linalg.norm(X, axis=0))
        derivatives[name] = _slope_of_singular_values(X, move, DIFFERENCE / fastest, classes)
    return derivatives


def step_remainders(X: np.ndarray, Z: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Return what a renormalised step leaves beyond its first order, ||R(X + hZ) - X - h T(Z)|| / ||hZ||, by map T.

    For each of `STEPS`, h relative to the features' size. T is the printed map, the orthogonal projection, or, as the
    proof of Lemma 2 prints it, the printed map with a minus between its two products.
    """
    Z = central_path.centred(Z)
    remainders: dict[str, list] = {PRINTED: [], ORTHOGONAL: [], MINUS_SIGN: []}
    for size in STEPS:
        h = size * np.linalg.norm(X) / np.linalg.norm(Z)
        change = central_path.renormalised(X + h * Z, classes) - X
        for name, ratios in remainders.items():
            image = ALL_MAPS[name](X, Z, classes)
            ratios.append(np.linalg.norm(change - h * image) / np.linalg.norm(h * Z))
    return {name: np.array(ratios) for name, ratios in remainders.items()}


def singular_value_slopes(X: np.ndarray, Z: np.ndarray, classes: int) -> central_path.Numbers:
    """What Lemma 3 says of the singular values along the printed map's image of Z, and what they do.

    Quantities
    ----------
    slope
        d omega_j along the printed map's image of Z, by central differences at two steps, extrapolated.
    slope--lemma_3
        What Lemma 3 says of ``slope``: (y_j / N - omega_j C x_j) . dx_j in aligned coordinates.
    slope--without_shrinking
        The first product of ``slope--lemma_3`` alone, which is the slope along the orthogonal projection.
    """
    Z = central_path.centred(Z)
    U, omega, V = central_path.snr_vectors(X, classes)
    means = np.einsum("pj,pc,cj->j", U, central_path.class_means(Z, classes), V)
    scatter = np.einsum("pj,ps,qs,qj->j", U, central_path.deviations(X, classes), Z, U) / X.shape[-1]
    image = renormalised.printed_map(X, Z, classes)
    h = float(DIFFERENCE * np.linalg.norm(X) / np.linalg.norm(image))
    return {
        quantities.SLOPE: _slope_of_singular_values(X, image, h, classes),
        quantities.SLOPE_LEMMA_3: means - omega * scatter,
        quantities.SLOPE_WITHOUT_SHRINKING: means,
    }


def _central_difference(
    function: Callable[[np.ndarray, int], np.ndarray],
    X: np.ndarray,
    direction: np.ndarray,
    *,
    step: float,
    classes: int,
) -> np.ndarray:
    """Return the derivative of ``function(X, classes)`` along a direction."""
    ahead, behind = (function(X + sign * step * direction, classes) for sign in (1, -1))
    return (ahead - behind) / (2 * step)


def _slope_of_singular_values(X: np.ndarray, direction: np.ndarray, h: float, classes: int) -> np.ndarray:
    """Return d omega_j along a direction, by central differences at steps h and 2h, extrapolated, shape (C - 1,)."""
    omega = central_path.snr_singular_values
    fine, coarse = (_central_difference(omega, X, direction, step=step, classes=classes) for step in (h, 2 * h))
    # errors are of second order in the step: those of the double step are four times as large
    return (4 * fine - coarse) / 3


def _basis(X: np.ndarray) -> np.ndarray:
    """Return all matrices with a single one, of the shape of X, along a new first axis."""
    return np.eye(X.size).reshape(X.size, *X.shape)
