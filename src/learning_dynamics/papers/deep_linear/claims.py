"""What is concluded: each claim of the slides held against the measurements."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from learning_dynamics.claims import Check, Outcome, Untested, all_of, at_least, at_most, claim, equal
from learning_dynamics.papers.deep_linear import theory

Tables = Mapping[str, pd.DataFrame]
Found = Mapping[str, pd.Series]  # quantities by draw

ROW = ("error", "nuclear_norm", "effective_rank")
# an error that the accuracy of the fit sets is known to half an order of magnitude: slides do not print stops
FIT_ACCURACY = 0.5

# Error of DOP853 along these flows in units of its rtol. Invariants keep it small. Solutions that pass a saddle
# magnify it, by up to 10^4 here (depths 2 to 4, three seeds each), and the margin is another ten.
INVARIANT_ERROR, SOLUTION_ERROR = 10.0, 1e5
GAS_SENSOR_FEATURES = 128
# what one more bit of rounding does to the eigenvalues of a matrix of order one
EIGENVALUE_ROUNDING = 1e-12


def _values(table: pd.DataFrame, quantity: str) -> pd.DataFrame:
    return table[table["quantity"] == quantity]


def _interval(values: pd.Series | np.ndarray) -> tuple[float, float]:
    """Return the mean and the half-width of its 95 % interval."""
    if not len(values):
        return np.nan, np.inf
    return float(np.mean(values)), _t(values) * float(stats.sem(values)) if len(values) > 1 else np.inf


def _prediction(values: pd.Series | np.ndarray) -> tuple[float, float]:
    """Return the mean and the half-width of the 95 % interval of one further draw."""
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else np.inf
    return float(np.mean(values)), _t(values) * spread * np.sqrt(1 + 1 / len(values))


def _t(values: pd.Series | np.ndarray) -> float:
    return float(stats.t.ppf(0.975, len(values) - 1)) if len(values) > 1 else np.inf


# -- trajectories ---------------------------------------------------------------------------------


@claim("Balanced trajectories", "largest movement of W_{j+1}ᵀW_{j+1} − W_jW_jᵀ under gradient flow")
def balancedness_flow(tables: Tables) -> Outcome:
    """Gradient flow conserves W_{j+1}ᵀW_{j+1} − W_jW_jᵀ, so that balanced layers stay balanced.

    Checked from balanced layers, where the conserved matrices are zero, and from independent Gaussian layers,
    where they are of order one and stay what they were. The tolerance is the integrator's own error; the
    weights move by order one.
    """
    drift = max(float(_values(table, "drift")["value"].max()) for table in tables.values())
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
    return float(_values(table, "difference")["value"].max() / _values(table, "scale")["value"].max())


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
    rows = _values(table, "sigma")
    return float((rows["value"] - rows["predicted"]).abs().max() / rows["value"].max())


@claim("Implicit preconditioning", "smallest eigenvalue of P_W along the flows, over its largest")
def preconditioner_psd(tables: Tables) -> Outcome:
    """The preconditioner is positive semidefinite, with eigenvalues that the singular values of W fix.

    P_W is built from its definition, term by term, and its eigenvalues computed; theory gives them as
    Σ_j σ_r^(2(N−j)/N) σ_s^(2(j−1)/N). Directions that pair two large singular values have large ones:
    movement goes on where it has already gone. W has full rank here, and all eigenvalues are positive.
    """
    (table,) = tables.values()
    rows = _values(table, "eigenvalue")
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


@claim(
    "Trajectories cannot be emulated via regularization",
    "smallest |∮ P_W vec(∇ℓ)| over ∮ |P_W vec(∇ℓ)|, at depths of two and more",
    correction="It holds from depth 3 on. At depth 2 with one output and whitened inputs P_W ∇ℓ is a gradient field.",
)
def no_regulariser(tables: Tables) -> Outcome:
    """The preconditioned gradient is no function's gradient: along some closed curve its integral is not zero.

    The slide excludes no depth. For one output, P_W ∇ℓ = |W|^(2−2/N) (∇ℓ + (N−1) ŵŵᵀ∇ℓ). With whitened inputs
    the part of ∇ℓ along W is a gradient field at every depth, and for the rest, a constant vector g, the
    antisymmetric part of the Jacobian is a multiple of 2 − 2/N − (N−1), which is zero at N = 1 and N = 2. At
    depth 2 the flow is therefore plain gradient descent on the function |W| ⟨W, g⟩ + ⅔|W|³, up to constants:
    a regulariser of the kind that the slide rules out. From depth 3 on the integral is not zero and equals its
    closed form. At depth 2 it is not zero either once inputs are correlated or there is a second output,
    as the figure shows; the original theorem (Arora, Cohen and Hazan 2018) is about more than two layers.
    """
    (table,) = tables.values()
    wide = table.pivot_table(index=["case", "depth"], columns="quantity", values="value")
    share = wide["integral"].abs() / wide["scale"]
    depth = share.index.get_level_values("depth")
    linear = float(share[depth == 1].max())
    floor = 1e3 * max(linear, np.finfo(float).eps)
    exact = _values(table, "integral").dropna(subset=["predicted"])
    error = float((exact["value"] - exact["predicted"]).abs().max())
    known = equal(error, 0.0, 1e-10, because="Gauss-Legendre quadrature of smooth sides")
    note = "a thousand times the quadrature's rounding, seen at depth 1"
    return Outcome(
        all_of(at_least(float(share[depth >= 2].min()), floor, because=note), known),
        len(share),
        corrected=all_of(at_least(float(share[depth >= 3].min()), floor, because=note), known),
        reason="At depth 2, with one output and whitened inputs, the integral vanishes along every closed curve",
    )


# -- optimisation ---------------------------------------------------------------------------------


@claim("From gradient flow to gradient descent", "smallest rate −log(ℓ(t)/ℓ(0)) / ηt")
def linear_rate(tables: Tables) -> Outcome:
    """From balanced layers closer to the optimum than any matrix with σ_min ≤ c, the loss falls exponentially.

    The slide gives exp(−Ω(c²ηt)); the theorem behind it (Arora, Cohen, Golowich and Hu 2019) has the constant
    one and the exponent c^(2(N−1)/N), which is the stronger statement and the one checked, at every recorded
    time until rounding ends the fall. The bound is far from tight: along the flow the rate is at least
    2N c^(2(N−1)/N), and in fact 2N σ_min^(2(N−1)/N) of the target in the end.
    """
    (table,) = tables.values()
    settings = table.attrs["settings"]
    rows = _values(table, "loss")
    kept = rows[(rows["case"] == "assumptions hold") & (rows["time"] > 0) & (rows["value"] > 1e-20)]
    rate = float((-np.log(kept["value"]) / kept["time"]).min())
    bound = theory.guaranteed_rate(settings["margin"], settings["depth"])
    return Outcome(at_least(rate, bound, because="c^(2(N−1)/N), above the slide's c²"), kept["seed"].nunique())


@claim(
    "Claim: our assumptions on init are necessary",
    "smallest share of starts that miss a loss of 1e-5 ℓ(0), beyond the share with both assumptions",
)
def assumptions_necessary(tables: Tables) -> Outcome:
    """Giving up either assumption can make descent fail.

    Existence is claimed, so one start of each kind is enough. Beyond a singular matrix: balanced, but with
    one singular value of the target's negative. Balanced layers cannot change the sign of a determinant, and
    the loss stops at half the square of that singular value. Unbalanced: the successful start with its
    first layer multiplied and its second divided by a large number. The end-to-end matrix is the same, but the
    curvature grows with the square of that number, and the step that the theorem allows for balanced layers
    is too long. Not every imbalance fails: with a factor of 20 most starts leave the steep region and converge.
    """
    (table,) = tables.values()
    rows = _values(table, "loss")
    last = rows[rows["time"] == rows["time"].max()]
    failed = (last["value"] > 1e-5).groupby(last["case"]).mean()
    excess = failed.drop("assumptions hold") - failed["assumptions hold"]
    seeds = int(last["seed"].nunique())
    return Outcome(at_least(float(excess.min()), 1 / seeds, because="one more failing start of each kind"), seeds)


@claim(
    "Random balanced initialisation", "half decades of deviation over which balanced start converges and layer-wise not"
)
def balanced_init_converges_more_widely(tables: Tables) -> Outcome:
    """Balanced initialisation converges over a wider range of standard deviations than independent Gaussian layers.

    A deviation counts where a majority of draws reach the optimum within the cap at some learning rate; the
    smaller of the two advantages, at depth 3 and at depth 8, is reported. Layer-wise deviations enter the
    end-to-end matrix to the power of the depth, so that at depth 8 all but one of them start on a plateau or
    far outside; at depth 3 nearly all of them work, and the advantage is small. The deviation of the balanced
    start is that of the end-to-end matrix, as in its definition, so the two axes are not the same quantity.
    """
    (table,) = tables.values()
    steps = _values(table, "steps")
    converged = steps.assign(converged=steps["value"].notna())
    share = converged.groupby(["depth", "init", "deviation"])["converged"].mean()
    counts = (share > 0.5).groupby(["depth", "init"]).sum()
    advantage = (counts.xs("balanced", level="init") - counts.xs("layer_wise", level="init")).min()
    return Outcome(at_least(float(advantage), 1.0, because="one deviation of the grid"), len(steps))


def _speedup(table: pd.DataFrame) -> tuple[float, float, float, int]:
    """Return the smallest speed-up by depth, its 95 % half-width, the grid's ratio of rates, and the seeds."""
    rows = _values(table, "iterations")
    rows = rows[rows["rule"] == "network"]
    grid = np.sort(rows["learning_rate"].unique())
    best = rows.pivot_table(index="depth", columns="seed", values="value", aggfunc="min")
    best = best.reindex(index=sorted(rows["depth"].unique()))  # a depth that never got there leaves it undecided
    logs = np.log(best.loc[1] / best.drop(index=1))
    worst = min(
        (_interval(logs.loc[depth].dropna()) for depth in logs.index),
        key=lambda pair: np.nan_to_num(pair[0], nan=-np.inf),
    )
    ratio = float(np.exp(worst[0]))
    return ratio, ratio * float(np.expm1(worst[1])), float(grid[1] / grid[0]), best.shape[1]


