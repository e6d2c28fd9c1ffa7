"""Claims that something is larger than something else: the sign of differences over trainings."""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from learning_dynamics import evidence
from learning_dynamics.judging import Check, at_least, takes_rivals

Average = Literal["mean", "median"]


@takes_rivals("values")
def above_zero(
    name: str, values: np.ndarray, average: Average = "mean", *, excluded: Mapping[str, int] | None = None
) -> Check:
    """Check that the mean or the median over trainings lies above zero, with its 95 % interval; rivals are values."""
    estimates = {"mean": evidence.mean, "median": evidence.median}
    return at_least(
        name,
        estimates[average](values),
        0.0,
        because="95 % interval over trainings",
        draws_for=int((values > 0).sum()),
        draws_against=int((values <= 0).sum()),
        draws_undecided=int(np.isnan(values).sum()),
        excluded=excluded,
    )


def half_exchanged(values: np.ndarray) -> np.ndarray:
    """Return differences with what they compare exchanged in every second training.

    It is what pairs labelled at random give.
    """
    return values * np.where(np.arange(len(values)) % 2, -1.0, 1.0)
