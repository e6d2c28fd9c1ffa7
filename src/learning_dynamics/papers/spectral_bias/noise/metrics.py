"""Alignment and growth in the noise-driven process, over many paths and along single ones, with confidence intervals.

The process is dW = dB a^T, da = W^T dB (eq. 4.1) in dimension d, which code and tables call `inputs`. (W, a) is the
matrix with the rows of W and a as the last one. lambda_1 >= ... >= lambda_{d+1} are the almost sure growth rates of its
d + 1 directions; those up to lambda_d are the rates of the singular values of W. Members are paths, and seeds number
them.

Shapes:

- Of ensembles (`noise_process`) a series for each quantity, (paths, times).
- Of single paths (`noise_paths`) the series `W1`, which is W, (paths, times, d, d), and `W2`, which is a, (paths,
  times, d), without an axis of outputs.
- Of rates (`noise_exponents`) a series ``growth_<d>`` for each d in the constant `dimensions`, or `growth` for weighted
  noise, (paths, 2, d + 1): growth per unit of the process's time, lambda_1 first. The axis of length 2 is for the step
  and twice the step, where other series have times.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from learning_dynamics.evidence import mean, share
from learning_dynamics.measures.ensembles import mean_interval, quantile_intervals
from learning_dynamics.measures.spectra import singular_values
from learning_dynamics.papers.spectral_bias.noise import quantities, theory
from learning_dynamics.papers.spectral_bias.noise.observables import commutator_norms
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, VALUE, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory

STATISTIC = Column("statistic", "str", "mean, quantile or share over paths")
LOWER = Column("lower", "float", "lower end of the value's 95 % interval")
UPPER = Column("upper", "float", "upper end of the value's 95 % interval")
PATHS = Column("paths", "int", "independent paths behind the value")
HEAVIEST = Column("heaviest", "float", "share of the sum over paths that its largest thousandth holds", nullable=True)
DIMENSION = Column("inputs", "int", "dimension d")


@columns(TIME, QUANTITY, STATISTIC, VALUE, LOWER, UPPER, PREDICTED, PATHS, HEAVIEST)
def noise_process(trajectory: Trajectory, *, powers: list[Positive], quantiles: list[Fraction]) -> pd.DataFrame:
    """Measure an ensemble of the noise-driven process, by statistics over paths: the mean and the `quantiles`.

    The column ``heaviest`` says how far a mean rests on few paths: it is the share of the sum of absolute values that
    the largest thousandth of them has. Predictions are those of means. w_i are the rows of W in commutators, and e_i is
    the entry W_i1 a_2 - W_i2 a_1 of w_i a^T - a w_i^T.

    Quantities
    ----------
    `observables.on_each_path`
        Statistics over paths; those that follow have a prediction or a statistic besides.
    hidden_square
        Squared norm of a column of W, the mean over columns; E|w|^2 is predicted (Proposition 4.1 (a)).
    output_square
        Squared entry of a, the mean over entries; E a_i^2 is predicted (Proposition 4.1 (a)).
    commutator_entry_squared
        Mean of e_i^2 over the rows of W; its exact mean is predicted (`theory.commutator_second_moment`).
    commutator_length
        Root of the sum of e_i^2 over the rows of W; its exact mean is predicted (docs/noise_spectrum.md).
    determinant
        Determinant of W; predicted 1, since it is a martingale.
    sigma_1
        Largest singular value of W; also the share of paths on which it is above 1.
    power_of_W_*
        |W|^p for each p of `powers`, with the Frobenius norm.
    power_of_a_*
        |a|^p + |b|^p for each p of `powers`, where b is the exponential moving average of a.
    """
    inputs = trajectory.settings["inputs"]
    hidden, output = theory.second_moments(inputs, trajectory.time)  # E|w_i|^2 and E a_i^2 (Proposition 4.1 (a))
    exact = {
        quantities.HIDDEN_SQUARE: hidden,
        quantities.OUTPUT_SQUARE: output,
        quantities.DETERMINANT: np.ones(len(hidden)),
        quantities.COMMUTATOR_ENTRY_SQUARED: theory.commutator_second_moment(inputs, trajectory.time),
        quantities.COMMUTATOR_LENGTH: theory.mean_commutator(inputs, trajectory.time),
    }
    records: list[tuple] = []
    for point, time in enumerate(trajectory.time):
        paths = {name: series[:, point].astype(float) for name, series in trajectory.series.items()}
        for quantity, values in (paths | _powers(paths, inputs, powers)).items():
            ordered = np.sort(np.abs(values))
            total = ordered.sum()
            # what the largest thousandth of the absolute values, at least one of them, has of their sum
            heaviest = ordered[-max(1, len(values) // 1000) :].sum() / total if total else np.nan
            predicted = exact[quantity][point] if quantity in exact else np.nan
            records.append((time, quantity, quantities.MEAN, *mean_interval(values), predicted, len(values), heaviest))
            for part, interval in zip(quantiles, quantile_intervals(values, quantiles), strict=True):
                records.append((time, quantity, f"quantile {part:g}", *interval, np.nan, len(values), np.nan))
            if quantity == quantities.SIGMA_1:
                above = share(int((values > 1).sum()), len(values))
                ends = above.lower, above.upper
                records.append(
                    (time, quantity, quantities.SHARE_ABOVE_ONE, above.value, *ends, np.nan, len(values), np.nan)
                )
    return pd.DataFrame(records, columns=[column.name for column in noise_process.columns])


@columns(SEED, TIME, QUANTITY, INDEX, VALUE)
def noise_paths(trajectory: Trajectory) -> pd.DataFrame:
    """Measure single paths.

    Quantities
    ----------
    sigma
        Singular values of W.
    commutator_norm
        ||w_i a^T - a w_i^T||_F of each row w_i of W, in the order of rows.
    determinant
        Determinant of W.
    """
    W, a = trajectory.series["W1"], trajectory.series["W2"]
    measured = {
        quantities.SIGMA: singular_values(W),
        quantities.COMMUTATOR_NORM: commutator_norms(W, a),
        quantities.DETERMINANT: np.linalg.det(W),
    }
    return rows(measured, {"seed": np.arange(len(W)), "time": trajectory.time})


@columns(DIMENSION, QUANTITY, INDEX, VALUE, LOWER, UPPER, PREDICTED, PATHS)
def noise_exponents(trajectory: Trajectory) -> Tables:
    """Measure almost sure growth rates per unit of time in each dimension, by their mean over paths.

    Rates are extrapolated from the step and twice the step to step zero. `theory.lyapunov_exponents` predicts all but
    `difference_between_steps` (docs/noise_spectrum.md).

    Quantities
    ----------
    direction_rate
        lambda_i, the growth rate of the i-th direction of (W, a); for i up to d that of sigma_i(W).
    commutator_rate
        lambda_1 + lambda_2, the growth rate of the commutators of the rows of W with a.
    ratio_rate
        lambda_2 - lambda_1, the growth rate of sigma_2(W) / sigma_1(W).
    volume_rate
        lambda_1 + ... + lambda_{d-1}, the growth rate of the first d - 1 directions together; predicted 0.
    total_rate
        lambda_1 + ... + lambda_{d+1}, the growth rate of all directions together; predicted -d.
    difference_between_steps
        The difference that doubling the step makes to a lambda_i, for the i for which it is largest: about the error
        that extrapolation to step zero takes away.
    """
    for inputs in trajectory.constants["dimensions"].tolist():
        yield _rates(trajectory.series[f"growth_{inputs}"], inputs).assign(inputs=inputs)


@columns(QUANTITY, INDEX, VALUE, LOWER, UPPER, PREDICTED, PATHS)
def weighted_noise_exponents(trajectory: Trajectory) -> pd.DataFrame:
    """Measure almost sure growth rates of dW = D dB a^T, da = W^T D dB, with unequal weights D, by means over paths.

    Quantities
    ----------
    `noise_exponents`
        Nothing but the total rate is predicted.
    volume_rate
        Growth rate of the first d - 1 directions together.
    total_rate
        Growth rate of all directions together; predicted minus the sum of the squared weights.
    """
    weights = np.array(trajectory.settings["weights"])
    table = _rates(trajectory.series["growth"], len(weights))
    return table.assign(predicted=np.where(table["quantity"] == quantities.TOTAL_RATE, -np.sum(weights**2), np.nan))


def _rates(growth: np.ndarray, inputs: int) -> pd.DataFrame:
    """Return a row for each rate of `noise_exponents`, with its prediction for equal weights.

    `growth`, shape (paths, 2, d + 1), is with the step and with twice the step.
    """
    fine, coarse = growth[:, 0], growth[:, 1]  # with the step, and with twice it: shape (paths, d + 1) each
    rates = 2 * fine - coarse  # extrapolated to step zero: the scheme's error is of first order in the step
    difference = coarse - fine
    # of the direction whose rate depends most on the step, shape (paths,); below it gets the sign that makes its mean
    # positive
    largest = difference[:, np.abs(difference.mean(axis=0)).argmax()]
    exact = theory.lyapunov_exponents(inputs)
    estimates = [
        *(
            (quantities.DIRECTION_RATE, index, mean(rates[:, index - 1]), exact[index - 1])
            for index in range(1, inputs + 2)
        ),
        (quantities.COMMUTATOR_RATE, 0, mean(rates[:, 0] + rates[:, 1]), exact[0] + exact[1]),
        (quantities.RATIO_RATE, 0, mean(rates[:, 1] - rates[:, 0]), exact[1] - exact[0]),
        (quantities.VOLUME_RATE, 0, mean(rates[:, : inputs - 1].sum(axis=1)), 0.0),
        (quantities.TOTAL_RATE, 0, mean(rates.sum(axis=1)), -float(inputs)),
        (quantities.DIFFERENCE_BETWEEN_STEPS, 0, mean(largest * np.sign(largest.mean())), np.nan),
    ]
    records = [
        (quantity, index, rate.value, rate.lower, rate.upper, predicted, rate.draws)
        for quantity, index, rate, predicted in estimates
    ]
    return pd.DataFrame(records, columns=["quantity", "index", "value", "lower", "upper", "predicted", "paths"])


def _powers(paths: Mapping[str, np.ndarray], inputs: int, powers: list[float]) -> dict[str, np.ndarray]:
    """Return |W|^p, and |a|^p + |b|^p with the moving average b of a, by name, for each power p: shape (paths,)."""
    # recorded are the squares of the norms |W|, |a| and |b|, divided by d: means over d columns or entries
    squares = (quantities.HIDDEN_SQUARE, quantities.OUTPUT_SQUARE, quantities.AVERAGE_SQUARE)
    hidden, output, average = (np.sqrt(inputs * paths[name]) for name in squares)
    moments = {quantities.power_of_W(power): hidden**power for power in powers}
    return moments | {quantities.power_of_a(power): output**power + average**power for power in powers}
