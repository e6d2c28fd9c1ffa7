"""Proposition 4.1 on the process that noise alone drives, and for which dimensions the prose around it holds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from learning_dynamics.claims import Finding, Judgement, at_least, claim, equal
from learning_dynamics.evidence import Estimate
from learning_dynamics.papers.spectral_bias.noise import theory
from learning_dynamics.papers.spectral_bias.noise.rates import (
    as_derived,
    dimensions_of,
    increase,
    listed,
    power_name,
    rates_of,
    rises,
    sign_of,
    signs_of,
    statistic,
)
from learning_dynamics.settings import Count, Positive
from learning_dynamics.tidy import Table, settings_of


@claim(
    "Section 4.1 and Figure 3a",
    scope="growth rates along long paths in every dimension listed, and many paths for d = 2",
    correction=r"$\sigma_2(W)/\sigma_1(W)$ decays in every dimension tried; $\sigma_2(W)$ itself decays in "
    r"few dimensions and grows in many, and $\sigma_1(W)$ grows at a rate from three dimensions on only.",
)
def noise_low_rank(
    exponents: Table, plane: Table, *, decaying: list[Count], growing: list[Count], collapsing: list[Count]
) -> Finding:
    r"""Under the noise-driven process (4.1) with $d \geq 2$ the largest singular value of $W$ grows without bound and
    the remaining ones decay to zero; for $d = 1$ the process collapses to zero.

    What decays in every dimension tried is the ratio: $W$ loses rank relative to its size. The singular values
    themselves grow at the Lyapunov exponents $\lambda_i$, which add up, over all $d + 1$ directions of $(W, a)$, to
    $-d$. $\lambda_2$ is below zero for $d$ = {decay} and above for $d$ = {grow} (95 % intervals; open for {open}), so
    that in many dimensions several singular values grow. Signs are judged for $d$ = {judged}; at {between}, where
    $\lambda_2$ crosses zero, only that it rises from each dimension to the next. $\lambda_1$ is above zero for $d \geq
    3$, and exactly zero for $d = 2$: there $\ln|W|$ is a walk without drift, which exceeds every bound some day and
    falls below it again. At time {end:g}, $\sigma_1$ has grown on {grown:.0%} of paths in the plane; means grow all the
    same, carried by ever rarer paths. For $d = 1$ both directions shrink at the rate one half.
    """
    rates = rates_of(exponents)
    lows, highs = signs_of(rates, 2)
    end = float(plane["time"].max())
    grown = statistic(plane, "sigma_1", "share above 1", end)

    def judge(reading: Mapping[str, list[int]]) -> Judgement:
        # the dimension farthest from the pictures first: there the two readings differ most
        signs = dict.fromkeys(reading["second decays"], -1) | dict.fromkeys(reading["second grows"], 1)
        return Judgement(
            *(sign_of(rates, "exponent", 2, inputs, signs[inputs]) for inputs in sorted(signs, reverse=True)),
            *rises(rates, "exponent", 2, reading["second rises"]),
            *(sign_of(rates, "exponent", 1, inputs, 1) for inputs in reading["first grows"]),
            *(sign_of(rates, "angle", 0, inputs, -1) for inputs in dimensions_of(rates) if inputs > 1),
            *(sign_of(rates, "exponent", 1, inputs, -1) for inputs in collapsing),
            *(as_derived(rates, "exponent", 1, inputs) for inputs in reading["first grows at its rate"]),
        )

    several = [inputs for inputs in dimensions_of(rates) if inputs > 1]
    right = {
        "second decays": decaying,
        "second grows": growing,
        "second rises": several,
        "first grows": [inputs for inputs in several if inputs > 2],
        "first grows at its rate": several,
    }
    return Finding(
        judge,
        right
        | {"second decays": several, "second grows": [], "second rises": [], "first grows": several}
        | {"first grows at its rate": []},
        corrected=right,
        rivals={
            "the second grows in every dimension": right | {"second decays": [], "second grows": several},
            "the second decays in every dimension": right | {"second decays": several, "second grows": []},
            "the first grows at a rate in the plane too": right | {"first grows": several},
            "the second falls with the dimension": right | {"second rises": several[::-1]},
        },
        reason="the paper's pictures are of two dimensions, and of three paths",
        facts={
            "decay": listed(lows),
            "grow": listed(highs),
            "open": listed([inputs for inputs in several if inputs not in (*lows, *highs)]),
            "judged": listed([*decaying, *growing]),
            "between": listed([inputs for inputs in several if inputs not in (*decaying, *growing)]),
            "end": end,
            "grown": grown.value,
        },
    )


@claim("Proposition 4.1 (a)", scope="d = 2 and d = 5, many paths, at a time when sample means are means still")
def proposition_4_1_a(plane: Table, five: Table, *, at: Positive, errors: Positive) -> Finding:
    r"""The second moments explode: $E|W|^2$ and $E|a|^2$ tend to infinity, since with $u = E|w_i|^2$ of a column and
    $v = E a_i^2$, $u + \sqrt{d} v$ grows as $e^{\sqrt{d} t}$.

    Checked at time {at:g}: later, ever rarer paths carry the means, and a sample does not contain them. (The proof also
    has $u - \sqrt{d} v$ fall as $e^{-\sqrt{d} t}$, which the errors of the means would hide.) What a typical
    path does is another matter (the claims on Figure 3a and on (c)).
    """
    found: dict[str, tuple[Estimate, float, float]] = {}
    for name, table in (("plane", plane), ("five", five)):
        settings = settings_of(table)
        root = float(np.sqrt(settings["inputs"]))
        hidden, output = (statistic(table, quantity, "mean", at) for quantity in ("hidden_norm", "output_norm"))
        steps = np.full(round(at / settings["step"]), settings["step"])
        moments = theory.euler_second_moments(settings["inputs"], steps)
        bias = abs(moments[0][-1] + root * moments[1][-1] - np.exp(root * at))
        # a mean of means: their errors added
        slack = (errors / 1.96 - 1) * (hidden.uncertainty + root * output.uncertainty) + bias
        half = hidden.uncertainty + root * output.uncertainty
        value = hidden.value + root * output.value
        found[name] = (Estimate(value, value - half, value + half, hidden.draws, "mean (normal)"), root, slack)

    def judge(growth: tuple[float, float]) -> Judgement:
        factor, power = growth
        checks = [
            equal(
                rf"$E|w_i|^2 + \sqrt{{d}} E a_i^2$, d = {round(root**2)}",
                estimate,
                float(np.exp(factor * root ** (2 * power) * at)),
                tolerance=slack,
                resolution=0.25 * estimate.value,
                because="standard errors, and the scheme's bias",
            )
            for estimate, root, slack in found.values()
        ]
        return Judgement(*checks)

    return Finding(
        judge,
        (1.0, 0.5),
        rivals={
            "the rate $d/2$": (0.5, 1.0),
            "the rate 1 in every dimension": (1.0, 0.0),
            "no growth": (0.0, 0.5),
        },
        facts={"at": at},
        scaled=lambda growth, factor: (growth[0] * factor, growth[1]),
    )


@claim(
    "Proposition 4.1 (b)",
    scope="growth rates along long paths in every dimension listed; moments over many paths, d = 5",
)
def proposition_4_1_b(exponents: Table, five: Table, *, between: list[Positive]) -> Finding:
    r"""For $d \geq 5$ every moment $E|W|^\alpha$ with $\alpha > 0$ diverges, and so does $E(|a|^\alpha + |\bar
    a|^\alpha)$ with the exponential moving average $\bar a$.

    By Jensen, $E|W|^\alpha \geq \exp(\alpha E\ln|W|)$, so that a growth rate $\lambda_1 > 0$ of single paths makes
    every moment diverge, however small $\alpha$. It is above zero for $d$ = {positive}, and as derived in all of
    them: the mean of $((d-1)y^2 - 1)/2$ under the density $(1 + y^2)^{(d-2)/2} e^{-(d-1)y^2/2}$. So the statement is
    true, and beyond the paper's range. Its proof has a gap at $d = 5$ itself: the constant $\sqrt{d} - (1 -
    \alpha)(\sqrt{d} + 1)^2/(2\sqrt{d})$, for $|W|^{2\alpha}$, is positive only for $\alpha$ above {gap:.3f}; from
    $d = 6$ on it is for all.
    """
    rates = rates_of(exponents)
    _, highs = signs_of(rates, 1)
    dimensions = [inputs for inputs in dimensions_of(rates) if inputs >= 5]
    early, late = between
    first = dimensions[0]
    grown = {
        quantity: increase(five, quantity, early, late)
        for quantity in sorted(name for name in five["quantity"].unique() if "_power_" in name)
    }

    def judge(change: float) -> Judgement:
        checks = [as_derived(rates, "exponent", 1, inputs, change) for inputs in dimensions]
        signs = [sign_of(rates, "exponent", 1, inputs, 1) for inputs in dimensions]
        growing = [
            at_least(
                f"growth of the mean of {power_name(quantity)} from time {early:g} to {late:g}, d = {first}",
                found,
                0.0,
                because="growing",
            )
            for quantity, found in grown.items()
        ]
        return Judgement(*checks, *signs, *growing)

    root = np.sqrt(5.0)
    return Finding(
        judge,
        0.0,
        rivals={
            "no growth, as in the plane": -theory.largest_lyapunov_exponent(dimensions[0]),
            "rates larger by a tenth": 0.1,
        },
        facts={"positive": listed(highs), "gap": float(1 - 2 * 5.0 / (root + 1) ** 2)},
        scaled=lambda change, factor: change + (factor - 1) * theory.largest_lyapunov_exponent(dimensions[0]),
    )


@claim(
    "Proposition 4.1 (c)",
    scope="d = 2, many paths; growth rates along long paths in every dimension listed",
    correction="For $d = 2$ the mean of $|e|$ tends to a constant above zero; what vanishes, in every dimension "
    "tried, is the angle between $w_i$ and $a$, almost surely.",
)
def proposition_4_1_c(
    plane: Table, exponents: Table, *, precision: Positive, errors: Positive, growing: list[Count]
) -> Finding:
    r"""The commutators $[w_i, a]$ of rows of $W$ with $a$ vanish in the mean,
    $E|[w_i, a]| = |[w_i(0), a(0)]| e^{-t} \to 0$.

    They do not. From $W(0) = I$, $a(0) = 0$ the formula gives zero at all times; the mean of an entry's size $|e|$
    for $d = 2$ rises to {value:.3f} and stays. The proof applies Itô's formula to $|x|$, which has a kink at 0: each
    time an entry crosses zero, the kink adds to the mean (the local time, by Tanaka's formula), and this term is left
    out. For $d = 2$ it balances the decay in the end, and the limit of the mean can be computed: {limit:.4f}.

    Mean and typical path part company. $\det W$ is a martingale: its mean is 1 for ever, though it tends to zero on
    almost every path, and ever fewer paths with ever larger values keep up the mean. The commutator shares this fate:
    in the plane it decays on almost every path, at the rate {typical:.3f}, while its mean does not, and $E e^2$ grows
    as $e^{(\sqrt{2d-1} - 1)t}$ (checked at time {at:g}). So three paths show decay, and are right to.

    What the paper wants of the commutator, alignment of all rows with $a$, survives in every dimension measured: the
    angle closes almost surely. The commutator is a poor measure of it, since it multiplies the angle by the lengths:
    its typical rate $\lambda_1 + \lambda_2$ is below zero for $d$ = {falling} and above for $d$ = {rising} (open for
    {open}), where commutators grow on almost every path. Signs are judged for $d$ = {judged}; at
    {between}, where the rate crosses zero, only that it rises from each dimension to the next.
    """
    settings = settings_of(plane)
    times = sorted(plane["time"].unique())
    means = {time: statistic(plane, "commutator", "mean", time) for time in times}
    # the latest time at which the mean is known to the precision, beyond the start
    at = max((time for time in times[1:] if means[time].uncertainty < precision), default=times[1])
    mean, bias = means[at], settings["step"]
    early = times[len(times) // 4]
    square = statistic(plane, "commutator_squared", "mean", early)
    exact_square = float(theory.commutator_second_moment(settings["inputs"], np.array([early]))[0])
    # the slowest part of the approach to the limit falls as exp(-t)
    limit = theory.commutator_mean_limit()
    rates = rates_of(exponents)
    lows, highs = signs_of(rates, 0, "commutator")
    several = [inputs for inputs in dimensions_of(rates) if inputs > 1]

    def judge(reading: tuple[float, str, list[int]]) -> Judgement:
        predicted, second, rising = reading
        slack = (errors / 1.96 - 1) * mean.uncertainty + bias + limit * float(np.exp(-at))
        return Judgement(
            equal(
                f"mean of $|e|$ at time {at:g}, d = 2",
                mean,
                predicted,
                tolerance=slack,
                resolution=0.25,
                because="standard errors, the scheme's bias, and the approach to the limit",
            ),
            equal(
                f"mean of $e^2$ at time {early:g}, d = 2",
                square,
                exact_square if second == "grows" else 0.0,
                tolerance=(errors / 1.96 - 1) * square.uncertainty + 4 * bias * exact_square,
                resolution=0.5 * exact_square,
                because="standard errors, and the scheme's bias",
            ),
            as_derived(rates, "commutator", 0, 2),
            *(sign_of(rates, "commutator", 0, inputs, 1) for inputs in rising),
            *(rises(rates, "commutator", 0, several) if rising else ()),
            *(sign_of(rates, "angle", 0, inputs, -1) for inputs in several),
        )

    return Finding(
        judge,
        (0.0, "vanishes", []),
        corrected=(limit, "grows", growing),
        rivals={
            "half the limit": (limit / 2, "grows", growing),
            "a commutator that grows on typical paths in every dimension": (limit, "grows", several),
            "a second moment that vanishes": (limit, "vanishes", growing),
        },
        reason="the proof drops the local time of |e| at zero; mean and typical path differ",
        scaled=lambda reading, factor: (reading[0] * factor, *reading[1:]),
        facts={
            "limit": limit,
            "typical": rates["commutator", 0, 2][0].value,
            "at": early,
            "falling": listed(lows),
            "rising": listed(highs),
            "open": listed([inputs for inputs in several if inputs not in (*lows, *highs)]),
            "judged": listed([2, *growing]),
            "between": listed([inputs for inputs in several if inputs not in (2, *growing)]),
        },
    )
