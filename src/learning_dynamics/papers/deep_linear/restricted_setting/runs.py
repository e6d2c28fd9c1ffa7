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
    """Gradient flow on half the squared errors of commuting symmetric measurements of a matrix.

    Measurements share random orthonormal eigenvectors and have positive eigenvalues; what they measure is a positive
    semidefinite matrix with the same eigenvectors, of as high a rank as there are measurements. Instances are drawn
    until the least nuclear norm is attained with a dual slack of at least `slack`, which sets how fast the limit is
    approached. The product of the layers starts at `scale` times the identity, every layer at its N-th root. A flow
    runs for horizon / scale^(1 - 2/N), in which eigenvalues leave their start.

    All layers flow in the coordinates of the common eigenvectors, where a matrix that commutes with the measurements is
    diagonal and rounding leaves its zeros as they are. In others it does not: while one eigenvalue has grown and
    another waits, off-diagonal entries grow at the rate of the latter's gradient, and from depth 3 on they wait long
    enough for 1e-17 to reach order one. Such a flow ends at the same nuclear norm, and no longer commutes.

    Returns
    -------
    Trajectory
        Series end_to_end at the start and at the end, shape (members, 2, size, size); constants, by member, basis,
        shape (members, size, size), eigenvectors as columns, eigenvalues, of the measurements, shape (members,
        measurements, size), values (measured), shape (members, measurements), least (eigenvalues of the matrix of least
        nuclear norm, by linear programming), shape (members, size), depth, scale, member.
    """
    members = []
    for member, rng in enumerate(progress(generators(seed, "deep_linear.commuting_measurements", seeds), "commuting")):
        Q = haar(rng, size)
        eigenvalues, values, least = _draw_instance(rng, size, measurements, slack)

        def gradient_at(W: np.ndarray, A: np.ndarray = eigenvalues, y: np.ndarray = values) -> np.ndarray:
            return np.diag(A.T @ (A @ np.diag(W) - y))

        for depth in depths:
            for scale in scales:
                start = [scale ** (1 / depth) * np.eye(size)] * depth
                times = np.array([0.0, horizon / scale ** max(1 - 2 / depth, 0.0)])
                # near its end the flow is stiff, as eigenvalues differ
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
    """Return eigenvalues of measurements, what they measure, and the eigenvalues of least sum that fit it."""
    while True:
        # each measurement weighs one eigenvector of the hidden matrix most, which keeps the flow from being stiff
        order = rng.permutation(size)
        eigenvalues = np.eye(measurements, size)[:, order] + 0.3 * rng.uniform(size=(measurements, size))
        values = eigenvalues @ np.where(order < measurements, rng.uniform(0.5, 1.5, size), 0.0)
        solution = linprog(np.ones(size), A_eq=eigenvalues, b_eq=values, method="highs")
        dual_slack = 1 - eigenvalues.T @ solution.eqlin.marginals
        # an eigenvalue near zero would be fitted too slowly to tell the limit from the time that it takes
        if np.all((solution.x > 0.2) | ((solution.x < 1e-9) & (dual_slack >= slack))):
            return eigenvalues, values, solution.x
