"""How the factor with which depth moves a singular value depends on the number of layers."""

import numpy as np


def log_of_turning_value(fewer: int, more: int) -> float:
    """Logarithm of the singular value at which the factor N sigma^(2 - 2/N) is the same for two numbers of layers.

    Above it the factor is larger with more layers, below it smaller. As the numbers come together it tends to
    ``-N / 2``, where the derivative in N of ``ln N + (2 - 2/N) ln sigma`` vanishes.
    """
    return float(-np.log(more / fewer) * fewer * more / (2 * (more - fewer)))
