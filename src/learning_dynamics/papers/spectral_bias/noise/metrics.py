"""Alignment and growth in the noise-driven process, over many paths and along single ones, and how sure they are.

Shapes: of ensembles each series is (paths, times), by quantity. Of single paths `W1` W (paths, times, d, d), square,
and `W2` a (paths, times, d), without an axis of outputs. ``growth_<d>``, or `growth` under weights, is (paths, 2, d +
1): rates of growth per unit of the process's time, largest first, with the step and with twice the step in place of
times. `dimensions` lists d; in code and tables it is `inputs`.
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
    """Measure an ensemble of the noise-driven process, by statistics over paths: mean and `quantiles`.

    The column ``heaviest`` says how far a mean rests on few paths. Predictions are those of means.

    Quantities
    ----------
    `observables.on_each_path`
        Statistics over paths.
    hidden_square
        Squared norm of a column of W, in the mean over columns; predicted its mean (Proposition 4.1 (a)).
    output_square
        Squared entry of a, in the mean over entries; predicted its mean (Proposition 4.1 (a)).
    commutator_entry_squared
        Mean of e^2 over rows; predicted its exact mean.
    commutator_length
        Root of the sum of e^2 over rows; predicted its mean (docs/noise_spectrum.md).
    determinant
        Determinant of W; predicted 1, since it is a martingale.
    sigma_1
        Largest singular value of W; also the share of paths on which it is above 1.
    power_of_W_*
        |W|^p for each p of `powers`.
    power_of_a_*
        |a|^p plus the p-th power of the moving average's norm, for each p of `powers`.
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
            # the largest thousandth of the paths, at least one
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
        ||w_i a^T - a w_i^T||_F of each row w_i of W.
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

    Rates are extrapolated to step zero. All but `difference_between_steps` are predicted exactly,
    by `theory.lyapunov_exponents` (docs/noise_spectrum.md).

    Quantities
    ----------
    direction_rate
        lambda_i, the growth rate of the i-th direction of (W, a); up to i = d that of sigma_i(W).
    commutator_rate
        lambda_1 + lambda_2, the growth rate of the commutators of rows with a.
    angle_rate
        lambda_2 - lambda_1, the growth rate of the angle between rows and a.
    volume_rate
        lambda_1 + ... + lambda_{d-1}, the growth rate of the first d - 1 directions together; predicted 0.
    total_rate
        lambda_1 + ... + lambda_{d+1}, the growth rate of all directions together; predicted -d.
    difference_between_steps
        Largest difference of a rate between the two steps, the error that extrapolation to step zero takes away.
    """
    for inputs in trajectory.constants["dimensions"].tolist():
        yield _rates(trajectory.series[f"growth_{inputs}"], inputs).assign(inputs=inputs)


@columns(QUANTITY, INDEX, VALUE, LOWER, UPPER, PREDICTED, PATHS)
def weighted_noise_exponents(trajectory: Trajectory) -> pd.DataFrame:
    """Measure almost sure growth rates for noise of unequal weights D, by their mean over paths.

    Quantities
    ----------
    `noise_exponents`
        Without predictions.
    volume_rate
        Growth rate of the first d - 1 directions together.
    total_rate
        Growth rate of all directions together; predicted minus the sum of the squared weights.
    """
    weights = np.array(trajectory.settings["weights"])
    table = _rates(trajectory.series["growth"], len(weights))
    return table.assign(predicted=np.where(table["quantity"] == quantities.TOTAL_RATE, -np.sum(weights**2), np.nan))


def _rates(growth: np.ndarray, inputs: int) -> pd.DataFrame:
    """Return a row for each rate, with its prediction for equal weights, from growth with both steps.

    Growth has the shape (paths, 2, d + 1).
    """
    fine, coarse = growth[:, 0], growth[:, 1]  # with the step, and with twice it: shape (paths, d + 1) each
    rates = 2 * fine - coarse  # the scheme's error is of first order in the step
    difference = coarse - fine
    # of the direction whose rate depends most on the step, with the sign that makes the mean positive below
    largest = difference[:, np.abs(difference.mean(axis=0)).argmax()]
    exact = theory.lyapunov_exponents(inputs)
    estimates = [
        *(
            (quantities.DIRECTION_RATE, index, mean(rates[:, index - 1]), exact[index - 1])
            for index in range(1, inputs + 2)
        ),
        (quantities.COMMUTATOR_RATE, 0, mean(rates[:, 0] + rates[:, 1]), exact[0] + exact[1]),
        (quantities.ANGLE_RATE, 0, mean(rates[:, 1] - rates[:, 0]), exact[1] - exact[0]),
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
    """Return |W|^p, and |a|^p + |b|^p with the moving average b of a, by quantity: arrays of shape (paths,)."""
    # norms |W|, |a| and |b| are recorded squared, and as means over d columns or entries
    squares = (quantities.HIDDEN_SQUARE, quantities.OUTPUT_SQUARE, quantities.AVERAGE_SQUARE)
    hidden, output, average = (np.sqrt(inputs * paths[name]) for name in squares)
    moments = {quantities.power_of_W(power): hidden**power for power in powers}
    return moments | {quantities.power_of_a(power): output**power + average**power for power in powers}
