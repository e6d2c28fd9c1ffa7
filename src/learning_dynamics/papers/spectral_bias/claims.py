"""What is concluded: each claim of the paper held against the measurements."""

from __future__ import annotations

import numpy as np
import pandas as pd

from learning_dynamics.claims import Outcome, all_of, at_least, at_most, claim, equal, share_at_least
from learning_dynamics.papers.spectral_bias import noise_theory
from learning_dynamics.papers.spectral_bias.evidence import (
    FLOW_ERROR,
    Tables,
    activation_times,
    carried,
    euler_bias,
    first_saddles,
    flow_error,
    largest_error,
    led_by,
    limit_error,
    members,
    rate,
    select,
    settled_rank,
    spectra,
    statistic,
    trajectory_error,
    twice,
    vanishing_scale,
)
from learning_dynamics.settings import Count, Fraction, Positive

LEFT_OPEN = "remaining residual / smallest σ(X), and 4 rtol"


@claim("Lemma 3.2", "largest |Z1ᵀZ1 − Z2Z2ᵀ − 2γI| along the flow, relative to |Z1ᵀZ1|")
def lemma_3_2(tables: Tables) -> Outcome:
    """The imbalance Z1ᵀZ1 − Z2Z2ᵀ of the projected layers stays at 2γ times the identity.

    The check has meaning only where the integrator resolves 2γ itself: a run whose error hides a tenth of
    it leaves the claim undecided.
    """
    checks = []
    for table in tables.values():
        scale = float(select(table, "scale", "flow")["value"].max())
        drift = float(select(table, "imbalance", "flow")["value"].max()) / scale
        resolution = 0.1 * 2 * table.attrs["settings"]["gamma"] / scale
        tolerance = FLOW_ERROR * table.attrs["settings"]["rtol"]
        checks.append(equal(drift, 0.0, tolerance, resolution=resolution, because="4 rtol"))
    return Outcome(all_of(*checks), members(tables))


@claim("Theorem 3.1 (i)", "largest loss at the end of the flow, relative to the loss at its start")
def theorem_3_1_i(tables: Tables) -> Outcome:
    """Gradient flow from the orthogonal initialisation reaches zero loss, whatever the scale γ.

    The flow is followed until the residual falls below a bound that the configuration sets, or until its
    patience ends; a flow that stays at a saddle or at a poor minimum misses the bound. The loss is
    quadratic in the residual.
    """
    ratios, bounds = [], []
    for table in tables.values():
        start = select(table, "loss", "flow").groupby("seed")["value"].first()
        end = select(table, "loss", "limit").groupby("seed")["value"].first()
        ratios.append((end / start).max())
        bounds.append(table.attrs["settings"]["residual"] ** 2)
    check = at_most(float(np.max(ratios)), float(np.max(bounds)), because="the square of the residual asked for")
    return Outcome(check, members(tables))


@claim("Theorem 3.1 (ii)", "largest |β − β*| / |β*| at the end of the flow, β* = pinv(X) Y")
def theorem_3_1_ii(tables: Tables) -> Outcome:
    """The predictor converges to the interpolator of minimum l2 norm, for every scale γ.

    There are d − n directions in which an interpolator may differ from β*; a predictor with a part in any
    of them misses β* by far more than the remaining residual explains.
    """
    distance = max(select(table, "distance", "limit")["value"].max() for table in tables.values())
    check = equal(
        float(distance),
        0.0,
        limit_error(tables, "distance_bound"),
        because=LEFT_OPEN,
    )
    return Outcome(check, members(tables))


