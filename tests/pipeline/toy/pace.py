"""How the made-up paper's cooling is followed."""

from dataclasses import dataclass

from learning_dynamics.settings import Count, Positive


@dataclass(frozen=True)
class Accuracy:
    """How accurate a solution is.

    Parameters
    ----------
    rtol : float
        Relative error allowed.
    """

    rtol: Positive


@dataclass(frozen=True)
class Pace(Accuracy):
    """How a body is followed.

    Parameters
    ----------
    horizon : float
        Until when.
    points : int
        How many times are recorded.
    """

    horizon: Positive
    points: Count
