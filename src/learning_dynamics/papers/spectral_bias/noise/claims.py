"""Proposition 4.1 on the process that noise alone drives, and for which dimensions the prose around it holds."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from scipy.special import gamma

from learning_dynamics.judging import Checks, Claim, Facts, Finding, at_least, claim, equal, equal_on_every_draw
from learning_dynamics.papers.spectral_bias.noise import theory
from learning_dynamics.papers.spectral_bias.noise.rates import (
    as_derived,
    dimensions_of,
    errors_of,
    increase,
    number_ranges,
    power_name,
    rates_of,
    rises,
    sign_of,
    signs_of,
    statistic,
    within,
)
from learning_dynamics.settings import Count, Positive
from learning_dynamics.tidy import Table, settings_of


@claim(
    "Section 4.1 and Figure 3a",
    quantifier="an average",
    scope="growth rates along long paths in every dimension listed, and many paths for d = 2",
    correction=r"From $W(0)$ of full rank $\sigma_2(W)/\sigma_1(W)$ decays in every dimension tried; $\sigma_2(W)$ "
    r"itself decays in few dimensions and grows in many; $\sigma_1(W)$ grows at a rate from three dimensions on only.",
)
def noise_low_rank(
    exponents: Table, plane: Table, *, decaying: list[Count], growing: list[Count], collapsing: list[Count]
) -> Finding:
    r"""Under the noise-driven process (4.1) with $d \geq 2$ the largest singular value of $W$ grows without bound and
    the remaining ones decay to zero; for $d = 1$ the process collapses to zero.

    What decays in every dimension tried is the ratio: $W$ loses rank relative to its size. The singular values
    themselves grow at the Lyapunov exponents $\lambda_i$, which add up, over all $d + 1$ directions of $(W, a)$, to
    $-d$; all of them are known (`lyapunov_spectrum`). $\lambda_2$ is below zero up to $d$ = {last}, where it is
    {below:.4f}, and above from $d$ = {next} on, where it is {above:.4f}, so that in many dimensions several singular
    values grow, in very many a quarter of them (`quarter_grows`). Measured, it is below zero for $d$ = {decay} and
    above for $d$ = {grow} (95 % intervals; open for {open}). Signs are judged for $d$ = {judged}; at {between}, where
    $\lambda_2$ crosses zero, only that it rises from each dimension to the next. $\lambda_1$ is above zero for $d \geq
    3$, and exactly zero for $d = 2$: there $\ln|W|$ is a walk without drift, which exceeds every bound some day and
    falls below it again. At time {end:g}, $\sigma_1$ has grown on {grown:.0%} of paths in the plane; means grow all the
    same, carried by ever rarer paths. For $d = 1$ both directions shrink at the rate one half.
    """
    rates = rates_of(exponents)
    lows, highs = signs_of(rates, 2)
    end = float(plane["time"].max())
    grown = statistic(plane, "sigma_1", "share above 1", end)

    def judge(reading: Mapping[str, list[int]]) -> Checks:
        # the dimension farthest from the pictures first: there the two readings differ most
        signs = dict.fromkeys(reading["second decays"], -1) | dict.fromkeys(reading["second grows"], 1)
        for inputs in sorted(signs, reverse=True):
            yield sign_of(rates, "exponent", 2, inputs, signs[inputs])
        yield from rises(rates, "exponent", 2, reading["second rises"])
        for inputs in reading["first grows"]:
            yield sign_of(rates, "exponent", 1, inputs, 1)
        for inputs in several:
            yield sign_of(rates, "angle", 0, inputs, -1)
        for inputs in collapsing:
            yield sign_of(rates, "exponent", 1, inputs, -1)
        for inputs in reading["first grows at its rate"]:
            yield as_derived(rates, "exponent", 1, inputs)

    several = dimensions_of(rates)
    second_rates = {inputs: float(theory.lyapunov_exponents(inputs)[1]) for inputs in range(2, 11)}
    last_decaying = max(inputs for inputs, rate in second_rates.items() if rate < 0)
    right = {
        "second decays": decaying,
        "second grows": growing,
        "second rises": several,
        "first grows": [inputs for inputs in several if inputs > 2],
        "first grows at its rate": several,
    }
    return Finding(
        judge,
        {"second decays": several, "second grows": [], "second rises": [], "first grows": several}
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
            "last": last_decaying,
            "next": last_decaying + 1,
            "below": second_rates[last_decaying],
            "above": second_rates[last_decaying + 1],
            "decay": number_ranges(lows),
            "grow": number_ranges(highs),
            "open": number_ranges(several, but=[*lows, *highs]),
            "judged": number_ranges([*decaying, *growing]),
            "between": number_ranges(several, but=[*decaying, *growing]),
            "end": end,
            "grown": grown.value,
        },
    )


@claim(
    "Section 4.1, all growth rates",
    quantifier="all draws",
    scope="equal weights; growth rates along long paths in every dimension listed",
    origin="ours",
)
def lyapunov_spectrum(exponents: Sequence[Table]) -> Claim:
    r"""Under the noise-driven process (4.1) with $d \geq 2$, from $W(0)$ of full rank, the growth rates are known:
    $\lambda_1 + \dots + \lambda_p = \frac{p(d-1-p)}{4} U(\frac{p}{2}+1, \frac{d+1}{2}, \frac{d-1}{2}) /
    U(\frac{p}{2}, \frac{d+1}{2}, \frac{d-1}{2})$ for $p \leq d$, with Tricomi's function $U$, and all $d + 1$ add up
    to $-d$. In particular the first $d - 1$ add up to zero.

    The volume that $p$ columns of $(W, a)$ span grows at a rate that depends on nothing but the angle between their
    plane and the axis of $a$, and this angle settles to a law that is known. Proved by the derivation in
    docs/noise_spectrum.md; {count} rates in the dimensions {dimensions} are held against it, the half-widths of their
    intervals at most {error:.3f}. Exact values: $\lambda_1 = 0$ for $d = 2$, $\lambda_1 + \lambda_2 = 0$ for $d = 3$,
    $\lambda_1 = 1/4$ for $d = 4$.
    """
    all_rates = [rates_of(table) for table in exponents]
    dimensions = [(rates, inputs) for rates in all_rates for inputs in dimensions_of(rates)]
    exact = {inputs: theory.lyapunov_exponents(inputs) for _, inputs in dimensions}
    estimates = [errors_of(rates, inputs) for rates, inputs in dimensions]
    values, tolerances = (np.concatenate(parts) for parts in zip(*estimates, strict=True))

    def law(rates_in: Callable[[int, np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the rates of all directions and dimensions that a change of the exact ones in each gives."""
        return np.concatenate([rates_in(inputs, exact[inputs]) for _, inputs in dimensions])

    yield equal_on_every_draw(
        "largest error of a growth rate over what is allowed, rates of all directions and dimensions",
        values,
        law(lambda _, rates: rates),
        tolerance=1.0,
        relative_to=tolerances,
        because="four standard errors, and the scheme's next order",
        rivals={
            "rates that are evenly spaced between the first and the last": law(
                lambda inputs, rates: np.linspace(rates[0], rates[-1], inputs + 1)
            ),
            "the limit of many dimensions": law(
                lambda inputs, rates: np.append(theory.spectrum_limit((np.arange(inputs) + 0.5) / inputs), rates[-1])
            ),
            "rates larger by a tenth": law(lambda _, rates: 1.1 * rates),
            "the drift left out, as if all added up to zero": law(lambda inputs, rates: rates + inputs / (inputs + 1)),
        },
    )
    for rates, inputs in dimensions:
        if inputs > 2:
            yield as_derived(rates, "volume", 0, inputs)
    yield Facts(
        count=len(values),
        dimensions=number_ranges(list(exact)),
        error=float(
            max(
                rates["exponent", index, inputs][0].uncertainty
                for rates, inputs in dimensions
                for index in range(1, inputs + 2)
            )
        ),
    )


