"""Label noise takes away small singular values, and the process that appendix D puts in its place.

The descent trains the layers W1 (W in appendix D) and W2 (a) of a network with one output on X, with n samples as rows
and d inputs, and Y. With label noise, Gaussian noise of size delta is added to the labels afresh at every step of size
eta; time is eta times the number of steps. |.| is the Frobenius norm. X = U D V^T, D_j are the singular values of X,
and u_j is the mean over paths of the square of the j-th row of V^T W. The process is dW = X^T dB a^T, da = W^T X^T dB,
with a Brownian motion B, and its time is (eta delta)^2 times the number of steps.

Every check takes `rivals`, `printed`, `corrected`, `fact` and `scaled` besides its own parameters
(`judging.takes_rivals`).
"""

from collections.abc import Callable, Sequence

import numpy as np

from learning_dynamics.evidence import Estimate
from learning_dynamics.judging import (
    Check,
    Claim,
    Facts,
    at_least,
    at_most,
    claim,
    equal,
    equal_on_every_draw,
    every_draw,
    share_of_draws,
    takes_rivals,
)
from learning_dynamics.papers.spectral_bias.label_noise import quantities
from learning_dynamics.papers.spectral_bias.noise import quantities as noise_quantities
from learning_dynamics.papers.spectral_bias.quantities import LOSS, SIGMA_W1
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import Draws, Quantity, Table, select, settings_of

# Settings of these claims, whose values are in workflow/config/spectral_bias.yaml:
# - fallen, of `label_noise_low_rank`: largest sigma_2(W_1) at the end, over that at the start, that has clearly fallen
# - standard_errors, of `label_noise_sde`: by how many of its standard errors a mean over paths may be off


