"""Claims that something is larger than something else: the sign of differences over trainings.

A draw is one training. `values` are differences, shape (trainings,), above zero in the trainings of which the claim is
right.
"""

from collections.abc import Mapping
from typing import Literal

import numpy as np

from learning_dynamics import evidence
from learning_dynamics.judging import Check, at_least, takes_rivals

Average = Literal["mean", "median"]


# `takes_rivals` adds rivals=, corrected= and others to the parameters. A rival is other `values`: the differences that
# there would be if the rival were right
@takes_rivals("values")
def above_zero(
    name: str, values: np.ndarray, average: Average = "mean", *, excluded: Mapping[str, int] | None = None
) -> Check:
    """Check that the mean or the median over trainings is above zero with its whole 95 % interval.

    A lower end of exactly zero passes. If all values are zero the check is undecided: nothing is larger. An interval
    that has zero inside leaves it undecided as well, which is enough to refuse a rival, and so does a nan among
    `values`, as there is no average. `excluded` has the number of trainings that were left out, by the reason.
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


def with_every_second_sign_turned(values: np.ndarray) -> np.ndarray:
    """Return differences, one for each training, with the sign of every second one turned.

    That is what exchanging both sides of the comparison in every second training gives, as a random labelling would.
    """
    return values * np.where(np.arange(len(values)) % 2, -1.0, 1.0)
