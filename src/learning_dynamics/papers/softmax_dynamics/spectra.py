"""Singular values and vectors, descending, of one factor and of a pair, and effective ranks of features.

Shapes: f (..., examples, d), a row of features for each example, and W (..., d, V), the classifier; along flows their
leading axes are (members, times). A matrix has k singular values, (..., k), as many as its smaller side. Singular
vectors are columns: the left ones of f are (..., examples, k), the right ones (..., d, k). sigma_1i, u_1i and v_1i are
the i-th singular value of f, the largest first, and its left and right singular vector; sigma_2i, u_2i and v_2i are
those of W.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from learning_dynamics.measures.rank import rankme
from learning_dynamics.measures.spectra import effective_rank, singular_values
from learning_dynamics.tidy import Quantity

SVD = tuple[np.ndarray, np.ndarray, np.ndarray]
Measure = Literal["rankme_centred", "rankme", "effective_rank"]  # the keys of `RANKS`
Population = Literal["examples", "classes"]  # what a rank or a spectrum is of: all examples, or the means of classes
# Each is the exponential of the entropy of shares of a sum: of the eigenvalues of the covariance about the mean (RankMe
# as the paper defines it) or about zero, and of the singular values (Roy and Vetterli)
RANKS: Mapping[Measure, Callable[[np.ndarray], np.ndarray]] = {
    "rankme_centred": lambda rows: rankme(rows, centred=True),
    "rankme": lambda rows: rankme(rows, centred=False),
    "effective_rank": lambda rows: effective_rank(singular_values(rows)),
}
# Names in the tables of each rank over all examples, and over the means of classes.
MEASURES: Mapping[Population, Mapping[Measure, str]] = {
    "examples": {"rankme_centred": "rankme_centred", "rankme": "rankme", "effective_rank": "effective_rank"},
    "classes": {
        "rankme_centred": "class_rankme_centred",
        "rankme": "class_rankme",
        "effective_rank": "class_effective_rank",
    },
}


@dataclass(frozen=True)
class SpectrumNames:
    """Quantities of the spectrum of a population's features, at each of the moments (`grids.Moment`)."""

    sigma_1: Quantity  # the features' largest singular value
    sigma_2: Quantity  # the second largest singular value
    variance_1: Quantity  # the largest eigenvalue of the features' covariance about their mean
    variance_2: Quantity  # the second largest eigenvalue of this covariance
    # |cos| of the angle between the features' leading right singular vector at the moment and that at RARE_LEARNED,
    # when all of the rarest classes are learned
    direction: Quantity


SPECTRA: Mapping[Population, SpectrumNames] = {
    "examples": SpectrumNames("sigma_1", "sigma_2", "variance_1", "variance_2", "direction"),
    "classes": SpectrumNames(
        "class_sigma_1", "class_sigma_2", "class_variance_1", "class_variance_2", "class_direction"
    ),
}


def population(features: np.ndarray, labels: np.ndarray, name: Population) -> np.ndarray:
    """Return the rows that a rank is taken over: all examples, or the mean of each class, every class counting once.

    The toy's examples have orthonormal inputs, so that each is a context of its own. If all examples of a class shared
    one context, the mean of a class would be its context's features: the rows of classes are then the contexts.

    Parameters
    ----------
    features : ndarray, shape (members, times, examples, d)
    labels : ndarray, shape (members, examples, classes)
        One-hot.
    name : str
        examples or classes.

    Returns
    -------
    ndarray, shape (members, times, rows, d)
    """
    if name == "examples":
        return features
    # shape (members, classes, examples): one over the class's size for its own examples, 0 for others
    shares = np.swapaxes(labels / labels.sum(axis=1, keepdims=True), -1, -2)
    return shares[:, None] @ features


def ranks_of(features: np.ndarray, labels: np.ndarray, populations: Sequence[Population]) -> dict[str, np.ndarray]:
    """Return every rank of every population, each of shape (members, times), by the name of its measure.

    Quantities
    ----------
    rankme_centred
        RankMe of the features of all examples about their mean, as the paper defines it: exponential of the entropy of
        the covariance's eigenvalues, each as a share of their sum.
    rankme
        RankMe of the features of all examples about zero.
    effective_rank
        Exponential of the entropy of the features' singular values, each as a share of their sum (Roy and Vetterli).
    class_rankme_centred, class_rankme, class_effective_rank
        The three ranks of the means of classes; every class counts once.
    """
    return {
        MEASURES[name][measure]: rank(population(features, labels, name))
        for name in populations
        for measure, rank in RANKS.items()
    }


def sorted_svd(matrices: np.ndarray) -> SVD:
    """Return U, S, V with singular vectors as columns, numpy's V^T transposed; singular values descend."""
    U, S, Vt = np.linalg.svd(matrices, full_matrices=False)
    return U, S, np.swapaxes(Vt, -1, -2)


def paired_svd(f: np.ndarray, W: np.ndarray) -> tuple[SVD, SVD]:
    """Return U, S, V of f, and of W, singular values descending; W's vectors are turned so that v_1i . u_2i >= 0.

    The i-th singular value of f is paired with the i-th of W. Both matrices must have equally many: d is at most V, or
    V is the number of examples.
    """
    (U1, S1, V1), (U2, S2, V2) = sorted_svd(f), sorted_svd(W)
    # shape (..., 1, k): one sign for each pair of columns
    turn = np.where(np.sum(V1 * U2, axis=-2) < 0, -1.0, 1.0)[..., None, :]
    return (U1, S1, V1), (U2 * turn, S2, V2 * turn)


def alignment(f: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return |cos| of the angle between the leading eigenvectors of f^T f and W W^T, shape (...).

    Both are vectors of feature space, of length d. For independent directions in the plane the mean is 2/pi.
    """
    # `eigh` returns eigenvectors as columns, that of the largest eigenvalue last
    leading = [np.linalg.eigh(gram)[1][..., -1] for gram in (np.swapaxes(f, -1, -2) @ f, W @ np.swapaxes(W, -1, -2))]
    return np.abs(np.sum(leading[0] * leading[1], axis=-1))


def separation(points: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return the distance of a group's mean from the mean of the others, in units of the spread within the two.

    Parameters
    ----------
    points : ndarray, shape (..., points, dimensions)
    group : ndarray of bool, shape (points,)

    Returns
    -------
    ndarray, shape (...)
        Distance of means over the root mean square distance of a point from its own mean. Without spread it is
        infinite, or nan where the means coincide too.
    """
    inside, outside = points[..., group, :], points[..., ~group, :]
    centres = [part.mean(axis=-2, keepdims=True) for part in (inside, outside)]
    spread = sum(
        np.sum((part - centre) ** 2, axis=(-2, -1)) for part, centre in zip((inside, outside), centres, strict=True)
    )
    distance = np.linalg.norm(centres[0] - centres[1], axis=(-2, -1))
    with np.errstate(divide="ignore"):
        return distance / np.sqrt(spread / points.shape[-2])
