"""What is concluded: each claim of the paper held against the measurements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from learning_dynamics.claims import Check, Outcome, Untested, all_of, at_least, at_most, claim, equal
from learning_dynamics.settings import Positive

Tables = Mapping[str, pd.DataFrame]

# Error of the limits of LSODA's flows, relative, in units of its rtol: at most 40 over all runs here; doubled.
FLOW_ERROR = 100.0
# Directions are compared in degrees. Those of different norms lie several degrees apart on the data used here.
ANGLE = 0.5
# Powers of tau below this cannot be told from constants at log t = 1e6, where they have changed by less than 1/30.
SLOWEST = 0.25
# Degrees by which X^T r may still turn in the last decade of log t where a theorem assumes that it converges.
TURN = 0.1


def _values(table: pd.DataFrame, quantity: str, **where: object) -> pd.DataFrame:
    rows = table["quantity"] == quantity
    for column, wanted in where.items():
        rows &= table[column].isin(wanted) if isinstance(wanted, list) else table[column] == wanted
    found = table[rows]
    if found.empty:
        raise Untested(f"no {quantity!r} was measured" + (f" for {where}" if where else ""))
    return found


def _errors(table: pd.DataFrame, quantity: str, **where: object) -> np.ndarray:
    rows = _values(table, quantity, **where)
    return np.abs(rows["value"] - rows["predicted"]).to_numpy()


def _loss_vanishes(tables: Sequence[pd.DataFrame]) -> Check:
    """Check that the loss falls like 1/t, up to a power of log t."""
    lags = []
    for table in tables:
        last = table[table["tau"] == table["tau"].max()]
        rows = _values(last, "log_loss")
        lags.append((1 + rows["value"] / rows["tau"]).max())
    return at_most(max(lags), 0.01, because="1 + log loss / log t at the last time; the loss falls like 1/t")


def _limit_angles(table: pd.DataFrame, keys: list[str], **where: object) -> tuple[np.ndarray, int]:
    """Return extrapolated angles of the draws whose limit is within reach, and how many draws there are."""
    exponents = _values(table, "exponent", **where).set_index(keys)["predicted"]
    settled = _values(table, "settled", **where).set_index(keys)["value"].reindex(exponents.index)
    reachable = (exponents >= SLOWEST) & (settled <= TURN)
    intercepts = table[table["quantity"] == "intercept"].set_index(keys)["value"].reindex(exponents.index)
    return intercepts[reachable].to_numpy(), len(exponents)


def _directions(tables: Sequence[tuple[pd.DataFrame, dict]], keys: list[str], wanted: int = 2) -> tuple[Check, int]:
    angles, draws = [], 0
    for table, where in tables:
        found, of = _limit_angles(table, keys, **where)
        angles.append(found)
        draws += of
    within = np.concatenate(angles)
    if len(within) < wanted:
        raise Untested(f"only {len(within)} of {draws} draws settle fast enough to extrapolate their direction")
    check = equal(
        float(np.abs(within).max()),
        0.0,
        ANGLE,
        because=f"next powers of log t; {len(within)} of {draws} draws settle fast enough to be extrapolated",
    )
    return check, len(within)


RUN = ["seed", "network", "scale", "direction"]


@claim("Theorem 1", "largest distance from the singular-vector equations at depth 3, extrapolated to infinite log t")
def theorem_1(tables: Tables) -> Outcome:
    """Under the exponential loss every layer of a linear tensor network tends in direction to a singular vector
    of M(−u).

    u is the limit direction of Xᵀr, which the theorem assumes to exist; runs in which Xᵀr still turns by more
    than 0.1° over the last decade of log t are left out. The distance is that of the layers' directions from
    solving the singular-vector equations, relative to the singular value. At depth 3 the layers of fully
    connected and of orthogonally decomposable networks grow like (log t)^(1/3) while what is to vanish keeps
    its size, so that the distance falls like (log t)^(−1/3): it is extrapolated with that power from the last
    two decades before log t = 10⁶. Convolutional networks with short filters and random tensors settle more
    slowly, like the two-layer networks whose second singular value is close to the first: they must have come
    within 0.2 by then.
    """
    table = tables["three_layers"]
    structured = ["fully_connected", "diagonal", "convolutional", "decomposable"]
    found = _settled(table, "singular", structured)
    intercepts, decade = (_at_infinity(found, -1 / 3, decades) for decades in (2, 1))
    ends = pd.concat(
        [_settled(each, "singular", sorted(each["network"].unique())).iloc[-1] for each in tables.values()]
    )
    return Outcome(
        all_of(
            equal(
                float(np.max(np.abs(intercepts))),
                0.0,
                0.02,
                uncertainty=float(np.max(np.abs(intercepts - decade))),
                resolution=0.1,
                because="next powers of log t; uncertainty: the fit to one decade in place of two",
            ),
            at_most(float(ends.max()), 0.2, because="all networks, depths 2 and 3, at the last time"),
        ),
        len(ends),
    )


def _at_infinity(values: pd.DataFrame, power: float, decades: float) -> np.ndarray:
    """Return the intercepts of straight lines through the last values, columns, against a power of tau, the index."""
    late = values[values.index >= values.index[-1] / 10**decades * (1 - 1e-9)]
    return np.polynomial.polynomial.polyfit(late.index.to_numpy() ** power, late.to_numpy(), 1)[0]


def _settled(table: pd.DataFrame, quantity: str, networks: list[str]) -> pd.DataFrame:
    """Return a quantity by tau (rows) of the runs (columns) in which X^T r has all but stopped turning."""
    rows = table[table["network"].isin(networks)]
    turned = _values(rows, "settled").set_index(RUN)["value"]
    values = _values(rows, quantity).pivot_table(index="tau", columns=RUN, values="value")
    found = values.loc[:, turned[turned <= TURN].index]
    if found.shape[1] < 2:
        raise Untested(f"X^T r has settled in only {found.shape[1]} of {len(turned)} runs")
    return found


@claim("Theorem 2", "largest residual of the stationarity conditions in singular coordinates, depth 3, at log t = 1e6")
def theorem_2(tables: Tables) -> Outcome:
    """An orthogonally decomposable network classifies without error and tends to a stationary point of the
    ℓ_{2/L} max-margin problem.

    Stationary means that |ρ_j|^{2/L} is proportional to (Su)_j ρ_j, real and not negative, for every singular
    direction j. At depth 3 the directions that die out keep their size while the others grow, and the residual falls
    like (log t)^(−2/3). At depth 2 the problem is convex and its solution is one direction: there the angle
    to it is extrapolated to infinite log t. The theorem assumes that Xᵀr converges in direction; runs in which it
    still turns by more than 0.1° over the last decade of log t are left out. The problem at depth 3 is not
    convex, and stationary points other than its minimum are reached.
    """
    deep, flat = tables["three_layers"], tables["two_layers"]
    networks = ["diagonal", "convolutional", "decomposable"]
    residual, count = _stationary(deep, networks)
    directions, more = _directions([(flat, {"network": ["decomposable"]})], RUN)
    return Outcome(all_of(residual, directions, _loss_vanishes([deep, flat])), count + more)


def _stationary(table: pd.DataFrame, networks: list[str]) -> tuple[Check, int]:
    residual = _settled(table, "stationarity", networks).iloc[-1]
    bound = 200 * table["tau"].max() ** (-2 / 3)
    because = f"200 (log t)^(-2/3); X^T r has settled in {len(residual)} runs"
    return at_most(float(residual.max()), bound, because=because), len(residual)


@claim("Theorem 3", "largest angle to the top singular vectors' coefficients, at infinite log t, in degrees")
def theorem_3(tables: Tables) -> Outcome:
    """Two layers trained on one data point tend to the top singular vectors of M(x), both layers alike up to
    the label's sign.

    Checked on fully connected, diagonal and full-length convolutional networks and on filters of every length,
    with labels of both signs. In singular coordinates η₁ − y η₂ must vanish relative to η₁. The angle falls
    like a power of log t that the gap between the first two singular values sets; runs with a power below 1/4
    are beyond extrapolation even at log t = 10⁶ and left out.
    """
    single, filters = tables["single_point"], tables["filters"]
    check, count = _directions([(single, {})], RUN)
    short, more = _directions([(filters, {})], ["seed", "length"])
    difference = max(
        _values(table[table["tau"] == table["tau"].max()], "layer_difference")["value"].max()
        for table in (single, filters)
    )
    alike = at_most(float(difference), 0.02, because="differences stay while layers grow like (log t)^(1/2)")
    return Outcome(all_of(check, short, alike, _loss_vanishes([single, filters])), count + more)


@claim("Theorem 4", "largest relative distance between the flow's limit and the minimiser of Q")
def theorem_4(tables: Tables) -> Outcome:
    """In underdetermined regression a real orthogonally decomposable network tends to the global minimum that
    minimises Q_{L,α,η̄}.

    Tried on a network with random singular vectors, more singular values than inputs (so that S is not
    invertible), random positive weights η̄, depths 2, 3 and 4, and scales α over more than two decades. The
    minimiser of Q comes from its own convex program by Newton's method; nothing of the dynamics enters it. H_L
    has the closed form H_L(h_L(t)) = t h_L(t) − q_L(t)²/2, and p_L² − q_L² = 1, so that everything reduces to
    q_L.
    """
    return _formula(tables, "error")


def _formula(tables: Tables, quantity: str) -> Outcome:
    errors = np.concatenate([_values(table, quantity, method="flow")["value"].to_numpy() for table in tables.values()])
    return Outcome(equal(float(errors.max()), 0.0, _flow_error(tables), because="100 rtol"), len(errors))


def _flow_error(tables: Tables) -> float:
    return FLOW_ERROR * max(table.attrs["settings"]["rtol"] for table in tables.values())


@claim("Theorem 5", "largest distance of gradient descent's limit from the formula, extrapolated to step size zero")
def theorem_5(tables: Tables) -> Outcome:
    """Two layers trained on one data point tend to the limits that Theorem 5 gives in closed form.

    Gradient descent itself ends at a distance that is proportional to its step size: at most 2e-3 at the
    paper's step of 1e-3, which no eye can see in its figures. The line through the limits at the two smallest
    steps meets step size zero at the formula. For networks with equal singular values, such as fully connected
    ones, the theorem's condition holds in some choice of singular vectors, and that suffices.
    """
    table = tables["step_sizes"]
    condition = _values(table, "condition")["value"].min()
    if condition <= 0:
        raise Untested("the initial directions do not fulfil the theorem's condition")
    errors = _values(table, "error")
    smallest = sorted(errors["step"].unique())[1:3]
    largest = errors.groupby("step")["value"].max()
    groups = errors.pivot_table(index=["network", "scale"], columns="step", values="value", aggfunc="max")
    # errors that the remaining residual could explain show no order
    groups = groups[groups[smallest[0]] > 1e3 * _values(table, "residual")["value"].max()]
    order = np.log(groups[smallest[1]] / groups[smallest[0]]) / np.log(smallest[1] / smallest[0])
    # the second-order term of the step size, estimated from the first-order one at the same steps
    second = 10 * largest[smallest[0]] * largest[smallest[1]]
    return Outcome(
        all_of(
            equal(float(largest[0.0]), 0.0, float(second), because="the square of the error at the steps used"),
            equal(float((order - 1).abs().max()), 0.0, 0.02, because="order of the error in the step size, less one"),
        ),
        len(_values(table, "error", step=0.0)),
    )


@claim("Theorem 6.1", "largest residual at the end of the flow, relative to the labels")
def theorem_6_convergence(tables: Tables) -> Outcome:
    """Deep fully connected networks reach zero loss from layers that dominate one another in the theorem's sense.

    Tried with the identity initialisation and with random layers within the conditions, depths 2 to 4 and scales from
    0.01 to 1. A flow that stays at a saddle misses the bound.
    """
    residual = np.concatenate([_values(table, "residual")["value"].to_numpy() for table in tables.values()])
    bound = max(table.attrs["settings"]["residual"] for table in tables.values())
    return Outcome(at_most(float(residual.max()), bound, because="the residual asked for"), len(residual))


@claim("Theorem 6.2", "slowest fall of |β − β*| / |β*| with α, as a power of α")
def theorem_6_bias(tables: Tables) -> Outcome:
    """As α → 0, deep fully connected networks tend to the interpolator of least ℓ2 norm, whatever their depth.

    From random layers the distance falls in proportion to α. From the identity initialisation there is nothing
    to fall: every layer stays α times the identity plus a matrix within the span of the data, so that β is the
    least-norm interpolator at every α, a stronger statement than the theorem's.
    """
    distances = _values(tables["deep_random"], "distance")
    worst = distances.pivot_table(index="depth", columns="scale", values="value", aggfunc="max")
    low, high = worst.columns[0], worst.columns[1]
    order = np.log(worst[high] / worst[low]) / np.log(high / low)
    identity = _values(tables["deep_identity"], "distance")["value"].max()
    least = _values(tables["deep_identity"], "residual")["value"].count()
    return Outcome(
        all_of(
            at_least(float(order.min()), 0.9, because="power of α between the two smallest scales; 1 is expected"),
            at_most(float(worst[low].max()), 10 * low, because="ten times the smallest α"),
            at_most(float(identity), 1e-8, because="100 times the residual asked for, identity initialisation"),
        ),
        len(distances) + int(least),
    )


@claim("Corollary 1", "largest angle to the ℓ2 max-margin direction, at infinite log t, in degrees")
def corollary_1(tables: Tables) -> Outcome:
    """Fully connected networks of any depth tend in direction to the ℓ2 max-margin classifier.

    W₁ keeps its part outside the span of the data for ever, and the other layers carry it along, so that the
    angle falls like (log t)^(−1/L): after 2·10⁶ steps of gradient descent it is still tens of degrees. Followed to
    log t = 10⁶, the angle extrapolates to zero.
    """
    check, count = _directions([(table, {"network": ["fully_connected"]}) for table in tables.values()], RUN)
    return Outcome(all_of(check, _loss_vanishes(list(tables.values()))), count)


@claim("Corollary 2", "largest residual of the stationarity conditions, depth 3, at log t = 1e6")
def corollary_2(tables: Tables) -> Outcome:
    """Diagonal networks tend in direction to a stationary point of the ℓ_{2/L} max-margin problem.

    At depth 2 it is the ℓ1 max-margin classifier, and the angle to it is extrapolated to infinite log t; a
    coordinate whose entry of Xᵀr is smaller than the largest by a factor s dies out like (log t)^(s − 1). On
    random data s is often near one: draws with a power below 1/4, or in which the support vectors do not yet
    share the weight, have not shown their limit even at log t = 10⁶ and are counted but left out. The paper's
    two points give 1/2.
    """
    return _architecture(tables, "diagonal")


@claim("Corollary 3", "largest residual of the stationarity conditions in the DFT domain, depth 3, at log t = 1e6")
def corollary_3(tables: Tables) -> Outcome:
    """Full-length convolutional networks tend in direction to a stationary point of the DFT-domain ℓ_{2/L}
    max-margin problem.

    At depth 2 the angle to the DFT-domain ℓ1 max-margin classifier is extrapolated to infinite log t, where it
    falls fast enough (see corollary_2); the paper's two points give the power 2/3. At depth 3 the problem is not
    convex, and from some initial layers the flow ends at a stationary point other than the minimum.
    """
    return _architecture(tables, "convolutional")


def _architecture(tables: Tables, network: str) -> Outcome:
    residual, count = _stationary(tables["three_layers"], [network])
    flat = [(tables[name], {"network": [network]}) for name in ("two_layers", "settling")]
    directions, more = _directions(flat, RUN)
    return Outcome(all_of(residual, directions, _loss_vanishes(list(tables.values()))), count + more)


@claim("Corollary 4", "largest angle to the filtered data point, at infinite log t, in degrees")
def corollary_4(tables: Tables) -> Outcome:
    """A two-layer convolutional network with filters of length one tends to the data point, of length two to a
    filtered version of it.

    The filter passes low frequencies where the data point's autocorrelation at lag one is positive, high ones
    where it is negative; both signs are among the data. The corollary's formula is also held against the top
    singular vectors of the data tensor. With an autocorrelation of zero the two singular values agree, and the
    initialisation decides; the corollary leaves that case out.
    """
    table = tables["filters"]
    check, count = _directions([(table, {"length": [1, 2]})], ["seed", "length"])
    keys = ["seed", "length", "index"]
    limits = _values(table, "coefficient", length=[1, 2]).set_index(keys)["predicted"]
    formula = _values(table, "corollary").set_index(keys)["predicted"]
    return Outcome(
        all_of(
            check,
            equal(float((limits - formula).abs().max()), 0.0, 1e-10, because="rounding: formula and singular vectors"),
            _loss_vanishes([table[table["length"] <= 2]]),
        ),
        count,
    )


@claim("Corollary 5", "largest relative distance between the flow's limit and the minimiser of Q")
def corollary_5(tables: Tables) -> Outcome:
    """In underdetermined regression diagonal networks tend to the global minimum that minimises Q_{L,α,w̄}.

    Checked on the paper's data point with equal weights, where it interpolates between [0, ½] and [0.2, 0.4],
    and on random data with random weights; depths 2, 3 and 4.
    """
    return _formula(tables, "error")


@claim(
    "Corollary 6",
    "largest relative distance between the flow's limit and the minimiser of Q(Fz)",
    correction=(
        "The argument of Q is d^(−(L−1)/2) Fz, not Fz: the singular values of the data tensor are d^((L−1)/2) Fx."
    ),
)
def corollary_6(tables: Tables) -> Outcome:
    """With even data, full-length convolutional networks tend to the even global minimum that minimises
    Q_{L,α,Fw̄}(Fz).

    The theorem behind it asks for Q(S^(−T) z), and a full-length convolutional network has S = d^((L−1)/2) F.
    Without that factor the minimiser is another, because H_L is not homogeneous: it looks like the absolute
    value for large arguments and like the square for small ones, and the factor moves every argument. The ends
    of the interpolation, α → 0 and α → ∞, are the same with and without it.
    """
    table = tables["convolutional"]
    printed = _values(table, "printed_error", method="flow")["value"].to_numpy()
    corrected = _values(table, "error", method="flow")["value"].to_numpy()
    tolerance = _flow_error(tables)
    return Outcome(
        equal(float(printed.max()), 0.0, tolerance, because="100 rtol"),
        len(printed),
        corrected=equal(float(corrected.max()), 0.0, tolerance, because="100 rtol"),
        reason="the printed formula drops the factor d^((L-1)/2) of the data tensor's singular values",
    )


@claim("Corollary 7", "largest relative distance between W1...WL and the minimiser of Q over the eigenvalues")
def corollary_7(tables: Tables) -> Outcome:
    """Deep matrix sensing with commuting symmetric sensors tends to the matrix whose eigenvalues minimise Q_{L,α}.

    The result interpolates between the solutions of least Frobenius norm (α → ∞, where the check asks for 1e-4)
    and least nuclear norm (α → 0, where at α = 0.01 and depth 3 the check asks for 0.05; at depth 2 the
    approach is much slower). The sensors here are indefinite. The statement is exact but delicate: layers that
    fail to commute by rounding errors drift away from this path when α is small and the depth above two, so the
    flow is followed in the sensors' common eigenbasis, where they commute exactly.
    """
    table = tables["matrix_sensing"]
    errors = _values(table, "error")["value"]
    scales = sorted(table["scale"].unique())
    wide = _values(table, "frobenius_distance", scale=scales[-1])["value"].max()
    deepest = table["depth"].max()
    nuclear = _values(table, "nuclear_distance", depth=deepest, scale=scales[0])["value"].max()
    return Outcome(
        all_of(
            equal(float(errors.max()), 0.0, _flow_error(tables), because="100 rtol"),
            at_most(float(wide), 1e-4, because="distance from the least Frobenius norm at the largest α"),
            at_most(float(nuclear), 0.05, because="distance from the least nuclear norm at the smallest α and depth 3"),
        ),
        len(errors),
    )


@claim("Remark 4", "largest relative distance from the weighted ℓ2 solution at the largest α")
def remark_4(tables: Tables) -> Outcome:
    """Q interpolates between a weighted ℓ1 norm (α → 0) and a weighted ℓ2 norm (α → ∞), with weights |η̄|^(2−L)
    and η̄^(2−2L).

    At depth 2 the approach to ℓ1 is only like a power of α that can be small, at depth 3 and more it is fast.
    The distances from both ends are measured along α.
    """
    ends = []
    for table in tables.values():
        scales = sorted(table["scale"].unique())
        for quantity, near, far in (("l2_distance", scales[-1], scales[0]), ("l1_distance", scales[0], scales[-1])):
            found = _values(table, quantity, method="flow")
            rows = found.pivot_table(index="depth", columns="scale", values="value", aggfunc="max")
            ends.append(rows[near] / rows[far])
            if quantity == "l2_distance":
                wide = float(rows[near].max())
    ratios = pd.concat(ends)
    return Outcome(
        all_of(
            at_most(wide, 1e-3, because="relative corrections are of order α^(−2)... α^(−2L)"),
            at_most(float(ratios.max()), 0.5, because="distance at the near end relative to that at the far end"),
        ),
        len(ratios),
    )


@claim("Lemma 5.1", "largest relative error of the time at which |q| reaches its bound, against the closed form")
def lemma_5_1(tables: Tables) -> Outcome:
    """p_L and q_L exist on a symmetric interval (−c, c), and h_L = p^(L−1) q is odd and strictly increasing
    from −∞ to ∞ on it.

    The lemma leaves c open: it is infinite at depth 2 and finite above, c = B(½, (L−2)/2)/2, that is π/2 at
    depth 3 and 1 at depth 4, because p² − q² = 1.
    """
    table = tables["depth_functions"]
    reached = _values(table, "reached")
    errors = np.abs(reached["value"] / reached["predicted"] - 1)
    h = _values(table, "h")
    forward, backward = (h[h["sign"] == sign].reset_index(drop=True) for sign in (1, -1))
    oddness = np.abs(forward["value"] + backward["value"]) / np.maximum(np.abs(forward["value"]), 1e-300)
    falls = sum(
        (rows.sort_values("time")["value"].diff().dropna() <= 0).sum() for _, rows in h.groupby(["depth", "sign"])
    )
    rtol = table.attrs["settings"]["rtol"]
    return Outcome(
        all_of(
            equal(float(errors.max()), 0.0, FLOW_ERROR * rtol, because="100 rtol"),
            at_most(float(oddness.max()), 1e-12, because="the same integration with the sign of time reversed"),
            at_most(float(falls), 0.5, because="recorded times at which h is not above the one before"),
            at_least(
                float(forward.groupby("depth")["value"].max().min()),
                table.attrs["settings"]["last"],
                because="h passes the bound on q",
            ),
        ),
        len(reached),
    )


@claim(
    "Appendix D and F",
    "largest drift of |(U_lᵀ v_l)_j|² − |(U_Lᵀ v_L)_j|² along the flow, relative to its largest term",
)
def conservation(tables: Tables) -> Outcome:
    """In orthogonally decomposable networks the layers' squared singular coordinates keep their differences
    along the flow.

    Tried from Gaussian layers, at depths 2, 3 and 4, for real singular vectors and for the complex ones of
    convolutional networks.
    """
    table = tables["conservation"]
    keys = ["seed", "network", "depth"]
    drift = _values(table, "drift").groupby(keys)["value"].max() / _values(table, "size").groupby(keys)["value"].max()
    loss = _values(table, "loss").groupby(keys)["value"]
    moved = float((loss.last() / loss.first()).median())
    return Outcome(
        all_of(
            equal(float(drift.max()), 0.0, FLOW_ERROR * table.attrs["settings"]["rtol"], because="100 rtol"),
            at_most(moved, 0.5, because="median of the last loss relative to the first: the flow has moved"),
        ),
        len(drift),
    )


@claim("Section 6", "largest distance between the printed solutions and those of a convex solver")
def min_norm_points(tables: Tables, *, printed: dict[str, list[float]]) -> Outcome:
    """The interpolators of least ℓ2, ℓ1 and DFT-domain ℓ1 norm are [0.2, 0.4], [0, 0.5] and [0.33, 0.33], and
    the classification data have the same max-margin directions.

    The paper's classification data are special: in the convolutional case both points lie exactly on the
    margin, [⅓, ⅓], so that the multipliers are not unique.
    """
    distances = []
    for name, wanted in printed.items():
        target = np.asarray(wanted, dtype=float)
        for run in ("regression", "classification"):
            solution = _values(tables[run], "reference", network=name).sort_values("index")["value"].to_numpy()
            if run == "classification":
                solution = solution / np.linalg.norm(solution) * np.linalg.norm(target)
            distances.append(np.max(np.abs(solution - target)))
    return Outcome(equal(float(max(distances)), 0.0, 0.005, because="two decimals are printed"), len(distances))


@claim("Section 6, regression", "largest ratio of the spread of limits at the smallest α to that at the largest")
def small_scale_forgets_direction(tables: Tables) -> Outcome:
    """The limits of gradient descent depend less on the initial direction when the initial scale is small.

    The spread is the largest distance between the limits of one network from the four initial coefficients.
    From α = 1 they lie all along the line of global minima, from α = 0.01 next to the point of least norm.
    """
    table = tables["regression"]
    spread = {key: _spread(rows) for key, rows in _values(table, "limit").groupby(["network", "scale"])}
    small, large = table["scale"][table["scale"] > 0].min(), table["scale"].max()
    ratios = [spread[network, small] / spread[network, large] for network in table["network"].unique()]
    return Outcome(at_most(max(ratios), 0.1, because="the ratio of scales is 0.01"), len(spread))


def _spread(limits: pd.DataFrame) -> float:
    points = limits.pivot_table(index="direction", columns="index", values="value").to_numpy()
    return float(np.max(np.linalg.norm(points[:, None] - points[None], axis=-1)))


@claim(
    "Section 6, classification",
    "smallest difference between directions from different initial coefficients at α = 1, in degrees",
)
def finite_loss_remembers_initialisation(tables: Tables) -> Outcome:
    """Stopped at a loss of about 1e-5, the direction of the classifier still depends on the initial
    coefficients and on α.

    The theorems say that directions forget the initialisation, and they do, but like a power of log t (figure
    log_time): two million steps are log t = 7. For every network the largest angle to its max-margin direction
    among the initial coefficients is of the order of ten degrees at α = 1.
    """
    table = tables["classification"]
    last = table[table["time"] == table["time"].max()]
    largest = table["scale"].max()
    angles = _values(last, "angle", scale=largest)
    spread = angles.groupby("network")["value"].max()
    limits = _values(last, "limit", scale=largest)
    apart = []
    for _, rows in limits.groupby("network"):
        points = rows.pivot_table(index="direction", columns="index", values="value").to_numpy()
        heading = np.degrees(np.arctan2(points[:, 1], points[:, 0]))
        apart.append(np.ptp(heading))
    return Outcome(
        all_of(
            at_least(float(min(apart)), 2.0, because="a visible angle between classifiers from different starts"),
            at_least(float(spread.min()), 2.0, because="a visible angle to the max-margin direction"),
        ),
        len(angles),
    )


@claim("Section 6, classification", "largest loss after two million steps")
def final_loss(tables: Tables, *, bound: Positive) -> Outcome:
    """Every classification run ends at a loss of about 1e-5 or less.

    The loss at time t is near 1/(t |∇f|²), the same for every network up to a factor of two: it is printed as
    an order of magnitude, and held to half a decade.
    """
    table = tables["classification"]
    losses = _values(table[table["time"] == table["time"].max()], "loss")["value"]
    return Outcome(
        at_most(float(losses.max()), bound * np.sqrt(10), because="the nearest power of ten is the one printed"),
        len(losses),
    )
