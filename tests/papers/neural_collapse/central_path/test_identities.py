"""Identities on any features: the optimal classifier and the terms of the loss, for any classifier and weight decay."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learning_dynamics.measures import collapse
from learning_dynamics.papers.neural_collapse.central_path import identities
from learning_dynamics.papers.neural_collapse.central_path import models as central_path

SIZE = (4, 8, 6)


def features(seed=0, signal=0.5):
    rng = np.random.default_rng(seed)
    return central_path.gaussian_features(rng, *SIZE, signal) + rng.standard_normal((SIZE[2], 1))


@settings(max_examples=30)
@given(
    classes=st.integers(2, 6),
    examples=st.integers(1, 8),
    size=st.integers(1, 10),
    decay=st.sampled_from([1e-3, 0.1, 10.0]),
    seed=st.integers(0, 10_000),
)
def test_terms_add_up_to_the_loss_summed_example_by_example(classes, examples, size, decay, seed):
    rng = np.random.default_rng(seed)
    H = rng.standard_normal((size, classes * examples)) + rng.standard_normal((size, 1))
    W = rng.standard_normal((classes, size + 1))
    parts = collapse.decomposition(*identities.moments(H, classes), W, decay)
    total = sum(parts[name] for name in ("loss_nc1", "loss_nc23", "loss_ls_perp"))
    assert total == pytest.approx(central_path.extended_loss(W, H, decay), rel=1e-10)
    least = central_path.extended_loss(identities.least_squares(H, classes, decay), H, decay)
    assert parts["loss_nc1"] + parts["loss_nc23"] == pytest.approx(least, rel=1e-10)
    for term in ("loss_nc1", "loss_ls_perp"):
        # rounding where a class has one example, and all of the term is decay
        assert 0 <= parts[f"{term}_decay"] <= parts[term] * (1 + 1e-14)


def test_altered_identities_leave_gaps():
    H, W = features(), np.random.default_rng(1).standard_normal((4, 7))
    gaps = identities.classifier_identities(H, W, 0.1) | identities.equation_6(H, 4)
    gaps |= identities.simplex_frames(H, np.random.default_rng(2).standard_normal(H.shape), 4)
    for name, gap in gaps.items():
        # rounding, for condition numbers below 100
        assert gap > 1e-3 if "--" in name else gap < 2e-13, name
