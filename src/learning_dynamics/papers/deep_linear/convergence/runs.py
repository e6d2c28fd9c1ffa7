"""Where descent starts, and whether it arrives: the guarantee, its assumptions, and what they are for.

The guarantee is the theorem of slide 22 (Arora et al. 2019, theorem 1) for the loss ||W - W*||_F^2 / 2 of the
end-to-end matrix W = W_N ... W_1, where W* is the target. It has two assumptions on the start. First, the start has
less loss than every matrix with a singular value up to a number c > 0, the margin. Second, the layers are balanced up
to an imbalance max_j ||W_{j+1}^T W_{j+1} - W_j W_j^T||_F of the order c^2 (`theory.allowed_imbalance`).
"""

import numpy as np
from scipy.optimize import brentq

from learning_dynamics.datasets.whitened import haar
from learning_dynamics.dynamics.gradient_flow import LogSpan
from learning_dynamics.errors import ProjectError
from learning_dynamics.papers.deep_linear import descent, lp_regression, networks, recorded
from learning_dynamics.papers.deep_linear.convergence import convergence_time, quantities, theory
from learning_dynamics.papers.deep_linear.convergence.convex import LOSSES, Loss
from learning_dynamics.papers.deep_linear.recorded import AT_THE_END
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Fraction, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def initialisation_range(
    data: Arrays,
    *,
    depths: list[Count],
    width: Count,
    deviations: list[Positive],
    learning_rates: list[Positive],
    tolerance: Positive,
    max_steps: Count,
    seeds: Count,
    seed: Seed,
) -> Trajectory:
    """Steps to the optimum on whitened data, from layer-wise Gaussian and from balanced initialisation.

    Descent has arrived when the loss exceeds the least one by at most `tolerance`; it takes at most `max_steps`.
    `deviations` are standard deviations of the end-to-end matrix's entries at the start. Layer-wise Gaussian layers all
    have one deviation, chosen so that the entries of their product have the same mean square. Each start descends at
    the learning rate at which it needs the fewest steps.

    Returns
    -------
    Trajectory
        Series steps and learning_rate, shape (members, 1): the fewest steps, -1 where descent arrived at no rate, and
        the rate that needs them, 0 where there is none. Constants of shape (members,): `depth`; `init`, layer_wise or
        balanced; `deviation`; `member`, the number of the draw; `size`, the Frobenius norm of the end-to-end matrix at
        the start. Members are all combinations of depth, init, deviation and draw; draws vary fastest.
    """
    X, Y = data["X"], data["Y"][:, 0]
    # With whitened inputs the loss is, up to a constant, half the squared distance of the end-to-end weights from a
    # vector, the mean of input times label. Up to a factor, U V^T are the whitened inputs and V U^T Y is this vector
    U, _, Vt = np.linalg.svd(X, full_matrices=False)
    target = Vt.T @ (U.T @ Y)
    target /= np.linalg.norm(target)
    members = []
    for depth in depths:
        widths = [len(target), *[width] * (depth - 1), 1]
        rngs = generators(seed, f"deep_linear.initialisation_range.{depth}", seeds)
        normal = [networks.gaussian_layers(rng, widths) for rng in rngs]
        direction = [rng.standard_normal((1, len(target))) for rng in rngs]
        for init in ("layer_wise", "balanced"):
            for deviation in progress(deviations, f"depth {depth}"):
                # entries of the product have the mean square layer_deviation^(2N) width^(N-1)
                layer_deviation = (deviation / width ** ((depth - 1) / 2)) ** (1 / depth)
                for member in range(seeds):
                    if init == "balanced":
                        layers = networks.balanced_layers(deviation * direction[member], widths)
                    else:
                        layers = [layer_deviation * layer for layer in normal[member]]
                    steps, rate = convergence_time.fewest_steps(
                        layers, target, learning_rates, tolerance=tolerance, cap=max_steps
                    )
                    members.append(
                        {
                            "depth": depth,
                            "init": init,
                            "deviation": deviation,
                            "member": member,
                            "steps": [steps],
                            "learning_rate": [np.nan_to_num(rate)],
                            "size": np.linalg.norm(networks.product(layers)),
                        }
                    )
    return recorded.trajectory(AT_THE_END, members, "steps", "learning_rate")


