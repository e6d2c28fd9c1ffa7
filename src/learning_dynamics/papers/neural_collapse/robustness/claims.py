"""Claims on robustness against small perturbations, and on how DeepFool measures it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from learning_dynamics import evidence
from learning_dynamics.claims import Finding, Judgement, at_least, claim, every_draw
from learning_dynamics.papers.neural_collapse.trainings import (
    at_first_epoch,
    at_the_end,
    not_without_error,
    paired,
    when_errors_end,
)
from learning_dynamics.tidy import Table

SMALL = "networks of three families; at the default scale small ones, on 8 x 8 digits"


def _above_zero(name: str, values: np.ndarray) -> Judgement:
    return Judgement(at_least(
        name, evidence.mean(values), 0.0, because="95 % interval over trainings", draws_for=int((values > 0).sum()),
        draws_against=int((values <= 0).sum()), draws_undecided=int(np.isnan(values).sum()),
    ))  # fmt: skip


@claim("Figure 11", scope=SMALL, empirical=True)
def mse_more_robust(
    mse: Sequence[Table], ce: Sequence[Table], *, measure: Literal["robustness_smallest", "robustness"]
) -> Finding:
    r"""Networks trained with MSE tend to be more robust than those trained with cross-entropy.

    Robustness is the mean over test images of the smallest perturbation that is known to change the decision, relative
    to the image: DeepFool's or a crossing towards a train image. It ends at {mse:.2g} under MSE and at {ce:.2g} under
    cross-entropy. By DeepFool alone, as in the paper, it is {mse_deepfool:.2g} and {ce_deepfool:.2g}; but that measure
    can overshoot where outputs are saturated: see `deepfool_finds_the_boundary`.
    """
    first, second = paired(mse, ce)
    difference = at_the_end(first, measure, "test") - at_the_end(second, measure, "test")

    def judge(sign: int) -> Judgement:
        return _above_zero("robustness under MSE less that under CE, last epoch", sign * difference)

    facts = {
        "mse": float(at_the_end(first, "robustness_smallest", "test").mean()),
        "ce": float(at_the_end(second, "robustness_smallest", "test").mean()),
        "mse_deepfool": float(at_the_end(first, "robustness", "test").mean()),
        "ce_deepfool": float(at_the_end(second, "robustness", "test").mean()),
    }
    return Finding(judge, printed=1, rivals={"cross-entropy more robust": -1}, facts=facts)


@claim("Figure 9", scope=SMALL + ", MSE", empirical=True)
def robustness_grows_after_zero_error(
    trainings: Sequence[Table], *, measure: Literal["robustness_smallest", "robustness"]
) -> Finding:
    r"""Under MSE, networks become more robust when trained beyond zero train error.

    By the smallest perturbation that is known, DeepFool's or a crossing towards a train image. The paper reports, by
    DeepFool, a median growth of $0.18$, a mean of $0.93$ over its fifteen networks; by DeepFool it is here {median:.2g}
    and {mean:.2g}.
    """
    start, end = when_errors_end(trainings, measure, "test"), at_the_end(trainings, measure, "test")
    deepfool = at_the_end(trainings, "robustness", "test") - when_errors_end(trainings, "robustness", "test")

    def judge(sign: int) -> Judgement:
        return _above_zero("growth of robustness after train errors end", sign * (end - start))

    facts = {"median": float(np.median(deepfool)), "mean": float(np.mean(deepfool))}
    return Finding(
        judge, printed=1, rivals={"robustness that is lost": -1}, reason=not_without_error(trainings), facts=facts
    )


@claim("Figures 9 and 11", scope=SMALL + ", MSE", origin="ours", empirical=True)
def deepfool_finds_the_boundary(trainings: Sequence[Table]) -> Finding:
    r"""At the first epoch DeepFool's perturbations are no longer, in the mean, than known crossings of the decision
    boundary; after collapse under MSE they are longer, and so not the smallest.

    On the straight way from a test image to the nearest train image that the network decides differently, the decision
    changes somewhere: the smallest perturbation is no longer than that, and no gradient is needed to find it. Where
    DeepFool's mean is beyond the mean of these crossings, it has not found the nearest boundary: outputs near 0 and 1
    are flat around collapsed features, and a step that follows a small slope goes far past the face it aims at. What
    then grows is the flatness of the outputs.
    """

    def ratio(read: str) -> np.ndarray:
        at = at_first_epoch if read == "first" else at_the_end
        return at(trainings, "robustness", "test") / at(trainings, "robustness_crossing", "test")

    def judge(order: tuple[str, str]) -> Judgement:
        early, late = order
        after = np.log10(ratio(late))
        return Judgement(
            at_least(
                "$\\log_{10}$ of DeepFool's mean over that of known crossings, last epoch", evidence.mean(after), 0.0,
                because="95 % interval over trainings", draws_for=int((after > 0).sum()),
                draws_against=int((after <= 0).sum()), draws_undecided=int(np.isnan(after).sum()),
            ),
            every_draw("the same ratio at the first recorded epoch", ratio(early), at_most=1.0,
                       because="a smallest perturbation is no longer than a known crossing"),
        )  # fmt: skip

    return Finding(judge, printed=("first", "end"), rivals={"first and last epoch exchanged": ("end", "first")})
