"""The preconditioned gradient along closed curves: the boundaries of annular sectors.

W is the end-to-end matrix, G the loss's gradient at W, and P_W the preconditioner of slide 16: balanced layers under
gradient flow move W by -P_W vec(G).
"""

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

    An annular sector has two arcs and two straight sides. Each draw has a sector of its own: the radii of its arcs are
    drawn from the first and from the last third of the interval from `inner` to `outer`, the angles of its straight
    sides from the first and the last third of the interval from `first_angle` to `last_angle`. The loss is tr((W - T) S
    (W - T)^T) / 2 with the target T, of norm `target`, and the inputs' covariance S; `CASES` names the numbers of
    outputs and the covariances. Each of the four parts of the boundary has `nodes` Gauss-Legendre nodes.

    Returns
    -------
    Trajectory
        Nodes along the boundary are recorded instead of times. Series of shape (members, 4 nodes, 2 inputs), with a
        matrix's entries row by row and zeros behind those of one output: end_to_end, W; velocity, P_W vec(G); element,
        dW times the node's weight. Constants depth, case and member, the number of the draw, of shape (members,), and
        sector, (members, 4): the inner and the outer radius, the first and the last angle. Members are all
        combinations of draw, case and depth; depths vary fastest.
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
                # P_W vec(G), as a matrix: the end-to-end matrix moves by minus this
                velocity = [-networks.end_to_end_velocity(w, g, depth) for w, g in zip(W, gradients, strict=True)]
                # each series as entries row by row, shape (4 nodes, 2 inputs); with one output the second half is zeros
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
    # nodes and weights, from the interval (-1, 1) to (0, 1)
    x, weights = (x + 1) / 2, weights / 2
    points, elements = [], []

    # the unit matrix at an angle from the first basis matrix; angles have any shape (...), the result has (...,
    # outputs, inputs)
    def direction_at(angle: np.ndarray) -> np.ndarray:
        return np.cos(angle)[..., None, None] * basis[0] + np.sin(angle)[..., None, None] * basis[1]

    there, back = (inner, outer, first_angle, last_angle), (outer, inner, last_angle, first_angle)
    # each pass is a ray at `angle`, from the radius `begin` to `end`, and then an arc of the radius `end` to
    # `next_angle`; along the arc W moves at a right angle to W
    for begin, end, angle, next_angle in (there, back):
        direction = direction_at(np.array(angle))
        points.append((begin + (end - begin) * x)[:, None, None] * direction)
        elements.append((weights * (end - begin))[:, None, None] * direction)
        angles = angle + (next_angle - angle) * x
        points.append(end * direction_at(angles))
        elements.append((weights * (next_angle - angle) * end)[:, None, None] * direction_at(angles + np.pi / 2))
    return np.concatenate(points), np.concatenate(elements)
