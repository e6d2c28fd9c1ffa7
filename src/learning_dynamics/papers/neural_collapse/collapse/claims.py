"""Claims on neural collapse in training: NC1 to NC4, under MSE and against cross-entropy."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from learning_dynamics.claims import Check, Outcome, Untested, all_of, at_least, at_most, claim
from learning_dynamics.papers.neural_collapse.epochs import by_seed
from learning_dynamics.papers.neural_collapse.trainings import (
    above_zero,
    falls_after_zero_error,
    least_median,
    members,
    never_without_error,
    paired,
    trained_with,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tables import Tables

OVER_ALL = "It falls by the factor over the whole training; part of the fall comes before train errors have ended."


@claim(
    "Section 1.1 (NC1), Figure 7",
    "fall of Tr(Σ_W pinv(Σ_B))/C from zero train error to the end, for the network where it is least",
    correction=OVER_ALL,
)
def nc1(tables: Tables, *, factor: Positive) -> Outcome:
    """Under MSE, within-class variability collapses against the distances between class means.

    Measured on train images, from the first recorded epoch at which none of them is misclassified: what happens
    after it cannot be the removal of errors. The paper shows one training of each network; here a network is judged
    by the median of its seeds. The limit itself lies at infinite time and, with weight decay, at a small positive
    value; a fall by the stated factor stands for it, and the factor is ours. The trainings are those that the
    configuration names: at laptop scale this is a statement about small networks on 8 x 8 digits. There train
    errors end after 9 to 21 of 150 epochs. NC1 falls a thousandfold over the whole training, 40 to 170 times of it
    after the errors; the angles of ResNet and DenseNet have made most of their way by then and less than halve
    afterwards.
    """
    return _collapses(tables, ["nc1"], factor)


@claim(
    "Section 1.1 (NC2), Figure 3",
    "fall of std/mean of the norms from zero train error to the end, for the network where it is least",
    correction=OVER_ALL,
)
def nc2_equinorm(tables: Tables, *, factor: Positive) -> Outcome:
    """Under MSE, the norms of the centred class means and those of the classifiers become equal.

    Measured as for NC1, for class means and for classifiers; the one that falls less is held against the factor.
    On digits one of DenseNet's three seeds stays just below the factor 2.
    """
    return _collapses(tables, ["equinorm_means", "equinorm_classifiers"], factor)


@claim(
    "Section 1.1 (NC2), Figure 4",
    "fall of the std of cosines from zero train error to the end, for the network where it is least",
    correction=OVER_ALL,
)
def nc2_equiangular(tables: Tables, *, factor: Positive) -> Outcome:
    """Under MSE, the angles between class means, and between classifiers, become equal.

    Measured as for NC1, for class means and for classifiers; the one that falls less is held against the factor.
    """
    return _collapses(tables, ["equiangular_means", "equiangular_classifiers"], factor)


@claim(
    "Section 1.1 (NC2), Figure 5",
    "fall of mean |cos + 1/(C−1)| from zero train error to the end, for the network where it is least",
    correction=OVER_ALL,
)
def nc2_maximal_angle(tables: Tables, *, factor: Positive) -> Outcome:
    """Under MSE, those angles approach the largest that C vectors can all have, cos = −1/(C−1).

    Measured as for NC1, for class means and for classifiers; the one that falls less is held against the factor.
    """
    return _collapses(tables, ["maximal_angle_means", "maximal_angle_classifiers"], factor)


@claim(
    "Section 1.1 (NC3), Figure 6",
    "fall of the self-duality distance from zero train error to the end, for the network where it is least",
    correction=OVER_ALL,
)
def nc3(tables: Tables, *, factor: Positive) -> Outcome:
    """Under MSE, classifiers and centred class means converge to each other, up to scale.

    Measured as for NC1, by ‖Wᵀ/‖W‖ − M/‖M‖‖².
    """
    return _collapses(tables, ["self_duality"], factor)


@claim(
    "Section 1.1 (NC4), Figure 8", "largest share of train images on which network and nearest mean differ, at the end"
)
def nc4(tables: Tables, *, share: Fraction) -> Outcome:
    """Under MSE, the network's decisions on train images become those of the nearest class mean.

    The share is often zero already when train errors end, so it is held against a bound at the end of
    training rather than against its own past.
    """
    mse = trained_with(tables, "mse")
    largest = max(float(by_seed(table, "nc4").iloc[-1].max()) for table in mse.values())
    return Outcome(at_most(largest, share, because="in every training"), members(mse))


@claim("Figure 10", "log10 of NC1 under CE over NC1 under MSE at the end, for the network where it is least")
def mse_collapses_faster(tables: Tables) -> Outcome:
    """Variability tends to collapse faster under MSE than under cross-entropy.

    Held for each network: the mean over seeds of the logarithm of the ratio at the last epoch must lie above
    zero by more than its 95 % interval. On digits both losses have the same
    learning rate, epochs, weight decay and schedule, so that they differ in nothing else; the paper tunes the
    rate of each by test error, and what it sees is a property of loss and rate together. Equal rates are
    not equal speeds either: the two losses' gradients differ in size.
    """
    ratios = [
        np.log10(by_seed(ce, "nc1").iloc[-1]) - np.log10(by_seed(mse, "nc1").iloc[-1]) for mse, ce in paired(tables)
    ]
    reason = "The ratio is not above one for every network beyond its spread over seeds"
    return Outcome(above_zero(ratios), members(tables), reason=reason)


@claim(
    "Appendix A",
    "fall of NC1 from zero train error to the end on MNIST, FashionMNIST, SVHN, CIFAR10, STL10, where it is least",
)
def five_data_sets(tables: Tables, *, factor: Positive, share: Fraction) -> Outcome:
    """Neural collapse under MSE on the paper's own five data sets: NC1 by its factor, NC4 by its share.

    The runs belong to the full-scale configuration, which downloads the data sets and needs a GPU.
    """
    if not tables:
        raise Untested(
            "needs MNIST, FashionMNIST, SVHN, CIFAR10 and STL10, and a GPU: "
            "snakemake --configfile workflow/config/full.yaml"
        )
    return Outcome(all_of(nc1(tables, factor=factor).printed, nc4(tables, share=share).printed), members(tables))


def _collapses(tables: Tables, quantities: Sequence[str], factor: float) -> Outcome:
    """Hold each quantity's fall, the median over seeds of the network where it is least, against the factor.

    As printed after train errors have ended; as corrected over the whole training.
    """
    mse = trained_with(tables, "mse")
    because = "median over seeds, in every network"

    def check(falls: Callable[[pd.DataFrame, str], pd.Series]) -> Check:
        return all_of(
            *(
                at_least(least_median(falls(table, name) for table in mse.values()), factor, because=because)
                for name in quantities
            )
        )

    reason = never_without_error(mse) or (
        "Much of the fall comes before the first recorded epoch without a train error, or that epoch comes late"
    )
    return Outcome(check(falls_after_zero_error), members(mse), corrected=check(_falls_in_all), reason=reason)


def _falls_in_all(table: pd.DataFrame, quantity: str) -> pd.Series:
    """How many times smaller a quantity is at the last recorded epoch than at the first, by seed."""
    values = by_seed(table, quantity)
    return values.iloc[0] / values.iloc[-1]