@claim("Acceleration by depth", "iterations at depth 1 over iterations at the slowest of the deeper ones, ℓ4 loss")
def depth_accelerates_l4(tables: Tables) -> Outcome:
    """For regression with the ℓ4 loss gradient descent is faster through redundant linear layers.

    Each depth runs at the best learning rate of one logarithmic grid. A speed-up counts when it exceeds the
    ratio of neighbouring rates, by which the grid alone could mislead. The deeper networks express the same
    linear functions, and their problem is not convex. The start matters: from weights of norm 0.01 or 0.1 depth
    helps; from weights of norm 1, about the solution's own but pointing elsewhere, the deeper networks are the
    slower ones (see the table of varied settings).
    """
    (table,) = tables.values()
    ratio, margin, grid, seeds = _speedup(table)
    return Outcome(at_least(ratio, grid, uncertainty=margin, because="ratio of neighbouring learning rates"), seeds)


@claim("Acceleration by depth", "iterations at depth 1 over iterations at the slowest of the deeper ones, ℓ2 loss")
def depth_does_not_accelerate_l2(tables: Tables) -> Outcome:
    """For regression with the ℓ2 loss depth brings no speed-up.

    The statement on the slide is about p > 2 only, and this is its other side: at p = 2 the Hessian does not
    change along the way, and a preconditioner that grows with the weights has nothing to correct. The criterion
    asks that no speed-up beyond one step of the grid of learning rates is seen.
    """
    (table,) = tables.values()
    ratio, margin, grid, seeds = _speedup(table)
    return Outcome(at_most(ratio, grid, uncertainty=margin, because="ratio of neighbouring learning rates"), seeds)


