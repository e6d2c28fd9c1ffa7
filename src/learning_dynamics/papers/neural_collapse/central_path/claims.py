"""Claims on the central path: spectral losses, the rates of both flows, their limits, and the described algorithm."""

from __future__ import annotations

import numpy as np

from learning_dynamics.claims import Check, Outcome, all_of, at_most, claim, equal
from learning_dynamics.papers.neural_collapse.central_path.rows import (
    DIFFERENCE_ERROR,
    LIMIT,
    MEMBER,
    ROUNDING,
    draws,
    integration_error,
    largest_of,
    left_at_end,
    measured,
    per_decade,
    relative_error,
)
from learning_dynamics.tables import Tables


@claim("Lemma 1", "largest relative error of L, L_NC1 and L_NC2/3 from the SNR singular values")
def lemma_1(tables: Tables) -> Outcome:
    """Without weight decay the least-squares loss and both its parts depend on the SNR singular values alone.

    L = ½ Σ 1/(ω² + C), L_NC1 = ½ Σ ω²/(C + ω²)², L_NC2/3 = ½ Σ C/(C + ω²)². Measured on raw features with any
    global mean, by the decomposition in extended coordinates, and along both flows until ω² reaches 10⁴ to 10⁹.
    There the class means' scores are one-hot labels to within C/ω², so that rounding limits what can be seen of
    L_NC2/3: errors are counted in units of the factor 1 + ω²/C by which it grows.
    """
    features, flows = tables["central_path_features"], tables["central_path_flows"]
    quantities = ("loss", "loss_nc1", "loss_nc23")
    at_draws = max(relative_error(measured(features, quantity)) for quantity in quantities)
    total = measured(flows, "loss").set_index([*MEMBER, "flow", "time"])
    growth = (total.index.get_level_values("classes") - 1) / (2 * total.index.get_level_values("classes"))
    amplified = 1 + growth / total["value"]
    along = 0.0
    for quantity in quantities:
        rows = measured(flows, quantity).set_index([*MEMBER, "flow", "time"])
        along = max(along, float(((rows["value"] / rows["predicted"] - 1).abs() / amplified).max()))
    check = all_of(
        equal(at_draws, 0.0, ROUNDING, because="rounding"),
        equal(along, 0.0, ROUNDING, because="rounding, in units of 1 + ω²/C"),
    )
    return Outcome(check, draws(features, flows))


@claim(
    "Proposition 2, Lemma 5",
    "largest relative error of ω_j(t) along the flow, and of dω_j/dt on fresh draws",
    correction="The closed form holds for Riemannian gradient flow, whose tangent map is the orthogonal projection "
    "Z − (CN/2)(XCZᵀ + ZCXᵀ)XC. Under the map that Proposition 4 prints, dω/dt = ω / (CN(C + ω²)), and therefore "
    "½ω² + C log ω = t/(CN) + const.",
)
def proposition_2(tables: Tables) -> Outcome:
    """Under continually renormalised gradient flow the SNR singular values obey dω/dt = ω / (N(C + ω²)²).

    Integrated, C²N log ω + CN ω² + (N/4) ω⁴ = a + t. To check by hand, write a row of the features in aligned
    coordinates as ω y + n, with y a row of labels and n deviations from class means. The same row of −∇L is α y − β
    n with α = ω / (N(C + ω²)²) and β = ωα/C. The orthogonal projection removes β n, which is normal to the
    manifold, and leaves dω/dt = α: the paper's equation. The printed map subtracts −β(ω y + n) instead, which also
    restores n but carries the means along: dω/dt = α + βω = α(1 + ω²/C), faster by a factor that grows without
    bound.

    In words: signal to noise grows by moving class means apart and by shrinking the scatter about them.
    Renormalising after a plain step turns the shrinking into growth of the means; the orthogonal projection throws
    it away. Deviations stand still in both flows; only the clock of each ω differs. Measured by integrating both
    flows in the full feature space over eleven decades of time, and by central differences on fresh draws.
    """
    features, flows = tables["central_path_features"], tables["central_path_flows"]

    def checks(flow: str, column: str) -> list[Check]:
        along = relative_error(measured(flows, "omega", flow), column)
        speed = relative_error(measured(features, "speed", flow), column)
        return [
            equal(along, 0.0, integration_error(flows), because="error of the integrator"),
            equal(speed, 0.0, DIFFERENCE_ERROR, because="error of central differences"),
        ]

    speed = {flow: measured(features, "speed", flow) for flow in ("orthogonal", "printed")}
    reason = (
        "measured on the flow of the map that the paper prints. On fresh draws its dω/dt differs from the paper's by "
        f"up to {relative_error(speed['printed']):.3g} times the latter, and from the correction's by "
        f"{relative_error(speed['printed'], 'corrected'):.1g}; that of the orthogonal projection differs from the "
        f"paper's by {relative_error(speed['orthogonal']):.1g}"
    )
    return Outcome(
        all_of(*checks("printed", "predicted")),
        draws(features, flows),
        corrected=all_of(*checks("orthogonal", "predicted"), *checks("printed", "corrected")),
        reason=reason,
    )