@claim(
    "Figure 1b",
    quantifier="most draws",
    scope="one output, as many orthonormal samples as inputs (five), width 200, a large scale",
    empirical=True,
)
def label_noise_low_rank(plain: Table, noisy: Table, *, fallen: Fraction) -> Claim:
    r"""Label noise makes the small singular values of $W_1$ decay; plain gradient descent raises one singular value and
    leaves the others where they were.

    With noise that is added to the labels afresh at every step, $\sigma_2$ of the hidden layer $W_1$ must end on most
    draws at {fallen:g} of its start or less, and $\ln\sigma_2$ must fall in the second half of the time at half the
    slope of the first half or more. Without noise all singular values but $\sigma_1$ must keep their values to rounding
    on every draw, as for the flow, and $\sigma_1$ must not fall.

    With noise $\sigma_2$, the largest of the small singular values, decays exponentially, at the rate {decay_rate:.3g}
    a unit of time, which is step size times number of steps (median over {draws} draws). It ends at {median_left:.2g}
    of its start (median; largest {largest_left:.2g}). The predictor keeps fluctuating around the teacher. The paper's
    figure shows one draw, and chance decides how fast noise takes a value away, so that most draws must agree. Noise
    inflates $\sigma_1$, because it drives $|W_1|^2$ towards $d |W_2|^2$, with $d$ inputs and the output weights $W_2$.
    A layer of rank one, $\sigma_1 |W_2| = |\beta_*|$ with the teacher $\beta_*$, then has
    $\sigma_1^2 = \sqrt{d} |\beta_*|$. The mean of $\sigma_1^2$ over the second half of the time is
    {square_over_rank_one:.2f} times that (median).
    """
    time = Draws(noisy).entries(LOSS, column="time")[0]
    second_half = time >= time[-1] / 2

    def end_over_start(table: Table) -> np.ndarray:
        """Return all sigma_i(W1) at the end, relative to the start, shape (draws, inputs)."""
        return Draws(table).at_end().entries(SIGMA_W1) / Draws(table, time=0.0).entries(SIGMA_W1)

    def slope(table: Table, records: np.ndarray) -> np.ndarray:
        """Return the slope of ln sigma_2(W1) against time over some of the records, shape (draws,)."""
        sigma_2 = Draws(table, index=2).entries(SIGMA_W1)  # shape (draws, times)
        return np.polyfit(time[records], np.log(sigma_2[:, records]).T, 1)[0]

    def slope_ratio(table: Table) -> np.ndarray:
        """Return the slope over the second half relative to that over the first: 1 for an exponential."""
        return slope(table, second_half) / slope(table, ~second_half)

    with_noise, without_noise = end_over_start(noisy), end_over_start(plain)
    sigma_2_left, sigma_2_left_without_noise = with_noise[:, 1], without_noise[:, 1]
    ratio, ratio_without_noise = slope_ratio(noisy), slope_ratio(plain)
    # Phrases of rivals. The first two judge a check by the values of the other descent, the third by the draws that do
    # not decay exponentially. The first two are rivals of two checks each: the earlier check refuses the rival, and a
    # comment says why the later one may not
    falls_without_noise = "plain descent takes them away too"
    moves_without_noise = "plain descent does not leave them where they were"
    falls_ever_more_slowly = "they fall at first and then stay, or fall ever more slowly, like a power of time"
    yield share_of_draws(
        r"share of draws on which $\sigma_2(W_1)$ falls with label noise",
        _nan_where_unknown(sigma_2_left <= fallen, sigma_2_left),
        at_least=0.5,
        because=f"most draws; at the end {fallen:g} of the start or less",
        rivals={
            falls_without_noise: {
                "holds": _nan_where_unknown(sigma_2_left_without_noise <= fallen, sigma_2_left_without_noise)
            }
        },
    )
    yield share_of_draws(
        r"share of draws on which $\ln\sigma_2(W_1)$ falls with label noise about as fast in the second half as before",
        _nan_where_unknown(ratio >= 0.5, ratio),
        at_least=0.5,
        because="most draws; half the slope or more is left: an exponential keeps all, $1/t$ less than a quarter",
        rivals={
            # without noise both slopes are rounding, and so is their ratio: the check above refuses this rival
            falls_without_noise: {"holds": _nan_where_unknown(ratio_without_noise >= 0.5, ratio_without_noise)},
            falls_ever_more_slowly: {"holds": _nan_where_unknown(ratio < 0.5, ratio)},
        },
    )
    yield every_draw(
        r"largest change of $\sigma_i(W_1)$, $i > 1$, without noise, relative to it",
        np.abs(without_noise[:, 1:] - 1).max(axis=1),
        at_most=1e-9,  # chosen: far above eps for each of the configuration's 6000 steps, 1e-12
        because="rounding over all steps",
        rivals={moves_without_noise: {"values": np.abs(with_noise[:, 1:] - 1).max(axis=1)}},
    )
    yield every_draw(
        r"$\sigma_1(W_1)$ at the end without noise, relative to the start",
        without_noise[:, 0],
        at_least=1.0,
        because="plain descent raises one singular value (section 4.1)",
        # noise may raise sigma_1 as well: the check above refuses this rival
        rivals={moves_without_noise: {"values": with_noise[:, 0]}},
    )
    # a layer of rank one, sigma_1 |W2| = |beta_*|, with |W1|^2 = d |W2|^2 has sigma_1^2 = sqrt(d) |beta_*|
    at_start = Draws(noisy, time=0.0)
    inputs = at_start.entries(SIGMA_W1).shape[1]  # d
    square_at_rank_one = np.sqrt(inputs) * at_start[quantities.BETA_NORM]
    squares = Draws(noisy, index=1).entries(SIGMA_W1)[:, second_half] ** 2  # sigma_1^2, shape (draws, times)
    yield Facts(
        fallen=fallen,
        decay_rate=float(-np.median(slope(noisy, second_half))),
        median_left=float(np.median(sigma_2_left)),
        largest_left=float(sigma_2_left.max()),
        square_over_rank_one=float(np.median(squares.mean(axis=1) / square_at_rank_one)),
    )


