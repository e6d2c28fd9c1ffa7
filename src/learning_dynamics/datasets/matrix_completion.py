"""Low-rank matrices of which only some entries are seen."""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Seed


def low_rank(*, size: Count, rank: Count, observed: Count, draws: Count, seed: Seed) -> dict[str, np.ndarray]:
    """Gaussian low-rank matrices W* = U V^T with ||W*||_F = size, and uniformly drawn observed entries.

    The observed entries are the first of one random order, so that with the same seed a larger `observed`
    adds entries to the same matrix and removes none (Arora, Cohen, Hu, Luo 2019, section 2).

    Returns
    -------
    dict
        truth, shape (draws, size, size), whose entries have mean square one; mask, of bool, the same shape: where
        an entry is observed.

    Raises
    ------
    ProjectError
        If more entries are to be observed than there are, or the rank exceeds the size.
    """
    if observed > size * size or rank > size:
        raise ProjectError(
            f"a {size} x {size} matrix has {size * size} entries and rank at most {size}; "
            f"lower observed ({observed}) or rank ({rank})"
        )
    truth = np.empty((draws, size, size))
    mask = np.zeros((draws, size * size), dtype=bool)
    for draw, rng in enumerate(generators(seed, "matrix_completion.low_rank", draws)):
        W = rng.standard_normal((size, rank)) @ rng.standard_normal((rank, size))
        truth[draw] = W * (size / np.linalg.norm(W))
        mask[draw, rng.permutation(size * size)[:observed]] = True
    return {"truth": truth, "mask": mask.reshape(truth.shape)}


def nested(*, size: Count, rank: Count, observed: list[Count], draws: Count, seed: Seed) -> dict[str, np.ndarray]:
    """Matrices as in `low_rank`, each with several nested sets of observed entries.

    Returns
    -------
    dict
        truth, shape (draws, size, size); mask, shape (draws, sets, size, size); observed, shape (sets,).

    Raises
    ------
    ProjectError
        As `low_rank`.
    """
    found = [low_rank(size=size, rank=rank, observed=count, draws=draws, seed=seed) for count in observed]
    masks = np.stack([each["mask"] for each in found], axis=1)
    return {"truth": found[0]["truth"], "mask": masks, "observed": np.array(observed)}
