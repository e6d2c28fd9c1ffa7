"""Claims on neural collapse in training: NC1 to NC4, under MSE and against cross-entropy.

The paper states limits over epochs, of every training that goes on beyond zero train error. No finite epoch shows a
limit. Two things that are necessary for it are judged. In every training the quantity ends below a level that means
something by itself. And it still falls after train errors have ended, so that it is not the removal of errors that is
seen: in the mean over trainings, as the last epoch of a single training, where the quantity fluctuates, may be a high
one. Train errors end at the first recorded epoch at which no more than a share `train_error` of the train images is
misclassified.

A draw is one training: a network, a data set, a seed. Arrays have shape (trainings,) unless they say otherwise.
Trainings that the paper names as exceptions are left out; `excluded` has their number, by the reason. Where others keep
train errors the premise is not met, and nothing is decided.

Quantities are those of section 1.1, on train images. C classes have the means mu_c, whose average is mu_G, the
classifiers w_c, rows of W, and the covariances Sigma_W within classes and Sigma_B between them:

- `NC1`: Tr(Sigma_W pinv(Sigma_B)) / C
- `EQUINORM_MEANS`, of NC2: the standard deviation over the mean of |mu_c - mu_G|; `EQUINORM_CLASSIFIERS`: of |w_c|
- `EQUIANGULAR_MEANS`, of NC2: the standard deviation of the cosines between mu_c - mu_G and mu_c' - mu_G over pairs of
  classes; `EQUIANGULAR_CLASSIFIERS`: of those between w_c and w_c'
- `MAXIMAL_ANGLE_MEANS`, `MAXIMAL_ANGLE_CLASSIFIERS`, of NC2: the mean of |cos + 1 / (C - 1)| over the same cosines
- `SELF_DUALITY`, of NC3: || W^T / ||W||_F - M / ||M||_F ||_F^2 with the columns mu_c - mu_G of M
- `NC4`: the share of images on which the network and the nearest mu_c decide differently
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from learning_dynamics import evidence
from learning_dynamics.judging import (
    Check,
    Claim,
    Facts,
    Judgement,
    Untested,
    at_most,
    claim,
    every_draw,
    premise,
    takes_rivals,
)
from learning_dynamics.papers.neural_collapse.signs import above_zero, with_every_second_sign_turned
from learning_dynamics.papers.neural_collapse.training.quantities import (
    CLASSES,
    EQUIANGULAR_CLASSIFIERS,
    EQUIANGULAR_MEANS,
    EQUINORM_CLASSIFIERS,
    EQUINORM_MEANS,
    IN_WORDS,
    MAXIMAL_ANGLE_CLASSIFIERS,
    MAXIMAL_ANGLE_MEANS,
    NC1,
    NC4,
    SELF_DUALITY,
)
from learning_dynamics.papers.neural_collapse.trainings import (
    FIVE_DATA_SETS,
    IN_SCOPE_AUTHORS_DECAYS,
    IN_SCOPE_FEW_STEPS,
    NEEDS_FIVE_DATA_SETS,
    SCOPE,
    at_errors_end,
    at_first_epoch,
    at_the_drop,
    at_the_end,
    by_seed,
    chance_level,
    data_and_network,
    on_five_data_sets,
    paired,
    premise_errors_end,
    without_stl10_exceptions,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Quantity, Table, settings_of

# Settings of these claims, whose values are in workflow/config/neural_collapse.yaml:
# - level (`nc1`, `five_data_sets`): largest NC1 at the last epoch, a variance within classes over one between them
# - level (`nc2_equinorm`, `nc2_equiangular`, `nc2_maximal_angle`, `nc3`): largest value at the last epoch, over the
#   value for independent random vectors
# - train_error (`nc1` to `nc4`, `five_data_sets`): largest share of train images misclassified at which train errors
#   count as ended: one in a thousand, at which Papyan, Han and Donoho 2020 mark the effective beginning of the terminal
#   phase of training
# - largest_share (`nc4`, `five_data_sets`): of images on which network and nearest class mean may differ at the last
#   epoch
# - until (`mse_collapses_faster`): when losses are compared: at the last epoch, or before the learning rate first drops
# - share_of_way (`nc2_not_slower`, `simplex_before_compression`): share of the way from its first to its last value, in
#   logarithms, at which a quantity has arrived
# - reading (`nc2_not_slower`): whether nothing may show that NC2 is slower, as the paper says (no_evidence), or its
#   lead must be above zero (not_slower)
# - nc2_of (`nc2_not_slower`): whether NC2 is of the class means, as section 1.1 defines it, or of the classifiers as
#   well, as figures 3 to 5 draw it
# Levels, shares and readings are chosen; `vary:` in the configuration has others, with which claims are judged again.

# the authors' weight decay, that of Papyan, Han, Donoho 2020 (appendix A.3). Under MSE it belongs to `MSELoss`, which
# averages over classes. The paper's loss, half the sum over them, is C / 2 times as large, and so is its weight decay
AUTHORS_DECAY = 5e-4
NC2_OF_MEANS = (EQUINORM_MEANS, EQUIANGULAR_MEANS, MAXIMAL_ANGLE_MEANS)
NC2_OF_CLASSIFIERS = (EQUINORM_CLASSIFIERS, EQUIANGULAR_CLASSIFIERS, MAXIMAL_ANGLE_CLASSIFIERS)
# rivals of every limit over epochs
DONE_WHEN_ERRORS_END = "no further collapse beyond zero train error"
INDEPENDENT = "independent random vectors"
# the quantity that checks of NC4 are about, and the phrase of a rival of theirs
SHARE_THAT_DIFFERS = "share of images on which network and nearest class mean differ"
STAY_AS_AT_FIRST = "decisions that stay as they were at the first epoch"


def _tend_to_zero(
    trainings: Sequence[Table], quantities: Sequence[Quantity], level: float, train_error: float
) -> Claim:
    """Yield checks that quantities tend to zero: all end within a bound, and fall in the mean after train errors end.

    The facts, for the docstring's fields, are `level` and, of the first quantity, its fall and its end.
    """
    included, excluded = without_stl10_exceptions(trainings)
    for quantity in quantities:
        # shape (trainings,) each
        last = at_the_end(included, quantity)
        value_at_errors_end = at_errors_end(included, quantity, train_error=train_error)
        chance = chance_level(included, quantity)
        bound, because = _bound_at_the_end(quantity, chance, level)
        yield every_draw(
            f"{IN_WORDS[quantity]} at the last epoch",
            last,
            at_most=bound,
            because=because,
            excluded=excluded,
            # each rival is another last value
            rivals={DONE_WHEN_ERRORS_END: {"values": value_at_errors_end}, INDEPENDENT: {"values": chance}},
        )
        fall_beyond_zero_error = np.log10(value_at_errors_end / last)
        yield above_zero(
            f"$\\log_{{10}}$ of the fall of {IN_WORDS[quantity]} beyond zero train error",
            fall_beyond_zero_error,
            excluded=excluded,
            # each rival is another fall
            rivals={
                # zero in every training, which is undecided; the check before has this rival's last value
                DONE_WHEN_ERRORS_END: np.zeros_like(fall_beyond_zero_error),
                # the fall to the value that independent vectors have
                INDEPENDENT: np.log10(value_at_errors_end / chance),
            },
        )
    yield premise_errors_end(included, excluded, train_error=train_error)
    at_first, at_last = at_first_epoch(included, quantities[0]), at_the_end(included, quantities[0])
    yield Facts(
        level=level,
        mean_fall=10 ** np.mean(np.log10(at_first / at_last)),  # over all recorded epochs
        median_end=np.median(at_last),
    )


def _bound_at_the_end(quantity: Quantity, chance: np.ndarray, level: float) -> tuple[np.ndarray, str]:
    """Return the largest value of a quantity that counts as small, shape (trainings,), and the reason for it.

    Spreads and distances are compared with `level` times `chance`, the value for independent random vectors. NC1 is
    compared with `level` itself: it is a ratio of noise to signal.
    """
    if quantity == NC1:
        because = f"noise of {np.sqrt(level):.2g} of the signal, in standard deviations, averaged over directions"
        return np.full(chance.shape, level), because
    return level * chance, f"{level:g} times the value for independent random vectors"


@claim("Section 1.1 (NC1), Figure 7", scope=SCOPE, empirical=True, quantifier="all draws")
def nc1(trainings: Sequence[Table], *, level: Positive, train_error: Fraction) -> Claim:
    r"""Under MSE, in training beyond zero train error, within-class variability collapses against the distances between
    class means: $\mathrm{Tr}(\Sigma_B^\dagger\Sigma_W)/C \to 0$ on train images.

    In every training this quantity, NC1, must end at {level:g} or less. Its fall from the end of train errors to the
    last epoch, in decades, must be above zero in the mean over trainings, with its whole 95 % interval. Train errors
    end when at most {train_error:.1%} of the train images are misclassified; a training that keeps more would leave the
    claim undecided. NC1 ends at {median_end:.1g} in the median training; over all recorded epochs it falls
    {mean_fall:.2g}-fold (geometric mean). The paper's limit is of the matrix; its figures draw the trace (errata 7 and
    9).
    """
    # Tr(Sigma_W pinv(Sigma_B)) / C; the other facts are `_tend_to_zero`'s
    yield from _tend_to_zero(trainings, [NC1], level=level, train_error=train_error)
    yield Facts(train_error=train_error)


@claim(
    "Section 1.1 (NC2), Figure 3",
    scope=SCOPE + IN_SCOPE_FEW_STEPS,
    empirical=True,
    quantifier="all draws",
)
def nc2_equinorm(trainings: Sequence[Table], *, level: Positive, train_error: Fraction) -> Claim:
    r"""Under MSE, in training beyond zero train error, the norms of the centred class means, and those of the
    classifiers, become equal.

    Norms are equal if their relative spread, the standard deviation over the mean, vanishes. In every training it must
    end at or below {level:g} times $\gamma_C/\sqrt{2P}$, where $\gamma_C = \frac{\sqrt{2(C-2)}}{C-1}\, \Gamma(\frac
    C2)/\Gamma(\frac{C-1}2)$ is $0.92$ for ten classes. To leading order in $1/P$, $\gamma_C/\sqrt{2P}$ is the relative
    spread for $C$ independent Gaussian vectors in $P$ dimensions less their mean. Such a spread falls with the width
    $P$ of the last layer; a bound without $P$ could judge wider networks otherwise. Its fall after train errors end
    must be above zero in the mean over trainings (`nc1`). The spread of class means ends at {median_end:.1g} in the
    median training; over all recorded epochs it falls {mean_fall:.2g}-fold (geometric mean).
    """
    # std / mean of |mu_c - mu_G|, and of |w_c|, over classes: at most level gamma_C / sqrt(2 P) at the end; facts are
    # `_tend_to_zero`'s, of the former
    return _tend_to_zero(trainings, [EQUINORM_MEANS, EQUINORM_CLASSIFIERS], level=level, train_error=train_error)


@claim("Section 1.1 (NC2), Figure 4", scope=SCOPE, empirical=True, quantifier="all draws")
def nc2_equiangular(trainings: Sequence[Table], *, level: Positive, train_error: Fraction) -> Claim:
    r"""Under MSE, in training beyond zero train error, the angles between centred class means, and between classifiers,
    become equal.

    Angles are equal if the spread of their cosines, the standard deviation, vanishes. In every training it must end at
    or below {level:g} times $1/\sqrt P$, to leading order in $1/P$ and $1/C$ the spread for independent Gaussian
    vectors in $P$ dimensions. For the width $P$ see `nc2_equinorm`. Its fall after train errors end must be above zero
    in the mean over trainings (`nc1`). The spread of class means ends at {median_end:.1g} in the median training; over
    all recorded epochs it falls {mean_fall:.2g}-fold (geometric mean).
    """
    # std over pairs of classes of cos(mu_c - mu_G, mu_c' - mu_G), and of cos(w_c, w_c'); facts are `_tend_to_zero`'s,
    # of the former
    return _tend_to_zero(trainings, [EQUIANGULAR_MEANS, EQUIANGULAR_CLASSIFIERS], level=level, train_error=train_error)


@claim("Section 1.1 (NC2), Figure 5", scope=SCOPE, empirical=True, quantifier="all draws")
def nc2_maximal_angle(trainings: Sequence[Table], *, level: Positive, train_error: Fraction) -> Claim:
    r"""Under MSE, in training beyond zero train error, the angles between centred class means, and between classifiers,
    approach the largest that $C$ vectors can all have, $\cos = -1/(C-1)$.

    In every training the mean distance of the cosines from $-1/(C-1)$ must end at or below {level:g} times
    $\sqrt{2/(\pi P)}$, to leading order in $1/P$ and $1/C$ this distance for independent Gaussian vectors in $P$
    dimensions once they are centred. For the width $P$ see `nc2_equinorm`. Its fall after train errors end must be
    above zero in the mean over trainings (`nc1`). The distance of class means ends at {median_end:.1g} in the median
    training; over all recorded epochs it falls {mean_fall:.2g}-fold (geometric mean).
    """
    # mean of |cos + 1 / (C - 1)| over pairs of class means, and of classifiers; facts are `_tend_to_zero`'s, of the
    # former
    return _tend_to_zero(
        trainings, [MAXIMAL_ANGLE_MEANS, MAXIMAL_ANGLE_CLASSIFIERS], level=level, train_error=train_error
    )


@claim("Section 1.1 (NC3), Figure 6", scope=SCOPE, empirical=True, quantifier="all draws")
def nc3(trainings: Sequence[Table], *, level: Positive, train_error: Fraction) -> Claim:
    r"""Under MSE, in training beyond zero train error, classifiers and centred class means converge to each other, up
    to scale: $\|W^\top/\|W\|_F - M/\|M\|_F\|_F^2 \to 0$, with the centred class means in the columns of $M$.

    In every training this squared distance must end at or below {level:g} times $2$, its mean for independent Gaussian
    vectors. It is $2 - 2 \cos$ of the angle between $W^\top$ and $M$, whose cosine must thus be {cosine:g} or more. Its
    fall from the end of train errors (at most {train_error:.1%} of the train images misclassified) to the last epoch
    must be above zero in the mean over trainings. It ends at {median_end:.1g} in the median training; over all recorded
    epochs it falls {mean_fall:.2g}-fold (geometric mean). Section 1.1 divides each classifier and class mean by its own
    norm: where norms are equal (NC2), this multiplies the distance by $C$ alone.
    """
    # || W^T / ||W||_F - M / ||M||_F ||_F^2; the other facts are `_tend_to_zero`'s
    yield from _tend_to_zero(trainings, [SELF_DUALITY], level=level, train_error=train_error)
    yield Facts(cosine=1 - level, train_error=train_error)  # 2 - 2 cos <= 2 level


@claim("Section 1.1 (NC4), Figure 8", scope=SCOPE, empirical=True, quantifier="all draws")
def nc4(trainings: Sequence[Table], *, largest_share: Fraction, train_error: Fraction) -> Claim:
    """Under MSE, in training beyond zero train error, the network's decisions on train images become those of the
    nearest train class mean.

    In every training network and nearest class mean may differ on at most {largest_share:.1%} of the train images at
    the last epoch. This share need not fall further: it is often zero already when train errors end. On test images it
    ends at {largest_test_share:.1g} in the worst training.
    """
    # share of train images, with features h, for which argmax_c (w_c . h + b_c) is not argmin_c |h - mu_c|
    included, excluded = without_stl10_exceptions(trainings)
    yield every_draw(
        SHARE_THAT_DIFFERS,
        at_the_end(included, NC4),
        at_most=largest_share,
        because="chosen: by default as many images as may be misclassified when train errors end",
        excluded=excluded,
        rivals={  # each is another share
            STAY_AS_AT_FIRST: {"values": at_first_epoch(included, NC4)},
            # a mean drawn at random is that of the decided class with probability 1 / C
            "a nearest mean unrelated to the decision": {"values": 1 - 1 / at_the_end(included, CLASSES)},
        },
    )
    yield premise_errors_end(included, excluded, train_error=train_error)
    yield Facts(largest_share=largest_share, largest_test_share=at_the_end(included, NC4, "test").max())


@claim(
    "Figure 10",
    scope=SCOPE + IN_SCOPE_AUTHORS_DECAYS + "; the learning rate of each loss and network chosen by test error, in "
    "shorter trainings at more weight decay",
    empirical=True,
    quantifier="an average",
)
def mse_collapses_faster(mse: Sequence[Table], ce: Sequence[Table], *, until: Literal["end", "drop"]) -> Claim:
    """Variability tends to collapse faster under MSE than under cross-entropy (CE).

    NC1 under cross-entropy is divided by NC1 under MSE, for the same network and seed. The logarithm of that ratio is
    judged at the last epoch, and so is its growth since the first: a lead from the start is no speed. Weight decay sets
    how fast collapse is. It is {mse_decay:g} under MSE and {ce_decay:g} under cross-entropy,
    {mse_decay_over_authors:.3g} and {ce_decay_over_authors:.3g} times the authors'. Their `MSELoss` averages over
    classes, where the paper's loss sums, so that the same number is not the same decay under both losses.
    """
    mse_runs, ce_runs = paired(mse, ce)

    def lead(read: Callable[..., np.ndarray]) -> np.ndarray:
        """Return log10 of Tr(Sigma_W pinv(Sigma_B)) / C under CE over that under MSE, shape (pairs of trainings,)."""
        return np.log10(read(ce_runs, NC1) / read(mse_runs, NC1))

    if until == "end":
        epoch, last_lead = "last epoch", lead(at_the_end)
    else:
        epoch, last_lead = "before the learning rate drops", lead(at_the_drop)
    first_lead = lead(at_first_epoch)
    growth = last_lead - first_lead
    ce_faster, half_of_pairs_exchanged = "cross-entropy faster", "losses exchanged in every second pair"
    only_from_start = "the lead at the first recorded epoch"
    # each rival is another lead, and another growth
    yield above_zero(
        rf"$\log_{{10}}$ of NC1 under CE over NC1 under MSE, {epoch}",
        last_lead,
        rivals={
            ce_faster: -last_lead,
            half_of_pairs_exchanged: with_every_second_sign_turned(last_lead),
            only_from_start: first_lead,
        },
    )
    yield above_zero(
        r"growth of $\log_{10}$ of NC1 under CE over NC1 under MSE since the first recorded epoch",
        growth,
        rivals={
            ce_faster: -growth,
            half_of_pairs_exchanged: with_every_second_sign_turned(growth),
            # a lead that stays what it was at the first recorded epoch does not grow; the check is then undecided
            only_from_start: 0 * growth,
        },
    )
    # weight decays and the number of classes are read from the first pair: a configuration has one weight decay for
    # each loss, and every data set has ten classes
    mse_decay, ce_decay = (settings_of(tables[0])["weight_decay"] for tables in (mse_runs, ce_runs))
    classes = at_the_end(mse_runs, CLASSES)[0]
    yield Facts(
        mse_decay=mse_decay,
        ce_decay=ce_decay,
        mse_decay_over_authors=mse_decay / (AUTHORS_DECAY * classes / 2),
        ce_decay_over_authors=ce_decay / AUTHORS_DECAY,
    )


@claim("Appendix E.1", scope=SCOPE, empirical=True, quantifier="an average")
def nc2_not_slower(
    trainings: Sequence[Table],
    *,
    share_of_way: Fraction,
    reading: Literal["no_evidence", "not_slower"],
    nc2_of: Literal["class_means", "classifiers_as_well"],
) -> Claim:
    """There is no evidence that NC2 happens more slowly than NC1 and NC3, in the mean over trainings and as far as
    recorded epochs tell.

    A quantity arrives at the first recorded epoch at which it has made {share_of_way:.0%} of its way from the first
    value to the last, on a logarithmic scale. NC2 arrives with the last of three quantities of class means: the spreads
    of norms and of angles, and the distance from the largest angle. A variant adds those of classifiers. NC1 and NC3
    arrive with the later of both. Recorded epochs are a factor {spacing:.2g} apart, and arrivals are known no better.

    The lead of NC2 is the number of decades of epochs by which it arrives before NC1 and NC3. To favour NC2, it is
    counted from the epoch recorded before NC2 arrives. In the mean over trainings it is {mean_lead:.2g}, with the 95 %
    interval [{lead_lower:.2g}, {lead_upper:.2g}]; an interval below zero would be evidence. A variant asks for more
    than the paper says, that NC2 is not slower: the lead from arrival to arrival, {mean_lead_from_arrival:.2g}
    [{lead_from_arrival_lower:.2g}, {lead_from_arrival_upper:.2g}], must have its interval above zero.
    """
    included, excluded = without_stl10_exceptions(trainings)
    nc2 = NC2_OF_MEANS if nc2_of == "class_means" else NC2_OF_MEANS + NC2_OF_CLASSIFIERS
    nc2_before, nc2_arrival = _arrivals(included, nc2, share_of_way)
    _, nc1_nc3_arrival = _arrivals(included, [NC1, SELF_DUALITY], share_of_way)
    # Leads are nan, and the check undecided, where a quantity never arrives. Example: everything is first seen to have
    # arrived at epoch 30, and the epoch recorded before is 10. NC2 may have arrived just after 10, so that NC1 and NC3
    # count as 30 / 10 behind it: it is given the benefit of the doubt
    lead = np.log10(nc1_nc3_arrival / nc2_before)
    lead_from_arrival = np.log10(nc1_nc3_arrival / nc2_arrival)
    # By the rival, which is another lead, NC1 and NC3 arrive in the mean at half the epoch of NC2 (chosen: half). Its
    # lead deviates from its mean, training by training, as the measured lead does
    at_twice_the_epoch = "NC2 at twice the epoch of NC1 and NC3"
    if reading == "no_evidence":
        # the mean of `lead` with nc2_arrival / 2 for nc1_nc3_arrival
        mean_if_late = np.mean(np.log10(nc2_arrival / nc2_before / 2))
        lead_if_late = mean_if_late + lead - lead.mean()
        label = r"$\log_{10}$ of the epoch recorded before NC2 arrives, over the epoch at which NC1 and NC3 have"
        yield _check_not_behind(label, lead, excluded=excluded, rivals={at_twice_the_epoch: lead_if_late})
    else:
        lead_if_late = np.log10(0.5) + lead_from_arrival - lead_from_arrival.mean()
        label = r"$\log_{10}$ of the arrival of NC1 and NC3 over that of NC2"
        yield above_zero(label, lead_from_arrival, excluded=excluded, rivals={at_twice_the_epoch: lead_if_late})
    mean_lead, mean_from_arrival = evidence.mean(lead), evidence.mean(lead_from_arrival)
    yield Facts(
        mean_lead=mean_lead.value,
        lead_lower=mean_lead.lower,
        lead_upper=mean_lead.upper,
        share_of_way=share_of_way,
        spacing=_spacing_of_epochs(included[0]),  # all trainings are recorded at the same epochs
        mean_lead_from_arrival=mean_from_arrival.value,
        lead_from_arrival_lower=mean_from_arrival.lower,
        lead_from_arrival_upper=mean_from_arrival.upper,
    )


@claim("Figure 2, its last sentences", scope=SCOPE, empirical=True, quantifier="an average")
def simplex_before_compression(trainings: Sequence[Table], *, share_of_way: Fraction) -> Claim:
    """Networks first arrange their class means in a simplex, and compress activations towards them from there: NC2
    arrives before NC1, in the mean over trainings.

    A quantity arrives when it has made {share_of_way:.0%} of its way, as in `nc2_not_slower`. NC1 arrives at
    {mean_factor:.2g} times the epoch of NC2, in the geometric mean over trainings. The 95 % interval of this factor,
    {factor_lower:.2g} to {factor_upper:.2g}, must be above one. NC1 arrives after NC2 in {n_after} of {n_trainings}
    trainings, before it in {n_before}, and at the same recorded epoch in the others; recorded epochs are a factor
    {spacing:.2g} apart. The paper reads the order off the terms of the loss. But that $L_{NC2/3}$ falls faster than
    $L_{NC1}$ follows nearly from a formula alone (`nc23_vanishes_first`). Here class means and activations are measured
    themselves.
    """
    included, excluded = without_stl10_exceptions(trainings)
    _, nc1_arrival = _arrivals(included, [NC1], share_of_way)
    _, nc2_arrival = _arrivals(included, NC2_OF_MEANS, share_of_way)
    lead = np.log10(nc1_arrival / nc2_arrival)  # of NC2, shape (trainings,)
    yield above_zero(
        r"$\log_{10}$ of the arrival of NC1 over that of NC2",
        lead,
        excluded=excluded,
        rivals={  # each is another lead
            "activations compressed first": -lead,
            "order exchanged in every second training": with_every_second_sign_turned(lead),
        },
    )
    # for each quantity, shape (trainings,)
    falls = [at_first_epoch(included, quantity) / at_the_end(included, quantity) for quantity in (NC1, *NC2_OF_MEANS)]
    yield premise(
        every_draw(
            "least fall of NC1 and of the spreads of NC2, from the first recorded epoch to the last",
            np.min(falls, axis=0),
            at_least=2.0,
            because="what has not even halved has no arrival",
            excluded=excluded,
        )
    )
    mean_lead = evidence.mean(lead)
    yield Facts(
        mean_factor=10**mean_lead.value,
        factor_lower=10**mean_lead.lower,
        factor_upper=10**mean_lead.upper,
        n_after=int(np.sum(lead > 0)),
        n_before=int(np.sum(lead < 0)),
        n_trainings=len(lead),
        share_of_way=share_of_way,
        spacing=_spacing_of_epochs(included[0]),  # all trainings are recorded at the same epochs
    )


def _spacing_of_epochs(table: Table) -> float:
    """Return by which factor a table's recorded epochs are apart, in the geometric mean."""
    epochs = by_seed(table, NC1).index
    return float((epochs[-1] / epochs[0]) ** (1 / (len(epochs) - 1)))


