"""What the machine allows: the rate at which a piece of work goes, over that of what bounds it alone."""

from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np

from bench import collapse, flow, noise, training
from bench.harness import seconds
from learning_dynamics.dynamics import compiled_flow, matrix_factorisation
from learning_dynamics.papers.spectral_bias import two_layer, two_layer_flow
from learning_dynamics.papers.spectral_bias.noise import models

SECONDS = 1.0


def rows(repeats: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each piece of work: what is reached, what is allowed, and by what."""
    for found in (images_per_second, covariance, completion, normal_numbers, evaluations, small_evaluations):
        yield found(repeats)


def images_per_second(_repeats: int) -> dict[str, Any]:
    """Training of the ResNet on digits, against the peak of large convolutions over what an image needs."""
    import torch

    from learning_dynamics.dynamics.training import Recipe
    from learning_dynamics.measures import throughput

    images, labels = training.digits()
    images = images.contiguous(memory_format=torch.channels_last)
    network = training.resnet().to(memory_format=torch.channels_last)
    needed = throughput.operations_per_image(network, images[: training.BATCH])
    recipe = Recipe("mse", training.RATE, training.MOMENTUM, training.DECAY, training.BATCH, 1, ())
    reached = throughput.images_per_second(network, images, labels, recipe, seconds=SECONDS)
    return _row("training, ResNet on digits", "images/s", reached, convolution_peak() / needed, "convolutions alone")


def convolution_peak() -> float:
    """Return the most operations a second of 3 x 3 convolutions of 32 x 32 pixels, forward and backward, float32."""
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    best = 0.0
    for channels in (32, 64, 128):
        layer = torch.nn.Conv2d(channels, channels, 3, padding=1, bias=False).to(memory_format=torch.channels_last)
        images = torch.randn(16, channels, 32, 32).contiguous(memory_format=torch.channels_last).requires_grad_()

        def step(layer: Any = layer, images: Any = images) -> None:
            layer(images).sum().backward()

        with FlopCounterMode(display=False) as counter:
            step()
        best = max(best, counter.get_total_flops() / _least(step, 3))
    return best


def covariance(repeats: int) -> dict[str, Any]:
    """Class moments of 512 features, against products of large matrices in float64."""
    examples, P = 4000, collapse.FEATURES
    batches = list(collapse.batches(examples, P, collapse.BATCH))

    import torch

    from learning_dynamics.measures.class_moments import ClassMoments

    def work() -> None:
        moments = ClassMoments(torch.full((collapse.CLASSES,), examples // collapse.CLASSES), P)
        for given, labels in batches:
            moments.update(given, labels)

    reached = 2.0 * examples * P**2 / _least(work, repeats)
    return _row(f"within-class covariance, P = {P}", "GFLOP/s", reached / 1e9, _product_peak() / 1e9, "products alone")


def completion(repeats: int) -> dict[str, Any]:
    """Descent of depth 3 on 20 x 20 matrices, against products of large matrices in float64."""
    members, n, steps, depth = 40, 20, 500, 3
    rng = np.random.default_rng(0)
    layers = [0.2 * rng.standard_normal((members, n, n)) for _ in range(depth)]
    truth, mask = rng.standard_normal((members, n, n)), (rng.random((members, n, n)) < 0.4).astype(float)

    def work() -> None:
        matrix_factorisation.descend(layers, truth, mask, np.full(members, 0.01), stop=0.0, max_steps=steps)

    # two forward, and backward two for each layer above the first
    products = 2 + 4
    reached = 2.0 * n**3 * products * members * steps / _least(work, repeats)
    return _row("matrix completion, 20 x 20", "GFLOP/s", reached / 1e9, _product_peak() / 1e9, "large products alone")


def normal_numbers(repeats: int) -> dict[str, Any]:
    """Label noise, against the generator of its normal random numbers."""
    paths, steps = noise.PATHS, 100
    rng = np.random.default_rng(0)
    shape = models.NOISE_STEPS, noise.INPUTS, models.BATCH

    def draw() -> None:
        for _ in range(0, steps, models.NOISE_STEPS):
            models.standard_normals(rng, shape)

    alone = _least(draw, repeats) / (models.BATCH * steps)
    whole = _least(lambda: noise.simulated(paths, steps), repeats) / (paths * steps)
    return _row("label noise, d = 2", "million steps of a path/s", 1e-6 / whole, 1e-6 / alone, "normal numbers alone")


def evaluations(repeats: int) -> dict[str, Any]:
    """The flow of one network, against its vector field alone."""
    X, Y, initial = flow.problem()
    W1, W2 = two_layer.unpack(initial, flow.INPUTS, flow.WIDTH, flow.OUTPUTS)
    Q = two_layer.hidden_basis(W1, W2)
    state = two_layer.pack(W1 @ Q, Q.T @ W2)
    data, shape = np.r_[X.ravel(), Y.ravel()], np.array([len(X), flow.INPUTS, Q.shape[1], flow.OUTPUTS])
    alone = _alone(two_layer_flow.field, state, data, shape, repeats)
    count = compiled_flow.flow(
        two_layer_flow.field, data, shape, state, flow.TIMES, rtol=flow.RTOL, atol=flow.ATOL, land=True
    ).evaluations
    return _row(flow.WORK, "evaluations/s", count / _least(flow.followed, repeats), 1 / alone, "the vector field alone")


def small_evaluations(repeats: int) -> dict[str, Any]:
    """The flows of many small networks, against their vector field alone."""
    members = 500
    X, y, initial, times = flow.diagonal_networks(members)
    data = np.concatenate([X.reshape(members, -1), y], axis=1)
    alone = _alone(flow.diagonal_field, initial[0], data[0], np.array(X.shape[1:]), repeats)
    count = compiled_flow.flows(
        flow.diagonal_field, data, X.shape[1:], initial, times, rtol=flow.RTOL, atol=flow.ATOL
    ).evaluations.sum()
    reached = count / _least(lambda: flow.each_alone(members, flow.RTOL, flow.ATOL), repeats)
    return _row(f"flows of {members} small networks", "evaluations/s", reached, 1 / alone, "the vector field alone")


def _alone(field: Any, state: np.ndarray, data: np.ndarray, shape: np.ndarray, repeats: int, many: int = 1000) -> float:
    """Return the seconds of one evaluation of a compiled vector field."""
    return _least(lambda: _evaluated(field, many, state, data, shape, np.empty_like(state)), repeats) / many


@numba.njit(
    numba.types.void(
        numba.types.FunctionType(compiled_flow.FIELD), numba.types.int64, compiled_flow.VECTOR, compiled_flow.VECTOR,
        compiled_flow.SHAPE, compiled_flow.VECTOR,
    )
)  # fmt: skip
def _evaluated(
    field: Any, many: int, state: np.ndarray, data: np.ndarray, shape: np.ndarray, slope: np.ndarray
) -> None:
    for _ in range(many):
        field(state, data, shape, slope)


def _product_peak(size: int = 1024) -> float:
    left, right = np.random.default_rng(0).standard_normal((2, size, size))
    return 2.0 * size**3 / _least(lambda: left @ right, 5)


def _least(work: Callable[[], object], repeats: int) -> float:
    work()
    return min(seconds(work) for _ in range(repeats))


def _row(work: str, unit: str, reached: float, allowed: float, by: str) -> dict[str, Any]:
    return {
        "work": work,
        "unit": unit,
        "reached": reached,
        "allowed": allowed,
        "share": reached / allowed,
        "what allows it": by,
    }
