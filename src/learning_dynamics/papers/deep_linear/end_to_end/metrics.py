"""Gradient flow of the layers against the end-to-end dynamics, and how balanced the layers stay.

N is the depth, W = W_N ... W_1 the layers' product, G the loss's gradient at W. The end-to-end dynamics are slide 16's
equation, dW/dt = -sum_j [W W^T]^((N-j)/N) G [W^T W]^((j-1)/N). The law of the singular values sigma_r of W, whose
singular vectors are u_r and v_r, is slide 33's, d(sigma_r)/dt = -N sigma_r^(2 - 2/N) <G, u_r v_r^T>.

What metrics read of their runs. `depth`, `scale`, `learning_rate` and `member`, the number of the draw, have shape
(members,):

`end_to_end_flow`, whose times are flow time:

- `layers`, shape (members, times, most): packed as by `networks.pack`, zeros behind those of shallower networks
- `direct` and `one_layer_fewer`, (members, times, outputs, inputs): solutions of the end-to-end dynamics of depths N
  and N - 1, where N is the member's depth
- `integrated`, (members, times, 3, min(outputs, inputs)): singular values, integrated from the rates of the law, of the
  law without its factor N, and of the law with the exponent 2 - 1/N
- `in_steps` and `in_half_steps`, (members, times, 3, outputs, inputs): the layers' product, then both solutions, by a
  Runge-Kutta method in fixed steps and in half of them
- `target`, (members, outputs, inputs)

`balanced_velocity`: `end_to_end` W and `velocity` dW/dt, (members, 1, size, size); `gradient` G, (members, size, size).

`approximate_balance`: `layers`, (members, 2, parameters), at the start and at the end; every layer is size by size.

`balancedness_descent`: `gram_differences`, (members, 2, entries), at the start and at the end, with the entries of
W_{j+1}^T W_{j+1} - W_j W_j^T for all j.
"""

import numpy as np
import pandas as pd

