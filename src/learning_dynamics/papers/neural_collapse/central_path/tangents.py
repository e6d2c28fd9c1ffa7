"""The tangent space of the renormalised features: what moves along it, how fast, and what maps onto it (appendix D).

Shapes: X and Z (P, C N), one draw's, examples as columns, sorted by class, N of each; X is renormalised, Z any
direction. C is the number of classes; between features, as in X C X^T and C x_j, it is the class-centring matrix.
Functions return numbers, or one for each singular value, (C - 1,), descending, or for each of `STEPS`.
"""

from collections.abc import Callable

import numpy as np

from learning_dynamics.papers.neural_collapse.central_path import flows, models, quantities
from learning_dynamics.papers.neural_collapse.central_path.quantities import (
    DESCENT,
    MINUS_SIGN,
    ORTHOGONAL,
    PRINTED,
    WHOLE,
    WHOLE_ORTHOGONAL,
)

# Size of a small step of the central differences, in units that each of them names. Their errors go as the square of
# the step, 1e-8, extrapolated ones as its fourth power. Rounding adds 2e-16 over the step, 2e-12
DIFFERENCE = 1e-4
# relative sizes of the steps whose remainders Lemma 2 is about, each half the one before; chosen
STEPS = (4e-3, 2e-3, 1e-3)


# Wrong tangent maps, as rivals: the printed map with a minus between its two products, as the proof of Lemma 2 has
# it, and both maps without their factor 1/2
ALTERED_MAPS: dict[str, flows.TangentMap] = {
    MINUS_SIGN: lambda X, Z, classes: Z - 0.5 * flows.constraint(X, Z, classes, sign=-1) @ X,
    WHOLE: lambda X, Z, classes: Z - flows.constraint(X, Z, classes) @ X,
    WHOLE_ORTHOGONAL: lambda X, Z, classes: Z - flows.constraint(X, Z, classes) @ models.deviations(X, classes),
}
ALL_MAPS = flows.TANGENT_MAPS | ALTERED_MAPS


# Wrong forms of Proposition 3's equation, as rivals: a minus between its products, and no class-centring C
def _with_minus_sign(X: np.ndarray, Z: np.ndarray, classes: int) -> np.ndarray:
    return flows.constraint(X, Z, classes, sign=-1)


def _uncentred(X: np.ndarray, Z: np.ndarray, _classes: int) -> np.ndarray:
    return (X @ Z.mT + Z @ X.mT) / X.shape[-1]


def manifold_gaps(X: np.ndarray, Z: np.ndarray, classes: int) -> models.Numbers:
    """Return how far the solutions of Proposition 3's equation are from the velocities of curves on the manifold.

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
        h = float(DIFFERENCE / np.linalg.norm(direction))  # a move of this norm
        return _central_difference(models.renormalised, X, direction, step=h, classes=classes)

    # a solution of Proposition 3's equation, with zero global mean
    solution = models.centred(flows.orthogonal_projection(X, Z, classes))
    velocity = slope(models.centred(Z))

    def residual(equation: flows.TangentMap) -> float:
        along_velocity, along_Z = (np.linalg.norm(equation(X, direction, classes)) for direction in (velocity, Z))
        return float(along_velocity / along_Z)

    def rank(equation: flows.TangentMap) -> float:
        # a row for each entry of Z: the equation's left side for the matrix that has a one there and zeros elsewhere
        return float(np.linalg.matrix_rank(equation(X, _basis(X), classes).reshape(X.size, -1)))

    return {
        quantities.CURVE_VELOCITY_GAP: models.relative_gap(slope(solution), solution),
        quantities.CURVE_EQUATION_GAP: residual(flows.constraint),
        quantities.CODIMENSION: rank(flows.constraint),
        quantities.CURVE_EQUATION_GAP_MINUS_SIGN: residual(_with_minus_sign),
        quantities.CODIMENSION_MINUS_SIGN: rank(_with_minus_sign),
        quantities.CURVE_EQUATION_GAP_UNCENTRED: residual(_uncentred),
        quantities.CODIMENSION_UNCENTRED: rank(_uncentred),
    }


def map_gaps(X: np.ndarray, Z: np.ndarray, classes: int, tangent_map: flows.TangentMap) -> models.Numbers:
    """Return how far a tangent map is from a projection onto the tangent space, and from an orthogonal one.

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
    tangent = flows.orthogonal_projection(X, Z[::-1], classes)
    # a row for each entry of Z: the image of the matrix that has a one there and zeros elsewhere
    matrix = tangent_map(X, _basis(X), classes).reshape(X.size, X.size)
    residual = np.linalg.norm(flows.constraint(X, image, classes))
    return {
        quantities.IMAGE_TANGENCY_GAP: residual / np.linalg.norm(flows.constraint(X, Z, classes)),
        quantities.IDEMPOTENCE_GAP: models.relative_gap(tangent_map(X, image, classes), image),
        quantities.TANGENT_CHANGE: models.relative_gap(tangent_map(X, tangent, classes), tangent),
        quantities.ASYMMETRY: np.linalg.norm(matrix - matrix.T) / np.linalg.norm(matrix),
    }