@claim(
    "Experiment: regression problem from UCI", "iterations at depth 1 over iterations at the slowest of the deeper ones"
)
def depth_accelerates_l4_gas_sensor(tables: Tables) -> Outcome:
    """On the slide's own data, ethanol in the UCI gas-sensor array set, depth accelerates the ℓ4 regression.

    The set has to be downloaded, and the default data are scikit-learn's diabetes regression. With the archive
    in place, lay `workflow/config/gas_sensor.yaml` over the configuration, and this claim is decided.
    """
    (table,) = tables.values()
    if _values(table, "features")["value"].iloc[0] != GAS_SENSOR_FEATURES:
        raise Untested(
            "needs the UCI gas-sensor data (id 270), which must be downloaded: see workflow/config/gas_sensor.yaml"
        )
    return depth_accelerates_l4(tables)


# -- matrix completion ----------------------------------------------------------------------------


def _completed(table: pd.DataFrame, quantity: str, depth: int) -> pd.Series:
    """Return a quantity by draw, at the smallest scale and learning rate at which every draw converged.

    Raises
    ------
    Untested
        If no scale is small enough for that.
    """
    rows = _values(table, quantity)
    rows = rows[rows["depth"] == depth]
    for _, cell in rows.groupby(["scale", "learning_rate"]):
        if cell["converged"].all():
            return cell.set_index("draw")["value"]
    raise Untested(f"no run at depth {depth} reached the training loss asked for; raise max_steps")


