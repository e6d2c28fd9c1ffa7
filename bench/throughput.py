"""How fast the configured networks train on the machine at hand: images per second, share of the device's peak."""

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from tabulate import tabulate
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from learning_dynamics.dynamics.training import (
    Precision,
    Recipe,
    arithmetic,
    chosen_device,
    make_step,
    one_epoch,
    seeded,
)
from learning_dynamics.papers.neural_collapse.training.models import network_of
from learning_dynamics.pipeline.plan.config_files import load
from learning_dynamics.pipeline.plan.plan import Plan

PAPER = "neural_collapse"


def operations_per_image(network: nn.Module, images: Tensor) -> float:
    """Return the floating-point operations of a training step, forward and backward, for one of the images."""
    with FlopCounterMode(display=False) as counter:
        network(images).sum().backward()
    network.zero_grad(set_to_none=True)
    return counter.get_total_flops() / len(images)


def images_per_second(network: nn.Module, images: Tensor, labels: Tensor, recipe: Recipe, *, seconds: float) -> float:
    """Return the images that training takes in a second, by whole epochs that last `seconds` or more together.

    The first epoch is not counted: it chooses algorithms, and compiles where the recipe asks for that. The
    network is trained in place, in the arithmetic that training has.
    """
    optimiser = torch.optim.SGD(
        network.parameters(), lr=recipe.learning_rate, momentum=recipe.momentum, weight_decay=recipe.weight_decay
    )
    targets = functional.one_hot(labels, int(labels.max()) + 1).float() if recipe.loss == "mse" else labels
    step = make_step(network, optimiser, images, targets, recipe)
    order = torch.from_numpy(np.random.default_rng(0).permutation(len(images))).to(images.device)
    network.train()

    def epoch() -> None:
        with arithmetic(recipe.precision):
            one_epoch(step, order, recipe)

    return len(images) * _rate(epoch, images.device, seconds)


def attainable(device: torch.device, precision: Precision, *, seconds: float) -> float:
    """Return the floating-point operations per second of a product of large square matrices in a precision.

    It is what a device reaches when nothing but arithmetic limits it: the peak that a network's rate is compared with.
    """
    size = 8192 if device.type == "cuda" else 2048
    kind = torch.bfloat16 if precision == "bfloat16" else torch.float32
    left, right = (torch.randn(size, size, device=device, dtype=kind) for _ in range(2))
    with arithmetic(precision):
        return 2.0 * size**3 * _rate(lambda: torch.mm(left, right), device, seconds)


def _rate(work: Callable[[], object], device: torch.device, seconds: float) -> float:
    """Return how many times a second `work` is done, its first time not counted."""

    def elapsed() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter()

    work()
    begun, done = elapsed(), 0
    while (now := elapsed()) - begun < seconds or not done:
        work()
        done += 1
    return done / (now - begun)


def timed(
    run: str, settings: Mapping[str, Any], *, channels: int, size: int, batches: int, seconds: float
) -> dict[str, Any]:
    """Return how fast the network of a run trains on random images.

    Returns
    -------
    dict
        run, device, precision; parameters of the network; operations, floating-point operations of a training step for
        one image (1e9); images_per_second; share_of_peak, operations per second over those of a product of large
        matrices; memory, the largest on the GPU (GB).
    """
    device = chosen_device(settings.get("device", "auto"))
    on_gpu = device.type == "cuda"
    precision = settings.get("precision", "float32")
    keys = ("loss", "learning_rate", "momentum", "weight_decay", "batch", "epochs")
    recipe = Recipe(
        **{key: settings[key] for key in keys},
        drops=(),
        precision=precision,
        execution=settings.get("execution", "eager"),
        drop_last=settings.get("drop_last", False),
    )
    with seeded(settings["seed"], "throughput", 0):
        network = network_of(settings, channels, 10)
        network = network.to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        images = torch.randn(batches * recipe.batch, channels, size, size).to(device)
    images = images.contiguous(memory_format=torch.channels_last)
    labels = torch.arange(len(images), device=device) % 10
    operations = operations_per_image(network, images[:2])
    if on_gpu:
        torch.cuda.reset_peak_memory_stats(device)
    rate = images_per_second(network, images, labels, recipe, seconds=seconds)
    return {
        "run": run,
        "device": torch.cuda.get_device_name(device) if on_gpu else f"CPU, {torch.get_num_threads()} threads",
        "precision": precision,
        "parameters": sum(parameter.numel() for parameter in network.parameters()),
        "operations": operations / 1e9,
        "images_per_second": rate,
        "share_of_peak": rate * operations / attainable(device, precision, seconds=min(seconds, 2.0)),
        "memory": torch.cuda.max_memory_allocated(device) / 1e9 if on_gpu else None,
    }


def networks(plan: Plan) -> dict[str, dict[str, Any]]:
    """Return the settings of the first run of a configuration that trains each network, by the run's name."""
    distinguishing = ("network", "stages", "width", "bottleneck", "hidden", "precision", "execution")
    first_runs: dict[str, tuple[str, dict[str, Any]]] = {}
    for name in plan.config.runs[PAPER]:
        spec = plan.run(PAPER, name)
        if spec["function"] == "training.training":
            network = json.dumps([spec["settings"].get(key) for key in distinguishing])
            first_runs.setdefault(network, (name, spec["settings"]))
    return dict(first_runs.values())


def main(arguments: Sequence[str] | None = None) -> None:
    """Time the network of every run, or of those that are named; print a table, and write it as CSV."""
    parser = argparse.ArgumentParser(prog="python -m bench.throughput", description=__doc__)
    parser.add_argument("--configfile", type=Path, nargs="*", default=[Path("workflow/config/full.yaml")])
    parser.add_argument("--runs", nargs="*", help="some runs of the configuration")
    parser.add_argument("--channels", type=int, default=3)
    parser.add_argument("--size", type=int, default=32, help="height and width of the images, pixels")
    parser.add_argument("--batches", type=int, default=4, help="in an epoch")
    parser.add_argument("--seconds", type=float, default=20.0, help="for which each network trains")
    parser.add_argument("--out", type=Path, required=True, help="the .csv to write")
    options = vars(parser.parse_args(arguments))
    files, chosen, out = (options.pop(key) for key in ("configfile", "runs", "out"))
    plan = Plan(load(files, {"papers": [PAPER]}))
    runs = {name: plan.run(PAPER, name)["settings"] for name in chosen} if chosen else networks(plan)
    table = pd.DataFrame([timed(run, settings, **options) for run, settings in runs.items()])
    out.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(out, index=False, float_format="%.6g")
    print(tabulate(table, headers="keys", tablefmt="github", showindex=False, floatfmt=".3g", missingval=""))


if __name__ == "__main__":
    main()