def _nan_where_unknown(holds: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Return whether each draw meets a condition, 1 or 0, and nan where its measurement is nan: then it is undecided.

    A share counts an undecided draw against the claim. `holds` and `measured` have the shape (draws,).
    """
    return np.where(np.isnan(measured), np.nan, holds)


@claim(
    "Appendix D, from label noise to the process (4.1)",
    quantifier="all draws",
    scope="one output, noise far larger than the drift; d > n and d = n, unequal singular values of X; rates for the "
    "diagonals (1, 0.6, 0.3) and (1, 0.8, 0.6, 0.4, 0.3)",
)
def label_noise_sde(
    ensembles: Sequence[Table], weighted: Table, five: Table, one_dimension: Table, *, standard_errors: Positive
) -> Claim:
    r"""Where noise of size $\delta$ dominates, label-noise descent with step $\eta$ and $k = 1$ has the law of
    $dW = X^\top dB\, a^\top$, $da = W^\top X^\top dB$ in time $(\eta\delta)^2 t$. In the singular basis of $X$ this is
    $dW = D\, dB\, a^\top$, $da = W^\top D\, dB$. What is shown for $D = I$ extends to any diagonal matrix $D$ of
    singular values of an $X$ of full rank: mean squares grow, moments of every power grow from five dimensions on, and
    rows align with $a$.

    $k$ is the number of outputs, $W$ the hidden layer and $a$ the output weights, $B$ a Brownian motion. With
    $X = U D V^\top$, two moments are measured over many paths of the descent itself: $E|a|^2$, and the growth of the
    mean square of each row of $V^\top W$. At the end they are compared with those of the process, on {draws} data sets.
    They may be off by {standard_errors:g} standard errors, by twice the error of finite steps, and by the drift that
    the process leaves out. Finite steps alone lower $E|a|^2$ by {largest_error_of_steps:.2%} at most. A sample with too
    low a mean has too small a variance as well. Standard errors are therefore exact ones, from the fourth moments of
    the process. Tails become heavier with time, and the end is early enough for means of so many paths to be normal.

    $E|a|^2$ grows at the rate $\sqrt{\sum_j D_j^4}$, which is $\sqrt{d}$ for $D = I$. For unequal $D$ the ratio
    $\sigma_2/\sigma_1$ of $(W, a)$ decays at the rate {ratio_decay_rate:.3g}, so that rows align with $a$, in
    probability. With five unequal weights $D_j$, $\ln\|W\|$ grows at the rate {norm_growth_rate:.3g}, so that by
    Jensen's inequality $E\|W\|^\alpha$ grows for every $\alpha > 0$. No $D_j$ is zero where $X$ has full rank. With $D
    = (1, 0, \dots, 0)$, as where all samples are equal, the first row and $a$ are the process of one dimension, which
    collapses: $\ln|a|$ grows at the rate {growth_rate_in_one_dimension:.3g} (errata 23). Of (c) the alignment is judged
    here; its mean does not vanish for $D = I$ (`proposition_4_1_c`). The low rank of $W$ does not extend to $d > n$:
    the part of $W$ outside the span of the data never moves ({largest_gain_outside:.1e} of $|W|$ at most), so that $d -
    n$ directions keep their size.
    """
    draws = Draws(ensembles)  # a draw is a data set, with many paths of the descent on it
    # rates per unit of the process's time, lambda_1 >= lambda_2 >= ... those of the directions of (W, a); of each the
    # mean over long paths, for the weights D_j of its role
    ratio = _rate(weighted, noise_quantities.RATIO_RATE)  # lambda_2 - lambda_1
    growth = _rate(five, noise_quantities.DIRECTION_RATE, index=1)  # lambda_1
    alone = _rate(one_dimension, noise_quantities.DIRECTION_RATE, index=1, inputs=1)  # lambda_1 of D = (1, 0, ..., 0)
    yield _moments_follow_the_process(draws, standard_errors)
    yield _what_is_outside_the_data_stays(draws)
    yield _rows_align(ratio)
    yield _scale_diverges(growth, np.array(settings_of(five)["weights"]))
    # `largest_gain_outside` is filled by `_what_is_outside_the_data_stays`
    yield Facts(
        standard_errors=standard_errors,
        ratio_decay_rate=-ratio.value,
        norm_growth_rate=growth.value,
        growth_rate_in_one_dimension=alone.value,
        largest_error_of_steps=float(_error_of_finite_steps(draws.at_end()).max()),
    )


# E|a|^2 and the growth of the mean square u_j of each row of V^T W; and what both would be if all D_j were equal
OF_PROCESS = (quantities.OUTPUT_SECOND_MOMENT, quantities.ROW_GROWTH)
OF_EQUAL_WEIGHTS = (quantities.OUTPUT_SECOND_MOMENT_OF_EQUAL_WEIGHTS, quantities.ROW_GROWTH_OF_EQUAL_WEIGHTS)


def _moments_follow_the_process(draws: Draws, standard_errors: float) -> Check:
    """Check that the descent's second moments are those of the process of appendix D at the end.

    With X = U D V^T and u_j the mean square of the j-th row of V^T W, the process has u_j' = D_j^2 E|a|^2 and
    E|a|^2' = sum_j D_j^2 u_j, so that with k^2 = sum_j D_j^4 and s = sum_j D_j^2 u_j(0)

        E|a|^2 = s sinh(k t) / k,    u_j - u_j(0) = D_j^2 s (cosh(k t) - 1) / k^2    (`theory`).

    Allowed are `standard_errors` standard errors and two shares of each moment. One is the relative error that finite
    steps make in E|a|^2, which the recursion of the descent's steps gives exactly, twice (chosen). The other is the
    drift that the process leaves out: step size times number of steps, times E|a|^2.
    """
    ends = draws.at_end()
    measured, predicted = _moments(ends), _moments(ends, "predicted")
    output_second_moment = predicted[:, :1]  # E|a|^2, shape (data sets, 1)
    # relative errors: of the recursion's finite steps, and of the drift, which adds up over the whole time
    finite_steps = _error_of_finite_steps(ends)
    drift = (draws.setting("step") * draws.setting("steps"))[:, None] * output_second_moment
    # Means over paths have to be normal for standard errors to say what chance allows. Where one weight dominates,
    # |a|^2 is lognormal, and the variance of its logarithm is four times the process's time. At the configuration's
    # time of 0.6 and with its 96,000 paths a mean has an excess kurtosis of about 0.2: of its 27 means one is five
    # errors off by chance in fewer than one run of a thousand. At a time of 1 a single path could move a mean by as
    # much
    allowed = standard_errors * _moments(ends, "error") + (2 * finite_steps + drift) * predicted
    # data sets with fewer rows than others have zeros there, measured and predicted, and nothing allowed: they are
    # divided by any number that is not zero
    allowed = np.where(allowed > 0, allowed, output_second_moment)

    def halfway(ensemble: Draws) -> np.ndarray:
        """Return the process's moments at the recorded time that is nearest to half of the last."""
        times = _times(ensemble)
        return _moments(ensemble.where(time=times[np.argmin(np.abs(times - times[-1] / 2))]), "predicted")

    def of_first_order(ensemble: Draws) -> np.ndarray:
        """Return the moments at the end if they grew as at first: E|a|^2 as the time, the rows as its square."""
        times = _times(ensemble)
        first, end = times[1], times[-1]  # the time before is 0
        early = _moments(ensemble.where(time=first), "predicted")
        powers = np.array([1] + [2] * (early.shape[1] - 1))  # 1 of E|a|^2, and 2 of each row
        return early * (end / first) ** powers

    return equal_on_every_draw(
        "largest error of $E|a|^2$ and of each row's growth over paths of the descent, over what is allowed",
        measured / allowed,
        predicted / allowed,
        tolerance=1.0,
        relative_to=1.0,  # both are in units of what is allowed already
        because=f"{standard_errors:g} exact standard errors, the recursion's finite steps, and the drift left out",
        rivals={
            "$D$ replaced by its quadratic mean": _moments(ends, names=OF_EQUAL_WEIGHTS) / allowed,
            r"half the time, $(\eta\delta)^2 t / 2$": draws.per_table(halfway) / allowed,
            "noise that acts on the start alone, not on what it has added": draws.per_table(of_first_order) / allowed,
        },
    )


def _what_is_outside_the_data_stays(draws: Draws) -> Check:
    """Check that W keeps its part outside the span of the rows of X: |(I - V V^T) (W(t) - W(0))| / |W(t)| is zero.

    Each step of the descent adds X^T (...) a^T to W, whose columns are in this span (appendix D). If noise of equal
    strength moved the d - n directions outside too, each of all d rows, of square 2 gamma at the start, would gain at
    least the growth g that n equal weights give, and the part outside would have changed by
    sqrt((d - n) g / (2 gamma d + d g)) of |W| or more.
    """
    ends = draws.at_end()
    samples, inputs = draws.column("samples"), draws.column("inputs")  # n and d, one for each data set
    growth = ends.entries(quantities.ROW_GROWTH_OF_EQUAL_WEIGHTS)[:, 0]
    gain_if_all_move = np.sqrt((inputs - samples) * growth / (2 * draws.setting("gamma") * inputs + inputs * growth))
    return equal_on_every_draw(
        "change of the part of $W$ outside the span of the data, relative to $|W|$",
        ends[quantities.GAIN_OUTSIDE],  # |(I - V V^T) (W(t) - W(0))| / |W(t)|, the largest over paths
        0.0,
        tolerance=1e-9,  # chosen: far above eps for each of the configuration's 60 steps, 1e-14
        relative_to=1.0,  # the change is relative to |W| already
        because="rounding over all steps",
        # where d = n nothing is outside, and the rival predicts zero as well; data sets with d > n refuse it
        rivals={"noise that moves what is outside the span of the data as well": gain_if_all_move},
        fact="largest_gain_outside",
        scaled=False,  # the prediction is zero, which no factor changes
    )


# Phrases of rivals on rates; the first alters both checks of them. What a rival predicts of a rate, as what is printed,
# is a function of type `Prediction`
LARGEST_WEIGHT_ALONE = "the largest $D_j$ alone sets the rates, as if the others were zero"
ROOT_MEAN_SQUARE = "paths that grow as their root mean square"


def _rows_align(rate: Estimate) -> Check:
    """Check that the second direction of (W, a) falls behind the first: lambda_2 - lambda_1 is below zero.

    (W, a) then nears rank one relative to its size, so that the sine of the angle between rows of W and a vanishes in
    probability. The rates lambda_i are the Lyapunov exponents of the process along single paths, here measured; those
    of equal D are derived in docs/noise_spectrum.md. By one weight alone lambda_1 and lambda_2 are both -D_1^2 / 2.
    """
    return _rate_is(
        r"growth rate of $\sigma_2 / \sigma_1$ of $(W, a)$, unequal $D$",
        rate,
        _below_zero,
        rivals={LARGEST_WEIGHT_ALONE: _equal_to(0.0)},
    )


def _scale_diverges(rate: Estimate, weights: np.ndarray) -> Check:
    """Check that ln|W| grows on almost every path: its rate, the largest Lyapunov exponent lambda_1, is above zero.

    By Jensen's inequality E|W|^alpha >= exp(alpha E ln|W|) diverges then for every alpha > 0.
    """
    return _rate_is(
        r"rate at which $\ln\|W\|$ grows, five unequal $D$",
        rate,
        _above_zero,
        rivals={
            LARGEST_WEIGHT_ALONE: _equal_to(-(weights.max() ** 2) / 2),  # lambda_1 then, as in `_rows_align`
            ROOT_MEAN_SQUARE: _equal_to(np.sqrt(np.sum(weights**4)) / 2),  # E|a|^2 grows at twice that rate
        },
    )


Prediction = Callable[[str, Estimate], Check]  # of a rate, by its name and its estimate


@takes_rivals("prediction")
def _rate_is(name: str, rate: Estimate, prediction: Prediction) -> Check:
    """Check what is predicted of a rate: `_above_zero`, `_below_zero` or `_equal_to` a number.

    The decorator adds `rivals`, which are predictions of the same kind.
    """
    return prediction(name, rate)


def _above_zero(name: str, rate: Estimate) -> Check:
    return at_least(name, rate, 0.0, because="it grows")


def _below_zero(name: str, rate: Estimate) -> Check:
    return at_most(name, rate, 0.0, because="it falls")


def _equal_to(number: float) -> Prediction:
    # `equal` itself allows the 95 % interval, which is two standard errors; the tolerance allows two more
    def is_equal(name: str, rate: Estimate) -> Check:
        return equal(name, rate, number, tolerance=rate.uncertainty, because="four standard errors")

    return is_equal


def _moments(draws: Draws, column: str = "value", *, names: Sequence[Quantity] = OF_PROCESS) -> np.ndarray:
    """Return E|a|^2 and the growth of each row, shape (data sets, 1 + rows); zeros for rows that are not there."""
    return np.hstack([draws.entries(name, column=column) for name in names])


def _error_of_finite_steps(ends: Draws) -> np.ndarray:
    """Return by how much the recursion's E|a|^2 differs from the process's, relative to it, shape (data sets, 1)."""
    output_second_moment = _moments(ends, "predicted")[:, :1]
    return np.abs(ends.entries(quantities.OUTPUT_SECOND_MOMENT_OF_RECURSION) / output_second_moment - 1)


def _rate(exponents: Table, quantity: str, **where: int) -> Estimate:
    """Return an almost sure growth rate, a mean over paths with its 95 % interval."""
    row = select(exponents, quantity, **where).iloc[0]
    return Estimate(value=row["value"], lower=row["lower"], upper=row["upper"], draws=int(row["paths"]), how="mean (t)")


def _times(ensemble: Draws) -> np.ndarray:
    """Return the recorded times of one table, ascending."""
    return np.sort(ensemble.tables[0]["time"].unique())
