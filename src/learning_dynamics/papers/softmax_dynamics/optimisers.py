"""The toy trained with momentum, weight decay, minibatches, Adam or correlated inputs, in compiled code.

Features are f = X Theta, (examples, d), with a row of inputs X for each example; logits are f W, with the classifier W,
(d, classes). Orthonormal inputs, X = 1, give the toy's free rows (eq. 12). A is the derivative of the loss by the
logits: probabilities minus one-hot labels. The gradients are A W^T by f and f^T A by W, as in `models.derivatives`, but
written out: compiled, a training takes a fifteenth of the time that it takes with arrays. Each member is trained alone,
from its own random numbers. Moments of the features, probabilities of classes and losses are recorded, since the states
of a whole map would take gigabytes. The code is compiled once in each process and kept in memory only.
"""

from typing import NamedTuple

import numba
import numpy as np

AT_ONCE = 100_000  # chosen: number of steps between two moments at which a signal can stop a training
FIRST_MOMENT, SECOND_MOMENT, OFFSET = 0.9, 0.999, 1e-8  # Adam's beta_1, beta_2 and epsilon, the usual ones


class Optimiser(NamedTuple):
    """How parameters move: heavy-ball gradient descent with weight decay, or Adam.

    Weight decay is added to the gradient, as `weight_decay` times the parameters. If it is `decoupled`, parameters are
    multiplied by 1 - learning_rate * weight_decay at each step instead, as by AdamW. A step uses `batch` examples,
    which it draws, and multiplies their gradient by the number of all examples over `batch`. A `batch` of 0 is all
    examples. Without `adam`, a velocity is multiplied by `momentum` and gains the gradient; parameters move by the
    learning rate times the velocity.
    """

    learning_rate: float
    momentum: float = 0.0
    weight_decay: float = 0.0
    batch: int = 0
    adam: bool = False
    decoupled: bool = False


class Course(NamedTuple):
    """Records of a training; all are nan from the record on at which a loss is not finite.

    Attributes
    ----------
    gram : ndarray, shape (records, d, d)
        f^T f, summed over examples.
    sums : ndarray, shape (records, classes, d)
        Sum of f over each class's examples.
    probabilities : ndarray, shape (records, classes)
        For each class the mean, over its examples, of the probability that an example's own class gets.
    loss, largest_loss : ndarray, shape (records,)
        The mean and the largest of the examples' cross-entropies.
    """

    gram: np.ndarray
    sums: np.ndarray
    probabilities: np.ndarray
    loss: np.ndarray
    largest_loss: np.ndarray


class _Moving(NamedTuple):
    """What steps change in place: parameters, two moments of their gradients, and the order of the examples.

    The minibatch is the first `batch` examples of the order. Without Adam the first moments are the velocities, and the
    second are not used.
    """

    theta: np.ndarray
    W: np.ndarray
    theta_moments: np.ndarray  # shape (2, examples, d)
    W_moments: np.ndarray  # shape (2, d, classes)
    order: np.ndarray


def inputs_of(counts: np.ndarray, shared: float, within_class: float) -> np.ndarray:
    """Return inputs, a row of length one for each example, shape (examples, examples): a symmetric matrix.

    It is the symmetric root of the matrix of inner products.

    Parameters
    ----------
    counts : ndarray of int, shape (classes,)
        Class sizes.
    shared : float
        Inner product of the inputs of two examples of different classes.
    within_class : float
        How much larger it is for two examples of one class.
    """
    labels = np.repeat(np.arange(len(counts)), counts)
    same_class = labels[:, None] == labels[None, :]
    gram = (1 - shared - within_class) * np.eye(len(labels)) + shared + within_class * same_class
    values, vectors = np.linalg.eigh(gram)
    return (vectors * np.sqrt(np.clip(values, 0.0, None))) @ vectors.T


def recorded_steps(steps: int, points: int) -> np.ndarray:
    """Return numbers of steps after which to record, ascending: 0, then 1 to `steps`, evenly in the logarithm.

    There are 1 + points of them, or fewer where rounding makes some equal.
    """
    return np.unique(np.r_[0, np.round(np.geomspace(1, steps, points)).astype(int)])


