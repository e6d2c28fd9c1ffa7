"""Gradient flow of the toy, in compiled code; each member is integrated alone, so that one may fail.

f are the features, a row for each example or for several that agree, and W is the classifier. A is the derivative of
the loss by the logits f W, and df/dt = -A W^T, dW/dt = -f^T A (eq. 12 with learning rate one).
"""

from collections.abc import Sequence

import numpy as np

from learning_dynamics.dynamics import compiled_flow
from learning_dynamics.dynamics.compilation import compiled
from learning_dynamics.dynamics.compiled_flow import FIELD
from learning_dynamics.dynamics.gradient_flow import LogSpan, Tolerances
from learning_dynamics.papers.softmax_dynamics import models as model
from learning_dynamics.papers.softmax_dynamics import starts
from learning_dynamics.trajectories import Trajectory


def flow(
    labels: np.ndarray,
    initial: np.ndarray,
    dimension: int,
    *,
    loss: model.Loss,
    times: np.ndarray,
    tolerances: Tolerances,
    copies: np.ndarray | None = None,
    shared: bool = False,
    inputs: np.ndarray | None = None,
) -> np.ndarray:
    """Return packed states along gradient flow; nan after the start for a member whose integration fails.

    Parameters
    ----------
    labels : ndarray, shape (members, examples, classes)
        One-hot.
    initial : ndarray, shape (members, size)
        Features and classifier at ``times[0]``, packed as by `models.pack`: size = examples * d + d * classes. With
        `inputs` the parameters Theta, shape (inputs, d), are in place of the features.
    copies : ndarray, shape (members, examples), optional
        Number of examples that each row of f represents; then `labels` has a row for each row of f. The examples of a
        row coincide, have equal gradients and stay together; the classifier's gradient sums over all of them.
    shared : bool
        Whether the examples of a row are one context: the row's gradient is then the sum of theirs, not that of one of
        them.
    inputs : ndarray, shape (members, examples, inputs), optional
        X where features are linear in it, f = X Theta. They are free if it is not given.

    Returns
    -------
    ndarray, shape (members, times, size)
        Packed as `initial` is.
    """
    members, examples, classes = labels.shape
    classifier_weights = np.ones((members, examples)) if copies is None else copies
    feature_weights = classifier_weights if shared else np.ones((members, examples))
    # number of input features, the columns of X
    features = 0 if inputs is None else inputs.shape[-1]
    shape = (examples, dimension, classes, int(loss == "cross_entropy"), features)
    # the data of `field` and `linear_field`: a row for each member
    parts = [labels, feature_weights, classifier_weights] + ([] if inputs is None else [inputs])
    solution = compiled_flow.flows(
        field if inputs is None else linear_field,
        np.concatenate([part.reshape(members, -1) for part in parts], axis=1),
        shape,
        initial,
        times,
        rtol=tolerances.rtol,
        atol=tolerances.atol,
        max_steps=20_000,  # chosen: a member that needs more has failed
    )
    failed = list(solution.failures)
    # their states are nan at all times; the start is known
    solution.states[failed, 0] = initial[failed]
    return solution.states