@claim("Corollary 1 (1)", "ω_j / (4t/N)^¼ at the last time, and the exponent over the last decade")
def corollary_1_growth(tables: Tables) -> Outcome:
    """Singular values that follow equation 9 grow without bound, as (4t/N)^¼.

    Measured on the flow that follows equation 9, that of the orthogonal projection. The ratio to the asymptote is 1
    − C/ω² to the next order, which sets the tolerance, and the exponent is ¼ to the same order. The flow of the
    printed map, and the algorithm that it is the limit of, grow faster, as (2t/(CN))^½: see
    `described_algorithm_rate`.
    """
    flows = tables["central_path_flows"]
    late = per_decade(flows, "omega", "orthogonal")
    time, before = late.columns[:2]
    size = late.index.to_frame()
    ratio = late[time] / (4 * time / size["examples"]) ** 0.25
    exponent = np.log(late[time] / late[before]) / np.log(time / before)
    checks = []
    for row in late.index:
        classes = size.loc[row, "classes"]
        checks.append(equal(ratio[row], 1.0, 2 * classes / late.loc[row, time] ** 2, because="next order, doubled"))
        left = classes / late.loc[row, before] ** 2
        checks.append(equal(exponent[row], 0.25, left, because="next order, doubled"))
    return Outcome(all_of(*checks), draws(flows))


@claim("Corollary 1 (2)", "largest share left of ω_max/ω_min − 1 at the last time, and after a decade of time")
def corollary_1_equality(tables: Tables) -> Outcome:
    """The non-zero SNR singular values become equal: ω_max / ω_min tends to one.

    This holds for both flows, and for the same reason: every ω runs on the same curve, late ones behind by a fixed
    time, which matters less and less. What is left falls as 1/t under either equation, a tenth per decade.
    """
    flows = tables["central_path_flows"]
    checks = []
    for flow in ("orthogonal", "printed"):
        checks.append(at_most(left_at_end(flows, "excess", flow), LIMIT, because="a ten-thousandth of its start"))
        late = per_decade(flows, "excess", flow)
        # over the last five decades, as far as the integrator's error leaves the excess visible
        later, earlier = late.iloc[:, 0:5].to_numpy(), late.iloc[:, 1:6].to_numpy()
        visible = later > 10 * integration_error(flows)
        falls = np.max(later / earlier, where=visible, initial=0.0)
        checks.append(at_most(float(falls), 0.2, because="1/t gives 0.1"))
    return Outcome(all_of(*checks), draws(flows))


@claim("Corollary 2, eqs. 10 and 11", "largest share left of the distances from the limits and of NC1 to NC4")
def corollary_2(tables: Tables) -> Outcome:
    """SNR/ω_max tends to U₀V₀ᵀ, the renormalised features to its copies for every example, and neural collapse follows.

    Held against both flows. Equation 10: what is left is the spread of the singular values. Equation 11: the
    deviations never move, and only ω_max grows, so that the distance is √(CP)/ω_max; it is checked to fall like
    that, and reaches a few hundredths at the end of the slower flow. Then NC1: tr(Σ_B⁺Σ_W)
    is C Σ 1/ω² (the last line of the paper's derivation lets the factor C go, without consequence) and has fallen
    below a hundredth of its start. The norms and angles of class means, the duality of classifier and class means
    and the nearest class mean's labels agree with NC2 to NC4.
    """
    flows = tables["central_path_flows"]
    checks = []
    for flow in ("orthogonal", "printed"):
        for quantity in ("snr_limit", "nc2_norms", "nc2_angles", "nc3"):
            left = left_at_end(flows, quantity, flow)
            checks.append(at_most(left, LIMIT, because=f"a ten-thousandth of its start: {quantity}"))
        labelled = per_decade(flows, "nc4", flow).iloc[:, 0].reset_index()
        examples = labelled.iloc[:, -1] * labelled["classes"] * labelled["examples"]
        checks.append(equal(float(examples.max()), 0.0, 0.5, because="whole examples that NC4 fails for"))
        rows = measured(flows, "omega", flow)
        largest = rows[rows["index"] == 1].set_index([*MEMBER, "time"])["value"]
        distance = measured(flows, "features_limit", flow).set_index([*MEMBER, "time"])["value"]
        size = distance.index.to_frame()
        last = size["time"] == size["time"].max()
        ratio = distance * largest / np.sqrt(size["classes"] * size["features"])
        checks.append(equal(float((ratio[last] - 1).abs().max()), 0.0, LIMIT, because="1/t: eq. 11"))
        trace = relative_error(measured(flows, "nc1", flow))
        checks.append(equal(trace, 0.0, integration_error(flows), because="error of the integrator: nc1"))
        checks.append(at_most(left_at_end(flows, "nc1", flow), 1e-2, because="a hundredth of its start, as 1/ω²: nc1"))
    return Outcome(all_of(*checks), draws(flows))


