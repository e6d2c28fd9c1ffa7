"""Gradient descent of small linear networks: a compiled loop against autograd, and against C."""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from bench.harness import Row, close
from learning_dynamics.dynamics import matrix_factorisation, multilinear_descent

STEPS = 2_000_000
# descent on sum_i exp(-y_i f_i), f_i = sum over entries of M_i times the product of one weight from each layer
SOURCE = r"""
#include <math.h>
#include <string.h>
void descend(long samples, long entries, long depth, long size, const long *where, const double *values,
             const double *labels, double *state, double step, long steps, double *gradient, double *weights)
{
    for (long taken = 0; taken < steps; taken++) {
        memset(weights, 0, samples * sizeof(double));
        for (long e = 0; e < entries; e++) {
            double product = 1;
            for (long l = 0; l < depth; l++) product *= state[where[e * depth + l]];
            for (long i = 0; i < samples; i++) weights[i] += values[i * entries + e] * product;
        }
        for (long i = 0; i < samples; i++) weights[i] = -labels[i] * exp(-labels[i] * weights[i]);
        memset(gradient, 0, size * sizeof(double));
        for (long e = 0; e < entries; e++) {
            double common = 0;
            for (long i = 0; i < samples; i++) common += weights[i] * values[i * entries + e];
            for (long l = 0; l < depth; l++) {
                double others = common;
                for (long m = 0; m < depth; m++) if (m != l) others *= state[where[e * depth + m]];
                gradient[where[e * depth + l]] += others;
            }
        }
        for (long p = 0; p < size; p++) state[p] -= step * gradient[p];
    }
}
"""


def rows() -> list[Row]:
    """Two-layer classification, 2e6 steps; completion of 40 matrices."""
    rng = np.random.default_rng(0)
    tensors = rng.standard_normal((3, 2, 2))
    labels, initial = np.array([1.0, -1.0, 1.0]), rng.standard_normal((1, 4)) * 0.5
    compared = [autograd(tensors, labels, initial)]
    if shutil.which("cc"):
        compared.append(loop_in_c(tensors, labels, initial))
    return [*compared, completion()]


def autograd(tensors: np.ndarray, labels: np.ndarray, initial: np.ndarray) -> Row:
    """PyTorch: a loop of loss, backward, step."""
    few = 2000

    def theirs() -> np.ndarray:
        import torch

        data, signs = torch.as_tensor(tensors), torch.as_tensor(labels)
        first = torch.tensor(initial[0, :2], requires_grad=True)
        second = torch.tensor(initial[0, 2:], requires_grad=True)
        optimiser = torch.optim.SGD([first, second], lr=1e-3)
        for _ in range(few):
            optimiser.zero_grad()
            torch.exp(-signs * torch.einsum("ijk,j,k->i", data, first, second)).sum().backward()
            optimiser.step()
        return torch.cat([first, second]).detach().numpy()

    def agree(_whole: Any, part: Any) -> None:
        close(1e-12)(_descend(tensors, labels, initial, few), part)

    return Row(
        "two-layer descent, 2e6 steps",
        "PyTorch autograd",
        goal=3000,
        ours=lambda: _descend(tensors, labels, initial, STEPS),
        theirs=theirs,
        agree=agree,
        share=few / STEPS,
        note=f"the alternative's {few} steps, times {STEPS // few}",
    )


def loop_in_c(tensors: np.ndarray, labels: np.ndarray, initial: np.ndarray) -> Row:
    """A loop in C of the same generality: any tensors, any depth."""
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    (folder / "descend.c").write_text(SOURCE)
    command = ["cc", "-O3", "-march=native", "-shared", "-fPIC", "descend.c", "-o", "descend.so", "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    function = ctypes.CDLL(str(folder / "descend.so")).descend
    function.restype = None
    entries = np.argwhere(np.any(tensors != 0, axis=0))
    values = np.ascontiguousarray(tensors[(slice(None), *entries.T)])
    where = np.ascontiguousarray(entries + np.array([0, 2]), dtype=np.int64)

    def pointer(array: np.ndarray) -> ctypes.c_void_p:
        return ctypes.c_void_p(array.ctypes.data)

    def theirs() -> np.ndarray:
        state, gradient, weights = initial[0].copy(), np.empty(4), np.empty(len(labels))
        function(
            *(ctypes.c_long(number) for number in (*values.shape, 2, 4)),
            *map(pointer, (where, values, labels, state)),
            *(ctypes.c_double(1e-3), ctypes.c_long(STEPS)),
            *map(pointer, (gradient, weights)),
        )
        return state

    ours = lambda: _descend(tensors, labels, initial, STEPS)  # noqa: E731
    return Row("two-layer descent, 2e6 steps", "C, gcc -O3", goal=1 / 1.5, ours=ours, theirs=theirs, agree=close(1e-9))


def _descend(tensors: np.ndarray, labels: np.ndarray, initial: np.ndarray, steps: int) -> np.ndarray:
    done = multilinear_descent.descend(tensors, labels, initial, loss="exponential", step=1e-3, steps=steps)
    return done.final_states[0]


def completion() -> Row:
    """Matrix completion, 40 runs of depth 3, 1,000 steps each."""
    rng = np.random.default_rng(1)
    members, size, depth, steps, rate = 40, 20, 3, 1000, 0.3
    truth = rng.standard_normal((members, size, 2)) @ rng.standard_normal((members, 2, size))
    truth /= np.linalg.norm(truth, axis=(1, 2), keepdims=True) / size
    mask = (rng.random((members, size, size)) < 0.4).astype(float)
    layers = [0.2 * rng.standard_normal((members, size, size)) for _ in range(depth)]

    def ours() -> np.ndarray:
        rates = np.full(members, rate)
        return matrix_factorisation.descend(layers, truth, mask, rates, stop=0.0, max_steps=steps).end_to_end

    def theirs() -> np.ndarray:
        import torch

        ends = []
        for member in range(members):
            weights = [torch.tensor(layer[member], requires_grad=True) for layer in layers]
            wanted, seen = torch.tensor(truth[member]), torch.tensor(mask[member])
            optimiser = torch.optim.SGD(weights, lr=rate)
            for _ in range(steps):
                optimiser.zero_grad()
                product = weights[2] @ weights[1] @ weights[0]
                (((product - wanted) * seen).square().sum() / seen.sum()).backward()
                optimiser.step()
            ends.append((weights[2] @ weights[1] @ weights[0]).detach().numpy())
        return np.array(ends)

    return Row(
        "matrix completion, 40 runs of 1,000 steps",
        "PyTorch autograd, one by one",
        goal=8,
        ours=ours,
        theirs=theirs,
        agree=close(1e-8),
        note="the alternative's runs share one process: each in its own would start Python 40 times",
    )
