"""The tangent space of the renormalised features: what moves along it, how fast, and what maps onto it (appendix D).

Shapes: X and Z (P, C N) belong to one draw; examples are columns, all of the first class first, N of each class. X are
renormalised features, Z is any direction in which they may move. C is the number of classes; as a factor of features,
as in X C X^T and C x_j, it is the class-centring matrix (I - Y^T Y / N) / (C N) with the labels Y (eq. 21). X is on the
manifold X C X^T = I. A tangent map T takes Z to a direction that is to be tangent to it. R renormalises features.

omega_j are the C - 1 non-zero singular values of the SNR matrix, the class means of X, with the singular vectors U and
V. In aligned coordinates (appendix D.2) x_j, y_j and dx_j are the rows j of U^T X, V^T Y and U^T Z.

Functions return numbers, or arrays with one number for each omega_j, (C - 1,), the largest first, or for each of
`STEPS`. The gradient is that of the loss of the least-squares classifier.
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

# Size of the small step of central differences, in units that each function names. A difference has an error of the
# order of the square of the step, 1e-8; one that is extrapolated from two steps, of its fourth power. Rounding adds an
# error of 2e-16 over the step, 2e-12
DIFFERENCE = 1e-4
# sizes of the steps in Lemma 2, relative to the norm of X, each half the one before; chosen
STEPS = (4e-3, 2e-3, 1e-3)


# Wrong tangent maps, which claims have as rivals: the printed map with a minus between its two products, as the proof
# of Lemma 2 has it, and the printed map and the orthogonal projection without their factor 1/2
ALTERED_MAPS: dict[str, flows.TangentMap] = {
    MINUS_SIGN: lambda X, Z, classes: Z - 0.5 * flows.constraint(X, Z, classes, sign=-1) @ X,
    WHOLE: lambda X, Z, classes: Z - flows.constraint(X, Z, classes) @ X,
    WHOLE_ORTHOGONAL: lambda X, Z, classes: Z - flows.constraint(X, Z, classes) @ models.deviations(X, classes),
}
ALL_MAPS = flows.TANGENT_MAPS | ALTERED_MAPS


# Wrong left sides of Proposition 3's equation X C Z^T + Z C X^T = 0, which claims have as rivals: with a minus between
# the products, and without the class-centring C
def _with_minus_sign(X: np.ndarray, Z: np.ndarray, classes: int) -> np.ndarray:
    return flows.constraint(X, Z, classes, sign=-1)


def _uncentred(X: np.ndarray, Z: np.ndarray, _classes: int) -> np.ndarray:
    return (X @ Z.mT + Z @ X.mT) / X.shape[-1]


def manifold_gaps(X: np.ndarray, Z: np.ndarray, classes: int) -> models.Numbers:
    """Return how far the solutions of Proposition 3's equation are from the velocities of curves on the manifold.

    The equation is X C Z^T + Z C X^T = 0. The curve R(X + h Z) stays on the manifold; D is its velocity at h = 0.

    Quantities
    ----------
    curve_equation_gap
        Norm of X C D^T + D C X^T for the velocity D of the curve along any Z less its global mean, relative to that of
        X C Z^T + Z C X^T (Proposition 3).
    curve_velocity_gap
        ||D - Z|| / ||Z|| for the velocity D of the curve along a Z that solves the equation (Proposition 3).
    codimension
        Rank of the map Z -> X C Z^T + Z C X^T (Proposition 3).
    curve_equation_gap--minus_sign, codimension--minus_sign
        ``curve_equation_gap`` and ``codimension`` with a minus between the two products.
    curve_equation_gap--uncentred, codimension--uncentred
        ``curve_equation_gap`` and ``codimension`` without the class-centring matrix C.
    """

    def slope(direction: np.ndarray) -> np.ndarray:
        """Return the velocity D of the curve along a direction, by central differences."""
        h = float(DIFFERENCE / np.linalg.norm(direction))  # a move of this norm
        return _central_difference(models.renormalised, X, direction, step=h, classes=classes)

    # a solution of the equation, less its global mean, as renormalisation takes the global mean away
    solution = models.centred(flows.orthogonal_projection(X, Z, classes))
    velocity = slope(models.centred(Z))

    def residual(equation: flows.TangentMap) -> float:
        """Return the norm of an equation's left side for the velocity along Z, relative to that for Z itself."""
        along_velocity, along_Z = (np.linalg.norm(equation(X, direction, classes)) for direction in (velocity, Z))
        return float(along_velocity / along_Z)

    def rank(equation: flows.TangentMap) -> float:
        """Return the rank of an equation's left side as a linear map of Z."""
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
        Norm of X C T(Z)^T + T(Z) C X^T for the image T(Z) of any Z, relative to that of X C Z^T + Z C X^T (Proposition
        4).
    idempotence_gap
        ||T(T(Z)) - T(Z)|| / ||T(Z)||.
    tangent_change
        ||T(Z) - Z|| / ||Z|| for a Z that is tangent already.
    asymmetry
        ||T - T^T||_F / ||T||_F for the map as a matrix T, zero if and only if it is self-adjoint.
    """
    image = tangent_map(X, Z, classes)
    # made from another direction than Z, its rows in reverse order
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
    """Return how the printed map T and its adjoint T* change the gradient G.

    The proof of Lemma 4 replaces <T(G), Z> with <G, T(Z)>, which is <T*(G), Z> (errata 5).

    Quantities
    ----------
    adjoint_gradient_change, printed_gradient_change
        ||T*(G) - G|| / ||G|| for the adjoint of the printed map, and ||T(G) - G|| / ||G|| for the printed map (Lemma
        4).
    gradient_normal_share
        Norm of the part of the gradient that is normal to the manifold, relative to that of the gradient.
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
    """Return gaps of formulas for the velocity dX/dt = -T(gradient) of a flow (eq. 5).

    Formulas are for the rows dx_j / dt in aligned coordinates. A gap is the norm of the formula less the velocity, over
    all rows, relative to the norm of the velocity.

    Quantities
    ----------
    velocity_gap--lemma_4
        Gap of dx_j / dt = omega_j / (C + omega_j^2)^2 (y_j / N - omega_j C x_j) (Lemma 4).
    velocity_gap--means
        Gap of the first product alone, dx_j / dt = omega_j / (N (C + omega_j^2)^2) y_j.
    velocity_gap--means_faster
        Gap of the first product times 1 + omega_j^2 / C, dx_j / dt = omega_j / (C N (C + omega_j^2)) y_j.
    """
    U, omega, V = models.snr_vectors(X, classes)
    examples = X.shape[-1] // classes
    labels = V.T @ models.one_hot(classes, examples)  # rows y_j, shape (C - 1, C N)
    # rows C x_j, with the class-centring matrix C, which also divides by the number of examples
    centred_rows = U.T @ models.deviations(X, classes) / X.shape[-1]
    rate = (omega / (classes + omega**2) ** 2)[:, None]  # a column, as omega in the next line
    omega = omega[:, None]
    velocity = flows.velocity(X, classes, tangent_map)
    formulas = {
        quantities.VELOCITY_GAP_LEMMA_4: rate * (labels / examples - omega * centred_rows),
        quantities.VELOCITY_GAP_MEANS: rate * labels / examples,
        quantities.VELOCITY_GAP_MEANS_FASTER: rate * (1 + omega**2 / classes) * labels / examples,
    }
    return {name: models.relative_gap(U @ rows, velocity) for name, rows in formulas.items()}


