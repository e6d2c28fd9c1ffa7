"""Claims on the least-squares classifier and on the terms that the MSE loss decomposes into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from learning_dynamics.claims import Outcome, at_least, at_most, claim, equal
from learning_dynamics.papers.neural_collapse.central_path.rows import ROUNDING, draws, largest_of
from learning_dynamics.papers.neural_collapse.epochs import by_seed, zero_error_epochs
from learning_dynamics.papers.neural_collapse.trainings import least_median, members, trained_with
from learning_dynamics.settings import Fraction
from learning_dynamics.tables import Tables


@claim("Proposition 1", "largest relative difference between the formula's classifier and a least-squares solution")
def proposition_1(tables: Tables) -> Outcome:
    """For fixed features the loss is least at W = Mᵀ(Σ_T + μ_G μ_Gᵀ + λI)⁻¹ / C, in extended features.

    The formula is held against an orthogonal-triangular solution of the regularised least-squares problem, which
    forms no covariance, for features that are neither centred nor normalised and for weight decay zero, 5·10⁻⁴ and
    0.1. Loss and λ are in the paper's units: half the squared error summed over classes and averaged over examples,
    plus λ/2 times the squared norm of classifier and bias.
    """
    table = tables["central_path_features"]
    check = equal(largest_of(table, "classifier_gap"), 0.0, ROUNDING, because="rounding")
    return Outcome(check, draws(table))


@claim("Theorem 1", "largest |L − L_LS − L_LS^⊥| / L over random classifiers")
def theorem_1(tables: Tables) -> Outcome:
    """The loss of any classifier is that of the least-squares classifier plus its deviation from it.

    The deviation is the squared distance to the optimum in the metric of the regularised second moment: the loss is
    quadratic in the classifier. L_LS is computed from the least-squares solution, not from the decomposition.
    """
    table = tables["central_path_features"]
    return Outcome(equal(largest_of(table, "theorem_1_gap"), 0.0, ROUNDING, because="rounding"), draws(table))


@claim("Theorem 2", "largest |L_LS − L_NC1 − L_NC2/3| / L_LS")
def theorem_2(tables: Tables) -> Outcome:
    """The loss of the least-squares classifier splits into a part from within-class scatter and one from class means.

    Within a class the deviations from its mean sum to zero, so that the squared error separates; weight decay
    joins the first part. Class means count equally, which asks for balanced classes.
    """
    table = tables["central_path_features"]
    return Outcome(equal(largest_of(table, "theorem_2_gap"), 0.0, ROUNDING, because="rounding"), draws(table))


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
    mse = trained_with(tables, "mse")
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
        members(mse),
        corrected=at_most(float(np.max(after_drop)), share, because=because),
        reason="At the full learning rate, gradient noise holds the classifier away from the least-squares one",
    )


@claim(
    "Figure 2",
    "fall of L(NC2/3) over the largest fall of another term, first epoch to last, for the network where it is least",
    correction="L(NC2/3) falls fastest until the learning rate drops; the drop takes L(LS⊥), gradient noise, with it.",
)
def nc23_vanishes_first(tables: Tables) -> Outcome:
    """Of the three terms of the loss, L(NC2/3) diminishes fastest.

    A term's fall is its value at the first recorded epoch over its value at the later one. Against L(NC1),
    which weight decay keeps from zero, L(NC2/3) falls faster throughout. Against L(LS⊥) it depends on where one looks:
    at the end of training that term has fallen too, because it shrinks with the learning rate.
    """
    mse = trained_with(tables, "mse")

    def advantage(until: Callable[[dict], float]) -> float:
        found = []
        for table in mse.values():
            terms = {term: by_seed(table, term) for term in ("loss_nc23", "loss_nc1", "loss_ls_perp")}
            last = until(table.attrs["settings"])
            falls = {term: values.iloc[0] / values[values.index <= last].iloc[-1] for term, values in terms.items()}
            found.append(falls["loss_nc23"] / np.maximum(falls["loss_nc1"], falls["loss_ls_perp"]))
        return least_median(found)

    because = "median over seeds, in every network"
    return Outcome(
        at_least(advantage(lambda settings: settings["epochs"]), 1.0, because=because),
        members(mse),
        corrected=at_least(advantage(_first_drop), 1.0, because=because),
        reason="L(LS⊥) falls further than L(NC2/3) when the learning rate drops",
    )


def _first_drop(settings: Mapping[str, Any]) -> int:
    """The last epoch at the full learning rate."""
    return round(settings["drops"][0] * settings["epochs"])