def adjoint_gaps(X: np.ndarray, classes: int) -> models.Numbers:
    """Return how the gradient changes when Lemma 4 moves the printed map across the inner product.

    Quantities
    ----------
    adjoint_gradient_change, printed_gradient_change
        Image of the gradient under the printed map's adjoint, and under the printed map, less the gradient, relative to
        it (Lemma 4).
    gradient_normal_share
        The part of the gradient that is normal to the manifold, relative to the gradient.
    """
    gradient = models.gradient(X, classes)
    adjoint_image = flows.printed_adjoint(X, gradient, classes)
    printed_image = flows.printed_map(X, gradient, classes)
    tangent_part = flows.orthogonal_projection(X, gradient, classes)
    return {
        quantities.ADJOINT_GRADIENT_CHANGE: models.relative_gap(adjoint_image, gradient),
        quantities.PRINTED_GRADIENT_CHANGE: models.relative_gap(printed_image, gradient),
        quantities.GRADIENT_NORMAL_SHARE: models.relative_gap(tangent_part, gradient),
    }


def velocity_gaps(X: np.ndarray, classes: int, tangent_map: flows.TangentMap) -> models.Numbers:
    """Return gaps of Lemma 4's velocity, row by row in aligned coordinates, from that of eq. 5 under a tangent map.

    Quantities
    ----------
    velocity_gap--lemma_4
        omega_j / (C + omega_j^2)^2 (y_j / N - omega_j C x_j) less dx_j / dt, relative to it (Lemma 4).
    velocity_gap--means
        ``velocity_gap--lemma_4`` with the first product alone.
    velocity_gap--means_faster
        ``velocity_gap--means`` times 1 + omega_j^2 / C.
    """
    U, omega, V = models.snr_vectors(X, classes)
    examples = X.shape[-1] // classes
    labels = V.T @ models.one_hot(classes, examples)
    # C x_j, with the class-centring matrix C
    centred_rows = U.T @ models.deviations(X, classes) / X.shape[-1]
    rate = (omega / (classes + omega**2) ** 2)[:, None]
    omega = omega[:, None]
    velocity = flows.velocity(X, classes, tangent_map)
    formulas = {
        quantities.VELOCITY_GAP_LEMMA_4: rate * (labels / examples - omega * centred_rows),
        quantities.VELOCITY_GAP_MEANS: rate * labels / examples,
        quantities.VELOCITY_GAP_MEANS_FASTER: rate * (1 + omega**2 / classes) * labels / examples,
    }
    return {name: models.relative_gap(U @ rows, velocity) for name, rows in formulas.items()}


def speeds(X: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Return d omega_j / dt, shape (C - 1,), under both flows and under the descent, by name.

    They are central differences at two steps, extrapolated. The flows move the features along their velocity; the
    descent takes a plain gradient step, of size h or -h, and renormalises.
    """
    moves = {name: flows.velocity(X, classes, tangent_map) for name, tangent_map in flows.TANGENT_MAPS.items()}
    moves[DESCENT] = -models.gradient(X, classes)
    derivatives = {}
    for name, move in moves.items():
        # relative to the example that moves fastest for its size
        fastest = np.max(np.linalg.norm(move, axis=0) / np.linalg.norm(X, axis=0))
        derivatives[name] = _slope_of_singular_values(X, move, DIFFERENCE / fastest, classes)
    return derivatives


def step_remainders(X: np.ndarray, Z: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Return what a renormalised step leaves beyond its first order, ||R(X + hZ) - X - h T(Z)|| / ||hZ||, by map T.

    There is one number for each of `STEPS`, which are ||hZ|| / ||X||. T is the printed map, the orthogonal projection,
    or the printed map with a minus between its two products, as the proof of Lemma 2 prints it.
    """
    Z = models.centred(Z)
    remainders: dict[str, list] = {PRINTED: [], ORTHOGONAL: [], MINUS_SIGN: []}
    for size in STEPS:
        h = size * np.linalg.norm(X) / np.linalg.norm(Z)
        change = models.renormalised(X + h * Z, classes) - X
        for name, ratios in remainders.items():
            image = ALL_MAPS[name](X, Z, classes)
            ratios.append(np.linalg.norm(change - h * image) / np.linalg.norm(h * Z))
    return {name: np.array(ratios) for name, ratios in remainders.items()}


def singular_value_slopes(X: np.ndarray, Z: np.ndarray, classes: int) -> models.Numbers:
    """Return the slopes of the singular values along the printed map's image of Z, and those of Lemma 3.

    Quantities
    ----------
    slope
        d omega_j along the printed map's image of Z, by central differences at two steps, extrapolated.
    slope--lemma_3
        What Lemma 3 says of ``slope``: (y_j / N - omega_j C x_j) . dx_j, dx_j the rows of Z in aligned
        coordinates.
    slope--without_shrinking
        The first product of ``slope--lemma_3`` alone, which is the slope along the orthogonal projection.
    """
    Z = models.centred(Z)
    U, omega, V = models.snr_vectors(X, classes)
    # for each j: y_j . dx_j / N, which is u_j^T M v_j for the class means M of Z; and (C x_j) . dx_j
    means = np.einsum("pj,pc,cj->j", U, models.class_means(Z, classes), V)
    scatter = np.einsum("pj,ps,qs,qj->j", U, models.deviations(X, classes), Z, U) / X.shape[-1]
    image = flows.printed_map(X, Z, classes)
    h = float(DIFFERENCE * np.linalg.norm(X) / np.linalg.norm(image))  # relative to the features' size
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
    omega = models.snr_singular_values
    fine, coarse = (_central_difference(omega, X, direction, step=step, classes=classes) for step in (h, 2 * h))
    # errors are of second order in the step: those of the double step are four times as large
    return (4 * fine - coarse) / 3


def _basis(X: np.ndarray) -> np.ndarray:
    """Return all matrices with a single one, of the shape of X, along a new first axis."""
    return np.eye(X.size).reshape(X.size, *X.shape)
