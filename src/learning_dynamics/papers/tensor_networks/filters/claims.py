"""Classification of one data point by two layers, also with short filters: Theorem 3, Corollary 4."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from learning_dynamics.judging import Check, Checks, Finding, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.tensor_networks.limit_checks import (
    compared,
    last_sigma,
    last_values,
    limit_error,
    loss_vanishes,
)
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Quantity, Table, by_draw


def _at_start(flows: Sequence[Table], quantity: Quantity, **where: Any) -> np.ndarray:
    """Return a quantity that is measured at the first time alone, one value a network and data set."""
    return np.concatenate([by_draw(run, quantity, **where)[:, 0] for run in flows])


def _left_by_transient(name: str, values: np.ndarray, transient: np.ndarray, error: float, resolution: float) -> Check:
    """Check that no more is left at the last time than a draw's own start and the time allow."""
    return every_draw(
        name,
        values,
        at_most=transient + error,
        because="what the draw's own transient leaves, and the integrator's error; undecided where that is "
        f"above {resolution:g}",
        undecided=transient > resolution,
    )


@claim(
    "Theorem 3",
    scope="single points, given and drawn, with labels of both signs, one with a conjugate pair of singular values on "
    "top; fully connected, diagonal, filters of every length, random matrices M",
)
def theorem_3(flows: Sequence[Table], *, slack: Positive, resolution: Positive) -> Finding:
    r"""Two layers trained on one point, of which the first starts larger than the second in every singular
    coordinate of $M(x)$, bring the loss to zero and tend in direction to the $\ell_1$ max-margin solution in those
    coordinates: to top singular vectors, both layers alike up to the label's sign, for any matrix $M(x)$.

    Where the largest singular value is not simple, as for a conjugate pair of frequencies, solutions are many and
    the start chooses among them; each has the same margin, by which all {draws} draws are judged. What is left of the
    other coordinates is bounded draw by draw, from the start and the time alone: it falls like
    $(\log t)^{-(1 - s)}$ with $s$ their singular value relative to the largest. A draw of which that could still be
    seen is undecided. Flows are followed to a $\log\log t$ of {reached:.0f}, as for Theorem 1, with the exponent of
    the loss capped at late times; the loss is judged before.
    """
    error = limit_error(flows)
    transient = _at_start(flows, "largest_gap")

    def judge(predicted: tuple[Quantity, Quantity, float]) -> Checks:
        gap, difference, power = predicted
        norm = {"gap_l1": r"\ell_1", "gap_l2": r"\ell_2"}[gap]
        yield _left_by_transient(
            rf"gap to the largest ${norm}$ margin in singular coordinates",
            np.abs(last_values(flows, gap)),
            transient,
            error,
            resolution,
        )
        yield every_draw(
            "distance of one layer's singular coordinates from the other's, with the sign predicted, relative",
            last_values(flows, difference),
            at_most=error,
            because="the integrator's error: the difference falls while the layers grow like $(\\log t)^{1/2}$",
        )
        yield loss_vanishes(flows, slack, power)

    return Finding(
        judge,
        ("gap_l1", "difference", 1.0),
        rivals={
            r"the $\ell_2$ max margin in singular coordinates": ("gap_l2", "difference", 1.0),
            "layers alike up to the opposite of the label's sign": ("gap_l1", "opposite", 1.0),
            "layers alike, whatever the label": ("gap_l1", "unsigned", 1.0),
            "a loss that does not fall": ("gap_l1", "difference", 0.0),
        },
        facts={"reached": last_sigma(flows)},
    )


@claim(
    "Corollary 4",
    scope="signals of six entries, four given and others drawn, autocorrelations of both signs, labels of both signs",
)
def corollary_4(flows: Sequence[Table], *, degrees: Positive) -> Finding:
    r"""A two-layer convolutional network trained on one point tends in direction to $y x$ with filters of length one,
    and to $2 y x \pm y (\overleftarrow{x} + \overrightarrow{x})$ with filters of length two, the sign being that of
    the autocorrelation $x^T \overleftarrow{x}$, if the printed conditions on the start hold.

    The filter passes low frequencies where the autocorrelation is positive, high ones where it is negative. The
    printed conditions are Theorem 3's in the singular coordinates of $M(x)$, with $2 \lambda$ for filters of length
    two. With an autocorrelation of zero the two singular values agree, and the start decides; near zero the other
    filter dies like $(\log t)^{-(1 - s) / 2}$ with a ratio $s$ of singular values close to one. Each draw is held to
    what its own start and the time allow; of the {draws} draws the largest that is allowed is {allowed:.1e} degrees.
    """
    lengths = {"length": [1, 2]}
    transient, error = _at_start(flows, "largest_angle", **lengths), np.degrees(limit_error(flows))
    conditions = [compared(run, "condition", **lengths) for run in flows]
    condition, theorem = (np.concatenate(column)[:, 0] for column in zip(*conditions, strict=True))

    def judge(predicted: Quantity) -> Checks:
        values = last_values(flows, predicted, **lengths)
        yield _left_by_transient("angle to the predicted direction (degrees)", values, transient, error, degrees)
        yield equal_on_every_draw(
            r"$\lambda$ of the printed conditions and of Theorem 3",
            condition,
            theorem,
            tolerance=1e-10,
            because="rounding",
        )

    return Finding(
        judge,
        "angle_corollary",
        rivals={
            "the data point, for either length": "angle_point",
            "for length two, the filter of the other sign": "angle_other_sign",
            "the max margin of the Fourier transform's $\\ell_1$ norm": "angle_fourier",
        },
        facts={"allowed": float(np.max(transient + error))},
    )