def train(
    counts: np.ndarray,
    theta: np.ndarray,
    W: np.ndarray,
    optimiser: Optimiser,
    *,
    records: np.ndarray,
    minibatch_seed: int,
    inputs: np.ndarray | None = None,
    copies: np.ndarray | None = None,
) -> Course:
    """Train one member on the cross-entropy summed over examples.

    Parameters
    ----------
    counts : ndarray of int, shape (classes,)
        Class sizes: numbers of rows of features, sorted by class.
    theta, W : ndarray, shapes (examples, d) and (d, classes)
        Initial parameters.
    records : ndarray of int, ascending
        After how many steps to record.
    minibatch_seed : int
        Seed of the generator that draws the minibatches.
    inputs : ndarray, shape (examples, examples), optional
        Orthonormal if not given.
    copies : ndarray, shape (rows,), optional
        Number of examples that each row of features represents: in full batches examples that start together stay so. A
        row moves by the gradient of one of its examples, the classifier by the sum over all. `counts` then counts rows.

    Raises
    ------
    ValueError
        If rows that stand for several examples are to be drawn into minibatches.
    """
    if copies is not None and optimiser.batch:
        raise ValueError("a minibatch draws examples, not rows that stand for several")
    dimension, classes = W.shape
    # of one record of each field of `Course`, in their order
    shapes = (dimension, dimension), (classes, dimension), (classes,), (), ()
    course = Course(*(np.full((len(records), *shape), np.nan) for shape in shapes))
    labels = np.repeat(np.arange(classes), counts)  # the number of each row's class, not one-hot
    weights = np.ones(len(labels)) if copies is None else np.asarray(copies, dtype=float)
    orthonormal = inputs is None or bool(np.array_equal(inputs, np.eye(len(inputs))))
    X = np.empty((0, 0)) if inputs is None else inputs  # an empty matrix for compiled code, which does not read it
    theta_moments, W_moments = np.zeros((2, *theta.shape)), np.zeros((2, *W.shape))
    moving = _Moving(theta.copy(), W.copy(), theta_moments, W_moments, np.arange(len(labels)))
    _seed(minibatch_seed)
    for begun in range(0, records[-1] + 1, AT_ONCE):
        until = begun + AT_ONCE
        if not _advance(X, orthonormal, labels, weights, moving, optimiser, begun, until, records, course):
            break  # no steps are left to take
    return course


@numba.njit
def _seed(minibatch_seed):
    np.random.seed(minibatch_seed)  # noqa: NPY002 - in compiled code this is the thread's own generator, not the process's


# Compiled functions take no keyword-only parameters. Loops are written out, since arrays as operands would take four
# times as long to compile. Indices: i is an example, k and `other` are feature dimensions, c is a class.
@numba.njit
def _advance(inputs, orthonormal, labels, copies, moving, optimiser, steps, until, records, course):
    """Train on from `steps` steps to `until`; return whether there are more to take.

    There are none after the last record, or once a loss is not finite. `inputs` are not read where they are
    `orthonormal`; `labels` are numbers of classes, (examples,), and `copies` how many examples each row stands for.
    """
    theta, W, theta_moments, W_moments, order = moving
    examples, dimension = theta.shape
    classes = W.shape[1]
    A, losses = np.empty((examples, classes)), np.empty(examples)
    gradient_f, gradient_W = np.zeros((examples, dimension)), np.zeros((dimension, classes))
    sizes, total = np.zeros(classes), 0.0
    for i in range(examples):
        sizes[labels[i]] += 1
        total += copies[i]
    batch_size = examples if optimiser.batch == 0 else min(optimiser.batch, examples)
    recorded = 0  # number of records made already
    while records[recorded] < steps:
        recorded += 1
    while steps < until:
        f = theta if orthonormal else inputs @ theta
        if batch_size < examples:
            # the first `batch_size` steps of a Fisher-Yates shuffle
            for i in range(batch_size):
                j = i + np.random.randint(examples - i)  # noqa: NPY002
                order[i], order[j] = order[j], order[i]
        if records[recorded] == steps:
            for i in range(examples):
                # `s` is the sum of exp(logit - top) over classes, so that the loss is log(sum of exp(logit)) - own
                own, top, s = _residual(f, W, labels, i, A)
                losses[i] = top + np.log(s) - own
                if not np.isfinite(losses[i]):
                    return False
            _record(course, recorded, f, A, labels, copies, sizes, losses, total)
            recorded += 1
            if recorded == len(records):
                return False
        for k in range(dimension):
            for c in range(classes):
                gradient_W[k, c] = 0.0
            for i in range(examples):
                gradient_f[i, k] = 0.0
        # the gradients of eq. 12, A W^T and f^T A, over the minibatch; here `s` is an entry of A W^T
        for q in range(batch_size):
            i = order[q]
            _residual(f, W, labels, i, A)
            for k in range(dimension):
                s = 0.0
                for c in range(classes):
                    s += A[i, c] * W[k, c]
                    gradient_W[k, c] += examples / batch_size * copies[i] * f[i, k] * A[i, c]
                gradient_f[i, k] = examples / batch_size * s
        gradient_theta = gradient_f if orthonormal else inputs @ gradient_f  # inputs are symmetric
        steps += 1
        _move(theta, gradient_theta, theta_moments[0], theta_moments[1], optimiser, steps)
        _move(W, gradient_W, W_moments[0], W_moments[1], optimiser, steps)
    return True


