"""The tangent space of the renormalised features: what moves along it, how fast, and what maps onto it (appendix D)."""

import numpy as np

from learning_dynamics.papers.neural_collapse.central_path import flows as renormalised
from learning_dynamics.papers.neural_collapse.central_path import models as central_path

Numbers = dict[str, np.ndarray | np.floating | float]

# step of the central differences below, relative to the fastest relative change: its square is their error
DIFFERENCE = 1e-4
# relative sizes of the steps whose remainders Lemma 2 speaks of
STEPS = (4e-3, 2e-3, 1e-3)


# What the tangent maps are not, each wrong by a slip: the printed map with a minus between its two products, as the
# proof of Lemma 2 prints it, and both maps without their factor 1/2
ALTERED_MAPS: dict[str, renormalised.TangentMap] = {
    "minus_sign": lambda X, Z, classes: Z - 0.5 * _difference(X, Z, classes) @ X,
    "whole": lambda X, Z, classes: Z - renormalised.constraint(X, Z, classes) @ X,
    "whole_orthogonal": lambda X, Z, classes: (
        Z - renormalised.constraint(X, Z, classes) @ central_path.deviations(X, classes)
    ),
}


# What Proposition 3's equation is not: a minus between its products, and plain products without the class-centring C
ALTERED_EQUATIONS: dict[str, renormalised.TangentMap] = {
    "minus_sign": lambda X, Z, classes: _difference(X, Z, classes),
    "uncentred": lambda X, Z, _classes: (X @ np.swapaxes(Z, -1, -2) + Z @ np.swapaxes(X, -1, -2)) / X.shape[-1],
}


def manifold_gaps(X: np.ndarray, Z: np.ndarray, classes: int) -> Numbers:
    """What tells the solutions of Proposition 3's equation from the velocities of curves on the manifold.

    Quantities
    ----------
    curve_equation
        X C V^T + V C X^T for the velocity V of the curve renormalised(X + h Z), which stays on the manifold, relative
        to X C Z^T + Z C X^T (Proposition 3).
    curve_velocity
        Velocity of the curve renormalised(X + h Z) less Z, where Z is made to solve the equation of
        ``curve_equation``, relative to Z (Proposition 3).
    codimension
        Rank of the map Z -> X C Z^T + Z C X^T.
    curve_equation--minus_sign, codimension--minus_sign
        ``curve_equation`` and ``codimension`` of an equation with a minus between its products.
    curve_equation--uncentred, codimension--uncentred
        ``curve_equation`` and ``codimension`` of an equation without the class-centring C.
    """

    def slope(direction: np.ndarray) -> np.ndarray:
        h = DIFFERENCE / np.linalg.norm(direction)
        ahead, behind = (central_path.renormalised(X + sign * h * direction, classes) for sign in (1, -1))
        return (ahead - behind) / (2 * h)

    solution = renormalised.orthogonal_projection(X, Z, classes)
    velocity = slope(central_path.centred(Z))
    gaps: Numbers = {"curve_velocity": _relative(slope(central_path.centred(solution)), central_path.centred(solution))}
    for name, equation in {"": renormalised.constraint, **ALTERED_EQUATIONS}.items():
        suffix = f"--{name}" if name else ""
        residual = np.linalg.norm(equation(X, velocity, classes)) / np.linalg.norm(equation(X, Z, classes))
        gaps[f"curve_equation{suffix}"] = residual
        rank = np.linalg.matrix_rank(equation(X, _basis(X), classes).reshape(X.size, -1))
        gaps[f"codimension{suffix}"] = float(rank)
    return gaps


def map_gaps(X: np.ndarray, Z: np.ndarray, classes: int, tangent_map: renormalised.TangentMap) -> Numbers:
    """How far a tangent map is from a projection onto the tangent space, and from an orthogonal one.

    Quantities
    ----------
    image
        X C T(Z)^T + T(Z) C X^T for the image of Z under the tangent map T, relative to X C Z^T + Z C X^T (Proposition
        4).
    idempotence
        Image of a second application of the map less that of the first, relative to the first.
    tangent_moved
        Change of a matrix that is tangent already under the map, relative to it.
    asymmetry
        ||T - T^T||_F / ||T||_F for the map as a matrix T, zero if and only if it is self-adjoint.
    """
    image = tangent_map(X, Z, classes)
    tangent = renormalised.orthogonal_projection(X, Z[::-1], classes)
    matrix = tangent_map(X, _basis(X), classes).reshape(X.size, X.size)
    residual = np.linalg.norm(renormalised.constraint(X, image, classes))
    return {
        "image": residual / np.linalg.norm(renormalised.constraint(X, Z, classes)),
        "idempotence": _relative(tangent_map(X, image, classes), image),
        "tangent_moved": _relative(tangent_map(X, tangent, classes), tangent),
        "asymmetry": np.linalg.norm(matrix - matrix.T) / np.linalg.norm(matrix),
    }