def class_flow(
    sizes: Sequence[int],
    initial: np.ndarray,
    dimension: int,
    *,
    loss: model.Loss = "cross_entropy",
    times: np.ndarray,
    tolerances: Tolerances,
    shared: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Return f and W along the flow where one row of f stands for all examples of its class.

    Parameters
    ----------
    sizes : sequence of int
        Class sizes.
    initial : ndarray, shape (members, size)
        f, (classes, d), and W, (d, classes), at ``times[0]``, packed as by `models.pack`.
    shared : bool
        As in `flow`.

    Returns
    -------
    f, W : ndarray, shapes (members, times, classes, d) and (members, times, d, classes)
    """
    members, classes = len(initial), len(sizes)
    labels, copies = np.tile(np.eye(classes), (members, 1, 1)), np.tile(np.array(sizes, dtype=float), (members, 1))
    states = flow(
        labels,
        initial,
        dimension,
        loss=loss,
        times=times,
        tolerances=tolerances,
        copies=copies,
        shared=shared,
    )
    return model.unpack(states, classes, dimension, classes)


def cell_flows(
    counts: Sequence[int],
    dimension: int,
    *,
    loss: model.Loss,
    init: model.Init,
    scale: float,
    seeds: int,
    integration: LogSpan,
    seed: int,
) -> Trajectory:
    """Return gradient flow of one cell's members, one for each of `seeds` draws.

    Series are f (members, times, examples, d) and W (members, times, d, classes); the constant labels is (members,
    examples, classes).
    """
    labels, initial = starts.cell_states(counts, dimension, init=init, scale=scale, seeds=seeds, seed=seed)
    states = flow(labels, initial, dimension, loss=loss, times=integration.times, tolerances=integration)
    series = starts.factors_of(states, labels, dimension)
    return Trajectory(integration.times, series, {"labels": labels}, undecided=starts.undecided(states))


# `field` is `models.derivatives`, written out: compiled, a flow takes a twentieth of the time that it takes with
# arrays, whose overhead is larger than the computation for some ten rows. `shape` holds five numbers: of examples, of
# dimensions, of classes, 1 for cross-entropy or 0 for the squared loss, and of inputs, or 0 for free features. `np.dot`
# writes the product into its third argument.
@compiled(FIELD)
def field(state: np.ndarray, data: np.ndarray, shape: np.ndarray, slope: np.ndarray) -> None:
    """Write the derivatives of features and classifier (eq. 12) into `slope`.

    `data` are the labels, (examples, classes) row by row, then each example's weight in the derivative of the features,
    then its weight in that of the classifier.
    """
    examples, dimension, classes, entropy = shape[0], shape[1], shape[2], shape[3]
    size, split = examples * classes, examples * dimension
    feature_weights, classifier_weights = data[size : size + examples], data[size + examples : size + 2 * examples]
    f, W = state[:split].reshape(examples, dimension), state[split:].reshape(dimension, classes)
    A = np.dot(f, W)
    weighted = np.empty_like(A)
    for row in range(examples):
        if entropy:
            top = A[row].max()
            total = 0.0
            for column in range(classes):
                A[row, column] = np.exp(A[row, column] - top)
                total += A[row, column]
            for column in range(classes):
                A[row, column] /= total
        # A, the outputs until here, becomes minus the residual times the example's weight for the features; `weighted`
        # is minus the residual times the weight for the classifier
        for column in range(classes):
            error = data[row * classes + column] - A[row, column]
            A[row, column], weighted[row, column] = feature_weights[row] * error, classifier_weights[row] * error
    np.dot(A, W.T, slope[:split].reshape(examples, dimension))
    np.dot(f.T, weighted, slope[split:].reshape(dimension, classes))


@compiled(FIELD)
def linear_field(state: np.ndarray, data: np.ndarray, shape: np.ndarray, slope: np.ndarray) -> None:
    """Write the derivatives of the parameters Theta of f = X Theta, and of the classifier, into `slope`.

    `state` has Theta, (inputs, d) row by row, then the classifier. `data` are those of `field`, then the inputs X,
    (examples, inputs) row by row.
    """
    examples, dimension, classes, inputs = shape[0], shape[1], shape[2], shape[4]
    # numbers of entries of f and of Theta
    free, split = examples * dimension, inputs * dimension
    # before X come `classes` labels and two weights for each example
    X = data[examples * (classes + 2) :].reshape(examples, inputs)
    feature_state, feature_slope = np.empty(free + dimension * classes), np.empty(free + dimension * classes)
    feature_state[:free] = np.dot(X, state[:split].reshape(inputs, dimension)).ravel()
    feature_state[free:] = state[split:]
    # the derivatives of free features at f = X Theta; by the chain rule X^T takes those of f to those of Theta
    field(feature_state, data, shape, feature_slope)
    np.dot(X.T, feature_slope[:free].reshape(examples, dimension), slope[:split].reshape(inputs, dimension))
    slope[split:] = feature_slope[free:]
