"""Claims on neural collapse in training: NC1 to NC4, under MSE and against cross-entropy.

The paper states limits over epochs, of every training that goes on beyond zero train error. At a finite epoch a limit
shows in two things: in every training the quantity ends below a level that means something by itself; and in the mean
over trainings it still falls after train errors have ended, so that it is not the removal of errors that is seen. A
draw is one training: a network, a data set, a seed. Trainings that the paper names as exceptions are left out; where
others keep train errors the premise is not met, and nothing is decided.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from learning_dynamics.judging import (
    Checks,
    Claim,
    Facts,
    Finding,
    Instead,
    Untested,
    claim,
    every_draw,
)
from learning_dynamics.papers.neural_collapse.signs import above_zero, half_exchanged
from learning_dynamics.papers.neural_collapse.trainings import (
    FIVE,
    NEEDS_FIVE,
    NOT_AT_PAPERS_RATES,
    SMALL,
    UNDECIDED_AT_PAPERS_RATES,
    at_first_epoch,
    at_the_drop,
    at_the_end,
    by_seed,
    chance_level,
    errors_end,
    ordinary,
    paired,
    place_of,
    when_errors_end,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, settings_of

AUTHORS_DECAY = 5e-4  # under MSE of a loss that averages over classes: C / 2 times as much in the paper's
RIVALS = {
    "collapse that is done when train errors end": "errors end",
    "end and start exchanged in every second training": "exchanged",
    "vectors without relation": "chance",
}


def _limit(trainings: Sequence[Table], quantities: Sequence[Quantity], level: float) -> Finding:
    """Judge whether quantities tend to zero: all end below a level, and they fall in the mean after train errors end.

    The level is `level` times what unrelated random vectors have; of NC1, a ratio of noise to signal that has a
    meaning of its own, `level` itself.
    """
    included, excluded = ordinary(trainings)

    def judge(state: str) -> Checks:
        for quantity in quantities:
            fall, end = _fall(included, quantity, state)
            is_ratio = quantity == "nc1"
            noise = f"noise of {np.sqrt(level):.2g} of the signal, in standard deviations"
            yield every_draw(
                f"{quantity} at the last epoch",
                end,
                at_most=np.full(end.shape, level) if is_ratio else level * chance_level(included, quantity),
                because=noise if is_ratio else f"a share {level:g} of what unrelated random vectors have",
                excluded=excluded,
            )
            yield above_zero(
                f"$\\log_{{10}}$ of the fall of {quantity} after train errors end", fall, excluded=excluded
            )
        yield errors_end(included, excluded)

    initial, final = at_first_epoch(included, quantities[0]), at_the_end(included, quantities[0])
    facts = {"over_all": 10 ** np.mean(np.log10(initial / final)), "end": np.median(final)}
    return Finding(judge, printed="end", rivals=RIVALS, facts=facts)


def _fall(included: Sequence[Table], quantity: Quantity, state: str) -> tuple[np.ndarray, np.ndarray]:
    """Return how far a quantity falls after train errors end, in decades, and its end, as `state` or a rival has it."""
    start, end = when_errors_end(included, quantity), at_the_end(included, quantity)
    if state == "errors end":
        start, end = at_first_epoch(included, quantity), start
    elif state == "chance":
        end = chance_level(included, quantity)
    fall = np.log10(start / end)
    return half_exchanged(fall) if state == "exchanged" else fall, end


@claim("Section 1.1 (NC1), Figure 7", scope=SMALL + NOT_AT_PAPERS_RATES, empirical=True, quantifier="all draws")
def nc1(trainings: Sequence[Table], *, level: Positive) -> Finding:
    r"""Under MSE, in training beyond zero train error, within-class variability collapses against the distances between
    class means: $\mathrm{Tr}(\Sigma_B^\dagger\Sigma_W)/C \to 0$ on train images.

    It ends at {end:.1g} in the median training, {over_all:.1g} times less than at the first recorded epoch. The limit
    is that of the matrix; its trace is what the paper's figures draw (errata 7 and 9).
    """
    return _limit(trainings, ["nc1"], level)


@claim("Section 1.1 (NC2), Figure 3", scope=SMALL + NOT_AT_PAPERS_RATES, empirical=True, quantifier="all draws")
def nc2_equinorm(trainings: Sequence[Table], *, level: Positive) -> Finding:
    r"""Under MSE, in training beyond zero train error, the norms of the centred class means, and those of the
    classifiers, become equal.

    Std over mean of the class means' norms ends at {end:.1g} in the median training, {over_all:.1g} times less than at
    the first recorded epoch.
    """
    return _limit(trainings, ["equinorm_means", "equinorm_classifiers"], level)


@claim("Section 1.1 (NC2), Figure 4", scope=SMALL + NOT_AT_PAPERS_RATES, empirical=True, quantifier="all draws")
def nc2_equiangular(trainings: Sequence[Table], *, level: Positive) -> Finding:
    r"""Under MSE, in training beyond zero train error, the angles between class means, and between classifiers, become
    equal.

    The class means' cosines end with a standard deviation of {end:.1g} in the median training, {over_all:.1g} times
    less than at the first recorded epoch.
    """
    return _limit(trainings, ["equiangular_means", "equiangular_classifiers"], level)


@claim("Section 1.1 (NC2), Figure 5", scope=SMALL + NOT_AT_PAPERS_RATES, empirical=True, quantifier="all draws")
def nc2_maximal_angle(trainings: Sequence[Table], *, level: Positive) -> Finding:
    r"""Under MSE, in training beyond zero train error, the angles between class means, and between classifiers,
    approach the largest that $C$ vectors can all have, $\cos = -1/(C-1)$.

    For class means the mean distance ends at {end:.1g} in the median training, {over_all:.1g} times less than at the
    first recorded epoch.
    """
    return _limit(trainings, ["maximal_angle_means", "maximal_angle_classifiers"], level)


@claim("Section 1.1 (NC3), Figure 6", scope=SMALL + NOT_AT_PAPERS_RATES, empirical=True, quantifier="all draws")
def nc3(trainings: Sequence[Table], *, level: Positive) -> Finding:
    r"""Under MSE, in training beyond zero train error, classifiers and centred class means converge to each other, up
    to scale: $\|W^\top/\|W\|_F - \bar M/\|\bar M\|_F\|_F^2 \to 0$.

    It ends at {end:.1g} in the median training, {over_all:.1g} times less than at the first recorded epoch.
    """
    return _limit(trainings, ["self_duality"], level)


@claim("Section 1.1 (NC4), Figure 8", scope=SMALL, empirical=True, quantifier="all draws")
def nc4(trainings: Sequence[Table], *, share: Fraction) -> Claim:
    r"""Under MSE, in training beyond zero train error, the network's decisions on train images become those of the
    nearest class mean.

    The share of images on which they differ is often zero already when train errors end, so it is held against a bound
    at the last epoch rather than against its own past. On test images it is {test:.1g} there, in the worst training.
    """
    included, excluded = ordinary(trainings)
    yield every_draw(
        "share of images on which network and nearest mean differ",
        at_the_end(included, "nc4"),
        at_most=share,
        because="all images but stray ones",
        excluded=excluded,
        rivals={
            "decisions at the first epoch": Instead(values=at_first_epoch(included, "nc4")),
            "decisions on test images": Instead(values=at_the_end(included, "nc4", "test")),
        },
    )
    yield errors_end(included, excluded)
    yield Facts(test=at_the_end(included, "nc4", "test").max())


@claim(
    "Figure 10",
    scope=SMALL + UNDECIDED_AT_PAPERS_RATES + "; the learning rate of each loss and network chosen by test error",
    empirical=True,
    quantifier="an average",
)
def mse_collapses_faster(mse: Sequence[Table], ce: Sequence[Table], *, until: Literal["end", "drop"]) -> Claim:
    r"""Variability tends to collapse faster under MSE than under cross-entropy.

    The logarithm of the ratio of both NC1 at the last epoch, for the same network and seed, must lie above zero in the
    mean over trainings, and must have grown since the first recorded epoch: a lead that was there from the start is no
    speed. Weight decay sets how fast collapse is. Here it is {mse_decay:g} under MSE, {mse_times:.3g} times the
    authors', and {ce_decay:g} under cross-entropy, {ce_times:.3g} times the authors': their `MSELoss` averages over
    classes, where the paper's loss sums, so that one number is not the same under both losses. The comparison is not
    repeated here with other decays; `workflow/config/digits_decay.yaml` has the authors' under both.
    """
    mse_runs, ce_runs = paired(mse, ce)

    def lead(read: Callable[..., np.ndarray]) -> np.ndarray:
        return np.log10(read(ce_runs, "nc1") / read(mse_runs, "nc1"))

    first_lead, last_lead = lead(at_first_epoch), lead(at_the_end if until == "end" else at_the_drop)
    growth = last_lead - first_lead
    faster, exchanged = "cross-entropy faster", "losses exchanged in every second pair"
    initial = "the lead at the first recorded epoch"
    epoch = "last epoch" if until == "end" else "before the learning rate drops"
    yield above_zero(
        rf"$\log_{{10}}$ of NC1 under CE over NC1 under MSE, {epoch}",
        last_lead,
        rivals={faster: -last_lead, exchanged: half_exchanged(last_lead), initial: first_lead},
    )
    yield above_zero(
        "growth of the same since the first recorded epoch",
        growth,
        rivals={faster: -growth, exchanged: half_exchanged(growth), initial: 0 * growth},
    )
    mse_decay, ce_decay = (settings_of(tables[0])["weight_decay"] for tables in (mse_runs, ce_runs))
    yield Facts(
        mse_decay=mse_decay,
        ce_decay=ce_decay,
        mse_times=mse_decay / (AUTHORS_DECAY * at_the_end(mse_runs, "classes")[0] / 2),
        ce_times=ce_decay / AUTHORS_DECAY,
    )


@claim("Appendix E.1", scope=SMALL, empirical=True, quantifier="an average")
def nc2_not_slower(trainings: Sequence[Table], *, arrived: Fraction) -> Claim:
    r"""In the mean over trainings, and as far as recorded epochs tell, NC2 does not happen more slowly than NC1 and
    NC3.

    The paper says less: that it sees no evidence of NC2 being slower. An interval that covers zero agrees with that and
    leaves this sentence undecided.

    A quantity has arrived at the first recorded epoch at which it has made the given share of its way to the last, on
    a logarithmic scale. NC2 is the last to arrive of the spreads of norms and angles of class means; NC1 and NC3 the
    later of both. When between two recorded epochs something arrived is not known: not more slowly is that NC1 and NC3
    are there, in the mean of logarithms over trainings, after the last recorded epoch at which NC2 is not. Recorded
    epochs lie a factor {spacing:.2g} apart, and so much is granted to NC2: from arrival to arrival NC1 and NC3 take
    {plain:.1f} times as long.
    """
    included, excluded = ordinary(trainings)

    def arrival(table: Table, *quantities: Quantity) -> np.ndarray:
        """Return the last recorded epoch before arrival and the epoch of arrival, shape (2, seeds)."""
        arrivals = []
        for quantity in quantities:
            values = np.log(by_seed(table, quantity))
            progress = (values.iloc[0] - values) / (values.iloc[0] - values.iloc[-1])
            has_arrived = (progress >= arrived).to_numpy()
            index = np.maximum(has_arrived.argmax(axis=0), 1)
            epochs = values.index.to_numpy(dtype=float)
            arrivals.append(np.where(has_arrived.any(axis=0), [epochs[index - 1], epochs[index]], np.nan))
        return np.max(arrivals, axis=0)

    nc2_epochs = [arrival(table, "equinorm_means", "equiangular_means", "maximal_angle_means") for table in included]
    nc2_before, nc2_arrival = np.concatenate(nc2_epochs, axis=1)
    nc1_nc3_arrival = np.concatenate([arrival(table, "nc1", "self_duality") for table in included], axis=1)[1]

    yield above_zero(
        r"$\log_{10}$ of the arrival of NC1 and NC3 over the last epoch before that of NC2",
        np.log10(nc1_nc3_arrival / nc2_before),
        excluded=excluded,
        rivals={"NC2 at twice the epoch of NC1 and NC3": np.log10(nc2_arrival / nc2_before / 2)},
    )
    epochs = by_seed(included[0], "nc1").index
    yield Facts(
        spacing=(epochs[-1] / epochs[0]) ** (1 / (len(epochs) - 1)),
        plain=10 ** np.mean(np.log10(nc1_nc3_arrival / nc2_arrival)),
    )


@claim(
    "Appendix A",
    scope="MNIST, FashionMNIST, SVHN, CIFAR10 and STL10, three networks each",
    empirical=True,
    quantifier="all draws",
)
def five_data_sets(trainings: Sequence[Table], *, level: Positive, share: Fraction) -> Finding:
    r"""Neural collapse occurs under MSE on the paper's five data sets and three networks, but for ResNet and DenseNet
    on STL10: in training beyond zero train error NC1 falls and ends low, norms, angles and self-duality fall, and
    decisions become those of the nearest class mean.

    Appendix A.7 names the exceptions. The runs belong to the full-scale configuration, which downloads the data sets
    and needs a GPU.
    """
    tables = [table for table in trainings if place_of(table)[0] in FIVE]
    if {place_of(table)[0] for table in tables} != set(FIVE):
        raise Untested(NEEDS_FIVE)
    included, excluded = ordinary(tables)

    def judge(state: str) -> Checks:
        yield every_draw("nc1 at the last epoch", _fall(included, "nc1", state)[1], at_most=level, excluded=excluded)
        for quantity in ("nc1", "equinorm_means", "equiangular_means", "maximal_angle_means", "self_duality"):
            yield every_draw(
                f"$\\log_{{10}}$ of the fall of {quantity} after train errors end",
                _fall(included, quantity, state)[0],
                at_least=0.0,
                excluded=excluded,
            )
        disagreement = at_first_epoch(included, "nc4") if state == "errors end" else at_the_end(included, "nc4")
        yield every_draw(
            "share of images on which network and nearest mean differ", disagreement, at_most=share, excluded=excluded
        )
        yield errors_end(included, excluded)

    return Finding(judge, printed="end", rivals=RIVALS)