from learning_dynamics.papers.deep_linear import networks
from learning_dynamics.papers.deep_linear.end_to_end.quantities import (
    DIFFERENCE,
    DIRECT,
    DRIFT,
    EIGENVALUE,
    EIGENVALUE_AT_SINGULAR,
    EIGENVALUE_FEWER,
    FACTOR,
    GRAM_DRIFT,
    IMBALANCE_AT_END,
    IMBALANCE_AT_START,
    LAYER_GROWTH,
    MISALIGNMENT,
    NORM,
    ONE_LAYER_FEWER,
    ORDER,
    ORDER_FEWER,
    OTHER_EXPONENT,
    RATE_FACTOR,
    RELATIVE_IMBALANCE,
    SUM_DRIFT,
    WITHOUT_FACTOR,
)
from learning_dynamics.papers.deep_linear.quantities import SIGMA
from learning_dynamics.papers.deep_linear.tables import DEPTH, SCALE
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, VALUE_IF_ANY, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(DEPTH, SEED, TIME, QUANTITY, INDEX, VALUE_IF_ANY, PREDICTED)
def end_to_end_flow(trajectory: Trajectory) -> Tables:
    """Measure gradient flow of the layers against the end-to-end dynamics; nan for flows that could not be integrated.

    W is the product of the layers. Distances are Frobenius norms. Singular values and eigenvalues come in rows of
    their own, the largest first.

    Quantities
    ----------
    sigma
        Singular values of W; predicted by integrating the law d(sigma_r)/dt = -N sigma_r^(2 - 2/N) <G, u_r v_r^T>, with
        the loss's gradient G and the singular vectors u_r, v_r at the measured W.
    without_factor
        Singular values of W; predicted by integrating that law without its factor N.
    other_exponent
        Singular values of W; predicted by integrating that law with the exponent 2 - 1/N.
    direct
        Singular values of the solution of the end-to-end dynamics from the first W.
    norm
        ||W||_F.
    difference
        Distance of W from the solution of the end-to-end dynamics.
    one_layer_fewer
        Distance of W from the solution of the end-to-end dynamics with N - 1 for N.
    order
        log2 of the largest `difference` along the flow over that with half the step, when a Runge-Kutta method
        integrates both the layers and the dynamics in fixed steps; predicted the method's order, 4. In one row, of the
        last time.
    order_fewer
        The same logarithm for `one_layer_fewer`; nothing predicts it.
    drift
        Distance of all W_{j+1}^T W_{j+1} - W_j W_j^T together from what they are at the first time.
    sum_drift
        Distance of all W_{j+1}^T W_{j+1} + W_j W_j^T together from what they are at the first time.
    gram_drift
        Distance of all W_j W_j^T, j < N, together from what they are at the first time.
    eigenvalue
        Eigenvalues of the map from G to -dW/dt that the layers make; predicted for balanced layers from the singular
        values of W, sum_j sigma_r^(2(N-j)/N) sigma_s^(2(j-1)/N) for all r and s.
    eigenvalue_fewer
        The same eigenvalues; predicted by that sum with N - 1 for N.
    eigenvalue_at_singular
        Least eigenvalue of that map for balanced layers of the singular matrix nearest to W.
    misalignment
        One minus the squared cosine of the angle between the eigenvector of that map's largest eigenvalue and u_1
        v_1^T.
    rate_factor
        Velocity of each singular value over its velocity at depth 1, -u_r^T G v_r; predicted N sigma_r^(2 - 2/N). nan
        where the velocity at depth 1 is too small for a ratio, as near the end of the flow.
    """
    settings, constants = trajectory.settings, trajectory.constants
    for member, (depth, label) in enumerate(zip(constants["depth"], constants["member"], strict=True)):
        depth = int(depth)
        widths = [settings["inputs"], *[settings["width"]] * (depth - 1), settings["outputs"]]
        series = {name: values[member] for name, values in trajectory.series.items()}
        failed = not np.isfinite(series["direct"]).all()
        if failed:
            # LAPACK refuses nan: measure ones instead, and replace the values by nan below
            series = {name: np.ones_like(values) for name, values in series.items()}
        layers = networks.unpack(series["layers"], widths)
        quantities = _flow_quantities(layers, series, constants["target"][member])
        table = rows(quantities, {"time": trajectory.time}, depth=depth, seed=int(label))
        yield table.assign(value=np.nan) if failed else table
        order, order_fewer = _orders(series["in_steps"], series["in_half_steps"])
        orders = {ORDER: (np.array([order]), 4.0), ORDER_FEWER: (np.array([order_fewer]), np.nan)}
        yield rows(orders, {"time": trajectory.time[-1:]}, depth=depth, seed=int(label))


def _orders(in_steps: np.ndarray, in_half_steps: np.ndarray) -> np.ndarray:
    """Return two orders in the step, those with which W approaches the solutions of two equations; shape (2,).

    An order is log2 of the largest distance along the flow over that with half the step. Both arguments have shape
    (times, 3, outputs, inputs): the layers' product W, then the solutions of the end-to-end dynamics of depths N and
    N - 1.
    """

    def largest_distances(states: np.ndarray) -> np.ndarray:
        W, direct, one_layer_fewer = np.moveaxis(states, 1, 0)
        return np.array([_norm(W - direct).max(), _norm(W - one_layer_fewer).max()])

    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log2(largest_distances(in_steps) / largest_distances(in_half_steps))


