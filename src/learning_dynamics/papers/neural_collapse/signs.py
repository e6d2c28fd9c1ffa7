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
    """Check that the mean or the median over trainings is above zero with its whole 95 % interval.

    `values` has one number for each training, and so has each rival.
    """
    estimates = {"mean": evidence.mean, "median": evidence.median}
    return at_least(
        name,
        estimates[average](values),
        0.0,
        because="95 % interval over trainings",
        # the interval decides; the page says for how many trainings the sign is right, and for how many not
        draws_for=int((values > 0).sum()),
        draws_against=int((values <= 0).sum()),
        draws_undecided=int(np.isnan(values).sum()),
        excluded=excluded,
    )


def half_exchanged(values: np.ndarray) -> np.ndarray:
    """Return differences, one for each training, with the sign of every second one turned.

    That is what exchanging both sides of the comparison in every second training gives, as a random labelling would.
    """
    return values * np.where(np.arange(len(values)) % 2, -1.0, 1.0)