@claim("Corollary 3.1", "largest error of σ_i(W1) at the end of the flow, relative to the largest σ_1(W1)")
def corollary_3_1(tables: Tables) -> Outcome:
    """At the end of the flow the hidden layer's singular values are those that γ and β* fix.

    The first k are (√(σ_i(β*)² + γ²) + γ)^½ and the other d − k stay at √(2γ): a small scale leaves a hidden
    layer of rank k, a large one a layer of full rank.
    """
    resolution = min(
        0.1 * np.sqrt(2 * table.attrs["settings"]["gamma"]) / select(table, "sigma_w1", "limit")["value"].max()
        for table in tables.values()
    )
    check = equal(
        largest_error(tables, "sigma_w1", "limit"),
        0.0,
        limit_error(tables, "sigma_w1_bound"),
        resolution=float(resolution),
        because=LEFT_OPEN,
    )
    return Outcome(check, members(tables))


@claim("Lemma C.10", "largest error of σ_i(Z1) and σ_i(Z2) along the flow, relative to the largest")
def lemma_c_10(tables: Tables) -> Outcome:
    """Along the whole flow the spectrum of β alone fixes the spectra of both layers.

    σ(Z1)² = γ + √(γ² + σ(β)²) and σ(Z2)² = −γ + √(γ² + σ(β)²). Each layer is held against the measured
    spectrum of β at the same time; Z1 and W1 = Z1 P share their singular values, as do Z2 and W2.
    """
    tolerance = flow_error(tables)
    return Outcome(
        all_of(
            equal(largest_error(tables, "sigma_w1", "flow"), 0.0, tolerance, because="4 rtol"),
            equal(largest_error(tables, "sigma_w2", "flow"), 0.0, tolerance, because="4 rtol"),
        ),
        members(tables),
    )


@claim("Lemma 3.1", "largest distance of (W1, W2) from (Z1 P, Pᵀ Z2), relative to |W1|")
def lemma_3_1(tables: Tables) -> Outcome:
    """The layers stay in the span of the initial rows P, where a pair (Z1, Z2) of size d obeys the same flow.

    The network of full width and the pair of size d are integrated apart, and held against each other at
    every recorded time; what W1 and W2 have outside the span of P is measured by itself. The proof's last
    line starts the pair at Z1(0) = I; by the lemma's own definition it is √(2γ) I, from which it is started here.
    """
    outside = max(select(table, "subspace")["value"].max() for table in tables.values())
    apart = max(select(table, "projected")["value"].max() for table in tables.values())
    return Outcome(
        led_by(
            equal(float(apart), 0.0, trajectory_error(tables), because="two integrations apart: 5000 rtol"),
            equal(float(outside), 0.0, flow_error(tables), because="outside the span of P: 4 rtol"),
        ),
        members(tables),
    )


@claim(
    "Lemma 3.3",
    "largest |dβ/dt − (I − ααᵀ)⁻¹α|, relative to |dβ/dt| at the start",
    correction="β itself, not its derivative, is 2γ(I − ααᵀ)⁻¹α",
)
def lemma_3_3(tables: Tables) -> Outcome:
    """α = Z1⁻ᵀ Z2 obeys dα/dt = R − α Rᵀ α, and dβ/dt = (I − ααᵀ)⁻¹ α.

    The first half holds: the Riccati equation, integrated by itself, follows the network. The second half is
    a misprint, both in the dot over β and in the missing 2γ: the appendix proves β = 2γ (I − ααᵀ)⁻¹ α (Lemma
    C.2), which the network obeys at every time. As printed, the right side grows like 1/γ while the
    predictor comes to rest.
    """
    allowed = trajectory_error(tables)
    riccati = max(select(table, "alpha")["value"].max() for table in tables.values())
    printed = max(select(table, "printed_beta_speed")["value"].max() for table in tables.values())
    corrected = max(select(table, "beta_from_alpha")["value"].max() for table in tables.values())
    because = "two integrations apart: 5000 rtol"
    first_half = equal(float(riccati), 0.0, allowed, because=because)
    return Outcome(
        led_by(equal(float(printed), 0.0, allowed, because=because), first_half),
        members(tables),
        corrected=led_by(equal(float(corrected), 0.0, allowed, because=because), first_half),
        reason="the second half prints a derivative, and drops 2γ, where the appendix proves β itself",
    )


