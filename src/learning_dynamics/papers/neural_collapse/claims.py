"""What is concluded: each claim of the paper held against the measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from learning_dynamics.claims import Check, Outcome, Untested, all_of, at_least, at_most, claim
from learning_dynamics.measures.epochs import at_zero_error_and_end, by_seed, zero_error_epochs
from learning_dynamics.settings import Fraction, Positive

# -- the central path (section 3, appendix D) --------------------------------------------------

# -- training (section 2, appendices A and B) ---------------------------------------------------

Tables = Mapping[str, pd.DataFrame]

OVER_ALL = "It falls by the factor over the whole training; part of the fall comes before train errors have ended."


def _first_drop(settings: Mapping[str, Any]) -> int:
    """The last epoch at the full learning rate."""
    return round(settings["drops"][0] * settings["epochs"])


def _trained_with(tables: Tables, loss: str) -> dict[str, pd.DataFrame]:
    return {run: table for run, table in tables.items() if table.attrs["settings"]["loss"] == loss}


def _members(tables: Tables) -> int:
    return sum(table["seed"].nunique() for table in tables.values())


def _falls(table: pd.DataFrame, quantity: str, split: str = "train") -> pd.Series:
    """How many times smaller a quantity is at the end than at the first epoch without a train error, by seed."""
    start, end = at_zero_error_and_end(by_seed(table, quantity, split), table)
    return start / end


def _falls_in_all(table: pd.DataFrame, quantity: str) -> pd.Series:
    """How many times smaller a quantity is at the last recorded epoch than at the first, by seed."""
    values = by_seed(table, quantity)
    return values.iloc[0] / values.iloc[-1]


def _smallest(values: Iterable[pd.Series]) -> float:
    """The smallest value of all trainings; nan, which decides nothing, if one of them has none."""
    return float(np.min(np.concatenate([series.to_numpy(dtype=float) for series in values])))


def _collapses(tables: Tables, quantities: Sequence[str], factor: float) -> Outcome:
    """Hold the smallest fall of all trainings and quantities against the factor asked for.

    As printed after train errors have ended; as corrected over the whole training.
    """
    mse = _trained_with(tables, "mse")

    def check(falls: Callable[[pd.DataFrame, str], pd.Series]) -> Check:
        return all_of(
            *(
                at_least(_smallest(falls(table, name) for table in mse.values()), factor, because="in every training")
                for name in quantities
            )
        )

    reason = _never_without_error(mse) or (
        "Much of the fall comes before the first recorded epoch without a train error, or that epoch comes late"
    )
    return Outcome(check(_falls), _members(mse), corrected=check(_falls_in_all), reason=reason)


def _never_without_error(tables: Tables) -> str:
    missing = sum(int(zero_error_epochs(table).isna().sum()) for table in tables.values())
    return f"{missing} trainings never classify every train image correctly" if missing else ""


def _above_zero(networks: Iterable[pd.Series], *, together: bool = False) -> Check:
    """Hold the mean over seeds of each network above zero; over all trainings where that is asked for, or one each.

    The measurement's uncertainty is the half-width of the mean's 95 % interval by Student's distribution.
    """
    groups = list(networks)
    if together or min(len(group) for group in groups) < 2:
        groups, over = [pd.concat(groups)], "all trainings"
    else:
        over = "seeds, for each network"
    checks = []
    for group in groups:
        spread = stats.t.ppf(0.975, len(group) - 1) * group.std(ddof=1) / np.sqrt(len(group)) if len(group) > 1 else 0.0
        mean = float(group.mean(skipna=False))
        interval = float(spread) if np.isfinite(mean) else 0.0
        checks.append(at_least(mean, 0.0, uncertainty=interval, because=f"95 % interval over {over}"))
    return all_of(*checks)


@claim(
    "Section 1.1 (NC1), Figure 7",
    "smallest fall of Tr(Σ_W pinv(Σ_B))/C from zero train error to the end",
    correction=OVER_ALL,
)
def nc1(tables: Tables, *, factor: Positive) -> Outcome:
    """Under MSE, within-class variability collapses against the distances between class means.

    Measured on train images in every network and seed, from the first recorded epoch at which none of them
    is misclassified: what happens after it cannot be the removal of errors. The limit itself lies at
    infinite time and, with weight decay, at a small positive value; a fall by the stated factor stands for
    it, and the factor is ours. The trainings are those that the configuration names: at laptop scale this is
    a statement about small networks on 8 x 8 digits. There the rate at which errors end decides what
    is left to fall: ResNet classifies every train image after six epochs, when its angles have made most of
    their way; DenseNet, at a rate that keeps its loss noisy, has single errors until the rate drops, and one seed
    counts from there. Over the whole training NC1 falls a thousandfold in every network.
    """
    return _collapses(tables, ["nc1"], factor)


@claim(
    "Section 1.1 (NC2), Figure 3",
    "smallest fall of std/mean of the norms from zero train error to the end",
    correction=OVER_ALL,
)
def nc2_equinorm(tables: Tables, *, factor: Positive) -> Outcome:
    """Under MSE, the norms of the centred class means and those of the classifiers become equal.

    Measured as for NC1, for class means and for classifiers; the one that falls less is held against the factor.
    """
    return _collapses(tables, ["equinorm_means", "equinorm_classifiers"], factor)


@claim(
    "Section 1.1 (NC2), Figure 4",
    "smallest fall of the std of cosines from zero train error to the end",
    correction=OVER_ALL,
)
def nc2_equiangular(tables: Tables, *, factor: Positive) -> Outcome:
    """Under MSE, the angles between class means, and between classifiers, become equal.

    Measured as for NC1, for class means and for classifiers; the one that falls less is held against the factor.
    """
    return _collapses(tables, ["equiangular_means", "equiangular_classifiers"], factor)


@claim(
    "Section 1.1 (NC2), Figure 5",
    "smallest fall of mean |cos + 1/(C−1)| from zero train error to the end",
    correction=OVER_ALL,
)
def nc2_maximal_angle(tables: Tables, *, factor: Positive) -> Outcome:
    """Under MSE, those angles approach the largest that C vectors can all have, cos = −1/(C−1).

    Measured as for NC1, for class means and for classifiers; the one that falls less is held against the factor.
    """
    return _collapses(tables, ["maximal_angle_means", "maximal_angle_classifiers"], factor)


@claim(
    "Section 1.1 (NC3), Figure 6",
    "smallest fall of the self-duality distance from zero train error to the end",
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
    mse = _trained_with(tables, "mse")
    largest = max(float(by_seed(table, "nc4").iloc[-1].max()) for table in mse.values())
    return Outcome(at_most(largest, share, because="in every training"), _members(mse))


@claim(
    "Section 2, Figure 2",
    "largest L(LS⊥)/L(LS) at recorded epochs of the terminal phase",
    correction="The deviation is negligible once the learning rate has dropped for the first time.",
)
def least_squares_deviation_negligible(tables: Tables, *, share: Fraction) -> Outcome:
    """From an early epoch on, the network's classifier is nearly the least-squares classifier of its features.

    The terminal phase begins at the first recorded epoch without a train error. Gradient noise keeps the
    last layer a distance away from the least-squares solution that shrinks with the learning rate: at the full rate the
    deviation is a sizeable part of the loss, and after the first drop it is a few percent. Class means,
    covariances and classifier are those of the same network in evaluation mode; with batch-norm statistics
    recomputed over the train images the picture is the same.
    """
    mse = _trained_with(tables, "mse")
    in_terminal_phase, after_drop = [], []
    for table in mse.values():
        ratio = by_seed(table, "loss_ls_perp") / (by_seed(table, "loss_nc1") + by_seed(table, "loss_nc23"))
        for seed, epoch in zero_error_epochs(table).items():
            in_terminal_phase.append(ratio.loc[ratio.index >= epoch, seed].max())
        settings = table.attrs["settings"]
        after_drop.append(float(ratio[ratio.index > _first_drop(settings)].to_numpy().max()))
    because = "at every recorded epoch of every training"
    return Outcome(
        at_most(float(np.max(in_terminal_phase)), share, because=because),
        _members(mse),
        corrected=at_most(float(np.max(after_drop)), share, because=because),
        reason="At the full learning rate, gradient noise holds the classifier away from the least-squares one",
    )


@claim(
    "Figure 2",
    "smallest ratio, over trainings, of the fall of L(NC2/3) to the largest fall of another term, first epoch to last",
    correction="L(NC2/3) falls fastest until the learning rate drops; the drop takes L(LS⊥), gradient noise, with it.",
)
def nc23_vanishes_first(tables: Tables) -> Outcome:
    """Of the three terms of the loss, L(NC2/3) diminishes fastest.

    A term's fall is its value at the first recorded epoch over its value at the later one. Against L(NC1),
    which weight decay keeps from zero, L(NC2/3) falls faster throughout. Against L(LS⊥) it depends on where one looks:
    at the end of training that term has fallen too, because it shrinks with the learning rate.
    """
    mse = _trained_with(tables, "mse")

    def advantage(until: Callable[[dict], float]) -> float:
        found = []
        for table in mse.values():
            terms = {term: by_seed(table, term) for term in ("loss_nc23", "loss_nc1", "loss_ls_perp")}
            last = until(table.attrs["settings"])
            falls = {term: values.iloc[0] / values[values.index <= last].iloc[-1] for term, values in terms.items()}
            found.append(falls["loss_nc23"] / np.maximum(falls["loss_nc1"], falls["loss_ls_perp"]))
        return _smallest(found)

    return Outcome(
        at_least(advantage(lambda settings: settings["epochs"]), 1.0, because="in every training"),
        _members(mse),
        corrected=at_least(advantage(_first_drop), 1.0, because="in every training"),
        reason="L(LS⊥) falls further than L(NC2/3) when the learning rate drops",
    )


def _paired(tables: Tables) -> list[tuple[pd.DataFrame, pd.DataFrame]]:
    """Trainings of the same data set and network under MSE and under cross-entropy."""
    mse, ce = _trained_with(tables, "mse"), _trained_with(tables, "ce")
    names = {run.rpartition("_")[0]: table for run, table in ce.items()}
    pairs = [(table, names[run.rpartition("_")[0]]) for run, table in mse.items() if run.rpartition("_")[0] in names]
    if not pairs:
        raise Untested("needs the same network trained under both losses; name such runs in the configuration")
    return pairs


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
        np.log10(by_seed(ce, "nc1").iloc[-1]) - np.log10(by_seed(mse, "nc1").iloc[-1]) for mse, ce in _paired(tables)
    ]
    reason = "The ratio is not above one for every network beyond its spread over seeds"
    return Outcome(_above_zero(ratios), _members(tables), reason=reason)


@claim("Figure 11", "robustness under MSE less that under CE at the end, for the network where it is least")
def mse_more_robust(tables: Tables) -> Outcome:
    """Networks trained with MSE tend to be more robust than those trained with cross-entropy.

    Robustness is the mean size of DeepFool's perturbation relative to the image, on test images, at the last
    epoch, as in the paper; held for each network against the 95 % interval over seeds. What holds of this measure
    need not hold of the distance to the decision boundary: see deepfool_finds_the_boundary. By the smallest
    perturbation that is known for each image, DeepFool's or a crossing towards a train image, nearly all of
    the difference goes on digits: VGG and ResNet end near 0.33 under MSE and 0.31 under cross-entropy, where DeepFool
    alone says 1.2 to 1.3 and 0.4.
    """
    differences = [
        by_seed(mse, "robustness", "test").iloc[-1] - by_seed(ce, "robustness", "test").iloc[-1]
        for mse, ce in _paired(tables)
    ]
    reason = "The difference is not above zero for every network beyond its spread over seeds"
    return Outcome(_above_zero(differences), _members(tables), reason=reason)


@claim(
    "Figures 9 and 11",
    "largest ratio, over MSE trainings, of DeepFool's perturbation to a crossing known without gradients, at the end",
    correction="It is so at the first recorded epoch; later the outputs saturate and its steps overshoot.",
)
def deepfool_finds_the_boundary(tables: Tables) -> Outcome:
    """DeepFool's perturbation measures how far an image is from a change of decision.

    The paper rests figures 9 and 11 on it without saying so. On the straight way from a test image to the nearest train
    image that the network decides differently, the decision changes somewhere: the smallest perturbation is
    no longer than that, and no gradient is needed to find it. Where DeepFool's mean is beyond the mean of
    these crossings, it has not found the boundary: under MSE, outputs near 0 and 1 are flat around collapsed
    features, and a step that follows a small slope goes far past the face it aims at. What then grows is the
    flatness of the outputs, not the distance to the boundary.
    """
    mse = _trained_with(tables, "mse")
    ends, starts = [], []
    for table in mse.values():
        ratio = by_seed(table, "robustness", "test") / by_seed(table, "robustness_crossing", "test")
        _, end = at_zero_error_and_end(ratio, table)
        starts.append(ratio.iloc[0].max(skipna=False))
        ends.append(end.max(skipna=False))
    return Outcome(
        at_most(float(np.max(ends)), 1.0, because="in every training"),
        _members(mse),
        corrected=at_most(float(np.max(starts)), 1.0, because="in every training"),
        reason=_never_without_error(mse) or "Under MSE, DeepFool's perturbations end beyond crossings that are known",
    )


@claim("Figure 9", "growth of robustness from zero train error to the end, for the network where it is least")
def robustness_grows_after_zero_error(tables: Tables) -> Outcome:
    """Under MSE, networks become more robust when trained beyond zero train error.

    Held for each network against the 95 % interval over seeds, by DeepFool as in the paper, which reports a
    median growth of 0.18 over its fifteen networks. By the smallest perturbation that is known (see
    deepfool_finds_the_boundary) it grows too, from about 0.27 to 0.33 for VGG and ResNet on digits: a quarter, not
    fourfold.
    """
    mse = _trained_with(tables, "mse")
    growths = []
    for table in mse.values():
        start, end = at_zero_error_and_end(by_seed(table, "robustness", "test"), table)
        growths.append(end - start)
    reason = _never_without_error(mse) or "Robustness does not grow in every network beyond its spread over seeds"
    return Outcome(_above_zero(growths), _members(mse), reason=reason)


@claim(
    "Figure 12", "smallest ratio, over trainings, of NC1's fall on train to its fall on test images, zero error to end"
)
def test_collapse_slower(tables: Tables) -> Outcome:
    """On test images variability collapses too, but more slowly and less deeply than on train images.

    Three things are asked of every training, under both losses: NC1 on test images falls after zero train
    error; it falls by less than on train images; and it ends above its train value. Test classes are not quite equally
    frequent on digits; classes weigh equally.
    """
    checks = []
    for table in tables.values():
        train, test = _falls(table, "nc1"), _falls(table, "nc1", "test")
        ends = (by_seed(table, "nc1", "test").iloc[-1] / by_seed(table, "nc1").iloc[-1]).where(train.notna())
        for series in (train / test, test, ends):
            checks.append(at_least(_smallest([series]), 1.0, because="in every training"))
    return Outcome(all_of(*checks), _members(tables), reason=_never_without_error(tables))


test_collapse_slower.__test__ = False  # a claim, not a test


@claim("Table 1", "test accuracy at the end less that at zero train error, percentage points, mean over trainings")
def accuracy_after_zero_error(tables: Tables) -> Outcome:
    """Under MSE, test accuracy improves when training goes on beyond zero train error.

    The paper's median improvement is 0.96 and its mean 1.83 percentage points, with one of fifteen networks
    getting worse. The mean over all trainings must lie above zero by more than its 95 % interval. On digits
    one test image is a quarter of a point.
    """
    mse = _trained_with(tables, "mse")
    changes = []
    for table in mse.values():
        start, end = at_zero_error_and_end(by_seed(table, "error", "test"), table)
        changes.append(100 * (start - end))
    reason = _never_without_error(mse) or "Accuracy does not improve beyond its spread over trainings"
    return Outcome(_above_zero(changes, together=True), _members(mse), reason=reason)


@claim(
    "Appendix A", "smallest fall of NC1 from zero train error to the end on MNIST, FashionMNIST, SVHN, CIFAR10, STL10"
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
    return Outcome(all_of(nc1(tables, factor=factor).printed, nc4(tables, share=share).printed), _members(tables))