def guarantee(
    *,
    depth: Count,
    size: Count,
    smallest: Positive,
    largest: Positive,
    margin: Positive,
    step: Positive,
    rescaling: Positive,
    horizon: Positive,
    points: Count,
    seeds: Count,
    seed: Seed,
) -> Trajectory:
    """Descent on half the squared distance from a square target: with both assumptions, and without one of them.

    The `size` singular values of a target are drawn between `smallest` and `largest`. A draw has six starts, by the
    names of `quantities`:

    - `MEETS_BOTH`: balanced layers of the target with its last singular value lowered to `margin`; both assumptions
      hold, the first one barely
    - `ALLOWED_IMBALANCE`: the same product, from layers with all the imbalance that the guarantee allows
    - `BEYOND_SINGULAR`: balanced layers of the target with the sign of its last singular value turned
    - `TOO_FAR`: balanced layers of a multiple of the target, by a factor at which one step turns the first singular
      value of each layer to minus three times itself
    - `UNBALANCED`: the layers of `MEETS_BOTH`, the first multiplied by `rescaling` and the second divided by it
    - `UNBALANCED_SHORTER_STEP`: the layers of `UNBALANCED`, at a learning rate divided by the square of `rescaling`, by
      which the curvature has grown

    The other five have the learning rate `step` times the fourth power of the margin. All descend for as many steps as
    bring this learning rate times the number of steps to `horizon`.

    Layers descend in the coordinates of the target's singular vectors, where zeros stay zeros. The starts
    `BEYOND_SINGULAR` then stop at a singular matrix. In other coordinates rounding would make them leave it where it is
    a strict saddle, which it is at depth 2. There rounding, 1e-16 or exp(-37), grows like exp(sigma_min t), and is of
    order one after a time of about 37 / sigma_min.

    Returns
    -------
    Trajectory
        Time is the number of steps. Series end_to_end, shape (members, times, size, size), with entries cut off at
        plus and minus 1e9. Constants target, shape (members, size, size), and of shape (members,): `case`, the name of
        the start; `member`, the number of the draw; `imbalance` at the start; `learning_rate`. Members are all pairs of
        a draw and a start; starts vary fastest.

    Raises
    ------
    ProjectError
        If the margin is not below the smallest singular value that a target may have, or that above the largest.
    """
    if margin >= smallest:
        raise ProjectError(f"margin ({margin:g}) must be below smallest ({smallest:g}); lower it")
    widths = [size] * (depth + 1)
    rate = step * margin**4
    # Far from the target a step moves a layer's singular value w by -rate w^(2N - 1). That is -4 w if w^(2N - 2) is
    # 4 / rate; `far` is the end-to-end singular value w^N
    far = (4 / rate) ** (depth / (2 * depth - 2))
    members = []
    for member, rng in enumerate(generators(seed, "deep_linear.guarantee", seeds)):
        values = _spectrum(rng, size, smallest, largest)
        target = np.diag(values)
        lowered, flipped = (np.diag(np.append(values[:-1], last)) for last in (margin, -values[-1]))
        balanced = networks.balanced_layers(lowered, widths)
        rescaled = [balanced[0] * rescaling, balanced[1] / rescaling, *balanced[2:]]
        basis = haar(rng, size), haar(rng, size)
        starts = {
            quantities.MEETS_BOTH: balanced,
            quantities.BEYOND_SINGULAR: networks.balanced_layers(flipped, widths),
            quantities.TOO_FAR: networks.balanced_layers(far / values[0] * target, widths),
            quantities.UNBALANCED: rescaled,
            quantities.ALLOWED_IMBALANCE: _with_imbalance(balanced, margin, target),
            quantities.UNBALANCED_SHORTER_STEP: rescaled,
        }
        members += [
            {"layers": layers, "basis": basis, "target": target, "case": case, "member": member}
            for case, layers in starts.items()
        ]
    constants = recorded.by_name(members)
    # From axes (members, layers, size, size) to a list over layers of arrays (members, size, size), and the same for
    # the two orthogonal matrices U and V, whose columns are to be the target's singular vectors
    layers, (U, V) = (list(constants.pop(name).swapaxes(0, 1)) for name in ("layers", "basis"))
    goal = constants["target"]  # diagonal
    rates = np.where(constants["case"] == quantities.UNBALANCED_SHORTER_STEP, rate / rescaling**2, rate)
    # denser at first, where the loss's rate of fall is least
    recorded_steps = np.unique(np.append(0, np.geomspace(1, horizon / rate, points - 1).round())).astype(int)
    # A member beyond this norm has diverged, and stays where it is: further steps would overflow. Starts `TOO_FAR` have
    # a norm of at most the root of `size` times `far`, below five times `far`; 1e3 is chosen
    bound = max(1e3, 5 * far)
    recorded_layers = descent.descend(layers, lambda W: W - goal, rates[:, None, None], recorded_steps, bound=bound)
    # end-to-end matrices in the original coordinates, shape (members, times, size, size)
    products = np.stack([U @ networks.product(matrices) @ V.swapaxes(1, 2) for matrices in recorded_layers], axis=1)
    return Trajectory(
        recorded_steps.astype(float),
        {"end_to_end": products.clip(-1e9, 1e9)},  # the step that passed the bound may end far beyond; 1e9 is chosen
        constants
        | {
            "target": U @ goal @ V.swapaxes(1, 2),
            "imbalance": networks.imbalance(layers),
            "learning_rate": rates,
        },
    )


