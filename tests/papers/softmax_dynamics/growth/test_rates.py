"""What is measured at starts and along early flows, against torch's derivatives, scipy's flow and sums by hand."""

import itertools

import numpy as np
import pytest
import sympy
import torch

from learning_dynamics.papers.softmax_dynamics import theory
from learning_dynamics.papers.softmax_dynamics.growth import metrics, runs
from tests.papers.softmax_dynamics.network import integrated, rates_of_singular_values, velocity


def labels_of(counts):
    return np.repeat(np.arange(len(counts)), counts)


@pytest.fixture(scope="module")
def starts():
    settings = {"classes": [3, 5], "largest": [2, 6], "dimension": 2, "scales": [0.01, 0.8], "seeds": 2}
    trajectory = runs.initial_states(**settings, seed=3)
    trajectory.settings = settings
    return trajectory, metrics.initial_states(trajectory)


def test_starts_are_balanced_and_as_large_as_their_scale():
    trajectory = runs.initial_states(classes=[4], largest=[5], dimension=2, scales=[0.2], seeds=400, seed=3)
    f, W = trajectory.series["f"][:, 0], trajectory.series["W"][:, 0]
    np.testing.assert_allclose(np.swapaxes(f, 1, 2) @ f, W @ np.swapaxes(W, 1, 2), atol=1e-13)
    # 400 draws of 8 * 2 entries: the mean square has relative standard error 0.018; four times that
    assert np.mean(f**2) == pytest.approx(0.04, rel=0.07)
    # no direction of the classes is preferred
    assert np.abs(np.mean(W, axis=0)).max() < 5 * W.std() / 20


def test_rates_at_starts_are_torchs(starts):
    trajectory, table = starts
    cells = list(itertools.product([3, 5], [2, 6], [0.01, 0.8]))
    for cell, (classes, largest, scale) in enumerate(cells):
        counts = [largest] + [1] * (classes - 1)
        for seed in (0, 1):
            f = trajectory.series["f"][2 * cell + seed, 0, : sum(counts)]
            W = trajectory.series["W"][2 * cell + seed, 0, :, :classes]
            rows = table[
                (table["classes"] == classes) & (table["largest"] == largest) & (table["scale"] == scale)
                & (table["seed"] == seed)
            ]  # fmt: skip
            moved = velocity(f, W, counts, "cross_entropy")[0]
            np.testing.assert_allclose(rows["rate"], rates_of_singular_values(f, moved), atol=1e-9)
            np.testing.assert_allclose(rows["sigma"] ** 2, np.linalg.eigvalsh(f.T @ f)[::-1], rtol=1e-6)
            np.testing.assert_array_equal(rows["index"], [1, 2])
            # sums over classes and their examples, term by term
            for row, (sigma, left) in zip(rows.itertuples(), leading(f), strict=True):
                right = W.T @ (f.T @ left / sigma) / sigma
                inner = [sum(left[j] for j in range(len(left)) if labels_of(counts)[j] == k) for k in range(classes)]
                assert row.gain_many_classes == pytest.approx(-sum(right * inner), abs=1e-9)
                assert row.gain_separate == pytest.approx(-sum(right) * sum(inner), abs=1e-9)
                assert row.gain == pytest.approx(-row.rate / row.sigma, abs=1e-9)


def leading(f):
    values, vectors = np.linalg.eigh(f @ f.T)
    for k in (-1, -2):
        yield np.sqrt(values[k]), vectors[:, k]


@pytest.mark.parametrize("counts", [[4, 1, 1], [2, 2, 2], [5, 3, 1, 1]])
def test_the_fastest_growth_is_a_root_of_the_characteristic_polynomial(counts):
    residual = sympy.Matrix(
        sum(counts), len(counts), lambda j, k: sympy.Rational(1, len(counts)) - int(labels_of(counts)[j] == k)
    )
    largest = max(sympy.real_roots((residual.T * residual).charpoly().as_expr()), key=float)
    assert theory.fastest_growth(counts) == pytest.approx(float(largest) ** 0.5, rel=1e-12)


@pytest.mark.parametrize(("size", "classes"), [(1, 4), (9, 4), (64, 3), (16, 200)])
def test_the_fastest_growth_of_one_large_class_in_closed_form(size, classes):
    """A^T A acts on the class's own axis and on the sum over the others: a matrix of two by two."""
    others = classes - 1
    mean = (size + others) / classes
    own = size - (2 * size - mean) / classes
    across = -(size + 1 - mean) / classes * np.sqrt(others)
    rest = 1 - (2 - mean) * others / classes
    top = (own + rest) / 2 + np.sqrt((own - rest) ** 2 / 4 + across**2)
    assert theory.fastest_growth([size] + [1] * others) == pytest.approx(np.sqrt(max(top, 1.0)), rel=1e-12)