def adjoint_gaps(X: np.ndarray, classes: int) -> Numbers:
    """What Lemma 4 does to the gradient when it moves the printed map across the inner product.

    Quantities
    ----------
    adjoint_gradient, printed_gradient
        Image of the gradient under the printed map's adjoint, and under the printed map, less the gradient, relative to
        it (Lemma 4).
    gradient_normal
        The part of the gradient that is normal to the manifold, relative to the gradient.
    """
    gradient = central_path.gradient(X, classes)
    return {
        "adjoint_gradient": _relative(renormalised.printed_adjoint(X, gradient, classes), gradient),
        "printed_gradient": _relative(renormalised.printed_map(X, gradient, classes), gradient),
        "gradient_normal": _relative(renormalised.orthogonal_projection(X, gradient, classes), gradient),
    }


def speeds(X: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Return d omega_j / dt by central differences at two steps, extrapolated, shape (classes - 1,), for both flows
    and one step of the descent.

    The flows move the features along their velocity; the descent takes a plain gradient step of size h forwards
    and backwards and renormalises.
    """
    gradient = central_path.gradient(X, classes)
    moves = {
        name: renormalised.velocity(X, classes, tangent_map) for name, tangent_map in renormalised.TANGENT_MAPS.items()
    }
    moves["descent"] = -gradient
    derivatives = {}
    for name, move in moves.items():
        h = DIFFERENCE / np.max(np.linalg.norm(move, axis=0) / np.linalg.norm(X, axis=0))
        slopes = []
        for step in (h, 2 * h):
            ahead, behind = (central_path.snr_singular_values(X + sign * step * move, classes) for sign in (1, -1))
            slopes.append((ahead - behind) / (2 * step))
        derivatives[name] = (4 * slopes[0] - slopes[1]) / 3
    return derivatives


def step_remainders(X: np.ndarray, Z: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Return what a renormalised step leaves beyond its first order, ||R(X + hZ) - X - h T(Z)|| / ||hZ||, by map T.

    For each of `STEPS`, h relative to the features' size. T is the printed map, the orthogonal projection, or, as the
    proof of Lemma 2 prints it, the printed map with a minus between its two products.
    """
    Z = central_path.centred(Z)
    maps = {
        "printed": renormalised.printed_map(X, Z, classes),
        "orthogonal": renormalised.orthogonal_projection(X, Z, classes),
        "minus_sign": ALTERED_MAPS["minus_sign"](X, Z, classes),
    }
    remainders = {}
    for name, image in maps.items():
        steps = [size * np.linalg.norm(X) / np.linalg.norm(Z) for size in STEPS]
        changes = [central_path.renormalised(X + h * Z, classes) - X for h in steps]
        ratios = [
            np.linalg.norm(change - h * image) / np.linalg.norm(h * Z) for change, h in zip(changes, steps, strict=True)
        ]
        remainders[name] = np.array(ratios)
    return remainders


def singular_value_slopes(X: np.ndarray, Z: np.ndarray, classes: int) -> dict[str, np.ndarray]:
    """Return d omega_j along the printed map's image of Z, and what Lemma 3 says of it, shape (classes - 1,).

    Keys: ``measured``, by central differences at two steps, extrapolated; ``lemma_3``, (y_j / N - omega_j C x_j) .
    dx_j in aligned coordinates; ``without_shrinking``, its first product alone, which is the slope along the
    orthogonal projection.
    """
    Z = central_path.centred(Z)
    U, omega, Vt = np.linalg.svd(central_path.signal_to_noise(X, classes), full_matrices=False)
    examples = X.shape[-1] // classes
    U, omega, V = U[:, : classes - 1], omega[: classes - 1], Vt[: classes - 1].T
    means = np.einsum("pj,pc,cj->j", U, central_path.class_means(Z, classes), V)
    scatter = np.einsum("pj,ps,qs,qj->j", U, central_path.deviations(X, classes), Z, U) / (classes * examples)
    image = renormalised.printed_map(X, Z, classes)
    h = float(DIFFERENCE * np.linalg.norm(X) / np.linalg.norm(image))

    def difference(step: float) -> np.ndarray:
        ahead, behind = (central_path.snr_singular_values(X + sign * step * image, classes) for sign in (1, -1))
        return (ahead - behind) / (2 * step)

    return {
        "measured": (4 * difference(h) - difference(2 * h)) / 3,
        "lemma_3": means - omega * scatter,
        "without_shrinking": means,
    }


def _difference(X: np.ndarray, Z: np.ndarray, classes: int) -> np.ndarray:
    """Return Z C X^T - X C Z^T, (..., features, features)."""
    product = central_path.deviations(X, classes) @ np.swapaxes(Z, -1, -2) / X.shape[-1]
    return np.swapaxes(product, -1, -2) - product


def _basis(X: np.ndarray) -> np.ndarray:
    """Return all matrices with a single one, of the shape of X, along a new first axis."""
    return np.eye(X.size).reshape(X.size, *X.shape)


def _relative(changed: np.ndarray, matrix: np.ndarray) -> float:
    return float(np.linalg.norm(changed - matrix) / np.linalg.norm(matrix))