def _row(
    cells: Sequence[Found], error: float, norm: float, rank: float, tolerance: float, *, root: bool = False
) -> Check:
    """Hold a row of the slides' table against our draws: the check at the scale that fits it best.

    The printed numbers come from one draw that we do not have, and from an initialisation scale that the
    slides do not print: at some scale of the grid, the same for all three numbers, they must lie where a further
    draw of ours would, with 95 % confidence. Errors are compared as logarithms.

    Parameters
    ----------
    cells : list
        Quantities by draw, one entry for each scale.
    tolerance : float
        Of log10 of the error: rounding as printed, or what is not known of the accuracy of the fit.
    root : bool
        Compare the root of our mean square error.
    """
    checks = []
    for found in cells:
        measured, margin = _prediction(np.log10(found["error"]) / (2 if root else 1))
        checks.append(
            all_of(
                equal(measured, np.log10(error), tolerance, uncertainty=margin, because="log10 error; spread of draws"),
                _printed(found["nuclear_norm"], norm, "nuclear norm; spread of draws"),
                _printed(found["effective_rank"], rank, "effective rank; spread of draws"),
            )
        )
    return max(checks, key=lambda check: check.slack)


def _printed(values: pd.Series, printed: float, because: str) -> Check:
    measured, margin = _prediction(values)
    return equal(measured, printed, 0.5, uncertainty=margin, because=because)


def _of_network(table: pd.DataFrame, depth: int) -> list[Mapping[str, pd.Series]]:
    """Return a row's quantities by draw, for each scale at which every draw converged, at the smallest rate."""
    rows = table[table["depth"] == depth]
    cells: list[Mapping[str, pd.Series]] = []
    for _, by_scale in rows.groupby("scale"):
        cell = by_scale[by_scale["learning_rate"] == by_scale["learning_rate"].min()]
        if cell["converged"].all():
            cells.append({name: _values(cell, name).set_index("draw")["value"] for name in ROW})
    if not cells:
        raise Untested(f"no run at depth {depth} reached the training loss asked for; raise max_steps")
    return cells


def _of_minimiser(table: pd.DataFrame) -> Found:
    return {name: _values(table, name).set_index("draw")["value"] for name in ROW}


def _as_root(cells: Sequence[Found], *row: float) -> Outcome:
    """Hold a row whose error is not a numerical accuracy against our mean square error, and against its root."""
    return Outcome(
        _row(cells, *row),
        len(cells[0]["error"]),
        corrected=_row(cells, *row, root=True),
        reason="As a mean square the printed error is far from all of our draws; the root of ours fits it",
    )


@claim("Table, 5K observations, nuclear norm min", "log10 reconstruction error, nuclear norm, effective rank")
def table_5k_nuclear_norm(tables: Tables) -> Outcome:
    """Nuclear-norm minimisation from 5000 entries: error 8e-7, nuclear norm 221, effective rank 5.

    The error is set by the slack of 10⁻³ that the convex program leaves each observed entry, and by how
    accurately it is solved: it is compared to half an order of magnitude.
    """
    found = _of_minimiser(tables["minimiser_5k"])
    return Outcome(_row([found], 8e-7, 221, 5, FIT_ACCURACY), len(found["error"]))


@claim("Table, 5K observations, depth 2", "log10 reconstruction error, nuclear norm, effective rank")
def table_5k_depth_2(tables: Tables) -> Outcome:
    """Depth 2 from 5000 entries: error 5e-6, nuclear norm 221, effective rank 5.

    The error is set by the training loss of 10⁻⁶ at which descent stops, and is compared to half an order of
    magnitude; the slides do not print the initialisation scale, and the one that fits best is reported.
    """
    cells = _of_network(tables["completion_5k"], 2)
    return Outcome(_row(cells, 5e-6, 221, 5, FIT_ACCURACY), len(cells[0]["error"]))