@claim(
    "Section 4.1, how many singular values grow",
    quantifier="a number",
    scope="equal weights; the exact rates in up to 640 dimensions against their limits, a formula against a formula; "
    "paths, and the signs of their growth rates, in 20 dimensions only",
    origin="ours",
)
def quarter_grows(many: Table) -> Claim:
    r"""Under the noise-driven process (4.1), from $W(0)$ of full rank, as $d$ grows, a quarter of the singular values
    of $W$ grow: $\lambda_i$ tends to $\frac{1}{4\sqrt{q}} - \frac{1}{2}$ at $i = q d$, $0 < q < 1$; and the largest
    grows at the rate $\lambda_1 \sim \frac{\Gamma(3/4)}{\Gamma(1/4)} \sqrt{d}$.

    The first two checks hold a formula against a formula, and growth is measured in {inputs} dimensions only. Both
    limits follow from the exact rates (`lyapunov_spectrum`) by Laplace's method (docs/noise_spectrum.md); the first two
    checks say how fast the limits are approached: {course} of the singular values grow. In {inputs} dimensions the
    first {growing} grow by the formula; the signs of all rates are measured, except the two beside the crossing.
    """
    rates = rates_of(many)
    inputs = max(dimensions_of(rates))
    dimensions = (10, 20, 40, 160, 640)
    exact = {number: theory.lyapunov_exponents(number) for number in {*dimensions, inputs}}
    counts = {number: int((spectrum[:number] > 0).sum()) for number, spectrum in exact.items()}
    *_, second_largest, largest = dimensions
    # the correction to the first is of relative order 1 / sqrt(d), and the next of order 1 / d
    slope = 2 * exact[largest][0] / np.sqrt(largest) - exact[second_largest][0] / np.sqrt(second_largest)

    yield equal(
        f"share of the singular values that grow in {largest} dimensions, by the exact rates",
        counts[largest] / largest,
        0.25,
        tolerance=2 / largest,
        resolution=0.05,
        because="a whole number of them, and the next order, of one more",
        rivals={
            "half of them grow": 0.5,
            "one grows, in every dimension": 1 / inputs,
            "none but a vanishing share grows": 0.0,
        },
        scaled=False,
    )
    yield equal(
        r"$\lambda_1 / \sqrt{d}$, extrapolated",
        float(slope),
        float(gamma(0.75) / gamma(0.25)),
        tolerance=2 / second_largest,
        resolution=0.05,
        because="terms of the order of one over the smaller dimension",
        rivals={r"$\lambda_1 \sim \sqrt{d} / 2$, half the rate of $E|W|^2$": 0.5},
    )
    crossing = (counts[inputs], counts[inputs] + 1)
    for index in range(1, inputs + 1):
        if index not in crossing:
            yield sign_of(rates, "exponent", index, inputs, 1 if index <= counts[inputs] else -1)
    yield Facts(
        course=", ".join(f"{counts[number] / number:.1%} in {number} dimensions" for number in dimensions),
        inputs=inputs,
        growing=counts[inputs],
    )