def _flow_quantities(layers: networks.Layers, series: dict[str, np.ndarray], target: np.ndarray) -> dict[str, object]:
    """Return one member's quantities along its flow, by name: arrays with times along the first axis.

    A quantity with a prediction is a pair of arrays, measured and predicted.

    Parameters
    ----------
    layers : list of ndarray, shape (times, d_j, d_{j-1})
    series : dict
        The run's series of this member, shape (times, ...).
    target : ndarray, shape (outputs, inputs)
    """
    depth, widths = len(layers), networks.widths_of(layers)
    W, direct = networks.product(layers), series["direct"]
    U, values, Vt = np.linalg.svd(W, full_matrices=False)
    differences, grams = networks.gram_differences(layers), networks.grams(layers)
    eigenvalues, predicted, predicted_fewer, at_singular, misalignment = [], [], [], [], []
    for time in range(len(W)):
        # eigenvalues ascending: the last column of `vectors` belongs to the largest
        spectrum, vectors = np.linalg.eigh(networks.preconditioner_of_layers([layer[time] for layer in layers]))
        eigenvalues.append(spectrum[::-1])
        # eigenvectors are matrices row by row, as `preconditioner_of_layers` takes gradients
        cosine = vectors[:, -1] @ np.outer(U[time, :, 0], Vt[time, 0]).ravel()
        misalignment.append(1 - cosine**2)
        factors, factors_fewer = (
            networks.preconditioner_factors(values[time], target.shape, N) for N in (depth, depth - 1)
        )
        predicted.append(np.sort(factors, axis=None)[::-1])
        predicted_fewer.append(np.sort(factors_fewer, axis=None)[::-1])
        # W with its last singular value set to zero is the nearest singular matrix
        singular = networks.balanced_layers((U[time, :, :-1] * values[time, :-1]) @ Vt[time, :-1], widths)
        at_singular.append(np.linalg.eigvalsh(networks.preconditioner_of_layers(singular))[0])
    # three predictions of the singular values, shape (times, singular values) each
    law, without_factor, other_exponent = np.moveaxis(series["integrated"], 1, 0)
    return {
        SIGMA: (values, law),
        WITHOUT_FACTOR: (values, without_factor),
        OTHER_EXPONENT: (values, other_exponent),
        DIRECT: np.linalg.svd(direct, compute_uv=False),
        NORM: _norm(W),
        DIFFERENCE: _norm(W - direct),
        ONE_LAYER_FEWER: _norm(W - series["one_layer_fewer"]),
        DRIFT: _movement(differences),
        SUM_DRIFT: _movement([above + below for above, below in grams]),
        GRAM_DRIFT: _movement([below for _, below in grams]),
        EIGENVALUE: (eigenvalues, np.array(predicted)),
        EIGENVALUE_FEWER: (eigenvalues, np.array(predicted_fewer)),
        EIGENVALUE_AT_SINGULAR: at_singular,
        MISALIGNMENT: misalignment,
        RATE_FACTOR: _rate_factors(layers, W - target, (U, values, Vt)),
    }


