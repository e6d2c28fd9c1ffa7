"""Singular values and vectors, descending, of one factor and of a pair, and effective ranks of features.

Shapes: f (..., examples, d) and W (..., d, V), of flows with the leading axes (members, times). Singular vectors are
columns: of f they have the shapes (..., examples, k) and (..., d, k), with k singular values, (..., k), for the smaller
side k.
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
# RankMe on the covariance about the mean (the paper's) and about zero, and Roy and Vetterli's rank of singular values
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
    """Quantities of a grid that say what the spectrum of a population's features does, each at every moment."""

    sigma_1: Quantity  # the largest singular value
    sigma_2: Quantity  # the second largest
    variance_1: Quantity  # the largest eigenvalue of the covariance about the mean, which RankMe is of
    variance_2: Quantity  # the second largest
    direction: Quantity  # |cos| of the leading right singular vector with that when the rarest classes are learned


SPECTRA: Mapping[Population, SpectrumNames] = {
    "examples": SpectrumNames("sigma_1", "sigma_2", "variance_1", "variance_2", "direction"),
    "classes": SpectrumNames(
        "class_sigma_1", "class_sigma_2", "class_variance_1", "class_variance_2", "class_direction"
    ),
}


def population(features: np.ndarray, labels: np.ndarray, name: Population) -> np.ndarray:
    """Return the rows that a rank is taken over: all examples, or the mean of each class, every class counting once.

    An example of the toy is a context: its inputs are orthonormal. Where all examples of a class share one context,
    the class means are the contexts, each counted once.

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
        RankMe of the features of all examples about their mean, the paper's: exponential of the entropy of the
        covariance's normalised eigenvalues.
    rankme
        RankMe of the features of all examples about zero.
    effective_rank
        Exponential of the entropy of the features' normalised singular values (Roy and Vetterli).
    class_rankme_centred, class_rankme, class_effective_rank
        The three ranks of the means of classes; every class counts once.
    """
    return {
        MEASURES[name][measure]: rank(population(features, labels, name))
        for name in populations
        for measure, rank in RANKS.items()
    }


def sorted_svd(matrices: np.ndarray) -> SVD:
    """Return U, S, V, singular vectors as columns, singular values descending."""
    U, S, Vt = np.linalg.svd(matrices, full_matrices=False)
    return U, S, np.swapaxes(Vt, -1, -2)


def paired_svd(f: np.ndarray, W: np.ndarray) -> tuple[SVD, SVD]:
    """Return U, S, V of both factors, descending, with signs of W's vectors such that v_1i and u_2i agree.

    The i-th triple of f is paired with the i-th of W. Both must have equally many: d is at most V, or V is the number
    of examples.
    """
    (U1, S1, V1), (U2, S2, V2) = sorted_svd(f), sorted_svd(W)
    # shape (..., 1, k): one sign for each pair of columns
    turn = np.where(np.sum(V1 * U2, axis=-2) < 0, -1.0, 1.0)[..., None, :]
    return (U1, S1, V1), (U2 * turn, S2, V2 * turn)


def alignment(f: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return |cos| of the angle between the leading eigenvectors of f^T f and W W^T, shape (...).

    Independent directions in the plane have 2/pi on average.
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
        Distance of means over the root mean square distance of a point from its own mean; infinite without spread.
    """
    inside, outside = points[..., group, :], points[..., ~group, :]
    centres = [part.mean(axis=-2, keepdims=True) for part in (inside, outside)]
    spread = sum(
        np.sum((part - centre) ** 2, axis=(-2, -1)) for part, centre in zip((inside, outside), centres, strict=True)
    )
    distance = np.linalg.norm(centres[0] - centres[1], axis=(-2, -1))
    with np.errstate(divide="ignore"):
        return distance / np.sqrt(spread / points.shape[-2])
