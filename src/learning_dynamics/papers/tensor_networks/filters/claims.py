"""Classification of one data point by two layers, also with short filters: Theorem 3, Corollary 4."""

from __future__ import annotations

import numpy as np

from learning_dynamics.claims import Finding, Judgement, claim, equal_on_every_draw, every_draw
from learning_dynamics.papers.tensor_networks.limit_checks import LAG, falls_like, slowest, while_exact
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table, by_draw, select, settings_of


def _last(run: Table, quantity: str, **where: object) -> np.ndarray:
    """Return a quantity at the last time, one value a network and data set."""
    last = select(run, quantity, sigma=run["sigma"].max(), **where)
    return by_draw(last, quantity, draw=["network", "seed"])[:, 0]


@claim(
    "Theorem 3",
    scope="single points with labels of both signs, one with a conjugate pair of singular values on top; fully "
    "connected, diagonal, filters of every length, random matrices M",
)
def theorem_3(run: Table, *, slack: Positive) -> Finding:
    r"""Two layers trained on one point, of which the first starts larger than the second in every singular
    coordinate of $M(x)$, bring the loss to zero and tend in direction to the $\ell_1$ max-margin solution in those
    coordinates: to top singular vectors, both layers alike up to the label's sign, for any matrix $M(x)$.

    Where the largest singular value is not simple, as for a conjugate pair of frequencies, solutions are many and
    the start chooses among them; each has the same margin, by which all {draws} draws are judged. Flows are followed as
    for Theorem 1, with the exponent of the loss capped at late times; the loss is judged before.
    """
    exact = while_exact([run])

    def judge(predicted: tuple[str, str, float]) -> Judgement:
        norm, difference, power = predicted
        bound = slowest([run], slack)
        return Judgement(
            every_draw(
                rf"gap to the largest ${norm}$ margin in singular coordinates",
                np.abs(_last(run, {r"\ell_1": "gap_l1", r"\ell_2": "gap_l2"}[norm])),
                at_most=bound,
                because=f"{slack:g} times ${LAG}$",
            ),
            every_draw(
                "distance of one layer's singular coordinates from the other's, with the sign predicted, relative",
                _last(run, difference),
                at_most=bound,
                because="the difference does not grow, while the layers do, like $(\\log t)^{1/2}$",
            ),
            falls_like(_last(exact[0], "margin"), exact, slack, power),
        )

    return Finding(
        judge,
        (r"\ell_1", "difference", 1.0),
        rivals={
            r"the $\ell_2$ max margin in singular coordinates": (r"\ell_2", "difference", 1.0),
            "layers alike up to the opposite of the label's sign": (r"\ell_1", "opposite", 1.0),
            "layers alike, whatever the label": (r"\ell_1", "unsigned", 1.0),
            "a loss that does not fall": (r"\ell_1", "difference", 0.0),
        },
    )


@claim("Corollary 4", scope="four signals of six entries, autocorrelations of both signs, labels of both signs")
def corollary_4(run: Table) -> Finding:
    r"""A two-layer convolutional network trained on one point tends in direction to $y x$ with filters of length one,
    and to $2 y x \pm y (\overleftarrow{x} + \overrightarrow{x})$ with filters of length two, the sign being that of
    the autocorrelation $x^T \overleftarrow{x}$, if the printed conditions on the start hold.

    The filter passes low frequencies where the autocorrelation is positive, high ones where it is negative. The
    printed conditions are Theorem 3's in the singular coordinates of $M(x)$, with $2 \lambda$ for filters of length
    two. With an autocorrelation of zero the two singular values agree, and the start decides.
    """
    lengths = {"length": [1, 2]}
    # one data point: the angle settles as (log t)^(-(1 - s) / 2), below the integrator's floor for these points
    floor = np.degrees(np.sqrt(settings_of(run)["atol"]))
    rows = select(run, "condition", **lengths)

    def judge(predicted: str) -> Judgement:
        return Judgement(
            every_draw(
                "angle to the predicted direction (degrees)",
                _last(run, predicted, **lengths),
                at_most=floor,
                because="the root of the integrator's absolute tolerance",
            ),
            equal_on_every_draw(
                r"$\lambda$ of the printed conditions and of Theorem 3",
                rows["value"].to_numpy(),
                rows["predicted"].to_numpy(),
                tolerance=1e-10,
                because="rounding",
            ),
        )

    return Finding(
        judge,
        "angle_corollary",
        rivals={
            "the data point, for either length": "angle_point",
            "for length two, the filter of the other sign": "angle_other_sign",
            "the max margin of the Fourier transform's $\\ell_1$ norm": "angle_fourier",
        },
    )
