"""Class means and the within-class covariance of many features: batches against outer products of each example."""

from __future__ import annotations

import numpy as np

from bench.harness import Row, close

EXAMPLES, FEATURES, CLASSES = 10_000, 512, 10


def rows() -> list[Row]:
    """512 features of 10,000 examples of ten classes, in float32 as a network gives them."""
    import torch

    from learning_dynamics.measures.class_moments import ClassMoments

    rng = np.random.default_rng(0)
    labels = np.arange(EXAMPLES) % CLASSES
    features = (rng.standard_normal((CLASSES, FEATURES))[labels] + rng.standard_normal((EXAMPLES, FEATURES))).astype(
        np.float32
    )
    given, of_class = torch.from_numpy(features), torch.from_numpy(labels)

    def ours() -> np.ndarray:
        moments = ClassMoments(torch.bincount(of_class), FEATURES)
        for start in range(0, EXAMPLES, 500):
            moments.update(given[start : start + 500], of_class[start : start + 500])
        return moments.within.numpy()

    def outer_products() -> np.ndarray:
        # one product for each example of a batch, then their sum
        means = torch.stack([given[of_class == label].mean(dim=0) for label in range(CLASSES)])
        within = torch.zeros(FEATURES, FEATURES, dtype=torch.float64)
        for start in range(0, EXAMPLES, 100):
            centred = (given[start : start + 100] - means[of_class[start : start + 100]])[:, :, None]
            within += torch.matmul(centred, centred.transpose(1, 2)).sum(dim=0)
        return (within / EXAMPLES).numpy()

    return [
        Row(
            "within-class covariance, P = 512, N = 10,000",
            "an outer product for each example",
            30,
            ours,
            outer_products,
            close(1e-4),
            note="the peer works in float32",
        )
    ]