@claim("Theorem 3.1 (iii)", "largest violation of the optimality conditions at the end of the flow")
def theorem_3_1_iii(tables: Tables) -> Outcome:
    """Among all interpolating networks the flow ends at one that minimises ½|W2|² + ½|W1|² − γ log det(W1 W1ᵀ).

    Checked in two ways: the conditions of Proposition C.5 (a multiplier in the row space of X balances both
    gradients), and 100 random perturbations of each limit, led back to the interpolators, none of which
    lowers the potential. The paper derives the conditions as necessary. They are sufficient too: in terms of
    S = W1 W1ᵀ and β the problem is to minimise ½ tr S − γ log det S + ½ tr(βᵀ S⁻¹ β) under Xβ = Y, which is
    convex, so a stationary point is a global minimum.
    """
    violation = max(
        select(table, f"stationarity_{layer}", "limit")["value"].max()
        for table in tables.values()
        for layer in ("W1", "W2")
    )
    excess = min(select(table, "excess", "limit")["value"].min() for table in tables.values())
    return Outcome(
        led_by(
            equal(
                float(violation),
                0.0,
                limit_error(tables, "distance_bound"),
                because=LEFT_OPEN,
            ),
            at_least(float(excess), 0.0, because="no perturbation lowers the potential"),
        ),
        members(tables),
    )


@claim(
    "Figure 1a",
    "smallest share of |W1|² in its k largest singular values at the end, over the draws",
    correction="with standard deviation 0.01 in place of variance 0.01 the layer is of rank k",
)
def gaussian_init_low_rank(tables: Tables, *, share: Fraction) -> Outcome:
    """From Gaussian weights of variance 0.01, only k singular values grow and the hidden layer ends near rank k.

    A layer of width 200 with entries of variance 0.01 resembles an orthogonal one with 2γ = 200 · 0.01, so
    γ = 1: the very scale that the same figure shows to leave the layer at full rank. Its singular values start
    near 1.4 and the d − k lower ones stay there. Read as a standard deviation, 0.01 means γ = 0.01, and the k
    largest singular values end up with nearly all of |W1|². Either way the lower ones hardly move.
    """
    printed, deviation = (carried(spectra(table, 0.0, "limit"), _outputs(table)).min() for table in tables.values())
    because = f"near rank k: the k largest carry {share:.0%}"
    return Outcome(
        at_least(float(printed), share, because=because),
        members(tables),
        corrected=at_least(float(deviation), share, because=because),
        reason="entries of variance 0.01 at width 200 amount to γ = 1, which is the large scale",
    )


@claim("Figure 4 and appendix C.1", "largest share of the spectrum's displacement that falls on σ_i(W1), i > k")
def nonzero_second_layer(tables: Tables) -> Outcome:
    """With both layers Gaussian the hidden layer's spectrum still follows the trend: k values grow, the rest stay.

    The theory needs W2(0) = 0. Here W1 starts with variance 0.001 and W2 with 0.01 or 0.001, and the
    displacement of the singular values from start to end is measured: the d − k lower ones take hardly any of
    it. The trend holds, the numbers less: at W2's larger variance the k largest end a fifth (median) below
    Corollary 3.1, since a second layer that starts large leaves less for the first to grow. Nor is the layer
    near rank k, at a start of σ(W1) about 0.45.
    """
    shares = []
    for table in tables.values():
        moved = (spectra(table, 0.0, "limit") - spectra(table, 0.0, "flow")) ** 2
        shares.append(moved[:, _outputs(table) :].sum(axis=1) / moved.sum(axis=1))
    check = at_most(float(np.max(shares)), 0.05, because="the k largest take 95 % of what moves")
    return Outcome(check, members(tables))