def margins(
    *,
    depths: list[Count],
    size: Count,
    smallest: Positive,
    largest: Positive,
    fractions: list[Fraction],
    seeds: Count,
    integration: LogSpan,
    seed: Seed,
) -> Trajectory:
    """Gradient flow on half the squared distance from a square target, from starts that just meet the assumptions.

    The `size` singular values of a target are drawn between `smallest` and `largest`. Margins are `fractions` of a
    target's smallest singular value. Starts have the names of `quantities`:

    - `SMALLEST_DIRECTION`: balanced layers of the target with its last singular value lowered to the margin
    - `SMALLEST_DIRECTION_UNBALANCED`: the same product, from layers with all the imbalance that the guarantee allows
    - `RANDOM_DIRECTION`: balanced layers of a matrix in a random direction from the target, as far as the margin allows

    Returns
    -------
    Trajectory
        Time is in units of c^(2/N - 1), where c is the member's margin and N its depth: the order of the time in which
        the smallest singular value leaves the margin. Series end_to_end, shape (members, times, size, size). Constants
        target, shape (members, size, size), and of shape (members,): `depth`, `margin`, `start`, and `member`, the
        number of the draw. Members are all combinations of draw, depth, margin and start; starts vary fastest.

    Raises
    ------
    ProjectError
        If the smallest singular value that a target may have is above the largest.
    """
    members = []
    for member, rng in enumerate(generators(seed, "deep_linear.margins", seeds)):
        values = _spectrum(rng, size, smallest, largest)
        U, V, step = haar(rng, size), haar(rng, size), rng.standard_normal((size, size))
        target = (U * values) @ V.T
        for depth in depths:
            widths = [size] * (depth + 1)
            for fraction in fractions:
                margin = fraction * values.min()
                lowered = networks.balanced_layers((U * np.append(values[:-1], margin)) @ V.T, widths)
                # as far from the target as the nearest matrix whose smallest singular value is the margin; `step` is a
                # matrix, the random direction
                displaced = target + step * (values.min() - margin) / np.linalg.norm(step)
                starts = {
                    quantities.SMALLEST_DIRECTION: lowered,
                    quantities.SMALLEST_DIRECTION_UNBALANCED: _with_imbalance(lowered, margin, target),
                    quantities.RANDOM_DIRECTION: networks.balanced_layers(displaced, widths),
                }
                for start, layers in starts.items():
                    # flow time; `integration` has the times in units, and the tolerances
                    times = margin ** (2 / depth - 1) * integration.times
                    members.append(
                        {
                            "end_to_end": networks.path(layers, networks.towards(target), times, integration),
                            "target": target,
                            "depth": depth,
                            "margin": margin,
                            "start": start,
                            "member": member,
                        }
                    )
    return recorded.trajectory(integration.times, members, "end_to_end")


def _spectrum(rng: np.random.Generator, size: int, smallest: float, largest: float) -> np.ndarray:
    """Return `size` singular values, drawn uniformly between two bounds, in descending order."""
    if smallest > largest:
        raise ProjectError(f"smallest ({smallest:g}) must be at most largest ({largest:g})")
    return np.sort(rng.uniform(smallest, largest, size))[::-1]


def _with_imbalance(layers: networks.Layers, margin: float, target: np.ndarray) -> networks.Layers:
    """Return layers with the same product as some balanced ones, and all the imbalance that the guarantee allows.

    The first layer is multiplied by a number between one and two, and the second divided by it.
    """
    allowed = theory.allowed_imbalance(margin, len(layers), target)

    def stretched(factor: float) -> networks.Layers:
        return [layers[0] * factor, layers[1] / factor, *layers[2:]]

    # the factor at which the imbalance is the allowed one; at the factor one it is zero
    return stretched(brentq(lambda factor: float(networks.imbalance(stretched(factor))) - allowed, 1.0, 2.0))