@claim("Lemma 6", "largest part of the SNR matrix outside of its first singular vectors, relative")
def lemma_6(tables: Tables) -> Outcome:
    """The singular vectors of the SNR matrix do not change in time.

    They do not under either flow, nor under the discrete algorithm at any step size: in aligned coordinates the
    gradient scales means and deviations row by row, and so does renormalisation.
    """
    flows, descent = tables["central_path_flows"], tables["central_path_descent"]
    count = descent.attrs["settings"]["horizon"] / min(descent.attrs["settings"]["steps"])
    rounding = np.finfo(float).eps * count
    check = all_of(
        equal(largest_of(flows, "vectors"), 0.0, integration_error(flows), because="error of the integrator"),
        equal(largest_of(descent, "vectors"), 0.0, rounding, because="rounding: ε for each step"),
    )
    return Outcome(check, draws(flows, descent))


@claim(
    "Appendix D.1, Lemma 2, section D.3",
    "relative error of ω_j after gradient descent with renormalisation, step size extrapolated to zero",
    correction="In the limit of small steps the described algorithm obeys dω/dt = ω / (CN(C + ω²)): ω grows as "
    "(2t/(CN))^½ instead of (4t/N)^¼. A step of size η takes ω to (ω + ηα) / (1 − ηωα/C) "
    "exactly, with α = ω / (N(C + ω²)²).",
)
def described_algorithm_rate(tables: Tables) -> Outcome:
    """Gradient descent with renormalisation after each step follows, as steps become small, the closed form of
    Proposition 2.

    Section D.3 calls the flow the continuous analogue of this algorithm, and its Lemma 2 shows that a step is the
    printed tangent map to first order. It is, and therefore the algorithm is not described by Proposition 2, which
    belongs to the orthogonal projection. The gradient shrinks deviations as well as moving means; renormalisation
    expands both, and what the deviations lost the means gain. The algorithm is run as described, in the full
    feature space, at three step sizes; their results extrapolate to zero step size, and the last two extrapolations
    differ by the tolerance. Its iterates also agree to rounding with the exact map of one step, and the limit's
    square-root law is seen in the flow of the printed map. Collapse holds, and sooner: the same singular values
    reach a given size in the square root of the time.
    """
    features, flows, descent = (tables[f"central_path_{name}"] for name in ("features", "flows", "descent"))
    omega = measured(descent, "omega")
    omega = omega[omega["time"] == omega["time"].max()]
    wide = omega.pivot_table(index=[*MEMBER, "index"], columns="step", values="value")
    fine, middle, coarse = (wide[step] for step in sorted(wide.columns)[:3])
    steps = sorted(wide.columns)[:3]
    limit = fine + (fine - middle) * steps[0] / (steps[1] - steps[0])
    cruder = middle + (middle - coarse) * steps[1] / (steps[2] - steps[1])
    left = float((cruder / limit - 1).abs().max())
    theory_rows = omega[omega["step"] == steps[0]].set_index([*MEMBER, "index"])

    def extrapolated(column: str) -> Check:
        error = float((limit / theory_rows[column] - 1).abs().max())
        return equal(error, 0.0, left, resolution=1e-3, because="difference of two extrapolations")

    speed = measured(features, "speed", "descent")
    exact = relative_error(measured(descent, "omega_exact"))
    count = descent.attrs["settings"]["horizon"] / steps[0]
    late = per_decade(flows, "omega", "printed")
    time, before = late.columns[:2]
    size = late.index.to_frame()
    growth = late[time] / np.sqrt(2 * time / (size["classes"] * size["examples"]))
    next_order = 2 * size["classes"] * np.log(late[before]) / late[before] ** 2
    exponent = np.log(late[time] / late[before]) / np.log(time / before)
    because = "next order: C log ω / ω², doubled"
    reason = (
        f"one step's dω/dt differs from Lemma 5 by up to {relative_error(speed):.3g} times the latter, and from the "
        f"correction by {relative_error(speed, 'corrected'):.1g}; in the limit of small steps ω grows with the "
        f"exponent {exponent.mean():.5f} over the last decade to t = {time:.0e}"
    )
    return Outcome(
        extrapolated("predicted"),
        draws(descent),
        corrected=all_of(
            extrapolated("corrected"),
            equal(relative_error(speed, "corrected"), 0.0, DIFFERENCE_ERROR, because="error of central differences"),
            equal(exact, 0.0, np.finfo(float).eps * count, because="rounding: ε for each step"),
            *(equal(growth[row], 1.0, next_order[row], because=because) for row in late.index),
            *(equal(exponent[row], 0.5, next_order[row], because=because) for row in late.index),
        ),
        reason=reason,
    )