@claim("Figure 1b", "largest σ_2(W1) at the end relative to the start, over the draws, with label noise")
def label_noise_low_rank(tables: Tables) -> Outcome:
    """Label noise makes the small singular values of W1 decay; plain gradient descent leaves them where they were.

    Both start at a large scale, σ_i(W1) = 1, on the same orthonormal data with one output. Without noise one
    singular value grows and the other four keep their value to rounding, as for the flow, so the layer stays at
    full rank. With fresh label noise at every step the four decay exponentially while the predictor keeps
    fluctuating around the teacher. Half the noise takes about four times as long.
    """
    plain, noisy = tables.values()
    end = float(noisy["time"].max())
    kept = spectra(plain, float(plain["time"].max()))[:, 1:] / spectra(plain, 0.0)[:, 1:]
    second = {at: spectra(noisy, at)[:, 1] for at in (0.0, end / 2, end)}
    return Outcome(
        led_by(
            at_most(float((second[end] / second[0.0]).max()), 0.5, because="fallen to less than half in every draw"),
            at_most(float((second[end] / second[end / 2]).max()), 1.0, because="still falling in the second half"),
            equal(float(np.abs(kept - 1).max()), 0.0, 1e-9, because="without noise: rounding over all steps"),
        ),
        members(tables),
    )


@claim(
    "Theorem 3.2 (a)",
    "largest |d∇Ψ(σ_i)/dt + ∂L/∂σ_i| along the flow, relative to the largest |∂L/∂σ_i|",
    correction="the potential is ½ tr(D sinh⁻¹(D/γ) − √(D² + γ²)): the ½ belongs before both terms",
)
def theorem_3_2_a(tables: Tables) -> Outcome:
    """The singular values D of β follow the mirror flow of Ψ(D) = tr(½ D sinh⁻¹(D/γ) − √(D² + γ²)).

    The speed of each singular value, uᵀ(dβ/dt)v, and the force on it, uᵀRv, are read off the network's states
    at each time. With the potential as printed they disagree: its gradient is ½ sinh⁻¹(D/γ) − ½ D/√(D² + γ²),
    so that near zero it would not move at all. The proof arrives at ½ sinh⁻¹(D/γ), the gradient of
    ½(D sinh⁻¹(D/γ) − √(D² + γ²)), and that one holds. Integrated, the two differ by up to ½.
    """
    (table,) = tables.values()
    gamma = min(table.attrs["settings"]["gammas"])
    force = select(table, "mirror_speed")["predicted"].abs().max()

    def violation(quantity: str) -> float:
        rows = select(table, quantity)
        return float((rows["value"] - rows["predicted"]).abs().max() / force)

    # the coordinate's curvature at zero, 1 / (2 gamma), multiplies the states' error
    allowed = flow_error(tables) * max(1.0, 1 / (2 * gamma))
    because = "4 rtol over 2γ"
    return Outcome(
        equal(violation("printed_mirror_speed"), 0.0, allowed, because=because),
        members(tables),
        corrected=equal(violation("mirror_speed"), 0.0, allowed, because=because),
        reason="the printed potential misplaces a factor ½, as differentiating it shows",
    )


@claim("Theorem 3.2 (b)", "largest distance between the network's β and the mirror flow's, relative to the largest")
def theorem_3_2_b(tables: Tables) -> Outcome:
    """With one output the predictor follows the mirror flow of ψ, run at speed √(γ + √(|β|² + γ²)).

    The mirror flow is integrated by itself, in the coordinates ∇ψ(β) = β / √(γ + √(|β|² + γ²)), whose inverse
    is β = m √(|m|² + 2γ), and held against the network of width 200 at every recorded time, for three scales.
    """
    check = equal(
        largest_error(tables, "beta"), 0.0, trajectory_error(tables), because="two integrations apart: 5000 rtol"
    )
    return Outcome(check, members(tables))


@claim("Lemma C.8", "largest ratio of the loss to its bound along the flow")
def lemma_c_8(tables: Tables) -> Outcome:
    """With one output the loss at time t is at most D_ψ(β*, 0) / (√(2γ) t).

    The bound holds with room to spare: the quadratic loss gives ⟨∇L, β − β*⟩ = 2L, of which the proof uses L
    (and prints that inequality the wrong way round), and the actual decay is exponential in the end.
    """
    ratio = max((rows["value"] / rows["predicted"]).max() for rows in (select(t, "loss") for t in tables.values()))
    return Outcome(at_most(float(ratio), 1.0, because="the loss over its bound"), members(tables))