def convex_losses(
    *,
    depth: Count,
    singular_values: list[Positive],
    share: Fraction,
    seeds: Count,
    integration: LogSpan,
    seed: Seed,
) -> Trajectory:
    """Gradient flow of balanced layers on several convex losses, with less or more loss than singular matrices have.

    `singular_values` are those of the optimum. Each loss has two starts, by the names of `quantities`:

    - `BELOW`: in a random direction from the optimum, where the loss is `share` of a lower bound on the loss of
      singular matrices
    - `BEYOND`: the optimum with its last singular value's sign turned

    Returns
    -------
    Trajectory
        Series end_to_end, shape (members, times, n, n) for n singular values. Constants target, the optimum, and
        factor, a square root S of the inputs' covariance S S^T, shape (members, n, n); of shape (members,): `loss`, its
        name, `start`, and `member`, the number of the draw. Members are all combinations of draw, loss and start;
        starts vary fastest.
    """
    values = np.array(singular_values)
    widths = [len(values)] * (depth + 1)
    members = []
    for member, rng in enumerate(generators(seed, "deep_linear.convex_losses", seeds)):
        U, V = haar(rng, len(values)), haar(rng, len(values))
        step, turn = rng.standard_normal((len(values), len(values))), haar(rng, len(values))
        # a square root S of a covariance S S^T, with singular values from 0.5 to 1.5 (chosen)
        factor = turn * np.linspace(0.5, 1.5, len(values))
        target = (U * values) @ V.T
        for name, loss in LOSSES.items():
            starts = {
                quantities.BELOW: _matrix_with_loss(loss, target, step, factor, share=share),
                quantities.BEYOND: (U * np.append(values[:-1], -values[-1])) @ V.T,
            }
            for start, W in starts.items():
                # the loss's gradient; defaults bind what the loops change
                slope = lambda W, loss=loss, target=target, factor=factor: loss.gradient(W - target, factor)  # noqa: E731
                # `integration` has the times and the tolerances
                path = networks.path(networks.balanced_layers(W, widths), slope, integration.times, integration)
                members.append(
                    {
                        "end_to_end": path,
                        "target": target,
                        "factor": factor,
                        "loss": name,
                        "start": start,
                        "member": member,
                    }
                )
    return recorded.trajectory(integration.times, members, "end_to_end")


def _matrix_with_loss(
    loss: Loss, target: np.ndarray, step: np.ndarray, factor: np.ndarray, *, share: float
) -> np.ndarray:
    """Return the matrix in the direction `step` from the target at which the loss has a given value.

    The value is `share` times the loss's lower bound on singular matrices. `factor` is the root of the covariance.
    """
    goal = share * loss.least_on_singular(target, factor)
    longest = 1.0
    while loss.value(longest * step, factor) < goal:
        longest *= 2
    distance = brentq(lambda length: float(loss.value(length * step, factor)) - goal, 0.0, longest)
    return target + distance * step


def one_output(
    *,
    dimensions: list[Count],
    depth: Count,
    deviation: Positive,
    margin: Positive,
    draws: Count,
    followed: Count,
    learning_rate: Positive,
    tolerance: Positive,
    max_steps: Count,
    seed: Seed,
) -> Trajectory:
    """Random balanced starts of networks with one output, whitened inputs and a target of norm one.

    The dimension is the number of inputs. The entries of the end-to-end row vector are Gaussian; their standard
    deviation is `deviation` over the dimension or over its root. The margin is `margin` times `deviation` over the
    dimension; only metrics read it. The first `followed` starts of each dimension and deviation descend, until the
    squared distance from the target is at most `tolerance`.

    Returns
    -------
    Trajectory
        Series start_distance, shape (members, 1), the distance of the start from the target. Constants of shape
        (members,): `dimension`; `over_root`, whether the deviation is that over the root; `member`, the number of the
        draw; `iterations` to the tolerance, -1 where descent did not reach it, -2 where there was no descent. Members
        are all combinations of dimension, deviation and draw; draws vary fastest.
    """
    kinds = []  # for each dimension and deviation, arrays with draws along the first axis
    for dimension in progress(dimensions, "one output"):
        (rng,) = generators(seed, f"deep_linear.one_output.{dimension}", 1)
        normal = rng.standard_normal((draws, dimension))
        target = np.eye(dimension)[0]
        # with these inputs the mean over samples of the squared residual is the squared distance from the target
        X = np.sqrt(dimension) * np.eye(dimension)
        for over_root in (False, True):
            starts = theory.start_deviation(deviation, dimension, over_root) * normal
            run = lp_regression.descend(
                starts[:followed],
                X,
                X @ target,
                exponent=2.0,
                depth=depth,
                rule="network",
                learning_rate=np.full(min(followed, draws), learning_rate),
                target=tolerance,
                max_steps=max_steps,
            )
            kinds.append(
                {
                    "start_distance": np.linalg.norm(starts - target, axis=1, keepdims=True),
                    "dimension": np.full(draws, dimension),
                    "over_root": np.full(draws, over_root),
                    "member": np.arange(draws),
                    "iterations": np.pad(run.iterations, (0, max(draws - followed, 0)), constant_values=-2),
                }
            )
    constants = {name: np.concatenate(values) for name, values in recorded.by_name(kinds).items()}
    return Trajectory(AT_THE_END, {"start_distance": constants.pop("start_distance")}, constants)