def test_gains_and_rates_by_loops():
    rng = np.random.default_rng(0)
    U, A, V = rng.standard_normal((3, 5, 2)), rng.standard_normal((3, 5, 4)), rng.standard_normal((3, 4, 2))
    found = (theory.gains(U, A, V), theory.singular_value_rates(U, A, V))
    for member, k in itertools.product(range(3), range(2)):
        expected = sum(U[member, j, k] * A[member, j, c] * V[member, c, k] for j in range(5) for c in range(4))
        for given in found:
            assert given[member, k] == pytest.approx(expected)


def test_early_flows_are_scipys_and_their_growth_is_the_logarithms_derivative():
    settings = {
        "classes": [3, 4], "largest": [2, 9], "dimension": 2, "scale": 0.05, "seeds": 2, "growth": 6.0, "points": 121,
        "rtol": 1e-9,
    }  # fmt: skip
    trajectory = runs.early_growth(**settings, seed=2)
    trajectory.settings = settings
    table = metrics.early_growth(trajectory)
    cells = list(itertools.product([3, 4], [2, 9]))
    for cell, (classes, largest) in enumerate(cells):
        counts = [largest] + [1] * (classes - 1)
        f = trajectory.series["f"][2 * cell + 1, :, : sum(counts)]
        W = trajectory.series["W"][2 * cell + 1, :, :, :classes]
        times = trajectory.time / np.sqrt(largest)
        expected = integrated(f[0], W[0], times, lambda f, W, n=counts: velocity(f, W, n, "cross_entropy"))
        np.testing.assert_allclose(f, expected[0], atol=1e-6)
        rows = table[(table["classes"] == classes) & (table["largest"] == largest) & (table["seed"] == 1)]
        np.testing.assert_allclose(rows["sigma"], np.linalg.norm(f, 2, axis=(1, 2)), rtol=1e-9)
        slopes = np.gradient(np.log(rows["sigma"].to_numpy()), times, edge_order=2)
        # the square of a step of a twentieth, over six, times a third derivative of some tens
        np.testing.assert_allclose(rows["growth"].to_numpy()[1:-1], slopes[1:-1], atol=2e-2)
        weights = np.exp(f[-1] @ W[-1])
        probabilities = weights / weights.sum(axis=1, keepdims=True)
        assert rows["departure"].iloc[-1] == pytest.approx(np.abs(probabilities - 1 / classes).max())
        residual = np.full((sum(counts), classes), 1 / classes) - np.eye(classes)[labels_of(counts)]
        assert rows["fastest"].iloc[0] == pytest.approx(np.linalg.norm(residual, 2))


def test_a_repeated_context_moves_by_the_sum_over_its_examples():
    """One row of f whose loss counts as often as its context occurs: torch's gradient of the repeated rows."""
    settings = {
        "classes": [3, 4], "largest": [2, 9], "dimension": 2, "scale": 0.05, "seeds": 2, "growth": 6.0, "points": 121,
        "rtol": 1e-9,
    }  # fmt: skip
    trajectory = runs.repeated_contexts(**settings, seed=2)
    trajectory.settings = settings
    table = metrics.repeated_contexts(trajectory)
    for cell, (classes, largest) in enumerate(itertools.product([3, 4], [2, 9])):
        counts = torch.tensor([largest] + [1] * (classes - 1))

        def moving(f, W, counts=counts):
            factors = [torch.tensor(part, requires_grad=True) for part in (f, W)]
            every = torch.repeat_interleave(torch.arange(len(counts)), counts)
            loss = torch.nn.functional.cross_entropy((factors[0] @ factors[1])[every], every, reduction="sum")
            return tuple(-part.numpy() for part in torch.autograd.grad(loss, factors))

        f = trajectory.series["f"][2 * cell + 1, :, :classes]
        W = trajectory.series["W"][2 * cell + 1, :, :, :classes]
        times = trajectory.time / largest
        np.testing.assert_allclose(f, integrated(f[0], W[0], times, moving)[0], atol=1e-6)
        rows = table[(table["classes"] == classes) & (table["largest"] == largest) & (table["seed"] == 1)]
        slopes = np.gradient(np.log(rows["sigma"].to_numpy()), times, edge_order=2)
        np.testing.assert_allclose(rows["growth"].to_numpy()[1:-1], slopes[1:-1], atol=3e-2)
        # a diagonal of sizes times the identity less its mean: between N (1 - 1/V) and N
        assert largest * (1 - 1 / classes) <= rows["fastest"].iloc[0] <= largest
