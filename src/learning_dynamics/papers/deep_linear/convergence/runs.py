"""Where descent starts, and whether it arrives: the guarantee, its assumptions, and what they are for."""

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

    `deviations` are those of the end-to-end matrix's entries; layer-wise Gaussian layers have the one deviation at
    which the mean square of their product's entries is the same. The learning rate is the one that needs fewest steps.

    Returns
    -------
    Trajectory
        Series steps and learning_rate, shape (members, 1): the fewest steps, -1 where no rate converged, and the rate
        that needs them, 0 where none did. Constants, by member: depth, init, deviation, member (the number of the
        draw), size (Frobenius norm of the end-to-end matrix at the start).
    """
    X, Y = data["X"], data["Y"][:, 0]
    # of whitened data the loss needs only the correlation of inputs and labels
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
    """Descent on half the squared distance from a square target: with the assumptions, and without each.

    Singular values of targets, as many as `size` says, are drawn between `smallest` and `largest`. Where the
    assumptions hold, they do so as barely as can be: balanced, the target with its last singular value lowered to
    `margin`. Beyond a singular matrix: balanced, that singular value with the wrong sign. Too far: balanced, the target
    times a number at which a step turns the first singular value of each layer to minus three times itself. Unbalanced:
    the first start with its first layer multiplied by `rescaling` and its second divided by it; with a shorter step,
    the learning rate is divided by the square of `rescaling`, by which the curvature has grown. The learning rate of
    the others is `step` times the fourth power of the margin, for as many iterations as the horizon takes with it.

    Layers descend in the coordinates of the target's singular vectors, where zeros stay zeros. In others rounding
    leaves the singular matrix that starts beyond one stop at, where it is a strict saddle: at depth 2, after a time of
    about 37 / sigma_min, in which rounding, 1e-16 or exp(-37), grows like exp(sigma_min t).

    Returns
    -------
    Trajectory
        Time is the number of steps. Series end_to_end, shape (members, times, size, size), with entries cut off at 1e9
        in size; constants, by member, target, shape (members, size, size), case, member (the number of the draw),
        imbalance, learning_rate.

    Raises
    ------
    ProjectError
        If the margin is not below the smallest singular value that a target may have, or that above the largest.
    """
    if margin >= smallest:
        raise ProjectError(f"margin ({margin:g}) must be below smallest ({smallest:g}); lower it")
    widths = [size] * (depth + 1)
    rate = step * margin**4
    # far from the target a layer's singular value w moves by -rate w^(2N - 1), here by -4 w; w^N is the end-to-end one
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
    # layers[j] has shape (members, size, size), as have the orthogonal matrices U and V, the target's singular vectors
    layers, (U, V) = (list(constants.pop(name).swapaxes(0, 1)) for name in ("layers", "basis"))
    goal = constants["target"]  # diagonal
    rates = np.where(constants["case"] == quantities.UNBALANCED_SHORTER_STEP, rate / rescaling**2, rate)
    # denser at first, where the rate of fall is least
    recorded_steps = np.unique(np.append(0, np.geomspace(1, horizon / rate, points - 1).round())).astype(int)
    # Beyond this norm a run has diverged; it is kept there, where the next step would overflow. The norm of the
    # starts `TOO_FAR` is the root of `size` times `far` at most, below five times `far`; 1e3 is chosen
    bound = max(1e3, 5 * far)
    recorded_layers = descent.descend(layers, lambda W: W - goal, rates[:, None, None], recorded_steps, bound=bound)
    # end-to-end matrices in the original coordinates, shape (members, times, size, size)
    products = np.stack([U @ networks.product(matrices) @ V.swapaxes(1, 2) for matrices in recorded_layers], axis=1)
    return Trajectory(
        recorded_steps.astype(float),
        {"end_to_end": products.clip(-1e9, 1e9)},  # the step that passed the bound may have gone further; 1e9 is chosen
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

    Singular values of targets, as many as `size` says, are drawn between `smallest` and `largest`; margins are
    `fractions` of a target's smallest one. Starts are balanced: the target with its last singular value lowered to the
    margin, also with all the imbalance that the theorem allows, and in a random direction from the target, as far as
    the margin lets it. Time is in units of c^(2/N - 1) for the margin c, the order of the time that the smallest
    singular value takes to leave it.

    Returns
    -------
    Trajectory
        Series end_to_end, shape (members, times, size, size); constants, by member, target, shape (members, size,
        size), depth, margin, start, member.

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
                # as far from the target as the nearest matrix whose smallest singular value is the margin
                displaced = target + step * (values.min() - margin) / np.linalg.norm(step)
                starts = {
                    quantities.SMALLEST_DIRECTION: lowered,
                    quantities.SMALLEST_DIRECTION_UNBALANCED: _with_imbalance(lowered, margin, target),
                    quantities.RANDOM_DIRECTION: networks.balanced_layers(displaced, widths),
                }
                for start, layers in starts.items():
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
    """Return singular values between two bounds, descending, each as likely as any other."""
    if smallest > largest:
        raise ProjectError(f"smallest ({smallest:g}) must be at most largest ({largest:g})")
    return np.sort(rng.uniform(smallest, largest, size))[::-1]


def _with_imbalance(layers: networks.Layers, margin: float, target: np.ndarray) -> networks.Layers:
    """Return layers with the same product and all the imbalance that is allowed.

    The first layer of the balanced ones is multiplied by a number between one and two, the second divided by it.
    """
    allowed = theory.allowed_imbalance(margin, len(layers), target)

    def stretched(factor: float) -> networks.Layers:
        return [layers[0] * factor, layers[1] / factor, *layers[2:]]

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
    """Gradient flow of balanced layers on several convex losses, from below and from beyond singular matrices' losses.

    Below: in a random direction from the optimum, where the loss is `share` of what every singular matrix has at least.
    Beyond: the optimum with its last singular value's sign turned.

    Returns
    -------
    Trajectory
        Series end_to_end, shape (members, times, n, n) for n singular values; constants, by member, target and factor
        (the square root of the inputs' covariance), shape (members, n, n), loss (its name), start, member.
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
    """Return the matrix in a direction from the target whose loss is a share of the least on singular matrices."""
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

    The entries of the end-to-end row vector are Gaussian. Their standard deviation is `deviation` over the dimension,
    or, where the constant over_root is true, over the root of the dimension. The margin is `margin` times `deviation`
    over the dimension; only metrics read it. The first `followed` starts of each kind descend.

    Returns
    -------
    Trajectory
        Series start_distance, shape (members, 1), draws varying fastest; constants, by member, dimension, over_root,
        member, iterations (-1 where the loss did not reach the tolerance, -2 where it was not followed).
    """
    kinds = []  # for each dimension and deviation, arrays with draws along the first axis
    for dimension in progress(dimensions, "one output"):
        (rng,) = generators(seed, f"deep_linear.one_output.{dimension}", 1)
        normal = rng.standard_normal((draws, dimension))
        target = np.eye(dimension)[0]
        # mean over samples of the squared residual is the squared distance from the target
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

    The loss is half the squared distance from a Gaussian target; the direction has all layers of one rank, along the
    target's first singular vectors.

    Returns
    -------
    Trajectory
        Series fall, shape (members, points), the loss at zero less that at a distance, which takes time's place;
        constants, by member, hessian (of the layers' objective at zero), shape (members, most, most), padded with zeros
        to the most parameters, parameters (how many there are), target, shape (members, size, size), depth, member.

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
            # the squared norms' difference, without the cancellation of the target's own
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

    A displacement changes one entry of one layer, so that the product stays zero. Along it the gradient is linear at
    depth 2 and zero beyond: differences are exact but for rounding, whatever the step.
    """
    field = networks.flow_field(networks.towards(target), widths)
    displacements = step * np.eye(networks.count_parameters(widths))
    return np.array(
        [-(field(0.0, displacement) - field(0.0, -displacement)) / (2 * step) for displacement in displacements]
    )
