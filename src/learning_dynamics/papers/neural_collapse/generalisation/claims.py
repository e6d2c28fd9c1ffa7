"""Claims on test images: how collapse shows on them, how accuracy goes on, and how it compares between losses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from learning_dynamics import evidence
from learning_dynamics.claims import Finding, Judgement, at_least, at_most, claim
from learning_dynamics.papers.neural_collapse.trainings import (
    at_first_epoch,
    at_the_end,
    not_without_error,
    paired,
    when_errors_end,
)
from learning_dynamics.settings import Positive
from learning_dynamics.tidy import Table

SMALL = "networks of three families; at the default scale small ones, on 8 x 8 digits"
INTERVAL = "95 % interval over trainings"


def _slower_on_test(trainings: Sequence[Table], quantities: Sequence[str], falls_too: bool) -> Finding:
    """Judge whether quantities fall less on test than on train images after train errors end, and end above."""

    def judge(splits: tuple[str, str]) -> Judgement:
        train, test = splits
        checks = []
        for quantity in quantities:
            starts, ends = (
                {split: np.log10(read(trainings, quantity, split)) for split in ("train", "test")}
                for read in (when_errors_end, at_the_end)
            )
            fall = {split: starts[split] - ends[split] for split in ("train", "test")}
            slower, above = fall[train] - fall[test], ends[test] - ends[train]
            named = f"$\\log_{{10}}$ of {quantity}"
            checks.append(at_least(
                f"{named}: fall on train less fall on test images", evidence.mean(slower), 0.0, because=INTERVAL,
                draws_for=int((slower > 0).sum()), draws_against=int((slower <= 0).sum()),
                draws_undecided=int(np.isnan(slower).sum()),
            ))  # fmt: skip
            checks.append(
                at_least(f"{named}: test less train images, last epoch", evidence.mean(above), 0.0, because=INTERVAL)
            )
            if falls_too:
                checks.append(
                    at_least(f"{named}: fall on test images", evidence.mean(fall[test]), 0.0, because=INTERVAL)
                )
        return Judgement(*checks)

    rivals = {"test and train images exchanged": ("test", "train")}
    return Finding(judge, printed=("train", "test"), rivals=rivals, reason=not_without_error(trainings))


@claim("Figure 12", scope=SMALL + ", both losses", empirical=True)
def test_collapse_slower(trainings: Sequence[Table]) -> Finding:
    r"""On test images variability collapses too, but more slowly and less deeply than on train images.

    From the end of train errors to the last epoch NC1 falls on test images, by less than on train images, and ends
    above it. Where test classes are not equally frequent, they weigh equally all the same.
    """
    return _slower_on_test(trainings, ["nc1"], falls_too=True)


test_collapse_slower.__test__ = False  # a claim, not a test


@claim("Appendix A.8", scope=SMALL + ", MSE", empirical=True)
def collapse_on_test_images(trainings: Sequence[Table]) -> Finding:
    r"""The other phenomena of neural collapse behave on test images as variability does: norms, angles and
    self-duality of the class means of test features fall more slowly than on train images, and end above.
    """
    quantities = ["equinorm_means", "equiangular_means", "maximal_angle_means", "self_duality"]
    return _slower_on_test(trainings, quantities, falls_too=False)


@claim("Table 1", scope=SMALL + ", MSE", empirical=True)
def accuracy_after_zero_error(trainings: Sequence[Table]) -> Finding:
    r"""Under MSE, test accuracy improves when training goes on beyond zero train error.

    The mean over all trainings must lie above zero by more than its 95 % interval; the median is {median:.2f}
    percentage points. The paper's median is $0.96$ and its mean $1.83$, with one of fifteen networks getting worse.
    """
    gain = 100 * (when_errors_end(trainings, "error", "test") - at_the_end(trainings, "error", "test"))

    def judge(sign: int) -> Judgement:
        return Judgement(at_least(
            "gain in test accuracy, percentage points", evidence.mean(sign * gain), 0.0, because=INTERVAL,
            draws_for=int((sign * gain > 0).sum()), draws_against=int((sign * gain <= 0).sum()),
            draws_undecided=int(np.isnan(gain).sum()),
        ))  # fmt: skip

    return Finding(
        judge, printed=1, rivals={"accuracy that gets worse": -1}, facts={"median": float(np.median(gain))},
        reason=not_without_error(trainings),
    )  # fmt: skip


@claim("Section 1.2, Appendix A.1", scope=SMALL + "; learning rates chosen for each loss", empirical=True)
def accuracy_comparable_to_ce(mse: Sequence[Table], ce: Sequence[Table], *, margin: Positive) -> Finding:
    r"""Networks trained with MSE reach a test accuracy comparable to that under cross-entropy.

    The difference at the last epoch, for the same network and seed, must lie within the margin on both sides, with its
    95 % interval.
    """
    first, second = paired(mse, ce)

    def judge(when: str) -> Judgement:
        read = at_first_epoch if when == "first" else at_the_end
        accuracy = [-100 * read(first, "error", "test"), -100 * at_the_end(second, "error", "test")]
        difference = evidence.difference(*accuracy)
        named = "test accuracy under MSE less that under CE, percentage points"
        because = "the margin; 95 % interval over pairs of trainings"
        return Judgement(
            at_least(named, difference, -margin, because=because), at_most(named, difference, margin, because=because)
        )

    return Finding(judge, printed="end", rivals={"MSE at its first recorded epoch": "first"})