@claim("Theorem C.11", "largest part of β off the diagonal in the singular basis of β*, relative to |β|")
def theorem_c_11(tables: Tables) -> Outcome:
    """β, Z1 and α share left singular vectors, β, Z2 and α right ones; on whitened data they stand still, at β*'s.

    The first part holds for any data, and is measured on whitened and on Gaussian data by the commutators of
    ββᵀ with W1 W1ᵀ and of βᵀβ with W2ᵀW2. The second is measured on whitened data alone; on Gaussian data the
    vectors do turn.
    """
    whitened = {name: table for name, table in tables.items() if (table["quantity"] == "turning").any()}
    turning = max(select(table, "turning", "flow")["value"].max() for table in whitened.values())
    shared = max(select(table, "shared_vectors", "flow")["value"].max() for table in tables.values())
    # relative to |beta|, which is as small as gamma at first: one entry's error over one entry's size
    allowed = 10 * flow_error(whitened)
    return Outcome(
        led_by(
            equal(float(turning), 0.0, allowed, because="10 entries' errors of 4 rtol"),
            equal(float(shared), 0.0, flow_error(tables), because="4 rtol"),
        ),
        members(tables),
    )


@claim(
    "Theorem C.12",
    "limit of σ_i(β) / σ_i(β*) at time ln(1/γ) / (2σ_i(β*)), the largest of i",
    correction="at the jump itself the limit is σ/(1 + 2σ), as the theorem's own proof finds",
)
def theorem_c_12(tables: Tables) -> Outcome:
    """On whitened data σ_i(β) has a closed form, whose limit at time ln(1/γ)t is 0 for t < 1/(2σ) and σ from 1/(2σ) on.

    The closed form holds at every scale: against networks of width 200 at γ = 1 and 10⁻⁴, and down to
    γ = 10⁻³². The limit holds before and after the jump. At t = 1/(2σ), where the theorem prints σ (and section
    3.2 prints 0), neither holds: the value there is σ/(1 + 2σ), as the last lines of the proof say.
    """
    curves = {name: table for name, table in tables.items() if name != "jump"}
    closed = max(largest_error(curves, "sigma_beta", "flow"), largest_error({"jump": tables["jump"]}, "sigma_beta"))
    formula = equal(closed, 0.0, trajectory_error(tables), because="integration against formula: 5000 rtol")
    table = tables["jump"]
    at_jump = table[(table["gamma"] == table["gamma"].min()) & (table["limit"] > 0)]
    at_jump = at_jump.loc[at_jump.groupby("index")["time"].idxmin()]
    final = table.groupby("index")["limit"].max()
    reached = at_jump["value"].to_numpy() / final[at_jump["index"]].to_numpy()
    proof = 1 / (1 + 2 * final[at_jump["index"]].to_numpy())
    return Outcome(
        led_by(equal(float(reached.max()), 1.0, 1e-6, because="the smallest scale's distance from its limit"), formula),
        members(tables),
        corrected=led_by(
            equal(
                float(np.max(np.abs(reached - proof))),
                0.0,
                1e-6,
                because="the smallest scale's distance from its limit",
            ),
            formula,
        ),
        reason="the closed form is right; the limit's value at the jump is printed as σ",
    )