@claim("Table, 5K observations, depth 3", "log10 reconstruction error, nuclear norm, effective rank")
def table_5k_depth_3(tables: Tables) -> Outcome:
    """Depth 3 from 5000 entries: error 4e-6, nuclear norm 221, effective rank 5.

    As at depth 2, the training loss of 10⁻⁶ at which descent stops sets the error.
    """
    cells = _of_network(tables["completion_5k"], 3)
    return Outcome(_row(cells, 4e-6, 221, 5, FIT_ACCURACY), len(cells[0]["error"]))


@claim(
    "Table, 2K observations, nuclear norm min",
    "log10 reconstruction error, nuclear norm, effective rank",
    correction="The row fits when its error is read as the root of the mean square error.",
)
def table_2k_nuclear_norm(tables: Tables) -> Outcome:
    """Nuclear-norm minimisation from 2000 entries: error 2e-1, nuclear norm 217, effective rank 8.

    Nuclear norm and effective rank are as printed. The mean square error is not: 0.2 is several times what any of
    our draws gives, while its root, the error relative to the matrix, is near 0.2. The slides do not define their
    error; the rows that a numerical accuracy sets fit a mean square with the accuracies of the authors' code, and would
    fit a root only if those runs had been carried much further.
    """
    return _as_root([_of_minimiser(tables["minimiser_2k"])], 2e-1, 217, 8, np.log10(2.5 / 2))


@claim(
    "Table, 2K observations, depth 2",
    "log10 reconstruction error, nuclear norm, effective rank",
    correction="The row fits when its error is read as the root of the mean square error.",
)
def table_2k_depth_2(tables: Tables) -> Outcome:
    """Depth 2 from 2000 entries: error 6e-2, nuclear norm 220, effective rank 6.

    The row depends on the initialisation scale, which the slides do not print: from s = 10⁻³ to 10⁻⁶ the mean
    square error falls from 0.05 to 0.005, and the effective rank from 9 to 6. An error of 0.06 and a rank of
    6 do not go together in ours, as mean square; as its root they do, at the smallest scale. See the row above it.
    """
    return _as_root(_of_network(tables["completion_2k"], 2), 6e-2, 220, 6, np.log10(6.5 / 6))


@claim("Table, 2K observations, depth 3", "log10 reconstruction error, nuclear norm, effective rank")
def table_2k_depth_3(tables: Tables) -> Outcome:
    """Depth 3 from 2000 entries: error 3e-5, nuclear norm 221, effective rank 5.

    The training loss at which descent stops sets the error again. At the largest scale of the grid, s = 10⁻³,
    one draw in five ends a hundred times higher: smaller scales are needed for recovery to be sure.
    """
    cells = _of_network(tables["completion_2k"], 3)
    return Outcome(_row(cells, 3e-5, 221, 5, FIT_ACCURACY), len(cells[0]["error"]))


@claim("Many (5K) observations", "largest mean square error over draws")
def nuclear_norm_recovers_5k(tables: Tables) -> Outcome:
    """With 5000 of 10000 entries nuclear-norm minimisation recovers the matrix.

    Recovered means: to within the slack that observed entries have, up to a factor of ten in the mean square.
    The matrix has entries of mean square one.
    """
    (table,) = tables.values()
    errors = _values(table, "error")["value"]
    slack = float(_values(table, "misfit")["value"].max())
    return Outcome(at_most(float(errors.max()), 10 * slack**2, because="ten times the slack squared"), len(errors))


@claim("Few (2K) observations", "log10 of the minimiser's error over depth 3's")
def depth_beats_nuclear_norm_2k(tables: Tables) -> Outcome:
    """With 2000 entries deep networks recover the matrix and nuclear-norm minimisation does not.

    Depth 3 has an error at least a hundred times smaller than the convex program's; depth 2 is in between at the
    smallest scale of the grid, which is used here, but not at s = 10⁻³. Means of logarithms over draws, with their
    95 % intervals.
    """
    convex = _of_minimiser(tables["minimiser_2k"])["error"]
    gains = {
        depth: np.log10(convex / _completed(tables["completion_2k"], "error", depth)).to_numpy() for depth in (2, 3)
    }
    measured, margin = _interval(gains[3])
    second, second_margin = _interval(gains[2])
    return Outcome(
        all_of(
            at_least(measured, 2.0, uncertainty=margin, because="a hundred times"),
            at_least(second, 0.0, uncertainty=second_margin, because="depth 2 is not worse"),
        ),
        len(convex),
    )


