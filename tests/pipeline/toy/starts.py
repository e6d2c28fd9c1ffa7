"""Where growth starts."""

import numpy as np

from learning_dynamics.seeds import generators
from learning_dynamics.settings import Count, Seed


def normal(*, samples: Count, seed: Seed) -> dict[str, np.ndarray]:
    """Standard normal starts, shape (samples,)."""
    return {"x": np.array([rng.standard_normal() for rng in generators(seed, "starts.normal", samples)])}
