"""The toy trained by optimisers in use, compiled: momentum, weight decay, minibatches, Adam, correlated inputs.

Features are f = X Theta with a row of inputs X for each example; orthonormal inputs, X = 1, give back the toy's free
rows (eq. 12). Each member is computed alone, from numbers of its own: it does not depend on those beside it. What
is recorded are moments of the features, the probabilities of classes and losses, since states of a whole map would
take gigabytes. Compiled once in each process and kept in memory only.
"""

from typing import NamedTuple

import numba
import numpy as np

FIRST_MOMENT, SECOND_MOMENT, OFFSET = 0.9, 0.999, 1e-8  # Adam's, as in every library


class Optimiser(NamedTuple):
    """How parameters move: heavy-ball gradient descent with weight decay, or Adam; full batch for ``batch=0``.

    Weight decay is added to the gradient, or, decoupled from it, taken off the parameters at each step as AdamW does; a
    minibatch is drawn anew at each step and its gradient scaled to the sum over all examples.
    """

    learning_rate: float
    momentum: float = 0.0
    weight_decay: float = 0.0
    batch: int = 0
    adam: bool = False
    decoupled: bool = False


class Course(NamedTuple):
    """What is recorded of a training; all nan from a divergence on.

    Attributes
    ----------
    gram : ndarray, shape (records, d, d)
        f^T f, summed over examples.
    sums : ndarray, shape (records, classes, d)
        Sum of f over each class's examples.
    probabilities : ndarray, shape (records, classes)
        Mean of its own class's probability over each class's examples.
    loss, largest_loss : ndarray, shape (records,)
        Cross-entropy of an example, in the mean, and of the example that has the largest.
    """

    gram: np.ndarray
    sums: np.ndarray
    probabilities: np.ndarray
    loss: np.ndarray
    largest_loss: np.ndarray