@claim(
    "Proposition 4.1 (a)",
    quantifier="an average",
    scope="d = 2 and d = 5, many paths, at a time when sample means are means still",
)
def proposition_4_1_a(plane: Table, five: Table, *, at: Positive, errors: Positive) -> Claim:
    r"""From a start that is not zero the second moments explode: $E|W|^2$ and $E|a|^2$ tend to infinity, since with
    $u = E|w_i|^2$ of a column and $v = E a_i^2$, $u + \sqrt{d} v$ grows as $e^{\sqrt{d} t}$.

    Checked at time {at:g}: later, ever rarer paths carry the means, and a sample does not contain them. (The proof also
    has $u - \sqrt{d} v$ fall as $e^{-\sqrt{d} t}$, which the errors of the means would hide.) What a typical
    path does is another matter (the claims on Figure 3a and on (c)).
    """
    for table in (plane, five):
        inputs, step = settings_of(table)["inputs"], settings_of(table)["integration"]["step"]
        root = float(np.sqrt(inputs))
        hidden, output = (statistic(table, name, "mean", at) for name in ("hidden_norm", "output_norm"))
        first, second = theory.euler_second_moments(inputs, np.full(round(at / step), step))
        exact = np.exp(root * at)
        # a mean of means: their errors added
        half = hidden.uncertainty + root * output.uncertainty
        estimate = within(hidden.value + root * output.value, half, hidden.draws, "mean (normal)")
        yield equal(
            rf"$E|w_i|^2 + \sqrt{{d}} E a_i^2$, d = {inputs}",
            estimate,
            float(exact),
            tolerance=(errors / 1.96 - 1) * half + abs(first[-1] + root * second[-1] - exact),
            resolution=0.25 * estimate.value,
            because="standard errors, and the scheme's bias",
            rivals={
                "the rate $d/2$": float(np.exp(0.5 * root**2 * at)),
                "the rate 1 in every dimension": float(np.exp(at)),
                "no growth": 1.0,
            },
        )
    yield Facts(at=at)


