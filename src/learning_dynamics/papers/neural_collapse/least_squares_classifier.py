"""The classifier that is optimal for given features, and what the loss splits into (Han et al. 2022, section 2).

Extended features have a last row of ones and extended classifiers a last column of biases. The loss is half the
squared error, summed over classes and averaged over examples, plus decay / 2 times the squared norm of the extended
classifier. Classes are balanced, all examples of the first class first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from learning_dynamics.papers.neural_collapse.central_path.models import class_means, one_hot, within_covariance


@dataclass(frozen=True)
class Decomposition:
    """The terms of the loss: its sum is the loss (Theorems 1 and 2)."""

    variability: float
    geometry: float
    deviation: float

    @property
    def least_squares(self) -> float:
        """The loss of the optimal classifier."""
        return self.variability + self.geometry


def extended(H: np.ndarray) -> np.ndarray:
    """Return the features with a last row of ones, shape (features + 1, samples)."""
    return np.vstack([H, np.ones(H.shape[1])])


def loss(W: np.ndarray, H: np.ndarray, decay: float) -> float:
    """Return the loss of an extended classifier W, (classes, features + 1), on plain features H (eq. 3)."""
    errors = W @ extended(H) - one_hot(len(W), H.shape[1] // len(W))
    return float(0.5 * np.sum(errors**2) / H.shape[1] + 0.5 * decay * np.sum(W**2))


def optimal_classifier(H: np.ndarray, classes: int, decay: float) -> np.ndarray:
    """Return the extended least-squares classifier, (classes, features + 1) (Proposition 1).

    M^T (Sigma_T + mu_G mu_G^T + decay I)^{-1} / classes in extended features.
    """
    moment = _second_moment(H, decay)
    return np.linalg.solve(moment, class_means(extended(H), classes)).T / classes


def decompose(W: np.ndarray, H: np.ndarray, decay: float) -> Decomposition:
    """Return the terms that the loss of an extended classifier W on plain features H splits into.

    `variability` is the loss that within-class scatter and weight decay cause under the optimal classifier,
    `geometry` what that classifier's scores of the class means lack of one-hot labels, and `deviation` the excess of W
    over the optimum (Theorems 1 and 2: L_NC1, L_NC2/3, L_LS^perp).
    """
    classes = len(W)
    optimum = optimal_classifier(H, classes, decay)
    scatter = within_covariance(extended(H), classes) + decay * np.eye(len(H) + 1)
    lacking = optimum @ class_means(extended(H), classes) - np.eye(classes)
    excess = W - optimum
    return Decomposition(
        variability=float(0.5 * np.trace(optimum @ scatter @ optimum.T)),
        geometry=float(0.5 * np.sum(lacking**2) / classes),
        deviation=float(0.5 * np.trace(excess @ _second_moment(H, decay) @ excess.T)),
    )


def _second_moment(H: np.ndarray, decay: float) -> np.ndarray:
    """Return Sigma_T + mu_G mu_G^T + decay I in extended features: the uncentred second moment, regularised."""
    return extended(H) @ extended(H).T / H.shape[1] + decay * np.eye(len(H) + 1)