def inputs_of(counts: np.ndarray, shared: float, within_class: float) -> np.ndarray:
    """Return unit inputs, shape (examples, examples), correlated between all examples and, besides, within classes."""
    labels = np.repeat(np.arange(len(counts)), counts)
    same_class = labels[:, None] == labels[None, :]
    gram = (1 - shared - within_class) * np.eye(len(labels)) + shared + within_class * same_class
    values, vectors = np.linalg.eigh(gram)
    return (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T


def recorded_steps(steps: int, points: int) -> np.ndarray:
    """Return the start and about so many `points` up to the last of the steps, evenly in the logarithm."""
    return np.unique(np.r_[0, np.round(np.geomspace(1, steps, points)).astype(int)])


def train(
    inputs: np.ndarray | None,
    counts: np.ndarray,
    theta: np.ndarray,
    W: np.ndarray,
    optimiser: Optimiser,
    records: np.ndarray,
    draws: int,
    copies: np.ndarray | None = None,
) -> Course:
    """Train one member on the cross-entropy summed over examples.

    Parameters
    ----------
    inputs : ndarray, shape (examples, examples), or None
        None for orthonormal inputs.
    counts : ndarray of int, shape (classes,)
    theta, W : ndarray, shapes (examples, d) and (d, classes)
        Initial parameters.
    records : ndarray of int, ascending
        After how many steps to record.
    draws : int
        Seed of the minibatches.
    copies : ndarray, shape (rows,), optional
        Number of examples that each row of features represents, in full batches: they start together and stay so. Each
        row has the gradient of one example, the classifier that of all. `counts` then counts rows.

    Raises
    ------
    ValueError
        If rows that stand for several examples are to be drawn into minibatches.
    """
    if copies is not None and optimiser.batch:
        raise ValueError("a minibatch draws examples, not rows that stand for several")
    dimension, classes = W.shape
    shapes = (dimension, dimension), (classes, dimension), (classes,), (), ()
    course = Course(*(np.full((len(records), *shape), np.nan) for shape in shapes))
    labels = np.repeat(np.arange(classes), counts)
    weights = np.ones(len(labels)) if copies is None else np.asarray(copies, dtype=float)
    orthonormal = inputs is None or bool(np.array_equal(inputs, np.eye(len(inputs))))
    X = np.empty((0, 0)) if inputs is None else inputs
    _kernel(X, orthonormal, labels, weights, theta.copy(), W.copy(), optimiser, draws, records, course)
    return course


@numba.njit
def _kernel(inputs, orthonormal, labels, copies, theta, W, optimiser, draws, records, course):
    examples, dimension = theta.shape
    classes = W.shape[1]
    np.random.seed(draws)  # noqa: NPY002 - in compiled code this is the thread's own generator, not the process's
    f, A = np.empty((examples, dimension)), np.empty((examples, classes))
    gradient_f, gradient_theta = np.zeros((examples, dimension)), np.zeros((examples, dimension))
    gradient_W = np.zeros((dimension, classes))
    first_theta, first_W = np.zeros((examples, dimension)), np.zeros((dimension, classes))
    second_theta, second_W = np.zeros((examples, dimension)), np.zeros((dimension, classes))
    order, sizes = np.arange(examples), np.zeros(classes)
    for i in range(examples):
        sizes[labels[i]] += 1
    batch_size = examples if optimiser.batch == 0 else min(optimiser.batch, examples)
    recorded = steps = 0
    while True:
        _product(inputs, orthonormal, theta, f)
        recording = records[recorded] == steps
        if batch_size < examples:
            for i in range(batch_size):
                j = i + np.random.randint(examples - i)  # noqa: NPY002
                order[i], order[j] = order[j], order[i]
        if recording:
            for i in range(examples):
                _residual(f, W, labels, i, A)
                if not np.isfinite(A[i, labels[i]]):
                    return
            course.gram[recorded], course.sums[recorded], course.probabilities[recorded] = 0.0, 0.0, 0.0
            course.loss[recorded], course.largest_loss[recorded] = 0.0, 0.0
            for i in range(examples):
                course.probabilities[recorded, labels[i]] += (A[i, labels[i]] + 1) / sizes[labels[i]]
                loss = _loss(f, W, labels[i], i)
                course.loss[recorded] += copies[i] * loss / copies.sum()
                course.largest_loss[recorded] = max(course.largest_loss[recorded], loss)
                for k in range(dimension):
                    course.sums[recorded, labels[i], k] += copies[i] * f[i, k]
                    for m in range(dimension):
                        course.gram[recorded, k, m] += copies[i] * f[i, k] * f[i, m]
            recorded += 1
            if recorded == len(records):
                return
        gradient_W[:], gradient_f[:] = 0.0, 0.0
        for q in range(batch_size):
            i = order[q]
            _residual(f, W, labels, i, A)
            for k in range(dimension):
                s = 0.0
                for c in range(classes):
                    s += A[i, c] * W[k, c]
                    gradient_W[k, c] += examples / batch_size * copies[i] * f[i, k] * A[i, c]
                gradient_f[i, k] = examples / batch_size * s
        _product(inputs, orthonormal, gradient_f, gradient_theta)  # inputs are symmetric
        steps += 1
        _move(theta, gradient_theta, first_theta, second_theta, optimiser, steps)
        _move(W, gradient_W, first_W, second_W, optimiser, steps)


@numba.njit
def _product(left, unit, right, result):
    for i in range(right.shape[0]):
        for k in range(right.shape[1]):
            if unit:
                result[i, k] = right[i, k]
                continue
            s = 0.0
            for j in range(left.shape[1]):
                s += left[i, j] * right[j, k]
            result[i, k] = s


@numba.njit
def _residual(f, W, labels, i, A):
    top = -np.inf
    for c in range(W.shape[1]):
        A[i, c] = _logit(f, W, i, c)
        top = max(top, A[i, c])
    s = 0.0
    for c in range(W.shape[1]):
        A[i, c] = np.exp(A[i, c] - top)
        s += A[i, c]
    for c in range(W.shape[1]):
        A[i, c] /= s
    A[i, labels[i]] -= 1.0


@numba.njit
def _logit(f, W, i, c):
    z = 0.0
    for k in range(W.shape[0]):
        z += f[i, k] * W[k, c]
    return z


@numba.njit
def _loss(f, W, label, i):
    own = _logit(f, W, i, label)
    top = own
    for c in range(W.shape[1]):
        top = max(top, _logit(f, W, i, c))
    s = 0.0
    for c in range(W.shape[1]):
        s += np.exp(_logit(f, W, i, c) - top)
    return top + np.log(s) - own


@numba.njit
def _move(parameters, gradient, first, second, optimiser, steps):
    rate, decay = optimiser.learning_rate, optimiser.weight_decay
    for i in range(parameters.shape[0]):
        for k in range(parameters.shape[1]):
            g = gradient[i, k]
            if optimiser.decoupled:
                parameters[i, k] *= 1 - rate * decay
            else:
                g += decay * parameters[i, k]
            if optimiser.adam:
                first[i, k] = FIRST_MOMENT * first[i, k] + (1 - FIRST_MOMENT) * g
                second[i, k] = SECOND_MOMENT * second[i, k] + (1 - SECOND_MOMENT) * g * g
                mean = first[i, k] / (1 - FIRST_MOMENT**steps)
                square = second[i, k] / (1 - SECOND_MOMENT**steps)
                parameters[i, k] -= rate * mean / (np.sqrt(square) + OFFSET)
            else:
                first[i, k] = optimiser.momentum * first[i, k] + g
                parameters[i, k] -= rate * first[i, k]
