"""Label noise, and Proposition 4.1 on the process that noise alone drives."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from learning_dynamics.claims import Outcome, at_least, at_most, claim, equal
from learning_dynamics.papers.spectral_bias.evidence import led_by, members, spectra
from learning_dynamics.papers.spectral_bias.noise import theory as noise_theory
from learning_dynamics.settings import Positive
from learning_dynamics.tables import Tables


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
    grown, margin, _ = _statistic(ensemble, "sigma_1", "share above 1", end)
    decayed, decayed_margin, _ = _statistic(ensemble, "sigma_2", "share above 1", end)
    largest, largest_margin, exact = _rate(growth, "largest")
    relative, relative_margin, _ = _rate(growth, "relative_commutator")
    smaller = at_most(decayed, 0.05, uncertainty=decayed_margin, because="σ_2 has decayed on nearly every path")
    return Outcome(
        led_by(at_least(grown, 0.95, uncertainty=margin, because="grown on nearly every path"), smaller),
        int(ensemble.attrs["settings"]["paths"]),
        corrected=led_by(
            smaller,
            equal(
                largest,
                round(exact, 12),
                _twice(largest_margin),
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
    hidden, hidden_margin, _ = _statistic(table, "hidden_norm", "mean", at)
    output, output_margin, _ = _statistic(table, "output_norm", "mean", at)
    scale = np.exp(root * at)
    margin = (hidden_margin + root * output_margin) / scale
    steps = np.full(round(at / settings["step"]), settings["step"])
    discrete = noise_theory.euler_second_moments(settings["inputs"], steps)
    bias = _euler_bias(scale, discrete[0][-1] + root * discrete[1][-1])
    later = _statistic(table, "hidden_norm", "mean", 2 * at)
    return Outcome(
        led_by(
            equal(
                (hidden + root * output) / scale,
                1.0,
                bias + _twice(margin),
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
    largest, margin, exact = _rate(growth, "largest")
    checks = [
        at_least(largest, 0.0, uncertainty=margin, because="growth of a typical path"),
        equal(largest, exact, _twice(margin), uncertainty=margin, resolution=0.1, because="4 standard errors"),
    ]
    for quantity in sorted(name for name in ensemble["quantity"].unique() if "_power_" in name):
        later, later_margin, _ = _statistic(ensemble, quantity, "mean", end)
        early, early_margin, _ = _statistic(ensemble, quantity, "mean", end / 2)
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
    sure = max((t for t in times if _statistic(ensemble, "commutator", "mean", t)[1] < 0.025), default=end)
    mean, margin, _ = _statistic(ensemble, "commutator", "mean", sure)
    typical, typical_margin, exact = _rate(plane, "commutator")
    bias = settings["step"]  # weak order one: a relative error of the order of the step
    angles = []
    for table in (plane, five):
        relative, relative_margin, _ = _rate(table, "relative_commutator")
        angles.append(at_most(relative, 0.0, uncertainty=relative_margin, because="the angle closes almost surely"))
    return Outcome(
        equal(mean, 0.0, bias, uncertainty=margin, because="the scheme's bias, and 95 %"),
        int(settings["paths"]),
        corrected=led_by(
            equal(
                mean,
                noise_theory.commutator_mean_limit(),
                bias + _twice(margin),
                uncertainty=margin,
                resolution=0.1,
                because="4 standard errors, and the scheme's bias",
            ),
            equal(typical, exact, 5 * bias + _twice(typical_margin), uncertainty=typical_margin, resolution=0.1),
            *angles,
        ),
        reason="the proof drops the local time of |e| at zero; mean and typical path differ",
    )


def _statistic(table: pd.DataFrame, quantity: str, name: str, at: float) -> tuple[float, float, float]:
    """Value of an ensemble statistic at the recorded time nearest to `at`, half its 95 % interval, prediction."""
    rows = table[(table["quantity"] == quantity) & (table["statistic"] == name)]
    row = rows.loc[(rows["time"] - at).abs().idxmin()]
    return (
        float(row["value"]),
        float(max(row["upper"] - row["value"], row["value"] - row["lower"])),
        float(row["predicted"]),
    )


def _rate(table: pd.DataFrame, quantity: str) -> tuple[float, float, float]:
    """An almost sure growth rate, half its 95 % interval, and its prediction."""
    row = table[table["quantity"] == quantity].iloc[0]
    return float(row["value"]), float((row["upper"] - row["lower"]) / 2), float(row["predicted"])


def _euler_bias(exact: float, discrete: float) -> float:
    """Relative error of the Euler-Maruyama scheme's own moment."""
    return abs(discrete - exact) / exact


def _twice(half_width: float) -> float:
    """Half-width of a 95 % interval to two standard errors, which a claim allows on top of the interval."""
    return 2 * half_width / float(stats.norm.ppf(0.975))
