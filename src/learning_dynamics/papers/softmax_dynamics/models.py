"""Free features and a linear classifier: logits f W, one free row of f per example (Li et al. 2025, appendix B).

Features f are (examples, d), the classifier W (d, classes), labels (examples, classes), one-hot. The residual A is the
derivative of the loss by the logits: with the cross-entropy softmax(f W) minus the labels, with the squared loss f W
minus the labels. With the learning rate eta parameters move by ``df/dt = -eta A W^T`` and ``dW/dt = -eta f^T A``
(eq. 12).

Losses and derivatives take arrays with any leading axes, such as (members, times); those of f, W and labels must
broadcast. The starts, `gaussian` and `balanced`, are those of one member.
"""

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

Loss = Literal["cross_entropy", "squared"]
Init = Literal["balanced", "gaussian"]
Field = Callable[[np.ndarray, np.ndarray], np.ndarray]  # see `vector_field`


def one_hot(counts: Sequence[int]) -> np.ndarray:
    """Return labels, shape (sum of counts, classes), with ``counts[k]`` examples of class k."""
    return np.eye(len(counts))[np.repeat(np.arange(len(counts)), counts)]


def softmax(logits: np.ndarray) -> np.ndarray:
    """Return class probabilities along the last axis."""
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def residual(features: np.ndarray, classifier: np.ndarray, labels: np.ndarray, loss: Loss) -> np.ndarray:
    """Return A of eq. 12, shape (..., examples, classes): the derivative of the summed loss by the logits."""
    logits = features @ classifier
    return (softmax(logits) if loss == "cross_entropy" else logits) - labels


def summed_loss(features: np.ndarray, classifier: np.ndarray, labels: np.ndarray, loss: Loss) -> np.ndarray:
    """Return the loss summed over examples, one number for each entry of the leading axes, shape (...)."""
    logits = features @ classifier
    if loss == "squared":
        return 0.5 * np.sum((logits - labels) ** 2, axis=(-2, -1))
    top = logits.max(axis=-1, keepdims=True)
    logarithms = logits - top - np.log(np.exp(logits - top).sum(axis=-1, keepdims=True))
    return -np.sum(labels * logarithms, axis=(-2, -1))


def derivatives(
    features: np.ndarray, classifier: np.ndarray, labels: np.ndarray, loss: Loss
) -> tuple[np.ndarray, np.ndarray]:
    """Return df/dt and dW/dt of gradient flow with learning rate one (eq. 12)."""
    A = residual(features, classifier, labels, loss)
    return -A @ np.swapaxes(classifier, -1, -2), -np.swapaxes(features, -1, -2) @ A


def pack(features: np.ndarray, classifier: np.ndarray) -> np.ndarray:
    """Return both factors as one vector for each member, shape (..., examples * d + d * classes)."""
    lead = features.shape[:-2]
    return np.concatenate([features.reshape(*lead, -1), classifier.reshape(*lead, -1)], axis=-1)


def unpack(states: np.ndarray, examples: int, dimension: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return f, shape (..., examples, d), and W, shape (..., d, classes), from packed states.

    Parameters
    ----------
    states : ndarray, shape (..., examples * d + d * classes)
        As `pack` returns them: the entries of f row by row, then those of W.
    """
    split = examples * dimension
    lead = states.shape[:-1]
    return (
        states[..., :split].reshape(*lead, examples, dimension),
        states[..., split:].reshape(*lead, dimension, classes),
    )


def vector_field(labels: np.ndarray, dimension: int, loss: Loss) -> Field:
    """Return gradient flow as a function ``field(states, members)``, which returns the derivatives of packed states.

    `states` has the shape (chosen members, size), with packed f and W as rows; `members` are the indices of the chosen
    members along the first axis of `labels`, shape (chosen members,).

    Parameters
    ----------
    labels : ndarray, shape (members, examples, classes)
        One-hot.
    """
    _, examples, classes = labels.shape

    def field(states: np.ndarray, members: np.ndarray) -> np.ndarray:
        return pack(*derivatives(*unpack(states, examples, dimension, classes), labels[members], loss))

    return field


def gaussian(
    rng: np.random.Generator, examples: int, dimension: int, classes: int, *, scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return f and W with independent centred Gaussian entries of standard deviation `scale`."""
    return (
        scale * rng.standard_normal((examples, dimension)),
        scale * rng.standard_normal((dimension, classes)),
    )


def balanced(
    rng: np.random.Generator, examples: int, dimension: int, classes: int, *, scale: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return f and W with ``f^T f = W W^T`` up to rounding.

    A Gaussian f of standard deviation `scale` gives the singular values of both, and the directions in feature space
    that they share: the right singular vectors of f, which are the left ones of W. The right singular vectors of W are
    drawn uniformly. At most min(examples, d, classes) directions can be shared: where f has more singular values it
    keeps the largest.
    """
    rank = min(examples, dimension, classes)
    U, S, Vt = np.linalg.svd(scale * rng.standard_normal((examples, dimension)), full_matrices=False)
    Q, R = np.linalg.qr(rng.standard_normal((classes, rank)))
    directions = Q * np.sign(np.diag(R))  # without the signs of R's diagonal Q would not be uniform
    return (U[:, :rank] * S[:rank]) @ Vt[:rank], (Vt[:rank].T * S[:rank]) @ directions.T
