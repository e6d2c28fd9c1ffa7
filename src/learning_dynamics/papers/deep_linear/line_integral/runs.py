"""The preconditioned gradient along closed curves: the boundaries of annular sectors."""

import numpy as np

from learning_dynamics.datasets.whitened import haar
from learning_dynamics.papers.deep_linear import networks, recorded
from learning_dynamics.papers.deep_linear.line_integral.quantities import CASES
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, NonNegative, Positive, Seed
from learning_dynamics.trajectories import Trajectory


def closed_curve(
    *,
    depths: list[Count],
    inputs: Count,
    target: Positive,
    inner: Positive,
    outer: Positive,
    first_angle: NonNegative,
    last_angle: Positive,
    nodes: Count,
    seeds: Count,
    seed: Seed,
) -> Trajectory:
    """The preconditioned gradient along the sides of annular sectors, with weights that integrate it.

    Each draw has a sector of its own: the radii of its arcs are in the first and in the last third from `inner` to
    `outer`, the angles of its sides in those from `first_angle` to `last_angle`. The loss is half the squared distance
    from a target T, tr((W - T) S (W - T)^T) / 2 with the inputs' covariance S, for each of `CASES`. Time counts
    Gauss-Legendre nodes along the four sides.

    Returns
    -------
    Trajectory
        Series end_to_end, velocity (P_W times the gradient), element (dW times the node's weight), all as vectors
        padded with zeros, shape (members, 4 nodes, 2 inputs); constants depth, case, member, shape (members,), and
        sector, shape (members, 4): the inner and the outer radius, the first and the last angle. Members are draws in
        each case at each depth, `member` is the number of the draw.
    """
    members = []
    for draw, rng in enumerate(generators(seed, "deep_linear.closed_curve", seeds)):
        factor = rng.standard_normal((inputs, inputs))
        correlated = factor @ factor.T / inputs
        sector = *_draw_from_thirds(rng, inner, outer), *_draw_from_thirds(rng, first_angle, last_angle)
        covariances = np.eye(inputs), correlated, np.eye(inputs)
        for case, outputs, covariance in zip(CASES, (1, 1, 2), covariances, strict=True):
            # two orthonormal matrices span the plane of the sector; the target is `target` times the first
            basis = haar(rng, outputs * inputs)[:2].reshape(2, outputs, inputs)
            W, elements = _sector_boundary(basis, sector, nodes)
            gradients = (W - target * basis[0]) @ covariance  # of the loss, (4 nodes, outputs, inputs)
            for depth in depths:
                # the end-to-end matrix moves at - P_W grad
                velocity = [-networks.end_to_end_velocity(w, g, depth) for w, g in zip(W, gradients, strict=True)]
                # matrices row by row, shape (4 nodes, 2 inputs); with one output the second half is zeros
                series = {
                    name: np.pad(np.reshape(matrices, (len(W), -1)), ((0, 0), (0, (2 - outputs) * inputs)))
                    for name, matrices in (("end_to_end", W), ("velocity", velocity), ("element", elements))
                }
                members.append(series | {"depth": depth, "case": case, "member": draw, "sector": sector})
    return recorded.trajectory(np.arange(4.0 * nodes), members, "end_to_end", "velocity", "element")


def _draw_from_thirds(rng: np.random.Generator, low: float, high: float) -> tuple[float, float]:
    """Return a number from the first third of an interval and one from the last, each drawn uniformly."""
    first, last = rng.uniform(size=2) / 3
    return low + (high - low) * first, high - (high - low) * last


def _sector_boundary(
    basis: np.ndarray, sector: tuple[float, float, float, float], nodes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return points and line elements along the four sides of a sector of the plane that two matrices span.

    Both have the shape (4 nodes, outputs, inputs). The sides are: out along the ray at the first angle, round the outer
    arc, in along the ray at the last angle, and back round the inner arc. The last two repeat the first two with both
    ends exchanged.
    """
    inner, outer, first_angle, last_angle = sector
    x, weights = np.polynomial.legendre.leggauss(nodes)
    # from the interval (-1, 1) to (0, 1)
    x, weights = (x + 1) / 2, weights / 2
    points, elements = [], []

    def direction_at(angle: np.ndarray) -> np.ndarray:
        return np.cos(angle)[..., None, None] * basis[0] + np.sin(angle)[..., None, None] * basis[1]

    there, back = (inner, outer, first_angle, last_angle), (outer, inner, last_angle, first_angle)
    # each pass is a ray, from the radius `begin` to `end`, and then an arc with the radius `end`
    for begin, end, angle, next_angle in (there, back):
        direction = direction_at(np.array(angle))
        points.append((begin + (end - begin) * x)[:, None, None] * direction)
        elements.append((weights * (end - begin))[:, None, None] * direction)
        angles = angle + (next_angle - angle) * x
        points.append(end * direction_at(angles))
        elements.append((weights * (next_angle - angle) * end)[:, None, None] * direction_at(angles + np.pi / 2))
    return np.concatenate(points), np.concatenate(elements)
