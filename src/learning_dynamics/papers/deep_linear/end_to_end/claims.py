"""Balance, end-to-end dynamics, the rates of singular values, and the preconditioner."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.claims import Outcome, all_of, at_least, claim, equal
from learning_dynamics.papers.deep_linear.measured import values_of
from learning_dynamics.tables import Tables

# Error of DOP853 along these flows in units of its rtol. Invariants keep it small. Solutions that pass a saddle
# magnify it, by up to 10^4 here (depths 2 to 4, three seeds each), and the margin is another ten.
INVARIANT_ERROR, SOLUTION_ERROR = 10.0, 1e5
# what one more bit of rounding does to the eigenvalues of a matrix of order one
EIGENVALUE_ROUNDING = 1e-12


@claim("Balanced trajectories", "largest movement of W_{j+1}ᵀW_{j+1} − W_jW_jᵀ under gradient flow")
def balancedness_flow(tables: Tables) -> Outcome:
    """Gradient flow conserves W_{j+1}ᵀW_{j+1} − W_jW_jᵀ, so that balanced layers stay balanced.

    Checked from balanced layers, where the conserved matrices are zero, and from independent Gaussian layers,
    where they are of order one and stay what they were. The tolerance is the integrator's own error; the
    weights move by order one.
    """
    drift = max(float(values_of(table, "drift")["value"].max()) for table in tables.values())
    rtol = max(table.attrs["settings"]["rtol"] for table in tables.values())
    check = equal(drift, 0.0, INVARIANT_ERROR * rtol, resolution=1e-3, because="10 rtol of the integrator")
    return Outcome(check, _flows(tables))


def _flows(tables: Tables) -> int:
    return sum(len(table[["depth", "seed"]].drop_duplicates()) for table in tables.values())


@claim("Balanced trajectories, for gradient descent", "order of the drift from balance in the step size")
def balancedness_gd_first_order(tables: Tables) -> Outcome:
    """Gradient descent leaves balance only to first order in its step.

    Each step moves W_{j+1}ᵀW_{j+1} − W_jW_jᵀ by a term of order η², and a fixed stretch of time takes 1/η of
    them. The order is read from the drift at the two smallest steps; what separates it from its value at the
    next larger pair bounds the part of higher order that is left.
    """
    (table,) = tables.values()
    drift = table.pivot_table(index="learning_rate", columns="seed", values="value")
    orders = np.diff(np.log(drift), axis=0) / np.diff(np.log(drift.index.to_numpy()))[:, None]
    measured, coarser = orders[0].mean(), orders[1].mean()
    tolerance = 4 * abs(measured - coarser) + 1e-3
    check = equal(float(measured), 1.0, float(tolerance), resolution=0.5, because="change from one halving to the next")
    return Outcome(check, drift.shape[1])


@claim("Implicit preconditioning", "largest ‖W_N⋯W_1 − W‖ / largest ‖W‖, W following the end-to-end dynamics")
def end_to_end_dynamics(tables: Tables) -> Outcome:
    """From balanced layers the end-to-end matrix follows an equation of its own, in which layers do not appear.

    dW/dt = −Σ_j [WWᵀ]^((N−j)/N) ∇ℓ(W) [WᵀW]^((j−1)/N). Both sides are integrated, the layers and the
    equation, at depths 2, 3 and 4. Started from layers that are not balanced the two part by order one,
    which shows what the comparison could see. The equation's fractional powers, and saddles on the way,
    magnify integration errors; the tolerance allows for that.
    """
    balanced, contrast = (_largest_difference(table) for table in tables.values())
    rtol = max(table.attrs["settings"]["rtol"] for table in tables.values())
    check = equal(
        balanced,
        0.0,
        SOLUTION_ERROR * rtol,
        resolution=1e-3 * contrast,
        because=f"integration error past saddles; {contrast:.2g} from unbalanced layers",
    )
    return Outcome(check, _flows({"balanced": next(iter(tables.values()))}))


def _largest_difference(table: pd.DataFrame) -> float:
    return float(values_of(table, "difference")["value"].max() / values_of(table, "scale")["value"].max())


@claim("Dynamics of singular values", "largest error of σ_r(t) against its integrated rate, over the largest σ_1")
def singular_value_dynamics(tables: Tables) -> Outcome:
    """Each singular value moves at −N σ_r^(2−2/N) ⟨∇ℓ, u_r v_rᵀ⟩.

    The rate is integrated along the flow and held against the singular values of the product of the layers.
    Depth enters only through the factor N σ_r^(2−2/N), which speeds large singular values up and holds small
    ones back. Without balance the law fails by a tenth and more.
    """
    balanced, contrast = (_largest_sigma_error(table) for table in tables.values())
    rtol = max(table.attrs["settings"]["rtol"] for table in tables.values())
    check = equal(
        balanced,
        0.0,
        INVARIANT_ERROR * rtol,
        resolution=1e-3 * contrast,
        because=f"10 rtol of the integrator; {contrast:.2g} from unbalanced layers",
    )
    return Outcome(check, _flows({"balanced": next(iter(tables.values()))}))


def _largest_sigma_error(table: pd.DataFrame) -> float:
    rows = values_of(table, "sigma")
    return float((rows["value"] - rows["predicted"]).abs().max() / rows["value"].max())


@claim("Implicit preconditioning", "smallest eigenvalue of P_W along the flows, over its largest")
def preconditioner_psd(tables: Tables) -> Outcome:
    """The preconditioner is positive semidefinite, with eigenvalues that the singular values of W fix.

    P_W is built from its definition, term by term, and its eigenvalues computed; theory gives them as
    Σ_j σ_r^(2(N−j)/N) σ_s^(2(j−1)/N). Directions that pair two large singular values have large ones:
    movement goes on where it has already gone. W has full rank here, and all eigenvalues are positive.
    """
    (table,) = tables.values()
    rows = values_of(table, "eigenvalue")
    largest = rows["value"].max()
    smallest = float(rows["value"].min() / largest)
    error = float((rows["value"] - rows["predicted"]).abs().max() / largest)
    return Outcome(
        all_of(
            at_least(smallest, 0.0, uncertainty=EIGENVALUE_ROUNDING),
            # fractional powers of W Wᵀ magnify the rounding of its smallest eigenvalues
            equal(error, 0.0, 1e-7, because="rounding of matrix powers"),
        ),
        _flows(tables),
    )
