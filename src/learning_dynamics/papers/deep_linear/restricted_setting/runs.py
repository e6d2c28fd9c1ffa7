"""Deep networks on measurements that commute, from smaller and smaller multiples of the identity."""

import numpy as np
from scipy.optimize import linprog

from learning_dynamics.datasets.whitened import haar
from learning_dynamics.dynamics.gradient_flow import Tolerances
from learning_dynamics.papers.deep_linear import networks, recorded
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Fraction, Positive, Seed
from learning_dynamics.trajectories import Trajectory


def commuting_measurements(
    *,
    depths: list[Count],
    size: Count,
    measurements: Count,
    slack: Fraction,
    scales: list[Positive],
    horizon: Positive,
    seeds: Count,
    integration: Tolerances,
    seed: Seed,
) -> Trajectory:
    """Gradient flow on half the sum of squared errors of commuting symmetric measurements of a matrix.

    Measurement i of a matrix W, of `size` rows and columns, is tr(A_i W), and y_i is its value for a hidden matrix. The
    A_i have positive eigenvalues and common eigenvectors, the columns of a random orthogonal matrix Q. The hidden
    matrix is positive semidefinite and has the same eigenvectors. Its rank is the number of measurements, which is at
    most `size`.

    Let X be the positive semidefinite matrix of least nuclear norm with the measurements y. Instances are drawn until
    each eigenvalue of X is above 0.2, or zero with a dual slack of at least `slack` (`_draw_instance` defines it). X's
    least eigenvalue above zero and the slack set how fast flows from smaller and smaller starts approach X.

    The product W of the N layers starts at one of `scales` times the identity, every layer at the N-th root of this.
    There an eigenvalue w of W moves at a rate in proportion to N w^(2 - 2/N) (slide 33). At depths N of 3 and more it
    leaves a start at s after a time of order s^-(1 - 2/N). So a flow runs for horizon / scale^(1 - 2/N), and at depths
    1 and 2 for the horizon.

    All layers flow in the coordinates of the common eigenvectors. There a matrix that commutes with the measurements is
    diagonal, and rounding leaves off-diagonal zeros as they are. In other coordinates rounding makes off-diagonal
    entries. While one eigenvalue has grown and another is still small, these entries grow at the rate of the small
    one's gradient, and from depth 3 on they have the time to grow from 1e-17 to order one. Such a flow ends at the same
    nuclear norm, but its W does not commute with the measurements.

    Returns
    -------
    Trajectory
        Series end_to_end, shape (members, 2, size, size): W at the start (time 0) and at the end (time 1, whenever the
        flow ends). Members are all combinations of draw, depth and scale; scales vary fastest. Constants:

        - basis, shape (members, size, size): Q
        - eigenvalues, (members, measurements, size): those of each A_i, in the order of the columns of Q
        - values, (members, measurements): y
        - least, (members, size): eigenvalues of X, by linear programming, in the order of the columns of Q
        - depth, scale, and member, the number of the draw: (members,)
    """
    members = []
    for member, rng in enumerate(progress(generators(seed, "deep_linear.commuting_measurements", seeds), "commuting")):
        Q = haar(rng, size)
        eigenvalues, values, least = _draw_instance(rng, size, measurements, slack)

        # The gradient of sum_i (tr(A_i W) - y_i)^2 / 2 at a diagonal W, in the coordinates of the common eigenvectors:
        # there the row A[i] is the diagonal of A_i. A and y are defaults, as ruff wants of a function in a loop (B023)
        def gradient_at(W: np.ndarray, A: np.ndarray = eigenvalues, y: np.ndarray = values) -> np.ndarray:
            return np.diag(A.T @ (A @ np.diag(W) - y))

        for depth in depths:
            for scale in scales:
                start = [scale ** (1 / depth) * np.eye(size)] * depth
                times = np.array([0.0, horizon / scale ** max(1 - 2 / depth, 0.0)])
                # LSODA, since the flow is stiff near its end: eigenvalues that tend to zero are slower by orders of
                # magnitude
                path = networks.path(start, gradient_at, times, integration, method="LSODA")
                members.append(
                    {
                        "end_to_end": Q @ path @ Q.T,
                        "basis": Q,
                        "eigenvalues": eigenvalues,
                        "values": values,
                        "least": least,
                        "depth": depth,
                        "scale": scale,
                        "member": member,
                    }
                )
    return recorded.trajectory(np.array([0.0, 1.0]), members, "end_to_end")


def _draw_instance(
    rng: np.random.Generator, size: int, measurements: int, slack: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return an instance in the coordinates of the common eigenvectors.

    Returns
    -------
    eigenvalues : ndarray, shape (measurements, size)
        Those of the matrix of each measurement.
    values : ndarray, shape (measurements,)
        The measurements of the hidden matrix.
    least : ndarray, shape (size,)
        Eigenvalues x >= 0 of least sum with ``eigenvalues @ x == values``; the least nuclear norm is this sum. The
        linear program has a multiplier for each measurement, and the dual slack of eigenvalue j is ``1 -
        (eigenvalues.T @ multipliers)[j]``: zero where x_j > 0, and at least zero elsewhere.
    """
    while True:
        # Each measurement weighs one eigenvector of the hidden matrix most, which keeps the flow from being stiff. The
        # hidden matrix has as many eigenvalues above zero as there are measurements, at the places where `order` is
        # below this number. The weights of the other eigenvectors, up to 0.3, and these eigenvalues, 0.5 to 1.5, are
        # chosen
        order = rng.permutation(size)
        eigenvalues = np.eye(measurements, size)[:, order] + 0.3 * rng.uniform(size=(measurements, size))
        values = eigenvalues @ np.where(order < measurements, rng.uniform(0.5, 1.5, size), 0.0)
        solution = linprog(np.ones(size), A_eq=eigenvalues, b_eq=values, method="highs")
        dual_slack = 1 - eigenvalues.T @ solution.eqlin.marginals
        # an eigenvalue that is neither zero nor above 0.2 (chosen) grows so slowly that the end of the flow would not
        # show the limit; below 1e-9 it is zero, but for rounding in the linear program
        if np.all((solution.x > 0.2) | ((solution.x < 1e-9) & (dual_slack >= slack))):
            return eigenvalues, values, solution.x
