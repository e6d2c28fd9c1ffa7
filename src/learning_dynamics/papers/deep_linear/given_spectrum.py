"""A data set of low-rank matrices with given singular values, and of which of their entries are observed."""

import numpy as np

from learning_dynamics.errors import ProjectError
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Positive, Seed


def nested(
    *, size: Count, singular_values: list[Positive], observed: list[Count], draws: Count, seed: Seed
) -> dict[str, np.ndarray]:
    """Matrices W* with ||W*||_F = size and singular vectors turned at random, with nested sets of observed entries.

    The singular values of W* are those of `singular_values` times one number, on every draw; `matrix_completion.nested`
    has Gaussian factors instead. `observed` has the number of entries of each set.

    Returns
    -------
    dict
        truth, W*, shape (draws, size, size); mask, of bool, shape (draws, sets, size, size), whether an entry is
        observed; observed, shape (sets,).

    Raises
    ------
    ProjectError
        If more entries are to be observed, or singular values given, than the matrix has.
    """
    if max(observed) > size * size or len(singular_values) > size:
        raise ProjectError(
            f"a {size} x {size} matrix has {size * size} entries and {size} singular values; "
            f"lower observed ({max(observed)}) or give fewer singular values ({len(singular_values)})"
        )
    spectrum = size * np.array(singular_values) / np.linalg.norm(singular_values)
    truth = np.empty((draws, size, size))
    ranks = np.empty((draws, size * size), dtype=int)
    for draw, rng in enumerate(generators(seed, "deep_linear.given_spectrum", draws)):
        # random orthonormal columns, shape (size, singular values) each
        U, V = (np.linalg.qr(rng.standard_normal((size, len(spectrum))))[0] for _ in range(2))
        truth[draw] = (U * spectrum) @ V.T
        ranks[draw] = rng.permutation(size * size)
    # `ranks` has each entry's place, from zero on, in a random order of all entries. An entry is in every set that has
    # more entries than this place, so that sets are nested. Shape of masks: (draws, sets, size * size)
    masks = ranks[:, None] < np.array(observed)[:, None]
    return {"truth": truth, "mask": masks.reshape(draws, -1, size, size), "observed": np.array(observed)}
