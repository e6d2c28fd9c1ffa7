"""Label noise takes away small singular values, and the process that appendix D puts in its place."""

from collections.abc import Callable, Sequence

import numpy as np

from learning_dynamics.evidence import Estimate
from learning_dynamics.judging import (
    Check,
    Checks,
    Claim,
    Facts,
    Finding,
    at_least,
    at_most,
    claim,
    equal_on_every_draw,
    every_draw,
    takes_rivals,
)
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Draws, Table, select


@claim(
    "Figure 1b",
    quantifier="all draws",
    scope="one output, as many orthonormal samples as inputs (five), width 200, a large scale",
    empirical=True,
)
def label_noise_low_rank(plain: Table, noisy: Table, *, fallen: Fraction) -> Finding:
    r"""Label noise makes the small singular values of $W_1$ decay; plain gradient descent raises one singular value and
    leaves the others where they were.

    Without noise the lower ones keep their values to rounding, as for the flow. With fresh noise at every step they
    decay exponentially, at the rate {rate:.3g} a unit of time (median over {draws} draws), while the predictor keeps
    fluctuating around the teacher. The largest is inflated: noise drives $|W_1|^2$ towards $d |W_2|^2$, and a layer of
    rank one with $\sigma_1 |W_2| = |\beta_*|$ then has $\sigma_1^2 = \sqrt{d} |\beta_*|$ ($d$ inputs); the time mean
    of $\sigma_1^2$ over the second half is {inflated:.2f} times that (median).
    """
    noise = Draws(noisy)
    time = noise.entries("loss", column="time")[0]
    late = time >= time[-1] / 2

    def slopes(values: np.ndarray, half: np.ndarray) -> np.ndarray:
        return np.polyfit(time[half], np.log(values[:, half]).T, 1)[0]

    def judge(reading: tuple[Table, Table, bool]) -> Checks:
        with_noise, without_noise, exponential = reading
        values = Draws(with_noise, index=2).entries("sigma_w1")
        first_slope, last_slope = (slopes(values, half) for half in (~late, late))
        without = Draws(without_noise)
        start, end = without.where(time=0.0).entries("sigma_w1"), without.at_end().entries("sigma_w1")
        yield every_draw(
            r"$\sigma_2(W_1)$ at the end with label noise, relative to the start",
            values[:, -1] / values[:, 0],
            at_most=fallen,
            because="clearly fallen",
        )
        yield every_draw(
            r"slope of $\ln\sigma_2(W_1)$ over the second half, relative to the first",
            last_slope / first_slope,
            at_least=0.5 if exponential else None,
            at_most=None if exponential else 0.5,
            because="an exponential has one, $1/t$ less than a quarter",
        )
        yield every_draw(
            r"largest change of $\sigma_i(W_1)$, $i > 1$, without noise, relative to it",
            np.abs(end / start - 1)[:, 1:].max(axis=1),
            at_most=1e-9,
            because="rounding over all steps",
        )
        yield every_draw(
            r"$\sigma_1(W_1)$ at the end without noise, relative to the start",
            (end / start)[:, 0],
            at_least=1.0,
            because="raised",
        )

    start = noise.where(time=0.0)
    top = noise.where(index=1).entries("sigma_w1")[:, late] ** 2
    rank_one = np.sqrt(start.entries("sigma_w1").shape[1]) * start["beta_norm"]
    return Finding(
        judge,
        (noisy, plain, True),
        rivals={
            "plain descent takes them away too": (plain, plain, True),
            "plain descent does not leave them where they were": (noisy, noisy, True),
            "they fall at first and then stay, or ever slower, like a power of time": (noisy, plain, False),
        },
        facts={
            "rate": float(-np.median(slopes(noise.where(index=2).entries("sigma_w1"), late))),
            "inflated": float(np.median(top.mean(axis=1) / rank_one)),
        },
    )


