"""How fast the configured networks train on the machine at hand: images per second, share of the device's peak."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from tabulate import tabulate

from learning_dynamics.dynamics.training import Recipe, chosen_device, seeded
from learning_dynamics.measures.throughput import attainable, images_per_second, operations_per_image
from learning_dynamics.papers.neural_collapse.training.models import network_of
from learning_dynamics.pipeline.store.provenance import provenance
from learning_dynamics.pipeline.store.seals import sealing
from learning_dynamics.pipeline.store.tables import write_table
from learning_dynamics.tidy import Column

COLUMNS = (
    Column("run", "str", "run of the configuration whose network, batch and precision are timed"),
    Column("device", "str", "what it trains on"),
    Column("precision", "str", "of the forward pass: float32 or bfloat16"),
    Column("parameters", "int", "of the network"),
    Column("operations", "float", "floating-point operations of a training step for one image, 1e9"),
    Column("images_per_second", "float", "images trained on in a second"),
    Column("share_of_peak", "float", "operations per second over those of a product of large matrices"),
    Column("memory", "float", "largest memory on the GPU, GB", True),
)


def timed(run: str, settings: Mapping[str, Any], *, channels: int, size: int, batches: int, seconds: float) -> dict:
    """Return one row of `COLUMNS`: the run's network, trained on random images."""
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Time every run that is named and write the table twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=json.loads, required=True, help="settings of each run by name, as JSON")
    parser.add_argument("--channels", type=int, default=3)
    parser.add_argument("--size", type=int, default=32, help="height and width of the images, pixels")
    parser.add_argument("--batches", type=int, default=4, help="in an epoch")
    parser.add_argument("--seconds", type=float, default=20.0, help="for which each network trains")
    parser.add_argument("--parquet", type=Path, required=True)
    parser.add_argument("--markdown", type=Path, required=True)
    options = vars(parser.parse_args(arguments))
    runs, parquet, markdown = (options.pop(key) for key in ("runs", "parquet", "markdown"))
    table = pd.DataFrame([timed(run, settings, **options) for run, settings in runs.items()])
    write_table(parquet, table, COLUMNS, provenance("table", "neural_collapse", "throughput", options | runs))
    with sealing(markdown) as partial:
        text = tabulate(table, headers="keys", tablefmt="github", showindex=False, floatfmt=".3g", missingval="")
        partial.write_text(text.replace("nan", "   ") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
