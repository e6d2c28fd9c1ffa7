"""Local optima of the max-margin problem of diagonal networks, and which of them small starts choose greedily.

The network has L layers, the last of which starts at zero and the others at scale alpha; x_i are the points, y_i their
labels and m_i their margins. Each entry j of the last layer is then a function of ``theta_j = sum_i nu_i y_i x_ij``
alone, with ``dnu_i / dt = exp(-m_i)`` (Yun et al. 2021, Lemma 5.1, with layers of any sizes). The entry becomes
infinite where |theta_j| comes to a number c_j of its own, the blow-up time, of order alpha**(2 - L): coordinate j
escapes from zero as |theta_j| comes near c_j.

From a small start all c_j are large. Between one escape and the next theta then moves at a constant pace, because the
coordinates that have escaped settle in times of order one, where they minimise the loss without the others.
"""

import numpy as np
from scipy.optimize import minimize

# The nodes x of the sum for the integral in `blow_up_times`. The integrand decays like e^-|x| or faster, to 3e-20 at
# 45, and is analytic up to imaginary parts of pi / 2, so that a spacing h of 0.25 errs by the order of exp(-pi^2 / h),
# 7e-18.
EXPONENTS = np.linspace(-45.0, 45.0, 361)
MOST_ESCAPES = 10  # escapes that are allowed for each input, chosen; a coordinate that falls back may escape again


def blow_up_times(squares: np.ndarray) -> np.ndarray:
    """Return ``c_j``, the integral of ``prod_l (lambda_lj + q**2)**(-1/2)`` over q from 0 to infinity.

    Parameters
    ----------
    squares : ndarray, shape (..., layers - 1, inputs)
        lambda, squared entries of all layers but the last at the start; these must be at least two layers.

    Returns
    -------
    ndarray, shape (..., inputs)
    """
    # With `middle` the geometric mean of the n = layers - 1 squares, q = sqrt(middle) e^x makes the integral
    # middle^((1 - n) / 2) times one over x, which is a sum over equally spaced nodes.
    middle = np.exp(np.mean(np.log(squares), axis=-2, keepdims=True))  # (..., 1, inputs)
    q = np.exp(EXPONENTS)
    ratios = (squares / middle)[..., None] + q**2  # (..., layers - 1, inputs, nodes)
    integrals = (EXPONENTS[1] - EXPONENTS[0]) * np.sum(q / np.sqrt(np.prod(ratios, axis=-3)), axis=-1)
    return middle[..., 0, :] ** ((1 - squares.shape[-2]) / 2) * integrals


def are_local_optima(labelled_points: np.ndarray, vertices: np.ndarray, power: float) -> np.ndarray:
    """Return which vertices are strict local minima of ``sum_j |rho_j|**power`` with all margins at least one.

    Where entries are zero the cost has infinite slope, for powers below one. On the nonzero entries, the support, the
    multipliers of the tight margins must be positive, and there must be as many tight margins as nonzero entries. Other
    stationary points are no minima, and flows leave them.

    Parameters
    ----------
    labelled_points : ndarray, shape (samples, inputs)
    vertices : ndarray, shape (vertices, inputs)
        As `margin_vertices` returns them.
    """
    optimal = np.zeros(len(vertices), dtype=bool)
    for index, vertex in enumerate(vertices):
        support, tight = vertex != 0, labelled_points @ vertex < 1 + 1e-7  # margins of one, but for rounding
        if support.sum() == tight.sum():
            # The cost's slopes on the support, divided by the power. The sum of the tight labelled points, each times
            # its multiplier, has these entries.
            slopes = np.sign(vertex[support]) * np.abs(vertex[support]) ** (power - 1)
            optimal[index] = (np.linalg.solve(labelled_points[np.ix_(tight, support)].T, slopes) > 0).all()
    return optimal


def escaping_signs(labelled_points: np.ndarray, times: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """Return the signs of the coordinates that escape from a small start before all points are classified.

    The next to escape is the one whose |theta_j| comes to its blow-up time c_j first. Then the escaped coordinates
    minimise the loss without the others; each keeps its sign, or falls back to zero. The losses of the points there set
    the pace at which theta moves on. No flow is run.

    Parameters
    ----------
    labelled_points : ndarray, shape (samples, inputs)
    times : ndarray, shape (inputs,)
        Blow-up times, in any unit.
    vertices : ndarray, shape (vertices, inputs)
        As `margin_vertices` returns them. The escaped coordinates classify all points, with their signs, if the nonzero
        entries of one of these are among them.

    Returns
    -------
    ndarray, shape (inputs,), of 1, -1 and 0
        All zero if the selection does not come to an end.
    """
    inputs = labelled_points.shape[1]
    theta, signs = np.zeros(inputs), np.zeros(inputs)
    for _ in range(MOST_ESCAPES * inputs):
        if _with_signs(vertices, signs).any():
            return signs
        signs, losses = _settle(labelled_points, signs)
        velocity = losses @ labelled_points  # d theta_j / dt = sum_i exp(-m_i) y_i x_ij
        # for those that have not escaped, the time until theta_j comes to c_j times the sign of its velocity
        with np.errstate(divide="ignore", invalid="ignore"):
            waits = np.where(signs == 0, (np.sign(velocity) * times - theta) / velocity, np.inf)
        # coordinates that have just fallen back move away from c_j: their wait is negative, or zero but for rounding
        waits[~(waits > 1e-9 * times.max())] = np.inf
        escaping = int(np.argmin(waits))
        # what has escaped stays at its blow-up time
        theta = np.where(signs != 0, signs * times, theta + waits[escaping] * velocity)
        signs[escaping] = np.sign(velocity[escaping])
        theta[escaping] = signs[escaping] * times[escaping]
    return np.zeros(inputs)


def _settle(labelled_points: np.ndarray, signs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return where escaped coordinates settle: their signs, zero for those that fall back, and the loss of each point.

    They settle where the loss is least among coefficients that are zero on all other coordinates, and on these have the
    given signs or are zero.
    """
    chosen = np.flatnonzero(signs)
    if not len(chosen):
        return signs, np.ones(len(labelled_points))
    features = labelled_points[:, chosen] * signs[chosen]  # margins are features @ sizes

    def loss(sizes: np.ndarray) -> tuple[float, np.ndarray]:
        losses = np.exp(-features @ sizes)
        return float(losses.sum()), -losses @ features

    sizes = minimize(
        loss,
        np.full(len(chosen), 0.5),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0, None)] * len(chosen),
        options={"ftol": 1e-15, "gtol": 1e-10},
    ).x
    remaining = signs.copy()
    # at the bound, zero, or as near to it as the minimiser's error leaves it; 1e-7 is chosen, as are its tolerances
    remaining[chosen[sizes < 1e-7]] = 0.0
    return remaining, np.exp(-features @ sizes)


def _with_signs(vertices: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Return which vertices have nonzero entries of the given signs alone, and none where the sign is 0."""
    return np.all((vertices == 0) | (vertices * signs > 0), axis=1)


def greedy_choice(signs: np.ndarray, optima: np.ndarray) -> int:
    """Return which local optimum is predicted: that of most nonzero entries, all of them escaped and with their signs.

    If there are several this is the first of them, if none it is -1.

    Parameters
    ----------
    signs : ndarray, shape (inputs,)
        As `escaping_signs` returns them.
    optima : ndarray, shape (optima, inputs)
    """
    entries = np.where(_with_signs(optima, signs), np.count_nonzero(optima, axis=1), 0)
    return int(np.argmax(entries)) if entries.any() else -1