@claim("Section 3.2, jump process", "largest distance of the extrapolated jump time from 1/(2σ_i), relative to it")
def jump_process(tables: Tables) -> Outcome:
    """As γ vanishes, σ_i(β) at time ln(1/γ)t jumps from 0 to σ_i(β*) at t = 1/(2σ_i(β*)), the largest first.

    Simulated down to γ = 10⁻³². The time at which σ_i passes half its limit is 1/(2σ) + ln(2σ)/(2σ ln(1/γ)), so
    it approaches 1/(2σ) only logarithmically; it is extrapolated from the two smallest scales. Away from the
    jump the distance to the step shrinks with every scale. What happens at the instant itself is the subject of
    Theorem C.12.
    """
    (table,) = tables.values()
    limits = vanishing_scale(activation_times(table))
    predicted = 1 / (2 * limits["limit"])
    away = table[(table["time"] - 1 / (2 * table.groupby("index")["value"].transform("max"))).abs() > 0.25]
    distance = (away["value"] - away["limit"]).abs().groupby(away["gamma"]).max().sort_index(ascending=False)
    shrinking = float((distance.to_numpy()[1:] / distance.to_numpy()[:-1]).max())
    return Outcome(
        led_by(
            equal(
                float(((limits["time"] - predicted) / predicted).abs().max()),
                0.0,
                1e-4,
                because="interpolation between recorded times",
            ),
            at_most(shrinking, 1.0, because="each scale nearer to the step than the one before"),
        ),
        members(tables),
    )


@claim("Figure 2", "share of draws at small scale that end at rank 2")
def relu_low_rank(tables: Tables, *, share: Count) -> Outcome:
    """A ReLU student of 20 neurons ends near rank 2, the teacher's, from small weights, and at high rank from large.

    Rank is the number of singular values that carry 95 % of |W|². The paper shows one draw; over many, rank 2
    is the rule at small scale and not the law: some draws need one direction only, others keep a third. At
    large scale no draw ends at rank 2.
    """
    small, large = (settled_rank(table, share, table["time"].max()) for table in tables.values())
    two, many = int((small == 2).sum()), int((large > 2).sum())
    return Outcome(
        led_by(
            share_at_least(two, len(small), 0.5, because="rank 2 in most draws"),
            share_at_least(many, len(large), 0.9, because="above rank 2 in nearly all draws at large scale"),
        ),
        len(small) + len(large),
    )


@claim("Figure 5", "share of draws whose hidden layer has rank 1 at the first plateau after the start")
def relu_phase_one(tables: Tables, *, share: Count) -> Outcome:
    """From small weights the loss descends from saddle to saddle, and the first saddle after zero has rank 1.

    A plateau is a stretch where the loss falls more slowly than 1/√t while time grows by a quarter or more, at
    more than 10⁻⁴ of its first value. Every draw starts on one, at zero. Of those that meet another, most have
    learnt a single direction when it begins: 95 % of |W|² in one singular value. It takes small weights: from
    ten times larger ones fewer than half of the draws meet a second plateau, as the sensitivity check shows.
    """
    (table,) = tables.values()
    ranks = first_saddles(table, share)
    starts = select(table, "plateau_start")
    at_zero = starts[(starts["index"] == 1) & (starts["value"] < 0.01 * table["time"].max())]["seed"].nunique()
    seeds = table["seed"].nunique()
    return Outcome(
        led_by(
            share_at_least(int((ranks == 1).sum()), len(ranks), 0.5, because="rank 1 in most draws that meet a saddle"),
            share_at_least(len(ranks), seeds, 0.5, because="most draws meet a second plateau"),
            share_at_least(at_zero, seeds, 0.9, because="nearly all start on a plateau"),
        ),
        seeds,
    )


