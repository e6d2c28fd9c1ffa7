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

    W is the layers' product. The truth is the matrix to complete; all draws' have the same rank r. A singular value of
    W is learned when it, and all before it, have passed `share` of the truth's. While k < r are learned, the run takes
    what the gradient has outside of W's first k singular vectors. It records the (r - k)-th
    singular value of this matrix, which moves W's r-th, and the (r - k + 1)-th, which moves W's (r+1)-th. From where
    all r are learned it records zeros, and descent of this member ends.

    Parameters
    ----------
    data : dict
        truth, shape (draws, n, n); mask, of bool, shape (draws, sets, n, n), whether an entry is observed; observed,
        shape (sets,), how many are in each set.

    Returns
    -------
    Trajectory
        Time is learning rate times steps, one time every `every` steps. Series of shape (members, times, 2): outside,
        the two recorded singular values; whole, the r-th and the (r+1)-th singular value of the whole gradient, zeros
        where those of `outside` are. Both are nan throughout for members that do not learn all r in `max_steps` steps.
        Constants observed, shape (sets,), and of shape (members,) rank, r, and draw and entry_set, a member's places
        along draws and sets. Members are all pairs of a draw and a set; sets vary fastest.
    """
    (draws, sets), size = data["mask"].shape[:2], data["truth"].shape[-1]
    draw, entry_set = (indices.ravel() for indices in np.indices((draws, sets)))
    truth, mask = data["truth"][draw], data["mask"][draw, entry_set]
    rank = int(np.linalg.matrix_rank(truth[0]))
    spectrum = np.linalg.svd(truth, compute_uv=False)[:, :rank]  # of the truth, shape (members, rank)
    rngs = generators(seed, "deep_linear.completion_exponents", draws)
    normal = np.array([rng.standard_normal((depth, size, size)) for rng in rngs])
    layers = [normal[draw, j] * scale ** (1 / depth) / np.sqrt(size) for j in range(depth)]
    steps = np.arange(0, max_steps, every)
    # two arrays of shape (members, times, 2): singular values of what the gradient has outside of the learned singular
    # vectors, and of the whole gradient
    outside, gradient_values = np.zeros((2, len(draw), len(steps), 2))
    active = np.arange(len(draw))  # members whose r-th singular value is not learned; `layers` are theirs
    for index in progress(range(len(steps)), "gradient"):
        W = networks.product(layers)
        U, values, Vt = np.linalg.svd(W)
        n_learned = learned(values[:, :rank], spectrum[active], share)
        unlearned = n_learned < rank
        # from here on without the members that have just learned all r
        active, W, U, Vt, n_learned = (array[unlearned] for array in (active, W, U, Vt, n_learned))
        if not len(active):
            break
        gradient_at = networks.observed(truth[active], mask[active])
        gradient = gradient_at(W)
        remaining_values = np.linalg.svd(set_aside(gradient, U, Vt, n_learned), compute_uv=False)
        # The (r - k)-th and the next, at places that count from zero; k is `n_learned`. At rank 2 these are the
        # gradient's second and third singular values while none is learned, then the first two outside of the vectors
        # of the one that is learned
        places = rank - 1 - n_learned[:, None] + np.arange(2)
        outside[active, index] = np.take_along_axis(remaining_values, places, axis=1)
        gradient_values[active, index] = np.linalg.svd(gradient, compute_uv=False)[:, rank - 1 : rank + 1]
        # `every` steps on; `descend` returns a list over the recorded steps, of which there is one here
        going_on = [layer[unlearned] for layer in layers]
        (layers,) = descent.descend(going_on, gradient_at, learning_rate, np.array([every]))
    # members that are still active have not learned all r in the steps that were taken
    outside[active], gradient_values[active] = np.nan, np.nan
    return Trajectory(
        learning_rate * steps,
        {"outside": outside, "whole": gradient_values},
        {"observed": data["observed"], "rank": np.full(len(draw), rank), "draw": draw, "entry_set": entry_set},
        undecided=np.isin(np.arange(len(draw)), active),
    )