@claim(
    "Proposition 4.1 (b)",
    quantifier="an average",
    scope="growth rates along long paths in every dimension listed; moments over many paths, d = 5",
)
def proposition_4_1_b(exponents: Table, five: Table, *, between: list[Positive]) -> Claim:
    r"""For $d \geq 5$, from a start that is not zero, every moment $E|W|^\alpha$ with $\alpha > 0$ diverges, and so
    does $E(|a|^\alpha + |\bar a|^\alpha)$ with the exponential moving average $\bar a$ of $a$.

    By Jensen, $E|W|^\alpha \geq \exp(\alpha E\ln|W|)$, so that a growth rate $\lambda_1 > 0$ of single paths makes
    every moment diverge, however small $\alpha$, those of $|a|$ too. It is above zero for $d$ = {positive}, and as
    derived in all of them (`lyapunov_spectrum`). So the statement is true, and beyond the paper's range. Its proof has
    a gap at $d = 5$ itself (errata 17): the constant $\sqrt{d} - (1 - \alpha)(\sqrt{d} + 1)^2/(2\sqrt{d})$, for
    $|W|^{2\alpha}$, is positive only for $\alpha$ above {gap:.3f}; from $d = 6$ on it is for all.
    """
    rates = rates_of(exponents)
    _, highs = signs_of(rates, 1)
    dimensions = dimensions_of(rates, least=5)
    early, late = between
    powers = sorted(name for name in five["quantity"].unique() if "_power_" in name)
    course = f"from time {early:g} to {late:g}, d = {settings_of(five)['inputs']}"

    first_rate = theory.lyapunov_exponents(dimensions[0])[0]
    for inputs in dimensions:
        _, rate = rates["exponent", 1, inputs]
        rivals = {"no growth, as in the plane": rate - first_rate, "rates larger by a tenth": rate + 0.1}
        yield as_derived(rates, "exponent", 1, inputs, rivals)
    for inputs in dimensions:
        yield sign_of(rates, "exponent", 1, inputs, 1)
    for quantity in powers:
        name = f"growth of the mean of {power_name(quantity)} {course}"
        yield at_least(name, increase(five, quantity, early, late), 0.0, because="growing")
    yield Facts(positive=number_ranges(highs), gap=float(1 - 2 * 5.0 / (np.sqrt(5.0) + 1) ** 2))