@claim(
    "Figure 3a",
    "share of paths whose σ_1(W) has grown by the end, d = 2",
    correction="σ_2 and σ_2/σ_1 decay; log σ_1 is a walk without drift, which grows in the mean of σ_1 alone",
)
def noise_low_rank(tables: Tables) -> Outcome:
    """Under noise alone, d = 2, the larger singular value of W grows without bound and the smaller one decays.

    The smaller one does decay, and so does the ratio: W loses rank. But the larger one has no drift. For d = 2
    the largest Lyapunov exponent is exactly zero (see `noise_theory`): the logarithm of |W| is a random walk that
    is recurrent, so a typical path neither grows nor shrinks at any rate, though it exceeds every bound some
    day. Means grow all the same, carried by ever rarer paths. From three dimensions on the exponent is positive.
    """
    ensemble, growth = tables.values()
    end = ensemble["time"].max()
    grown, margin, _ = statistic(ensemble, "sigma_1", "share above 1", end)
    decayed, decayed_margin, _ = statistic(ensemble, "sigma_2", "share above 1", end)
    largest, largest_margin, exact = rate(growth, "largest")
    relative, relative_margin, _ = rate(growth, "relative_commutator")
    smaller = at_most(decayed, 0.05, uncertainty=decayed_margin, because="σ_2 has decayed on nearly every path")
    return Outcome(
        led_by(at_least(grown, 0.95, uncertainty=margin, because="grown on nearly every path"), smaller),
        int(ensemble.attrs["settings"]["paths"]),
        corrected=led_by(
            smaller,
            equal(
                largest,
                round(exact, 12),
                twice(largest_margin),
                uncertainty=largest_margin,
                resolution=0.1,
                because="no growth: 4 standard errors",
            ),
            at_most(relative, 0.0, uncertainty=relative_margin, because="σ_2/σ_1 decays almost surely"),
        ),
        reason="the largest exponent is zero in two dimensions; three paths cannot show it",
    )


@claim("Proposition 4.1 (a)", "(E|w_i|² + √d E a_i²) / exp(√d t), d = 2")
def proposition_4_1_a(tables: Tables, *, at: Positive) -> Outcome:
    """The second moments explode: E|w_i|² + √d E a_i² grows as exp(√d t), so E|W|² and E|a|² tend to infinity.

    Checked at an early time, where a sample mean still means something. The tails grow so heavy that by t = 4
    a hundred thousand paths do not pin the mean down to half its size: its weight lies on paths that no sample
    contains. What a typical path does is another matter; see the median, and the claims on Figure 3a and on (c).
    """
    (table,) = tables.values()
    settings = table.attrs["settings"]
    root = np.sqrt(settings["inputs"])
    hidden, hidden_margin, _ = statistic(table, "hidden_norm", "mean", at)
    output, output_margin, _ = statistic(table, "output_norm", "mean", at)
    scale = np.exp(root * at)
    margin = (hidden_margin + root * output_margin) / scale
    steps = np.full(round(at / settings["step"]), settings["step"])
    discrete = noise_theory.euler_second_moments(settings["inputs"], steps)
    bias = euler_bias(scale, discrete[0][-1] + root * discrete[1][-1])
    later = statistic(table, "hidden_norm", "mean", 2 * at)
    return Outcome(
        led_by(
            equal(
                (hidden + root * output) / scale,
                1.0,
                bias + twice(margin),
                uncertainty=margin,
                resolution=0.25,
                because="4 standard errors, and the scheme's bias",
            ),
            at_least(later[0] / hidden, 1.0, uncertainty=later[1] / hidden, because="still growing at twice the time"),
        ),
        int(settings["paths"]),
    )


@claim("Proposition 4.1 (b)", "almost sure growth rate of |W|, d = 5")
def proposition_4_1_b(tables: Tables) -> Outcome:
    """For d ≥ 5 every moment E|W|^α with α > 0 diverges, and with it E(|a|^α + |ā|^α).

    Measured: the almost sure growth rate of |W|, positive and as derived in `noise_theory`, which makes every
    moment diverge, since E|W|^α ≥ exp(α E log|W|); and growth of E|W|^α and of E(|a|^α + |ā|^α) over the
    second half of the time for α = 0.1, 0.5, 1. The statement is true, and beyond the paper's range: the rate is
    positive from d = 3 on. The proof's own constant √d − (1 − α)(√d + 1)²/(2√d) is not positive for all α at d = 5,
    as said there, but only for α > 0.045; it is from d = 6 on.
    """
    ensemble, growth = tables.values()
    end = ensemble["time"].max()
    largest, margin, exact = rate(growth, "largest")
    checks = [
        at_least(largest, 0.0, uncertainty=margin, because="growth of a typical path"),
        equal(largest, exact, twice(margin), uncertainty=margin, resolution=0.1, because="4 standard errors"),
    ]
    for quantity in sorted(name for name in ensemble["quantity"].unique() if "_power_" in name):
        later, later_margin, _ = statistic(ensemble, quantity, "mean", end)
        early, early_margin, _ = statistic(ensemble, quantity, "mean", end / 2)
        growing = at_least(later - early, 0.0, uncertainty=later_margin + early_margin, because=f"{quantity} growing")
        checks.append(growing)
    return Outcome(led_by(*checks), int(ensemble.attrs["settings"]["paths"]))


