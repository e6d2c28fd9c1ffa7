"""The process that label noise drives: batches of paths against all of them at once."""

from typing import Any

import numpy as np

from bench.harness import LIMIT, Row, installed
from learning_dynamics.papers.spectral_bias.noise.models import BATCH, NOISE_STEPS, simulate, standard_normals

PATHS, STEPS, STEP, INPUTS = 20_000, 400, 0.0025, 2


def in_batches(paths: int = PATHS, steps: int = STEPS) -> np.ndarray:
    """Return W at the end by this project, shape (paths, d, d)."""
    W, _, _ = simulate(INPUTS, paths, np.full(steps, STEP), np.array([steps]), seed=0)
    return W[:, 0]


def all_at_once(paths: int = PATHS, steps: int = STEPS) -> np.ndarray:
    """Return the same by numpy, every step for all paths."""
    rng = np.random.default_rng(1)
    W, a = np.tile(np.eye(INPUTS), (paths, 1, 1)), np.zeros((paths, INPUTS))
    for _ in range(steps):
        dB = np.sqrt(STEP) * rng.standard_normal((paths, INPUTS))
        W, a = W + np.einsum("pj,pi->pji", dB, a), a + np.einsum("pji,pj->pi", W, dB)
    return W


def random_numbers() -> np.ndarray:
    """Draw what `in_batches` draws, and return the last of each path, shape (paths, 2)."""
    rng = np.random.default_rng(1)
    last = np.empty((PATHS, INPUTS))
    for start in range(0, PATHS, BATCH):
        paths = slice(start, min(start + BATCH, PATHS))
        for _ in range(0, STEPS, NOISE_STEPS):
            noise = standard_normals(rng, (NOISE_STEPS, INPUTS, paths.stop - start))
        last[paths] = noise[-1].T
    return last


def rows() -> list[Row]:
    """20,000 paths of 400 steps, against numpy, torchsde and the random numbers alone."""
    work = f"label noise, {PATHS:,} paths of {STEPS} steps"
    torchsde = in_torchsde if installed("torchsde") else None
    return [
        Row(work, "numpy, all paths at once", goal=1.0, ours=in_batches, theirs=all_at_once, agree=same_law),
        Row(work, "torchsde, Euler", goal=None, ours=in_batches, theirs=torchsde, agree=same_law),
        # half of the time: every method draws as many
        Row(work, "its random numbers alone", 0.5, in_batches, random_numbers, standard_normal, note=LIMIT),
    ]


def in_torchsde() -> np.ndarray:
    """Return W at the end by ``torchsde.sdeint``: general noise, one column for each Brownian motion."""
    import torch
    import torchsde

    class Process(torch.nn.Module):
        noise_type, sde_type = "general", "ito"

        def f(self, _t: Any, state: Any) -> Any:
            return torch.zeros_like(state)

        def g(self, _t: Any, state: Any) -> Any:
            M = state.reshape(-1, INPUTS + 1, INPUTS)
            out = state.new_zeros(len(state), INPUTS + 1, INPUTS, INPUTS)
            for j in range(INPUTS):
                out[:, j, :, j], out[:, -1, :, j] = M[:, -1], M[:, j]
            return out.reshape(len(state), -1, INPUTS)

    start = torch.eye(INPUTS + 1, INPUTS, dtype=torch.float64).reshape(1, -1).repeat(PATHS, 1)
    with torch.no_grad():
        ends = torchsde.sdeint(Process(), start, torch.tensor([0.0, STEP * STEPS]), dt=STEP, method="euler")[-1]
    return ends.reshape(PATHS, INPUTS + 1, INPUTS)[:, :INPUTS].numpy()


def standard_normal(_ours: np.ndarray, numbers: np.ndarray) -> None:
    """Assert that mean and variance are those of standard normal numbers, within five standard errors."""
    assert abs(numbers.mean()) <= 5 / np.sqrt(numbers.size)
    assert abs(numbers.var() - 1) <= 5 * np.sqrt(2 / numbers.size)


def same_law(ours: np.ndarray, theirs: np.ndarray) -> None:
    """Assert that second moments agree within five standard errors: the draws themselves differ."""
    for first, second in zip((ours**2).reshape(PATHS, -1).T, (theirs**2).reshape(PATHS, -1).T, strict=True):
        allowed = 5 * np.hypot(first.std(), second.std()) / np.sqrt(PATHS)
        assert abs(first.mean() - second.mean()) <= allowed
