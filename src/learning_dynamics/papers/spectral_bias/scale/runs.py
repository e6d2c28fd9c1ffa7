"""The same networks trained from many initial scales, down to vanishing ones.

Members are all pairs of a scale and a draw, a data set with a P of its own; draws vary fastest. With three scales and
two draws, members 0 and 1 are both draws at the first scale, members 2 and 3 both at the second.
"""

import functools
from typing import Any

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.spectral_bias import two_layer, two_layer_flow
from learning_dynamics.papers.spectral_bias.two_layer_flow import Arrival
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Fraction, Scale, Seed
from learning_dynamics.trajectories import Arrays, Trajectory, ensemble


def scaled_flow(
    data: Arrays,
    *,
    gammas: list[Scale],
    width: Count,
    loss_share: Fraction,
    points: Count,
    integration: Arrival,
    seed: Seed,
    unfed: bool = False,
) -> Trajectory:
    """Gradient flow from the orthogonal initialisation at each of `gammas`, recorded around a given loss and at its
    end.

    A first flow finds the time by which the loss has fallen to `loss_share` of its first value. A second one is
    recorded at `points` times over the last tenth of that time, and is followed on to the end of the integration. With
    `unfed` the last columns of P, one more than there are outputs, are turned within their span until the very last is
    orthogonal to the first gradient X^T Y of every output.

    Returns
    -------
    Trajectory
        Times are shares of the constant ``reached``, so that they are other flow times for each member. Series W1,
        shape (members, points, inputs, width), and W2, shape (members, points, width, outputs). Constants: X and Y,
        with members first; P and limit_W1, shape (members, inputs, width); limit_W2, shape (members, width, outputs);
        and of shape (members,): gamma; reached, when the first flow had the given loss; steps, how many the integrator
        took in the second flow, 0 if it did not arrive; and draw, the number of the draw.

    Raises
    ------
    ProjectError
        With `unfed`, if there are as many outputs as inputs or more: their gradients may leave no direction unfed.
    """
    draws, (inputs, outputs) = len(data["X"]), (data["X"].shape[-1], data["Y"].shape[-1])
    if unfed and outputs >= inputs:
        raise ProjectError(f"unfed needs data with more inputs than outputs, not {inputs} and {outputs}; raise inputs")
    # the last tenth, chosen: the first flow passes the loss within its last step, so that the second does so just
    # before the share 1
    shares = np.linspace(0.9, 1.0, points)

    def to_loss(x: np.ndarray, y: np.ndarray, gamma: float, P: np.ndarray) -> dict[str, Any]:
        size = float(np.linalg.norm(y))
        start = np.sqrt(2 * gamma) * P, np.zeros((width, outputs))
        follow = functools.partial(
            two_layer_flow.follow, x, y, *start, tolerances=integration, last_time=integration.patience
        )
        # the loss is half the squared residual, and the residual starts at |Y|, as W2 starts at zero
        first = follow(times=np.zeros(1), residual=np.sqrt(loss_share) * size)
        second = follow(times=np.r_[0.0, shares * first.end_time], residual=integration.residual * size)
        # the flow did not arrive before its patience ended; "not <" counts an end time of nan as well
        late = not second.end_time < integration.patience
        # [1:]: without the first record, at time 0, where the flow has to start
        states = {"W1": second.W1[1:], "W2": second.W2[1:], "limit_W1": second.end[0], "limit_W2": second.end[1]}
        known = {
            name: np.where(late, np.nan, values) for name, values in (states | {"reached": first.end_time}).items()
        }
        return known | {"steps": 0 if late else second.steps, "undecided": late}

    rngs = generators(seed, "two_layer.initialisation", draws)
    # members: all draws at the first scale, then all at the second, and so on; the list of P is repeated for each scale
    starts = np.stack([two_layer.orthonormal_rows(rng, inputs, width) for rng in rngs] * len(gammas))
    X, Y = (np.concatenate([data[name]] * len(gammas)) for name in ("X", "Y"))
    if unfed:
        starts = np.stack([_with_unfed_unit(P, x.T @ y) for P, x, y in zip(starts, X, Y, strict=True)])
    constants = {"X": X, "Y": Y, "P": starts, "gamma": np.repeat(gammas, draws), "draw": np.arange(len(X)) % draws}
    members = list(zip(X, Y, constants["gamma"], starts, strict=True))
    return ensemble(to_loss, members, shares, "W1", "W2", label="vanishing scales", **constants)


def _with_unfed_unit(P: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return P with its last columns rotated, so that the very last one is orthogonal to a gradient.

    One more column than there are outputs is rotated. P keeps orthonormal rows, and its other columns.

    Parameters
    ----------
    P : ndarray, shape (inputs, width)
        Its columns belong to the hidden units.
    gradient : ndarray, shape (inputs, outputs)

    Returns
    -------
    ndarray, shape (inputs, width)
    """
    turned = gradient.shape[1] + 1
    # QR of P^T gradient in these columns, shape (turned, outputs): the last column of Q, which is `rotation`, is
    # orthogonal to it. Signs make Q a rotation
    rotation, triangle = np.linalg.qr(P[:, -turned:].T @ gradient, mode="complete")
    rotation[:, :-1] *= np.where(np.diag(triangle) < 0, -1, 1)
    rotation[:, -1] *= np.sign(np.linalg.det(rotation))
    return np.hstack([P[:, :-turned], P[:, -turned:] @ rotation])