@claim(
    "Proposition 4.1 (c)",
    "mean of |e|, e the entry of the commutator [w_i, a], at the end, d = 2",
    correction="E|e| tends to 0.482 for d = 2; what vanishes is the angle between w_i and a, almost surely, at rate "
    "0.237, and for d = 2 the commutator of a typical path at the same rate",
)
def proposition_4_1_c(tables: Tables) -> Outcome:
    """The commutators [w_i, a] vanish in the mean: E|[w_i, a]| = |[w_i(0), a(0)]| exp(−t) → 0.

    They do not. From W(0) = I, a(0) = 0 the formula gives zero at all times; the measured mean rises to 0.48
    within a few units of time and stays there. The proof applies Itô's formula to |x|, which has a kink at 0: each
    time an entry e crosses zero, the kink adds to the mean (the local time, by Tanaka's formula), and this term is
    left out. For d = 2 it balances the decay exactly: the limit of E|e| can be computed and is 0.482, and E e² even
    grows, as exp((√3 − 1)t).

    How can the picture in the paper still be right? Mean and typical path part company. det W is a martingale: its
    mean is 1 for ever, though it tends to zero on almost every path, and ever fewer paths with ever larger values
    keep up the mean. The commutator shares this fate: its median decays, at the almost sure rate −0.237, while its
    mean does not. So three paths show decay, and are right to.

    What the paper wants of the commutator, alignment of all rows with a, survives: the sine of the angle between w_i
    and a decays almost surely, in two dimensions and in five. The commutator is a poor measure of it, since it
    multiplies the angle by the lengths: for d = 5 these grow faster than the angle closes, and the commutator itself
    grows on almost every path.
    """
    ensemble, plane, five = tables.values()
    settings = ensemble.attrs["settings"]
    end = float(ensemble["time"].max())
    # the latest time at which the mean is known to a twentieth
    times = sorted(ensemble["time"].unique())
    sure = max((t for t in times if statistic(ensemble, "commutator", "mean", t)[1] < 0.025), default=end)
    mean, margin, _ = statistic(ensemble, "commutator", "mean", sure)
    typical, typical_margin, exact = rate(plane, "commutator")
    bias = settings["step"]  # weak order one: a relative error of the order of the step
    angles = []
    for table in (plane, five):
        relative, relative_margin, _ = rate(table, "relative_commutator")
        angles.append(at_most(relative, 0.0, uncertainty=relative_margin, because="the angle closes almost surely"))
    return Outcome(
        equal(mean, 0.0, bias, uncertainty=margin, because="the scheme's bias, and 95 %"),
        int(settings["paths"]),
        corrected=led_by(
            equal(
                mean,
                noise_theory.commutator_mean_limit(),
                bias + twice(margin),
                uncertainty=margin,
                resolution=0.1,
                because="4 standard errors, and the scheme's bias",
            ),
            equal(typical, exact, 5 * bias + twice(typical_margin), uncertainty=typical_margin, resolution=0.1),
            *angles,
        ),
        reason="the proof drops the local time of |e| at zero; mean and typical path differ",
    )


def _outputs(table: pd.DataFrame) -> int:
    """Number k of outputs, as many as beta has singular values."""
    return int(select(table, "sigma_beta")["index"].max())