@claim("Few (2K) observations", "log10 of depth 2's error over depth 3's")
def depth_3_beats_depth_2_2k(tables: Tables) -> Outcome:
    """With 2000 entries depth 3 has an error at least a hundred times smaller than depth 2.

    At the smallest scale of the grid, where depth 2 is at its best.
    """
    (table,) = tables.values()
    gain = np.log10(_completed(table, "error", 2) / _completed(table, "error", 3)).to_numpy()
    measured, margin = _interval(gain)
    return Outcome(at_least(measured, 2.0, uncertainty=margin, because="a hundred times"), len(gain))


@claim(
    "Experiments testing the nuclear norm conjecture",
    "smallest nuclear norm of depth 2 or 3 over the least one, minus one",
)
def deep_has_larger_nuclear_norm(tables: Tables) -> Outcome:
    """With 2000 entries descent does not minimise the nuclear norm, against the conjecture of Gunasekar et al.

    The networks' solutions have a larger nuclear norm than the minimiser that fits the same entries, on every
    draw and at depths 2 and 3, by more than the proved optimality gap of the convex solver: they pay in nuclear
    norm for a lower rank.
    """
    least = _of_minimiser(tables["minimiser_2k"])["nuclear_norm"]
    excess = min(
        float((_completed(tables["completion_2k"], "nuclear_norm", depth) / least - 1).min()) for depth in (2, 3)
    )
    gap = float(_values(tables["minimiser_2k"], "gap")["value"].max())
    return Outcome(at_least(excess, 0.0, uncertainty=gap, because="the solver's proved gap is the margin"), len(least))


@claim(
    "Few (2K) observations", "smallest mean drop of the effective rank, from the minimiser to depth 2 and on to depth 3"
)
def depth_lowers_effective_rank(tables: Tables) -> Outcome:
    """With 2000 entries depth lowers the effective rank: minimiser above depth 2 above depth 3.

    Effective rank is the exponential of the entropy of the singular values' shares. Differences are taken draw
    by draw, at the smallest scale of the grid; 95 % intervals of their means. The scale matters: at s = 10⁻³
    depth 2 has a larger effective rank, and a larger error, than the minimiser.
    """
    ranks = [
        _of_minimiser(tables["minimiser_2k"])["effective_rank"],
        *(_completed(tables["completion_2k"], "effective_rank", depth) for depth in (2, 3)),
    ]
    checks = []
    for higher, lower in itertools.pairwise(ranks):
        measured, margin = _interval((higher - lower).to_numpy())
        checks.append(at_least(measured, 0.0, uncertainty=margin))
    return Outcome(all_of(*checks), len(ranks[0]))


@claim("Dynamics of singular values", "smallest gain in separation of rises, from depth 1 to 2 and from 2 to 3")
def depth_separates_singular_values(tables: Tables) -> Outcome:
    """The deeper the network, the more its singular values rise one after another.

    A singular value has risen when it passes half of what it ends at, and is rising between a tenth and nine
    tenths of it. Separation is the time from the first to the last of the leading five (the matrix's rank),
    over the median time that a rise takes: zero when all rise together.
    """
    (table,) = tables.values()
    sigma = _values(table, "sigma")
    rank = round(float(_values(table, "effective_rank").groupby("depth")["value"].last().min()))
    separation = {
        key: _separation(rows, rank) for key, rows in sigma[sigma["index"] <= rank].groupby(["depth", "draw"])
    }
    found = pd.DataFrame(separation, index=["separation", "resolution"]).T.rename_axis(["depth", "draw"])
    checks = []
    for depth in (1, 2):
        shallow, deep = found.loc[depth], found.loc[depth + 1]
        gain = float((deep["separation"] - shallow["separation"]).min())
        hidden = float(deep["resolution"].max() + shallow["resolution"].max())
        checks.append(at_least(gain, 0.0, uncertainty=hidden, because="on every draw; recorded times are the margin"))
    return Outcome(all_of(*checks), len(found.loc[1]))