def speeds(X: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Return d omega_j / dt, shape (C - 1,), along both flows and along the descent, by name.

    They are central differences at two steps, extrapolated. The flows move the features along their velocity. The
    descent takes a plain gradient step, of size h or -h; its renormalisation does not change the omega_j.
    """
    moves = {name: flows.velocity(X, classes, tangent_map) for name, tangent_map in flows.TANGENT_MAPS.items()}
    moves[DESCENT] = -models.gradient(X, classes)
    derivatives = {}
    for name, move in moves.items():
        # the step moves by `DIFFERENCE`, relative to its norm, the example that moves fastest relative to its norm
        fastest = np.max(np.linalg.norm(move, axis=0) / np.linalg.norm(X, axis=0))
        derivatives[name] = _slope_of_singular_values(X, move, DIFFERENCE / fastest, classes)
    return derivatives


def step_remainders(X: np.ndarray, Z: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Return ||R(X + h Z) - X - h T(Z)|| / ||h Z||, which a step with renormalisation leaves beyond its first order.

    There is an array for each map T, with one number for each of `STEPS`, the values of ||h Z|| / ||X||. T is the
    printed map, the orthogonal projection, or the printed map with a minus between its two products, as the proof of
    Lemma 2 prints it.
    """
    Z = models.centred(Z)
    remainders: dict[str, list[np.floating]] = {PRINTED: [], ORTHOGONAL: [], MINUS_SIGN: []}
    for size in STEPS:
        h = size * np.linalg.norm(X) / np.linalg.norm(Z)
        change = models.renormalised(X + h * Z, classes) - X
        for name, ratios in remainders.items():
            image = ALL_MAPS[name](X, Z, classes)
            ratios.append(np.linalg.norm(change - h * image) / np.linalg.norm(h * Z))
    return {name: np.array(ratios) for name, ratios in remainders.items()}


def singular_value_slopes(X: np.ndarray, Z: np.ndarray, classes: int) -> models.Numbers:
    """Return the slopes of the omega_j along T(Z), for the printed map T, and those of Lemma 3.

    Quantities
    ----------
    slope
        Slope d omega_j along the printed map's image of Z, by central differences at two steps, extrapolated.
    slope--lemma_3
        Prediction of ``slope`` by Lemma 3, (y_j / N - omega_j C x_j) . dx_j. The dx_j are rows of Z in aligned
        coordinates.
    slope--without_shrinking
        First product of ``slope--lemma_3`` alone, y_j / N . dx_j; it is the slope along the orthogonal projection.
    """
    Z = models.centred(Z)
    U, omega, V = models.snr_vectors(X, classes)
    # for each j: y_j . dx_j / N, which is u_j^T M v_j for the class means M of Z; and (C x_j) . dx_j
    means = np.einsum("pj,pc,cj->j", U, models.class_means(Z, classes), V)
    scatter = np.einsum("pj,ps,qs,qj->j", U, models.deviations(X, classes), Z, U) / X.shape[-1]
    image = flows.printed_map(X, Z, classes)
    h = float(DIFFERENCE * np.linalg.norm(X) / np.linalg.norm(image))  # a move of `DIFFERENCE`, relative to X
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
    """Return the derivative of ``function(X, classes)`` along a direction, by a step to each side."""
    ahead, behind = (function(X + sign * step * direction, classes) for sign in (1, -1))
    return (ahead - behind) / (2 * step)


def _slope_of_singular_values(X: np.ndarray, direction: np.ndarray, h: float, classes: int) -> np.ndarray:
    """Return d omega_j along a direction, by central differences at steps h and 2h, extrapolated, shape (C - 1,)."""
    omega = models.snr_singular_values
    fine, coarse = (_central_difference(omega, X, direction, step=step, classes=classes) for step in (h, 2 * h))
    # the leading error is of second order in the step, and of the double step four times as large: it cancels here
    return (4 * fine - coarse) / 3


def _basis(X: np.ndarray) -> np.ndarray:
    """Return the matrices of the shape of X with a single one and zeros elsewhere, shape (P C N, P, C N)."""
    return np.eye(X.size).reshape(X.size, *X.shape)
