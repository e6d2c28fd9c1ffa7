"""Spectra, ranks and plateaus of a ReLU student, and how much of the teacher's directions it has learnt.

The teacher is the ReLU network that gives the labels. W is the student's hidden layer, |.| the Frobenius norm.

Shapes: `loss` (draws, times); `sigma` (draws, times, k), the k = min(neurons, inputs) singular values of W, descending;
`limit_W1`, W at the end, (draws, neurons, inputs), with neurons as rows, where the linear networks of this paper have
them as columns; `teacher_W` (draws, teacher's neurons, inputs), with no more neurons than k; `X` (draws, samples,
inputs). Times are step size times number of steps.
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
        How many singular values, the largest first, it takes for a share of |W|^2, for each of `shares`. The column
        `index` has the share in percent.
    plateau_start
        First time of each plateau of the loss. A plateau is a stretch on which the loss falls more slowly than time to
        the power of -`slope` and is above `floor` times its value at the first recorded time after 0, and over which
        time grows `least`-fold. Its number is in the column `index`, and the column `time` is 0.
    plateau_end
        Last time of each plateau; columns are as for `plateau_start`.
    teacher_cosine
        Cosines, at the end, of the principal angles between the span of the teacher's neurons and that of the first
        right singular vectors of W, as many as the teacher has neurons.
    chance_cosine
        Like `teacher_cosine`, for a random span in place of the singular vectors.
    inside
        Share of |W|^2 in the span of the teacher's neurons, at the end.
    chance_inside
        The mean of this share for a random matrix in place of W.
    samples
        Number of samples.
    """
    losses, sigma, W = trajectory.series["loss"], trajectory.series["sigma"], trajectory.constants["limit_W1"]
    # share of |W|^2 in the first 1, 2, ... singular values, shape (draws, times, k)
    carried = np.cumsum(sigma**2, axis=-1) / np.sum(sigma**2, axis=-1, keepdims=True)
    axes = {"seed": np.arange(trajectory.members), "time": trajectory.time}
    yield rows({LOSS: losses, SIGMA_W1: sigma}, axes)
    for share in shares:
        # one more than the numbers of first values that carry too little; 1e-12, so that rounding does not add a value
        # where they carry just the share
        ranks = 1.0 + np.sum(carried < share - 1e-12, axis=-1)
        yield rows({quantities.RANK: ranks}, axes).assign(index=round(100 * share))
    teacher = trajectory.constants["teacher_W"]
    count, inputs = teacher.shape[1:]
    # `count` right singular vectors and random rows, as many as the teacher has neurons: shape (draws, count, inputs).
    # The seed of the random rows, 0, is part of the measure, so no setting
    _, _, Vt = np.linalg.svd(W, full_matrices=False)
    right = Vt[:, :count]
    chance = np.stack([rng.standard_normal((count, inputs)) for rng in generators(0, "relu.chance", len(teacher))])
    # an orthonormal basis of the teacher's span, as columns: shape (draws, inputs, count)
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
    # Time 0 has no logarithm, so that plateaus are sought from the next recorded time on. Places count from there:
    # place p is the recorded time p + 1
    records = []
    for seed, curve in enumerate(losses):
        for number, (start, end) in enumerate(plateaus(trajectory.time[1:], curve[1:], slope, floor, least), start=1):
            for quantity, place in ((quantities.PLATEAU_START, start), (quantities.PLATEAU_END, end)):
                records.append((seed, 0.0, quantity, number, trajectory.time[1 + place]))
    yield pd.DataFrame(records, columns=[column.name for column in relu_descent.columns])