@numba.njit
def _residual(f, W, labels, i, A):
    """Write an example's probabilities less its one-hot label into a row of A.

    Returns the logit of its own class, the largest logit, and the sum over classes of exp(logit - largest logit).
    """
    classes, top, s = W.shape[1], -np.inf, 0.0
    for c in range(classes):
        logit = 0.0
        for k in range(W.shape[0]):
            logit += f[i, k] * W[k, c]
        A[i, c] = logit
        top = max(top, logit)
    own = A[i, labels[i]]
    for c in range(classes):
        A[i, c] = np.exp(A[i, c] - top)
        s += A[i, c]
    for c in range(classes):
        A[i, c] /= s
    A[i, labels[i]] -= 1.0
    return own, top, s


@numba.njit
def _record(course, recorded, f, A, labels, copies, sizes, losses, total):
    """Write moments of the features, probabilities and losses into a row of the course."""
    examples, dimension = f.shape
    for k in range(dimension):
        for other in range(dimension):
            course.gram[recorded, k, other] = 0.0
        for c in range(len(sizes)):
            course.sums[recorded, c, k] = 0.0
    for c in range(len(sizes)):
        course.probabilities[recorded, c] = 0.0
    course.loss[recorded] = course.largest_loss[recorded] = 0.0
    for i in range(examples):
        label = labels[i]
        for k in range(dimension):
            course.sums[recorded, label, k] += copies[i] * f[i, k]
            for other in range(dimension):
                course.gram[recorded, k, other] += copies[i] * f[i, k] * f[i, other]
        # A is the residual, at an example's own class its probability less one
        course.probabilities[recorded, label] += (A[i, label] + 1) / sizes[label]
        course.loss[recorded] += copies[i] * losses[i] / total
        course.largest_loss[recorded] = max(course.largest_loss[recorded], losses[i])


@numba.njit
def _move(parameters, gradient, first, second, optimiser, steps):
    """Take one step in place; `steps` is its number, from 1 on, `first` and `second` are the moments of the gradient.

    In heavy-ball descent `first` is the velocity, and `second` is not used.
    """
    rate, decay = optimiser.learning_rate, optimiser.weight_decay
    # Adam divides its moments by these, as they start at zero
    unbiased_first, unbiased_second = 1 - FIRST_MOMENT**steps, 1 - SECOND_MOMENT**steps
    rows, columns = parameters.shape
    for row in range(rows):
        for column in range(columns):
            slope = gradient[row, column]
            if optimiser.decoupled:
                parameters[row, column] *= 1 - rate * decay
            else:
                slope += decay * parameters[row, column]
            if optimiser.adam:
                mean = FIRST_MOMENT * first[row, column] + (1 - FIRST_MOMENT) * slope
                square = SECOND_MOMENT * second[row, column] + (1 - SECOND_MOMENT) * slope * slope
                first[row, column], second[row, column] = mean, square
                step = rate * (mean / unbiased_first) / (np.sqrt(square / unbiased_second) + OFFSET)
                parameters[row, column] -= step
            else:
                first[row, column] = optimiser.momentum * first[row, column] + slope
                parameters[row, column] -= rate * first[row, column]
