"""Lemma B.1, the conserved difference of the factors, and Theorem B.2: what holds along every flow."""

from __future__ import annotations

import numpy as np

from learning_dynamics.claims import Outcome, all_of, claim, equal
from learning_dynamics.papers.softmax_dynamics.evidence import (
    DIFFERENCE_ERROR,
    RESOLUTION,
    by_index,
    flow_error,
    members,
    rate_error,
    scalar,
)
from learning_dynamics.tables import Tables


@claim("Lemma B.1", "largest |dσ_k/dt − u_kᵀ(dM/dt)v_k| / |dM/dt|, the derivative by differences")
def lemma_b_1(tables: Tables) -> Outcome:
    """A simple singular value of a smooth matrix M(t) changes at the rate u_kᵀ (dM/dt) v_k.

    Checked on random smooth curves, with differences taken in time, and on both factors along gradient
    flow, with differences taken along the direction of motion. Where two singular values meet, the
    ordered ones have no derivative, and neither has one at zero; times with a relative gap below a
    hundredth are left out, as the lemma asks for simple ones.
    """
    checks = []
    for table in tables.values():
        if "step" in table.attrs["settings"]:
            step = table.attrs["settings"]["step"]
            error = (by_index(table, "lemma") - by_index(table, "lemma", "predicted")).abs().max(axis=1)
            speed = scalar(table, "speed")
            # the spectrum must be smooth on the scale of the step: no step longer than a hundredth of a gap
            smooth = step * speed < 0.01 * scalar(table, "gap")
            worst = float((error / speed)[smooth].max())
            checks.append(equal(worst, 0.0, 1e-7, because="truncation, the fourth power of step / gap, times ten"))
        else:
            for factor in ("f", "w"):
                worst = rate_error(table, f"lemma_{factor}", factor)
                checks.append(equal(worst, 0.0, DIFFERENCE_ERROR, because="rounding of the differences"))
    return Outcome(all_of(*checks), members(tables))


@claim("Eq. 15–16, gradient flow", "largest |change of fᵀf − WWᵀ| / |fᵀf + WWᵀ| along the flow")
def conservation(tables: Tables) -> Outcome:
    """Gradient flow keeps fᵀf − WWᵀ as it was at the start.

    It holds for any residual A, hence for both losses, and from any initialisation: the flows checked
    start balanced, where the difference is zero, and from Gaussian factors, where it is not.
    """
    worst = max(float((scalar(table, "drift") / scalar(table, "size")).max()) for table in tables.values())
    check = equal(worst, 0.0, flow_error(tables), resolution=RESOLUTION, because="10 rtol")
    return Outcome(check, members(tables))


@claim(
    "Eq. 12, as steps",
    "largest |change of fᵀf − WWᵀ| / |fᵀf + WWᵀ| at the largest learning rate",
    correction="Steps change the difference by η² (W AᵀA Wᵀ − fᵀA Aᵀf) each, so that it drifts in proportion to η.",
)
def conservation_gradient_descent(tables: Tables) -> Outcome:
    """Gradient descent with a finite learning rate keeps fᵀf − WWᵀ as well.

    The appendix introduces its equations as gradient descent with learning rate η, and then differentiates
    in time. For steps of finite size the invariant is exact only to first order: over a given time the
    drift is halved when the learning rate is.
    """
    table = tables["descent"]
    wide = table.pivot_table(index=["seed", "time"], columns=["learning_rate", "quantity"], values="value")
    relative = (wide.xs("drift", axis=1, level=1) / wide.xs("size", axis=1, level=1)).groupby("seed").max()
    rounding = 1e-12
    printed = equal(float(relative.iloc[:, -1].max()), 0.0, rounding, because="rounding over a thousand steps")
    logs = np.log(np.maximum(relative, np.finfo(float).tiny))
    x = np.log(relative.columns.to_numpy(dtype=float))
    orders = logs.apply(lambda row: np.polyfit(x, row, 1)[0], axis=1)
    order = equal(
        float(orders.mean()),
        1.0,
        0.1,
        uncertainty=1.96 * float(orders.sem()),
        because="order of the drift in η; terms of higher order raise it by up to a tenth",
    )
    return Outcome(printed, relative.shape[0], corrected=order)


@claim("Theorem B.2", "largest of |σ_1i² − σ_2i²| / σ_1² and sin∠(v_1i, u_2i) · gap(σ²) / σ_1²")
def theorem_b_2(tables: Tables) -> Outcome:
    """From a balanced start, fᵀf = WWᵀ, both factors keep the same singular values and share their directions.

    Singular vectors are fixed up to sign, and only as well as the spectrum's gap allows: an error of size
    ε in a symmetric matrix turns its eigenvectors by up to ε / gap. The angles are therefore weighted by
    the gap.
    """
    worst = max(
        float(scalar(table, quantity).max()) for table in tables.values() for quantity in ("spectra", "directions")
    )
    check = equal(worst, 0.0, flow_error(tables), resolution=RESOLUTION, because="10 rtol")
    return Outcome(check, members(tables))