@claim(
    "Appendix D, from label noise to the process (4.1)",
    quantifier="all draws",
    scope="one output, noise far larger than the drift; d > n and d = n, singular values of X in a ratio",
)
def label_noise_sde(ensembles: Sequence[Table], weighted: Table, *, errors: Positive) -> Claim:
    r"""Where noise dominates, label-noise descent with $k = 1$ is in law
    $dW = X^\top dB\, a^\top$, $da = W^\top X^\top dB$ in time $(\eta\delta)^2 t$, which is
    $dW = D\, dB\, a^\top$, $da = W^\top D\, dB$ in the singular basis of $X$; and what is shown for $D = I$, of mean
    squares and of the angle between rows and $a$, extends to diagonal matrices $D$.

    $E|a|^2$ and the growth of each row's mean square, over many paths of the descent itself, are held against the
    process's at the end, on {draws} data sets. Tails are heavy, and a sample's variance is small just where its mean is
    low: standard errors are exact, from the process's fourth moments. The recursion's finite steps alone lower $E|a|^2$
    by {steps:.2%} at most; twice that is allowed for. $E|a|^2$ grows at the rate $\sqrt{\sum_j D_j^4}$ where $D = I$
    has $\sqrt{d}$. Rows still align with $a$: for unequal $D$ the angle closes at the rate {angle:.3g}. What does not
    extend is the low rank of $W$ for $d > n$: what $W$ has outside the span of the data never moves ({outside:.1e} of
    $|W|$ at most), so that $d - n$ directions keep their size.
    """
    draws = Draws(ensembles)
    ends = draws.at_end()

    def moments(draws: Draws, column: str, suffix: str = "") -> np.ndarray:
        """Return E|a|^2 and each row's growth; data sets may differ in their number of rows, and zeros are no error."""
        names = ("output_square", "row_growth")
        return np.hstack([draws.entries(f"{name}{suffix}", column=column) for name in names])

    def halfway(ensemble: Draws) -> np.ndarray:
        times = _times(ensemble)
        return moments(ensemble.where(time=times[np.argmin(np.abs(times - times[-1] / 2))]), "predicted")

    def straight(ensemble: Draws) -> np.ndarray:
        first, end = _times(ensemble)[[1, -1]]
        early = moments(ensemble.where(time=first), "predicted")
        # E|a|^2 grows with time at first, and the rows with its square
        return early * (end / first) ** np.where(np.arange(early.shape[1]) == 0, 1, 2)

    measured, expected = moments(ends, "value"), moments(ends, "predicted")
    unit = expected[:, :1]
    # the recursion's finite steps, and the drift over the whole time beside the sizes that it acts on
    steps = np.abs(ends.entries("euler") / unit - 1)
    drift = (draws.setting("step") * draws.setting("steps"))[:, None] * unit
    allowed = errors * moments(ends, "error") + (2 * steps + drift) * expected
    tolerance = np.where(allowed > 0, allowed, unit)
    # noise of equal strength in every direction would have the directions outside grow as those inside
    samples, inputs = draws.column("samples"), draws.column("inputs")
    grown = ends.entries("row_growth_isotropic")[:, 0]
    everywhere = np.sqrt((inputs - samples) * grown / (2 * draws.setting("gamma") * inputs + inputs * grown))
    angle = select(weighted, "angle").iloc[0]

    @takes_rivals("predicted", scaled=True)
    def moments_are(predicted: np.ndarray) -> Check:
        return every_draw(
            "largest error of $E|a|^2$ and of each row's growth over paths of the descent, over what is allowed",
            np.abs((measured - predicted) / tolerance).max(axis=1),
            at_most=1.0,
            because="exact standard errors, the recursion's finite steps, and the drift left out",
            predicted=0.0,
        )

    yield moments_are(
        expected,
        rivals={
            "$D$ replaced by its quadratic mean": moments(ends, "value", "_isotropic"),
            r"half the time, $(\eta\delta)^2 t / 2$": draws.over(halfway),
            "noise that acts on the start alone, not on what it has added": draws.over(straight),
        },
    )
    moved = {"noise that moves what is outside the span of the data as well": everywhere}
    yield equal_on_every_draw(
        "error of the change of what $W$ has outside the span of the data, relative to $|W|$",
        ends["outside"],
        0.0,
        tolerance=1e-9,
        relative_to=1.0,
        because="rounding over all steps",
        rivals=moved,
        fact="outside",
        scaled=False,
    )

    @takes_rivals("compare")
    def angle_grows(compare: Callable[..., Check]) -> Check:
        rate = Estimate(angle["value"], angle["lower"], angle["upper"], int(angle["paths"]), "mean (t)")
        name = "rate at which the angle between rows and $a$ grows, unequal $D$"
        return compare(name, rate, 0.0, because="rows align" if compare is at_most else "rows part")

    yield angle_grows(at_most, rivals={"rows that turn away from $a$": at_least})
    yield Facts(angle=float(-angle["value"]), steps=float(steps.max()))


def _times(ensemble: Draws) -> np.ndarray:
    """Return the recorded times of one table, ascending."""
    return np.sort(ensemble.tables[0]["time"].unique())