@takes_rivals("lead")
def _check_not_behind(name: str, lead: np.ndarray, *, excluded: Mapping[str, int]) -> Check:
    """Check that the mean lead over trainings is not below zero with its whole 95 % interval; rivals are leads.

    The check's number is the lower end of the interval of the mean lag, which is minus the lead: it must be zero or
    less. `name` says in words what the lag is. `excluded` counts trainings, although this check has one number.
    """
    mean_lag = evidence.mean(-lead)
    return at_most(
        f"lower end of the 95 % interval over trainings: {name}",
        # nan, and the check undecided, where there is no interval: of one training, or where one gives no number
        mean_lag.lower if np.isfinite(mean_lag.lower) else np.nan,
        0.0,
        because="above zero it would be evidence",
        excluded=excluded,
    )


def _arrivals(
    trainings: Sequence[Table], quantities: Sequence[Quantity], share_of_way: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the recorded epoch before the one at which the last of some quantities arrives, and that epoch itself.

    A quantity arrives at the first recorded epoch at which it has made `share_of_way` of its way to its last value, on
    a logarithmic scale. Shape (trainings,) each; nan where a quantity never arrives, or is not known at every epoch.
    """
    epochs_before, epochs_of_arrival = [], []
    for table in trainings:
        before, of_arrival = [], []  # for each quantity, shape (seeds,)
        for quantity in quantities:
            logs = np.log(by_seed(table, quantity))  # rows are epochs, columns seeds
            progress = (logs.iloc[0] - logs) / (logs.iloc[0] - logs.iloc[-1])  # 0 at the first epoch, 1 at the last
            has_arrived = (progress >= share_of_way).to_numpy()
            # the index of the first such epoch; where there is none argmax is 0, which has no epoch before
            first_index = np.maximum(has_arrived.argmax(axis=0), 1)
            is_known = has_arrived.any(axis=0) & progress.notna().all().to_numpy()
            epochs = logs.index.to_numpy(dtype=float)
            before.append(np.where(is_known, epochs[first_index - 1], np.nan))
            of_arrival.append(np.where(is_known, epochs[first_index], np.nan))
        # over quantities: the last to arrive decides, and nan if one of them is
        epochs_before.append(np.max(before, axis=0))
        epochs_of_arrival.append(np.max(of_arrival, axis=0))
    return np.concatenate(epochs_before), np.concatenate(epochs_of_arrival)


@claim(
    "Appendix A",
    scope="MNIST, FashionMNIST, SVHN, CIFAR10 and STL10, three networks each",
    empirical=True,
    quantifier="all draws",
)
def five_data_sets(
    trainings: Sequence[Table], *, level: Positive, largest_share: Fraction, train_error: Fraction
) -> Claim:
    """Neural collapse occurs under MSE on the paper's five data sets and three networks, but for ResNet and DenseNet on
    STL10. In training beyond zero train error NC1 falls and ends low; the class means' spreads of norms and angles, and
    their distances from the largest angle and from the classifiers, fall; and decisions become those of the nearest
    class mean.

    In every training NC1 must end at {level:g} or less, and network and nearest class mean may differ on at most
    {largest_share:.1%} of the train images. From the end of train errors to the last epoch none of the quantities that
    fall may rise. Appendix A.7 names the exceptions. One data set can be against the sentence; fewer than five cannot
    confirm it.
    """
    tables = on_five_data_sets(trainings)
    included, _ = without_stl10_exceptions(tables)
    data_of_included = {data_and_network(table).data for table in included}
    data_sets = [data for data in FIVE_DATA_SETS if data in data_of_included]
    if not data_sets:
        raise Untested(NEEDS_FIVE_DATA_SETS)
    checks = list(
        _collapse_on_every_data_set(tables, level=level, largest_share=largest_share, train_error=train_error)
    )
    # fewer data sets than five may refute the sentence, but cannot confirm it
    if data_sets != list(FIVE_DATA_SETS) and Judgement(*checks).state != "fails":
        raise Untested(f"tried on {', '.join(data_sets)}, which is not against it; {NEEDS_FIVE_DATA_SETS}")
    yield from checks
    yield Facts(level=level, largest_share=largest_share)


def _collapse_on_every_data_set(
    tables: Sequence[Table], *, level: float, largest_share: float, train_error: float
) -> Iterator[Check]:
    """Yield checks that every training but the exceptions collapses after train errors end."""
    included, excluded = without_stl10_exceptions(tables)
    chance = chance_level(included, NC1)
    bound, because = _bound_at_the_end(NC1, chance, level)
    yield every_draw(
        f"{IN_WORDS[NC1]} at the last epoch",
        at_the_end(included, NC1),
        at_most=bound,
        because=because,
        excluded=excluded,
        rivals={  # each is another last value
            DONE_WHEN_ERRORS_END: {"values": at_errors_end(included, NC1, train_error=train_error)},
            INDEPENDENT: {"values": chance},
        },
    )
    for quantity in (NC1, *NC2_OF_MEANS, SELF_DUALITY):
        last = at_the_end(included, quantity)
        value_at_errors_end = at_errors_end(included, quantity, train_error=train_error)
        fall_beyond_zero_error = np.log10(value_at_errors_end / last)
        yield every_draw(
            f"$\\log_{{10}}$ of the fall of {IN_WORDS[quantity]} beyond zero train error",
            fall_beyond_zero_error,
            at_least=0.0,
            because="a quantity that falls",
            excluded=excluded,
            rivals={  # each is another fall
                # a fall of zero passes this check; the bound on NC1 at the last epoch refuses the rival
                DONE_WHEN_ERRORS_END: {"values": np.zeros_like(fall_beyond_zero_error)},
                INDEPENDENT: {"values": np.log10(value_at_errors_end / chance_level(included, quantity))},
            },
        )
    yield every_draw(
        SHARE_THAT_DIFFERS,
        at_the_end(included, NC4),
        at_most=largest_share,
        because="stray images may differ, a class may not",
        excluded=excluded,
        # no rival stops where train errors end: there the share is often zero already
        rivals={STAY_AS_AT_FIRST: {"values": at_first_epoch(included, NC4)}},
    )
    yield premise_errors_end(included, excluded, train_error=train_error)
