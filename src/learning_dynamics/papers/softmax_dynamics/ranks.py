"""The measures of effective rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from learning_dynamics.measures.rank import rankme
from learning_dynamics.measures.spectra import effective_rank, singular_values

# RankMe on the covariance about zero and about the mean, and Roy and Vetterli's rank of the singular values
RANKS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "rankme": lambda f: rankme(f, centred=False),
    "rankme_centred": lambda f: rankme(f, centred=True),
    "effective_rank": lambda f: effective_rank(singular_values(f)),
}
