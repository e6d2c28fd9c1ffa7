"""Quantities of labelled features from their definitions, by general solvers; no code of the package is used.

Features are columns, shape (P, C N), in blocks of N examples a class.
"""

import numpy as np
import scipy
import torch


def features(classes: int, examples: int, width: int, seed: int = 0, signal: float = 0.7) -> np.ndarray:
    """Draw correlated features around class means, with a global mean of their own."""
    rng = np.random.default_rng(seed)
    means = np.kron(signal * rng.standard_normal((width, classes)), np.ones(examples))
    mixing = np.eye(width) + 0.3 * rng.standard_normal((width, width))
    return mixing @ (means + rng.standard_normal((width, classes * examples))) + rng.standard_normal((width, 1))


def targets(H: np.ndarray, classes: int) -> np.ndarray:
    """Return one-hot labels, shape (C, C N)."""
    return np.kron(np.eye(classes), np.ones(H.shape[1] // classes))


def covariances(H: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Sigma_W, Sigma_B and the class means, (P, C), example by example."""
    blocks = np.split(H, classes, axis=1)
    means = np.column_stack([block.mean(axis=1) for block in blocks])
    within = sum(np.outer(h - means[:, c], h - means[:, c]) for c, block in enumerate(blocks) for h in block.T)
    return within / H.shape[1], np.cov(means, bias=True), means


def singular_values(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the SNR singular values, descending, as roots of generalised eigenvalues of Sigma_B and Sigma_W."""
    within, between, _ = covariances(H, classes)
    values = scipy.linalg.eigh(classes * between, within, eigvals_only=True)
    return np.sqrt(values[::-1][: classes - 1])


def least_squares(H: np.ndarray, classes: int, decay: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and biases of least regularised square error, by a least-squares solver on augmented rows."""
    samples, size = H.shape[1], H.shape[0] + 1
    rows = np.concatenate([np.concatenate([H.T, np.ones((samples, 1))], 1), np.sqrt(samples * decay) * np.eye(size)])
    values = np.concatenate([targets(H, classes).T, np.zeros((size, classes))])
    solution = scipy.linalg.lstsq(rows, values)[0].T
    return solution[:, :-1], solution[:, -1]


def square_error(W: np.ndarray, b: np.ndarray, H: np.ndarray, classes: int) -> float:
    """Return half the squared error, summed over classes and averaged over examples, without weight decay."""
    return 0.5 * float(np.mean(np.sum((W @ H + b[:, None] - targets(H, classes)) ** 2, axis=0)))


def gradient(H: np.ndarray, classes: int) -> np.ndarray:
    """Return the derivative of the least-squares loss in the features, by automatic differentiation of a solver."""
    variable = torch.tensor(H, dtype=torch.float64, requires_grad=True)
    rows = torch.cat([variable.T, torch.ones(H.shape[1], 1, dtype=torch.float64)], 1)
    labels = torch.tensor(targets(H, classes).T)
    residual = rows @ torch.linalg.lstsq(rows, labels).solution - labels
    (0.5 * (residual**2).sum() / H.shape[1]).backward()
    return variable.grad.numpy()


def relative_distance(changed: np.ndarray, matrix: np.ndarray) -> float:
    """Return the norm of the difference of two matrices, over the norm of the second."""
    return float(np.linalg.norm(changed - matrix) / np.linalg.norm(matrix))


def distance_from_simplex_frame(vectors: np.ndarray) -> float:
    """Return how far the columns of V, shape (P, C), are from a simplex equiangular tight frame of any size.

    It is the distance of the Gram matrix, ``min_a |V^T V - a (I - 1 1^T / C)| / |V^T V|`` in the Frobenius norm. A
    general minimiser finds a.
    """
    classes = vectors.shape[1]
    gram, simplex = vectors.T @ vectors, np.eye(classes) - 1 / classes
    best = scipy.optimize.minimize_scalar(lambda scale: np.linalg.norm(gram - scale * simplex), tol=1e-12)
    return best.fun / np.linalg.norm(gram)


def renormalised(H: np.ndarray, classes: int) -> np.ndarray:
    """Return Sigma_W^(-1/2) (H - mean): features of identity within-class covariance and zero mean."""
    within, _, means = covariances(H, classes)
    return np.linalg.solve(scipy.linalg.sqrtm(within).real, H - means.mean(axis=1, keepdims=True))


def tangent_part(X: np.ndarray, Z: np.ndarray, classes: int) -> np.ndarray:
    """Return the tangent matrix nearest to Z where X C X^T = I: least squares over the constraint's gradients."""
    samples = X.shape[1]
    Y = targets(X, classes)
    centring = (np.eye(samples) - classes * Y.T @ Y / samples) / samples
    size = X.shape[0]
    normals = []
    for i in range(size):
        for j in range(i, size):
            S = np.zeros((size, size))
            S[i, j] = S[j, i] = 1.0
            normals.append((S @ X @ centring).ravel())
    A = np.column_stack(normals)
    return Z - (A @ np.linalg.lstsq(A, Z.ravel(), rcond=None)[0]).reshape(Z.shape)
