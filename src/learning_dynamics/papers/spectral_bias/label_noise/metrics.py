"""Spectra under label noise, and moments over many paths, compared with those of the process of appendix D.

Shapes:

- Of single descents (`label_noise_descent`), whose members are draws: `W1` (draws, times, inputs, hidden), `W2` (draws,
  times, hidden, outputs), `X` (draws, samples, inputs) and `Y` (draws, samples, outputs). Times are step size times
  number of steps.
- Of ensembles (`label_noise_ensemble`), whose members are data sets: `output_mean` and `outside` (sets, times),
  `rows_mean` (sets, times, samples), statistics over the paths of each data set. Times are (step * noise)^2 times the
  number of steps. There are at most as many samples as inputs, so that X = U D V^T has a singular value for each.

The run's setting `step` is a step size, and `every` is the number of steps between records.
"""

import numpy as np
import pandas as pd

from learning_dynamics.papers.spectral_bias.label_noise import quantities, theory
from learning_dynamics.papers.spectral_bias.layers import spectra_and_loss
from learning_dynamics.papers.spectral_bias.quantities import LOSS
from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, SEED, TIME, VALUE, Column, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory

SAMPLES, INPUTS = Column("samples", "int", "samples n of the data"), Column("inputs", "int", "inputs d")
ERROR = Column("error", "float", "exact standard error of a mean over paths; 0 where the value is no mean")


@columns(SEED, TIME, QUANTITY, INDEX, VALUE)
def label_noise_descent(trajectory: Trajectory) -> pd.DataFrame:
    """Measure gradient descent, with label noise or without.

    Quantities
    ----------
    `layers.spectra_and_loss`
        Nothing is predicted.
    beta_norm
        Norm of the minimum-norm interpolator, |beta_*|, the same at all times.
    """
    X, Y = trajectory.constants["X"][:, None], trajectory.constants["Y"][:, None]
    series = trajectory.series
    measured = spectra_and_loss(series["W1"], series["W2"], X, Y)
    norms = np.linalg.norm(np.linalg.pinv(X) @ Y, axis=(-2, -1))
    measured[quantities.BETA_NORM] = np.broadcast_to(norms, measured[LOSS].shape)
    return rows(measured, {"seed": np.arange(trajectory.members), "time": trajectory.time})


@columns(SEED, SAMPLES, INPUTS, TIME, QUANTITY, INDEX, VALUE, PREDICTED, ERROR)
def label_noise_ensemble(trajectory: Trajectory) -> Tables:
    """Measure means over the paths of each data set, whose number is the seed; X = U D V^T, with singular values D_j.

    Standard errors of means are those of the process, from its fourth moments, and not from the sample. The tails are
    heavy, and a sample that misses the tail has a low mean and a small variance too.

    Quantities
    ----------
    output_second_moment
        E|a|^2, the mean over paths; that of appendix D's process is predicted (`theory.output_second_moment`).
    row_growth
        u_j(t) - u_j(0), where u_j is the mean over paths of the squared norm of the j-th row of V^T W; that of appendix
        D's process is predicted (`theory.row_growth`).
    output_second_moment_of_equal_weights
        The prediction of `output_second_moment` if all singular values D_j were their quadratic mean.
    row_growth_of_equal_weights
        The prediction of `row_growth` if all singular values D_j were their quadratic mean.
    output_second_moment_of_recursion
        E|a|^2 of the descent's own recursion, step by step, without its drift (`theory.euler_output_second_moment`).
    gain_outside
        |(I - V V^T) (W(t) - W(0))| / |W(t)|, what W has gained outside the span of the rows of X: the largest over
        paths.
    """
    X, settings, time = trajectory.constants["X"], trajectory.settings, trajectory.time
    sets, samples, inputs = X.shape
    # a step in the time of appendix D's process; the descent's own step is settings["step"]
    process_step = (settings["step"] * settings["noise"]) ** 2
    for member in range(sets):
        series = {name: values[member] for name, values in trajectory.series.items()}
        weights = np.linalg.svd(X[member], compute_uv=False)  # D_j
        # u_j(0): all paths start at one W
        start = series["rows_mean"][0]
        equal_weights = np.full(samples, np.sqrt(np.mean(weights**2)))
        errors = theory.deviations(weights, start, time) / np.sqrt(settings["paths"])
        axes, labels = {"time": time}, {"seed": member, "samples": samples, "inputs": inputs}
        output = {
            quantities.OUTPUT_SECOND_MOMENT: (series["output_mean"], theory.output_second_moment(weights, start, time))
        }
        # errors, shape (times, samples + 1), are of the rows of V^T W, and last of a. .ravel() relies on the order of
        # the table's rows: with a single quantity it is (time, index)
        yield rows(output, axes, **labels).assign(error=errors[:, -1])
        growth = {quantities.ROW_GROWTH: (series["rows_mean"] - start, theory.row_growth(weights, start, time))}
        yield rows(growth, axes, **labels).assign(error=errors[:, :-1].ravel())
        step_counts = settings["every"] * np.arange(len(time))  # how many steps were taken by each record
        recursion = [theory.euler_output_second_moment(weights, start, process_step, count) for count in step_counts]
        without_errors = {
            quantities.OUTPUT_SECOND_MOMENT_OF_EQUAL_WEIGHTS: theory.output_second_moment(equal_weights, start, time),
            quantities.ROW_GROWTH_OF_EQUAL_WEIGHTS: theory.row_growth(equal_weights, start, time),
            quantities.OUTPUT_SECOND_MOMENT_OF_RECURSION: recursion,
            quantities.GAIN_OUTSIDE: series["outside"],
        }
        yield rows(without_errors, axes, error=0.0, **labels)