def _rate_factors(
    layers: networks.Layers, gradient: np.ndarray, svd: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities of singular values over those at depth 1, and what slide 33 predicts, N sigma_r^(2 - 2/N).

    Both have shape (times, singular values). `gradient` is the loss's gradient at the layers' product W, shape (times,
    outputs, inputs), and `svd` the factors U, singular values and V^T of W. At depth 1 dW/dt would be minus the
    gradient.
    """
    depth, (U, values, Vt) = len(layers), svd
    velocity = -networks.product_change(layers, networks.layer_gradients(layers, gradient))
    rates, rates_at_depth_1 = (networks.projections(U, change, Vt) for change in (velocity, -gradient))
    # near the end both velocities vanish, and their ratio is rounding; there it is nan. The millionth is chosen
    is_clear = np.abs(rates_at_depth_1) > 1e-6 * np.abs(rates_at_depth_1).max()
    factors = np.where(is_clear, rates / np.where(is_clear, rates_at_depth_1, 1.0), np.nan)
    return factors, depth * values ** (2 - 2 / depth)


def _movement(matrices: list[np.ndarray]) -> np.ndarray:
    """Return the distance of several matrices together from what they are at the first time, shape (times,).

    Each matrix has shape (times, d, d).
    """
    return np.sqrt(sum(_norm(matrix - matrix[:1]) ** 2 for matrix in matrices))


def _norm(matrices: np.ndarray) -> np.ndarray:
    """Return Frobenius norms over leading axes."""
    return np.linalg.norm(matrices, axis=(-2, -1))


@columns(DEPTH, SEED, QUANTITY, INDEX, VALUE_IF_ANY, PREDICTED)
def balanced_velocity(trajectory: Trajectory) -> pd.DataFrame:
    """Measure how balanced layers of one matrix move its singular values.

    Quantities
    ----------
    sigma
        Singular values sigma_r of the matrix W.
    factor
        Velocity of each singular value, u_r^T (dW/dt) v_r, over its velocity at depth 1, -u_r^T G v_r, for the loss's
        gradient G; predicted N sigma_r^(2 - 2/N).
    """
    constants = trajectory.constants
    W, velocity = (trajectory.series[name][:, 0] for name in ("end_to_end", "velocity"))
    depth = constants["depth"][:, None]
    U, values, Vt = np.linalg.svd(W)
    factor = networks.projections(U, velocity, Vt) / networks.projections(U, -constants["gradient"], Vt)
    return rows(
        {SIGMA: values, FACTOR: (factor, depth * values ** (2 - 2 / depth))},
        {"seed": constants["member"]},
        depth=constants["depth"],
    )


@columns(SCALE, SEED, QUANTITY, VALUE_IF_ANY)
def approximate_balance(trajectory: Trajectory) -> pd.DataFrame:
    """Measure balance from small Gaussian layers, and from identity layers (scale 0).

    Imbalances are compared with the layers' squared spectral norms, which have settled once the product has the
    target's first singular value, however long its smallest ones take to grow.

    Quantities
    ----------
    imbalance_at_start
        Largest ||W_{j+1}^T W_{j+1} - W_j W_j^T||_F over j at the start, relative to the largest squared spectral norm
        ||W_j||^2 at the end.
    imbalance_at_end
        The same norm at the end, relative to the largest ||W_j||^2 at the end.
    relative_imbalance
        The same norm at the start, relative to the largest ||W_j||^2 at the start.
    layer_growth
        Largest spectral norm ||W_j|| over j at the end, over the largest at the start.
    """
    settings, constants = trajectory.settings, trajectory.constants
    widths = [settings["size"]] * (settings["depth"] + 1)
    layers = networks.unpack(trajectory.series["layers"], widths)
    # the largest spectral norm of a layer, and the imbalance, at the start and at the end; shape (members, 2) each
    sizes = np.max([np.linalg.norm(layer, 2, axis=(-2, -1)) for layer in layers], axis=0)
    imbalance = networks.imbalance(layers)
    quantities = {
        IMBALANCE_AT_START: imbalance[:, 0] / sizes[:, 1] ** 2,
        IMBALANCE_AT_END: imbalance[:, 1] / sizes[:, 1] ** 2,
        RELATIVE_IMBALANCE: imbalance[:, 0] / sizes[:, 0] ** 2,
        LAYER_GROWTH: sizes[:, 1] / sizes[:, 0],
    }
    return rows(quantities, {"seed": constants["member"]}, scale=constants["scale"])


@columns(Column("learning_rate", "float", "step size", draw=True), SEED, QUANTITY, VALUE_IF_ANY)
def balancedness_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure how balanced gradient descent keeps the layers.

    Quantities
    ----------
    drift
        Distance in Frobenius norm of all W_{j+1}^T W_{j+1} - W_j W_j^T together at the end from what they are at the
        start.
    """
    differences = trajectory.series["gram_differences"]
    drift = np.linalg.norm(differences[:, -1] - differences[:, 0], axis=-1)
    return rows(
        {DRIFT: drift}, {"seed": trajectory.constants["member"]}, learning_rate=trajectory.constants["learning_rate"]
    )
