"""Spectra, ranks and plateaus of a ReLU student, and how much of the teacher's directions it has learnt.

Shapes: `loss` (draws, times); `sigma` (draws, times, k), k = min(neurons, inputs), descending; `limit_W1` W (draws,
neurons, inputs), neurons as rows, which linear networks here have as columns; `teacher_W` (draws, teacher's neurons,
inputs), no more of them than k; `X` (draws, samples, inputs). Times are step size times number of steps.
"""

import numpy as np
import pandas as pd

from learning_dynamics.measures.plateaus import plateaus
from learning_dynamics.papers.spectral_bias.layers import span_overlap
from learning_dynamics.papers.spectral_bias.quantities import LOSS, SAMPLES, SIGMA_W1
from learning_dynamics.papers.spectral_bias.relu import quantities
from learning_dynamics.seeds import generators
from learning_dynamics.settings import Fraction, Positive
from learning_dynamics.tidy import INDEX, QUANTITY, SEED, TIME, VALUE, Tables, columns, rows
from learning_dynamics.trajectories import Trajectory


@columns(SEED, TIME, QUANTITY, INDEX, VALUE)
def relu_descent(
    trajectory: Trajectory, *, shares: list[Fraction], slope: Positive, floor: Fraction, least: Positive
) -> Tables:
    """Measure a ReLU student.

    Quantities
    ----------
    loss
        Mean of (f(x_i) - y_i)^2 / 2 over samples (eq. 2.1).
    sigma_w1
        Singular values of the hidden layer W.
    rank
        How many singular values carry the share of |W|^2 that the index gives in percent, for each of `shares`.
    plateau_start
        First time of each plateau of the loss, numbered by the index, in rows of time 0: a stretch on which the loss
        falls more slowly than time to the power of -`slope` and is above `floor` times its first value, and over which
        time grows `least`-fold.
    plateau_end
        Last time of each plateau.
    teacher_cosine
        Cosines at the end of the principal angles between the span of the teacher's neurons and that of as many first
        right singular vectors of W.
    chance_cosine
        Like `teacher_cosine`, for a span drawn at random.
    inside
        Share at the end of |W|^2 in the teacher's span.
    chance_inside
        The share of a random matrix in the teacher's span, on average.
    samples
        Number of samples.
    """
    losses, sigma, W = trajectory.series["loss"], trajectory.series["sigma"], trajectory.constants["limit_W1"]
    # share of |W|^2 in the first 1, 2, ... singular values, shape (draws, times, k)
    carried = np.cumsum(sigma**2, axis=-1) / np.sum(sigma**2, axis=-1, keepdims=True)
    axes = {"seed": np.arange(trajectory.members), "time": trajectory.time}
    yield rows({LOSS: losses, SIGMA_W1: sigma}, axes)
    for share in shares:
        # rounding must not add a value to a spectrum that carries all of it
        ranks = 1.0 + np.sum(carried < share - 1e-12, axis=-1)
        yield rows({quantities.RANK: ranks}, axes).assign(index=round(100 * share))
    teacher = trajectory.constants["teacher_W"]
    count, inputs = teacher.shape[1:]
    # as many right singular vectors as the teacher has neurons, and random rows: shape (draws, neurons, inputs).
    # The seed of the random rows, 0, is part of the measure, so no setting
    right = np.linalg.svd(W, full_matrices=False)[2][:, :count]
    chance = np.stack([rng.standard_normal((count, inputs)) for rng in generators(0, "relu.chance", len(teacher))])
    # an orthonormal basis of the teacher's span, as columns: shape (draws, inputs, neurons)
    basis = np.linalg.qr(np.swapaxes(teacher, 1, 2))[0]
    inside = np.sum((W @ basis) ** 2, axis=(1, 2)) / np.sum(W**2, axis=(1, 2))
    ends = {
        quantities.TEACHER_COSINE: span_overlap(right, teacher),
        quantities.CHANCE_COSINE: span_overlap(chance, teacher),
        quantities.INSIDE: inside,
        quantities.CHANCE_INSIDE: np.full(len(teacher), count / inputs),
        SAMPLES: np.full(len(teacher), trajectory.constants["X"].shape[1]),
    }
    yield rows(ends, {"seed": axes["seed"]}, time=trajectory.time[-1])
    # time 0 has no logarithm: plateaus are sought, and their places counted, from the next time on
    records = []
    for seed, curve in enumerate(losses):
        for number, (start, end) in enumerate(plateaus(trajectory.time[1:], curve[1:], slope, floor, least), start=1):
            for quantity, place in ((quantities.PLATEAU_START, start), (quantities.PLATEAU_END, end)):
                records.append((seed, 0.0, quantity, number, trajectory.time[1 + place]))
    yield pd.DataFrame(records, columns=[column.name for column in relu_descent.columns])
