"""The gradient's singular values along one descent, until a low-rank matrix is learned."""

import numpy as np

from learning_dynamics.papers.deep_linear import descent, networks
from learning_dynamics.papers.deep_linear.completion_exponents.theory import learned, set_aside
from learning_dynamics.progress import progress
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Fraction, Positive, Seed
from learning_dynamics.trajectories import Arrays, Trajectory


def gradient_along_path(
    data: Arrays,
    *,
    depth: Count,
    scale: Positive,
    learning_rate: Positive,
    share: Fraction,
    every: Count,
    max_steps: Count,
    seed: Seed,
) -> Trajectory:
    """Plain descent from small Gaussian layers, for every draw and set of entries, at one scale.

    Recorded are two singular values of the gradient. While k < r of W's singular values are learned (have passed
    `share` of the true ones), take what the gradient has outside of W's first k singular vectors: its (r - k)-th
    singular value, which moves W's r-th, and the next. From where all r are learned they are zero.

    Parameters
    ----------
    data : dict
        truth, shape (draws, n, n); mask, shape (draws, sets, n, n); observed, shape (sets,).

    Returns
    -------
    Trajectory
        Time is learning rate times steps. Series outside, shape (members, times, 2), those two; whole, the r-th and the
        next singular value of the whole gradient. Constants observed, and by member draw, entry_set.
    """
    (draws, sets), size = data["mask"].shape[:2], data["truth"].shape[-1]
    draw, entry_set = (indices.ravel() for indices in np.indices((draws, sets)))
    truth, mask = data["truth"][draw], data["mask"][draw, entry_set]
    rank = int(np.linalg.matrix_rank(truth[0]))
    spectrum = np.linalg.svd(truth, compute_uv=False)[:, :rank]
    rngs = generators(seed, "deep_linear.completion_exponents", draws)
    normal = np.array([rng.standard_normal((depth, size, size)) for rng in rngs])
    layers = [normal[draw, j] * scale ** (1 / depth) / np.sqrt(size) for j in range(depth)]
    steps = np.arange(0, max_steps, every)
    # two singular values for each path and time: of what is outside of the learned vectors, and of the whole gradient
    outside, gradient_values = np.zeros((2, len(draw), len(steps), 2))
    active = np.arange(len(draw))  # members whose r-th singular value is not learned; `layers` are theirs
    for index in progress(range(len(steps)), "gradient"):
        W = networks.product(layers)
        U, values, Vt = np.linalg.svd(W)
        n_learned = learned(values[:, :rank], spectrum[active], share)
        unlearned = n_learned < rank
        active, W, U, Vt, n_learned = (array[unlearned] for array in (active, W, U, Vt, n_learned))
        if not len(active):
            break
        gradient_at = networks.observed(truth[active], mask[active])
        gradient = gradient_at(W)
        remaining_values = np.linalg.svd(set_aside(gradient, U, Vt, n_learned), compute_uv=False)
        # places r - k and r - k + 1, counted from one: at rank 2 the gradient's second and third singular values while
        # none is learned, then the first two outside of the vectors of the one that is learned
        places = rank - 1 - n_learned[:, None] + np.arange(2)
        outside[active, index] = np.take_along_axis(remaining_values, places, axis=1)
        gradient_values[active, index] = np.linalg.svd(gradient, compute_uv=False)[:, rank - 1 : rank + 1]
        going_on = [layer[unlearned] for layer in layers]
        (layers,) = descent.descend(going_on, gradient_at, learning_rate, np.array([every]))
    # a path on which not all are learned by now has no end
    outside[active], gradient_values[active] = np.nan, np.nan
    return Trajectory(
        learning_rate * steps,
        {"outside": outside, "whole": gradient_values},
        {"observed": data["observed"], "draw": draw, "entry_set": entry_set},
        undecided=np.isin(np.arange(len(draw)), active),
    )