def zero_weights(
    *, depths: list[Count], size: Count, smallest: Positive, largest: Positive, points: Count, seeds: Count, seed: Seed
) -> Trajectory:
    """The loss near zero weights: along the direction of fastest fall, and to second order.

    The loss is half the squared distance from a Gaussian target. In the direction of fastest fall every layer has rank
    one and unit norm, and their product is u_1 v_1^T, of the target's first singular vectors. At the distance epsilon
    every layer is multiplied by epsilon.

    Returns
    -------
    Trajectory
        Distances epsilon, ascending, are recorded instead of times. Series fall, shape (members, points): the loss at
        zero less the loss at the distance. Constants hessian, shape (members, most, most): second derivatives of the
        loss by all parameters of the layers, at zero; `most` is the largest number of parameters, and hessians of
        shallower networks are padded with zeros. Constants target, shape (members, size, size), and of shape
        (members,): `parameters`, their number; `depth`; `member`, the number of the draw. Members are all pairs of a
        draw and a depth; depths vary fastest.

    Raises
    ------
    ProjectError
        If a depth, or the number of points, is below two.
    """
    if min(depths) < 2 or points < 2:
        raise ProjectError(f"zero_weights: depths {depths} and points {points}: each must be 2 or more; raise them")
    distances = np.geomspace(smallest, largest, points)
    members = []
    longest = max(depths) * size**2
    for member, rng in enumerate(generators(seed, "deep_linear.zero_weights", seeds)):
        target = rng.standard_normal((size, size))
        U, _, Vt = np.linalg.svd(target)
        unit = np.eye(size)[:1]
        for depth in depths:
            # with e the first unit vector: layers e v_1^T, e e^T, ..., e e^T, u_1 e^T, whose product is u_1 v_1^T
            inner = [unit.T @ unit] * (depth - 2)
            direction = [unit.T @ Vt[:1], *inner, U[:, :1] @ unit]
            products = [networks.product([distance * layer for layer in direction]) for distance in distances]
            # (||target||^2 - ||W - target||^2) / 2, without the cancellation of ||target||^2
            fall = [np.sum(W * target) - 0.5 * np.sum(W**2) for W in products]
            hessian = _hessian_at_zero(target, [size] * (depth + 1))
            members.append(
                {
                    "fall": fall,
                    "hessian": np.pad(hessian, (0, longest - len(hessian))),
                    "parameters": len(hessian),
                    "target": target,
                    "depth": depth,
                    "member": member,
                }
            )
    return recorded.trajectory(distances, members, "fall")


def _hessian_at_zero(target: np.ndarray, widths: list[int], step: float = 1e-3) -> np.ndarray:
    """Return second derivatives at zero, shape (parameters, parameters), by central differences of the gradient.

    The loss, half the squared distance from the target, is a function of all layers' entries, as `networks.pack` orders
    them. A displacement changes one entry of one layer, so that the product stays zero. Along it the gradient is linear
    at depth 2 and zero beyond: differences are exact but for rounding, whatever the step.
    """
    field = networks.flow_field(networks.towards(target), widths)
    displacements = step * np.eye(networks.count_parameters(widths))
    return np.array(
        [-(field(0.0, displacement) - field(0.0, -displacement)) / (2 * step) for displacement in displacements]
    )