@claim(
    "Proposition 4.1 (c)",
    quantifier="an average",
    scope="d = 2, 3 and 5, many paths; growth rates along long paths in every dimension listed",
    correction="From $W(0)$ of rank two or more: for $d = 2$ the mean size $E|e|$ of an entry tends to a constant "
    "above zero, and for $d \\geq 3$ the mean of the commutators grows exponentially; what vanishes, in every "
    "dimension tried, is the angle between $w_i$ and $a$, almost surely.",
)
def proposition_4_1_c(
    plane: Table,
    more: Sequence[Table],
    exponents: Table,
    *,
    precision: Positive,
    at: Positive,
    errors: Positive,
    growing: list[Count],
) -> Finding:
    r"""The commutators $[w_i, a]$ of rows of $W$ with $a$ vanish in the mean,
    $E|[w_i, a]| = |[w_i(0), a(0)]| e^{-t} \to 0$.

    They do not. From $W(0) = I$, $a(0) = 0$ the formula gives zero at all times; the mean of an entry's size $|e|$
    for $d = 2$ rises to {value:.3f} and stays. The proof applies Itô's formula to $|x|$, which has a kink at 0: each
    time an entry crosses zero, the kink adds to the mean (the local time, by Tanaka's formula), and this term is left
    out. For $d = 2$ it balances the decay in the end, and the limit of the mean can be computed:
    $\frac{2}{\pi} e^{-1/2} \Gamma(\frac{3}{2}) / \Gamma(\frac{3}{2}, \frac{1}{2})$ = {limit:.4f}. In more dimensions it
    wins: the mean length $E|c|$, $c = w_1 a_2 - w_2 a_1$ of two columns, grows as $e^{gt}$, $g$ = {rates} by an
    eigenvalue problem of one dimension (docs/noise_spectrum.md). Its course is known too, and measured at time
    {late:g}: {lengths}.

    Mean and typical path part company. $\det W$ is a martingale: its mean is 1 for ever, though it tends to zero on
    almost every path, and ever fewer paths with ever larger values keep up the mean. The commutator shares this fate:
    in the plane it decays on almost every path, at the rate {typical:.3f}, while its mean does not, and $E e^2$ grows
    as $e^{(\sqrt{2d-1} - 1)t}$ (checked at time {early:g}). So three paths show decay, and are right to.

    What the paper wants of the commutator, alignment of all rows with $a$, survives in every dimension measured: the
    angle closes almost surely. The commutator is a poor measure of it, since it multiplies the angle by the lengths:
    its typical rate $\lambda_1 + \lambda_2$ is below zero for $d = 2$, exactly zero for $d = 3$ and above zero from
    $d = 4$ on (measured: below for {falling}, above for {rising}, open for {open}), where commutators grow on almost
    every path. Signs are judged for $d$ = {judged}; at {between}, where the rate crosses zero, only that it rises from
    each dimension to the next.
    """
    settings = settings_of(plane)
    times = sorted(plane["time"].unique())
    means = {time: statistic(plane, "commutator", "mean", time) for time in times}
    # the latest time at which the mean is known to the precision, beyond the start
    latest = max((time for time in times[1:] if means[time].uncertainty < precision), default=times[1])
    mean, bias, widened = means[latest], settings["integration"]["step"], errors / 1.96 - 1
    early = times[len(times) // 4]
    square = statistic(plane, "commutator_squared", "mean", early)
    exact_square = float(theory.commutator_second_moment(settings["inputs"], np.array([early]))[0])
    # the slowest part of the approach to the limit falls as exp(-t)
    limit = theory.commutator_mean_limit()
    rates = rates_of(exponents)
    lows, highs = signs_of(rates, 0, "commutator")
    several = dimensions_of(rates)
    spaces = {settings_of(table)["inputs"]: table for table in more}
    lengths = {inputs: statistic(table, "commutator_length", "mean", at) for inputs, table in spaces.items()}
    exact = {inputs: float(theory.mean_commutator(inputs, np.array([at]))[0]) for inputs in spaces}

    def judge(reading: tuple[float, str, list[int], float]) -> Checks:
        predicted, square_trend, rising, length = reading
        yield equal(
            f"mean of $|e|$ at time {latest:g}, d = 2",
            mean,
            predicted,
            tolerance=widened * mean.uncertainty + bias + limit * float(np.exp(-latest)),
            resolution=0.25,
            because="standard errors, the scheme's bias, and the approach to the limit",
        )
        yield equal(
            f"mean of $e^2$ at time {early:g}, d = 2",
            square,
            exact_square if square_trend == "grows" else 0.0,
            tolerance=widened * square.uncertainty + 4 * bias * exact_square,
            resolution=0.5 * exact_square,
            because="standard errors, and the scheme's bias",
        )
        for inputs, table in spaces.items():
            # the scheme's second moments lag by d h t / 2, relative to them, and roots of squares by less
            lag = inputs * settings_of(table)["integration"]["step"] * at / 2 * exact[inputs]
            yield equal(
                f"mean length of the commutator of two columns at time {at:g}, d = {inputs}",
                lengths[inputs],
                length * exact[inputs],
                tolerance=widened * lengths[inputs].uncertainty + lag,
                resolution=0.25 * exact[inputs],
                because="standard errors, and the scheme's bias",
            )
        for inputs, table in spaces.items():
            yield at_least(
                f"growth of the mean length of the commutator from time {at / 2:g} to {at:g}, d = {inputs}",
                increase(table, "commutator_length", at / 2, at),
                0.0,
                because="growing",
            )
        yield as_derived(rates, "commutator", 0, 2)
        for inputs in rising:
            yield sign_of(rates, "commutator", 0, inputs, 1)
        yield from (rises(rates, "commutator", 0, several) if rising else ())
        for inputs in several:
            yield sign_of(rates, "angle", 0, inputs, -1)

    return Finding(
        judge,
        (0.0, "vanishes", [], 0.0),
        corrected=(limit, "grows", growing, 1.0),
        rivals={
            "half the limit": (limit / 2, "grows", growing, 1.0),
            "a commutator that grows on typical paths in every dimension": (limit, "grows", several, 1.0),
            "a second moment that vanishes": (limit, "vanishes", growing, 1.0),
            "a mean that grows by a quarter less in more dimensions": (limit, "grows", growing, 0.75),
        },
        reason="the proof drops the local time of |e| at zero; mean and typical path differ",
        scaled=lambda reading, factor: (reading[0] * factor, *reading[1:]),
        facts={
            "limit": limit,
            "typical": rates["commutator", 0, 2][0].value,
            "early": early,
            "late": at,
            "rates": ", ".join(f"{theory.mean_commutator_rate(inputs):.3f} for d = {inputs}" for inputs in (3, 4, 5)),
            "lengths": ", ".join(
                f"{lengths[inputs].value:.3f} for d = {inputs}, where {exact[inputs]:.3f} is exact" for inputs in spaces
            ),
            "falling": number_ranges(lows),
            "rising": number_ranges(highs),
            "open": number_ranges(several, but=[*lows, *highs]),
            "judged": number_ranges([2, *growing]),
            "between": number_ranges(several, but=[2, *growing]),
        },
    )
