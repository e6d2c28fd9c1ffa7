"""Claims on neural collapse in training: NC1 to NC4, under MSE and against cross-entropy.

The paper states limits over epochs. At a finite epoch a limit shows in two things: the quantity still falls after train
errors have ended, so that it is not the removal of errors that is seen, and it ends below a level that means something
by itself. A draw is one training: a network, a data set, a seed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from learning_dynamics import evidence
from learning_dynamics.claims import Check, Finding, Judgement, Untested, at_least, claim, every_draw, share_of_draws
from learning_dynamics.papers.neural_collapse.trainings import (
    at_first_epoch,
    at_the_end,
    by_seed,
    chance_level,
    not_without_error,
    over_trainings,
    paired,
    when_errors_end,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Table, settings_of

SMALL = "networks of three families; at the default scale small ones, on 8 x 8 digits"
RIVALS = {"networks as they are when train errors end": "errors end", "vectors without relation": "chance"}


def _limit(
    trainings: Sequence[Table], quantities: Sequence[str], factor: float, level: float, split: str = "train"
) -> Finding:
    """Judge whether quantities tend to zero: they fall after train errors end, and end below a level.

    The level is `level` times what unrelated random vectors have; of NC1, which has no such level, `level` itself.
    """

    def levels(quantity: str) -> np.ndarray:
        ends = at_the_end(trainings, quantity, split)
        return np.full(ends.shape, level) if quantity == "nc1" else level * chance_level(trainings, quantity)

    def judge(state: str) -> Judgement:
        checks: list[Check] = []
        for quantity in quantities:
            start, end = when_errors_end(trainings, quantity, split), at_the_end(trainings, quantity, split)
            bound = levels(quantity)
            if state == "errors end":
                end = start
            elif state == "chance":
                end = bound / level * (100 if quantity == "nc1" else 1)
            checks += [falls(quantity, start, end, factor), _below(quantity, end, bound, level)]
        return Judgement(*checks)

    first = at_first_epoch(trainings, quantities[0], split)
    facts = {
        "over_all": float(10 ** np.mean(np.log10(first / at_the_end(trainings, quantities[0], split)))),
        "end": float(np.median(at_the_end(trainings, quantities[0], split))),
    }
    return Finding(judge, printed="end", rivals=RIVALS, reason=not_without_error(trainings), facts=facts)


def falls(quantity: str, start: np.ndarray, end: np.ndarray, factor: float) -> Check:
    """Check that a quantity falls by a factor from the end of train errors to the end, in the mean over trainings."""
    fall, bound = np.log10(start / end), float(np.log10(factor))
    return at_least(
        f"$\\log_{{10}}$ of the fall of {quantity} after train errors end", evidence.mean(fall), bound,
        because="95 % interval over trainings", draws_for=int((fall > bound).sum()),
        draws_against=int((fall <= bound).sum()), draws_undecided=int(np.isnan(fall).sum()),
    )  # fmt: skip


def _below(quantity: str, end: np.ndarray, bound: np.ndarray, level: float) -> Check:
    noise = f"noise of {np.sqrt(level):.2g} of the signal, in standard deviations"
    why = noise if quantity == "nc1" else f"a share {level:g} of what unrelated random vectors have"
    return every_draw(f"{quantity} at the last epoch", end, at_most=bound, because=why)


@claim("Section 1.1 (NC1), Figure 7", scope=SMALL, empirical=True)
def nc1(trainings: Sequence[Table], *, factor: Positive, level: Positive) -> Finding:
    r"""Under MSE, within-class variability collapses against the distances between class means:
    $\mathrm{Tr}(\Sigma_B^\dagger\Sigma_W)/C \to 0$ on train images.

    It ends at {end:.2g} in the median training, {over_all:.3g} times less than at the first recorded epoch.
    """
    return _limit(trainings, ["nc1"], factor, level)


@claim("Section 1.1 (NC2), Figure 3", scope=SMALL, empirical=True)
def nc2_equinorm(trainings: Sequence[Table], *, factor: Positive, level: Positive) -> Finding:
    r"""Under MSE, the norms of the centred class means, and those of the classifiers, become equal.

    Std over mean of the class means' norms ends at {end:.2g} in the median training, {over_all:.3g} times less than at
    the first recorded epoch.
    """
    return _limit(trainings, ["equinorm_means", "equinorm_classifiers"], factor, level)


@claim("Section 1.1 (NC2), Figure 4", scope=SMALL, empirical=True)
def nc2_equiangular(trainings: Sequence[Table], *, factor: Positive, level: Positive) -> Finding:
    r"""Under MSE, the angles between class means, and between classifiers, become equal.

    The class means' cosines end with a standard deviation of {end:.2g} in the median training, {over_all:.3g} times
    less than at the first recorded epoch.
    """
    return _limit(trainings, ["equiangular_means", "equiangular_classifiers"], factor, level)


@claim("Section 1.1 (NC2), Figure 5", scope=SMALL, empirical=True)
def nc2_maximal_angle(trainings: Sequence[Table], *, factor: Positive, level: Positive) -> Finding:
    r"""Under MSE, those angles approach the largest that $C$ vectors can all have, $\cos = -1/(C-1)$.

    For class means the mean distance ends at {end:.2g} in the median training, {over_all:.3g} times less than at the
    first recorded epoch.
    """
    return _limit(trainings, ["maximal_angle_means", "maximal_angle_classifiers"], factor, level)


@claim("Section 1.1 (NC3), Figure 6", scope=SMALL, empirical=True)
def nc3(trainings: Sequence[Table], *, factor: Positive, level: Positive) -> Finding:
    r"""Under MSE, classifiers and centred class means converge to each other, up to scale:
    $\|W^\top/\|W\|_F - \bar M/\|\bar M\|_F\|_F^2 \to 0$.

    It ends at {end:.2g} in the median training, {over_all:.3g} times less than at the first recorded epoch.
    """
    return _limit(trainings, ["self_duality"], factor, level)


@claim("Section 1.1 (NC4), Figure 8", scope=SMALL, empirical=True)
def nc4(trainings: Sequence[Table], *, share: Fraction) -> Finding:
    r"""Under MSE, the network's decisions on train images become those of the nearest class mean.

    The share of images on which they differ is often zero already when train errors end, so it is held against a bound
    at the last epoch rather than against its own past. On test images it is {test:.2g} there, in the worst training.
    """

    def judge(where: str) -> Judgement:
        values = at_first_epoch(trainings, "nc4") if where == "first" else at_the_end(trainings, "nc4", where)
        return Judgement(every_draw(
            "share of images on which network and nearest mean differ", values, at_most=share,
            because="all images but stray ones",
        ))  # fmt: skip

    facts = {"test": float(at_the_end(trainings, "nc4", "test").max())}
    return Finding(judge, printed="train", rivals={"decisions at the first epoch": "first"}, facts=facts)


@claim("Figure 10", scope=SMALL + "; the learning rate of each loss and network chosen by test error", empirical=True)
def mse_collapses_faster(mse: Sequence[Table], ce: Sequence[Table]) -> Finding:
    r"""Variability tends to collapse faster under MSE than under cross-entropy.

    The logarithm of the ratio of both NC1 at the last epoch, for the same network and seed, must lie above zero in the
    mean over trainings. Weight decay is {mse_decay:g} under MSE and {ce_decay:g} under cross-entropy; equal numbers
    would not be equally strong, because the losses' gradients differ in size.
    """
    first, second = paired(mse, ce)
    ratio = np.log10(at_the_end(second, "nc1") / at_the_end(first, "nc1"))

    def judge(sign: int) -> Judgement:
        return Judgement(at_least(
            "$\\log_{10}$ of NC1 under CE over NC1 under MSE, last epoch", evidence.mean(sign * ratio), 0.0,
            because="95 % interval over pairs of trainings", draws_for=int((sign * ratio > 0).sum()),
            draws_against=int((sign * ratio <= 0).sum()), draws_undecided=int(np.isnan(ratio).sum()),
        ))  # fmt: skip

    facts = {"mse_decay": settings_of(first[0])["weight_decay"], "ce_decay": settings_of(second[0])["weight_decay"]}
    return Finding(judge, printed=1, rivals={"cross-entropy faster": -1}, facts=facts)


@claim("Appendix E.1", scope=SMALL, empirical=True)
def nc2_not_slower(trainings: Sequence[Table], *, factor: Positive) -> Finding:
    r"""NC2 does not happen more slowly than NC1 and NC3.

    A quantity has arrived at the first recorded epoch at which it has made nine tenths of its way to the last, on a
    logarithmic scale. NC2 is the last to arrive of the spreads of norms and angles of class means; NC1 and NC3 the
    later of both. Not more slowly is: not later by more than the factor, in the mean of logarithms over trainings.
    """

    def arrival(table: Table, *quantities: str) -> np.ndarray:
        epochs = []
        for quantity in quantities:
            values = np.log(by_seed(table, quantity))
            way = (values.iloc[0] - values) / (values.iloc[0] - values.iloc[-1])
            there = way >= 0.9
            epochs.append(there.idxmax().where(there.any()).to_numpy(dtype=float))
        return np.max(epochs, axis=0)

    angles = over_trainings(
        trainings, lambda table: arrival(table, "equinorm_means", "equiangular_means", "maximal_angle_means")
    )
    others = over_trainings(trainings, lambda table: arrival(table, "nc1", "self_duality"))
    bound = -float(np.log10(factor))

    def judge(delay: float) -> Judgement:
        lead = np.log10(others / (delay * angles))
        return Judgement(at_least(
            "$\\log_{10}$ of the arrival of NC1 and NC3 over that of NC2", evidence.mean(lead), bound,
            because="not later by more than the factor", draws_for=int((lead > bound).sum()),
            draws_against=int((lead <= bound).sum()), draws_undecided=int(np.isnan(lead).sum()),
        ))  # fmt: skip

    return Finding(judge, printed=1.0, rivals={"NC2 three times later than it is": 3.0})


@claim("Appendix A", scope="MNIST, FashionMNIST, SVHN, CIFAR10 and STL10, three networks each", empirical=True)
def five_data_sets(
    trainings: Sequence[Table], *, factor: Positive, level: Positive, share: Fraction, networks: Fraction
) -> Finding:
    r"""Neural collapse occurs under MSE on the paper's five data sets and three networks: NC1 falls and ends low,
    norms, angles and self-duality fall, and decisions become those of the nearest class mean.

    Appendix A.7 names ResNet and DenseNet on STL10 as exceptions: they are left out. The runs belong to the full-scale
    configuration, which downloads the data sets and needs a GPU.
    """
    known = [table for table in trainings if table["data"].iloc[0] in FIVE]
    if len({table["data"].iloc[0] for table in known}) < len(FIVE):
        raise Untested(
            "needs MNIST, FashionMNIST, SVHN, CIFAR10 and STL10, and a GPU: "
            "snakemake --configfile workflow/config/full.yaml"
        )
    ordinary = [table for table in known if (table["data"].iloc[0], settings_of(table)["network"]) not in EXCEPTIONS]
    left_out = {"named as exceptions by the paper": len(known) - len(ordinary)}

    def judge(state: str) -> Judgement:
        checks = []
        for quantity in ("nc1", "equinorm_means", "equiangular_means", "maximal_angle_means", "self_duality"):
            start, end = when_errors_end(ordinary, quantity), at_the_end(ordinary, quantity)
            fall = start / (end if state == "end" else start)
            good = fall >= factor
            if quantity == "nc1":
                good &= end <= level
            checks.append(share_of_draws(
                f"networks in which {quantity} falls", good, undecided=np.isnan(fall), at_least=networks,
                because="the figures show it in all but the exceptions", left_out=left_out,
            ))  # fmt: skip
        differ = at_the_end(ordinary, "nc4") if state == "end" else at_first_epoch(ordinary, "nc4")
        checks.append(share_of_draws("networks with NC4", differ <= share, at_least=networks, left_out=left_out))
        return Judgement(*checks)

    return Finding(judge, printed="end", rivals={"networks as they are when train errors end": "errors end"})


FIVE = ("mnist", "fashion_mnist", "svhn", "cifar10", "stl10")
EXCEPTIONS = (("stl10", "resnet"), ("stl10", "densenet"))