def _separation(rows: pd.DataFrame, rank: int) -> tuple[float, float]:
    """Return the time between the first rise and the last, and between records, both over the time of one rise."""
    wide = rows.pivot_table(index="time", columns="index", values="value")
    times = wide.index.to_numpy()

    def passed(level: float) -> np.ndarray:
        when = []
        for index in range(1, rank + 1):
            share = wide[index].to_numpy() / wide[index].iloc[-1]
            after = max(int(np.argmax(share >= level)), 1)
            when.append(np.interp(level, share[after - 1 : after + 1], times[after - 1 : after + 1]))
        return np.array(when)

    duration = float(np.median(passed(0.9) - passed(0.1)))
    middle = passed(0.5)
    return float(middle.max() - middle.min()) / duration, float(times[1] - times[0]) / duration


def _misfit(table: pd.DataFrame, depth: int) -> float:
    """Return how far sigma_2 is from the best curve of the depth's family, over the range that it covers.

    In the family's own coordinates the curve is a straight line, fitted by least squares.
    """
    worst = 0.0
    for _, rows in _values(table, "sigma")[lambda rows: rows["depth"] == depth].groupby("seed"):
        wide = rows.pivot_table(index="time", columns="index", values="value")
        larger, smaller = (theory.relation_coordinate(wide[index].to_numpy(), depth) for index in (1, 2))
        fitted = np.polynomial.Polynomial.fit(larger, smaller, 1)(larger)
        worst = max(worst, float(np.max(np.abs(smaller - fitted)) / np.ptp(smaller)))
    return worst


def _relation(tables: Tables, depth: int, also: Check | None = None) -> Outcome:
    table = tables["one_measurement"]
    tolerance = 1e3 * table.attrs["settings"]["rtol"]
    because = "a thousand rtol of the integrator"
    aligned = equal(_misfit(table, depth), 0.0, tolerance, because=because)
    return Outcome(
        equal(_misfit(tables["one_entry"], depth), 0.0, tolerance, resolution=0.1, because=because),
        tables["one_entry"]["seed"].nunique(),
        corrected=aligned if also is None else all_of(aligned, also),
        reason="One entry is a measurement of rank one: it turns the singular vectors and leaves the second one behind",
    )


ONE_MEASUREMENT = "It holds for one linear measurement ⟨A, W⟩ whose singular vectors are those of W."


@claim("Theoretical example: one observed entry", "departure of σ_2(σ_1) from the best line, over σ_2's range",
       correction=ONE_MEASUREMENT)  # fmt: skip
def one_entry_depth_1(tables: Tables) -> Outcome:
    """At depth 1 the smaller singular value is a linear function of the larger.

    The relation follows from the law for singular values when ⟨A, u_r v_rᵀ⟩ stays constant, that is for a
    measurement aligned with W: dσ_2/dσ_1 is then the ratio of A's singular values. A single entry has A of rank
    one. Aligned with W it never moves σ_2; not aligned, it turns the singular vectors, and σ_2 settles at the
    same kind of limit at every depth, depth 1 included. So a single entry does not tell depths apart. With
    A = diag(1, ½) the line is exact.
    """
    return _relation(tables, 1)


@claim("Theoretical example: one observed entry", "departure of log σ_2 from the best line in log σ_1, over its range",
       correction=ONE_MEASUREMENT)  # fmt: skip
def one_entry_depth_2(tables: Tables) -> Outcome:
    """At depth 2 the smaller singular value is a power of the larger.

    For an aligned measurement the exponent is the ratio of A's singular values, and a straight line in logarithms
    shows it; for a single entry there is no such line. See depth 1.
    """
    return _relation(tables, 2)


@claim("Theoretical example: one observed entry",
       "departure of σ_2^−(1−2/N) from the best line in σ_1^−(1−2/N), over its range; N = 3",
       correction=ONE_MEASUREMENT)  # fmt: skip
def one_entry_depth_3(tables: Tables) -> Outcome:
    """From depth 3 on the smaller singular value has an asymptote, however large the larger grows.

    For an aligned measurement σ_2^(−1/3) is affine in σ_1^(−1/3), so σ_2 stays below start · (1 − ratio)^(−3),
    which is also checked. For a single entry σ_2 levels off too, but at every depth, and not along this curve.
    """
    table = tables["one_measurement"]
    settings = table.attrs["settings"]
    rows = _values(table, "sigma")
    reached = float(rows[(rows["depth"] == 3) & (rows["index"] == 2)]["value"].max())
    limit = theory.limiting_singular_value(settings["start"], settings["ratio"], 3)
    return _relation(tables, 3, also=at_most(reached, limit, because="the asymptote"))
