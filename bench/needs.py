"""What the configured trainings need, counted on the meta device: hours at a stated rate, disk, memory.

Nothing is computed and nothing allocated, so that any scale can be counted on any machine.
"""

import argparse
import functools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tabulate import tabulate
from torch.utils.flop_counter import FlopCounterMode

from learning_dynamics.dynamics.training import measured_epochs
from learning_dynamics.measures.memory import LiveBytes
from learning_dynamics.papers.neural_collapse.training.models import network_of
from learning_dynamics.pipeline.plan.config_files import load
from learning_dynamics.pipeline.plan.plan import Plan

PAPER = "neural_collapse"
# channels, pixels on a side, and test images of the data sets that the paper trains on
SHAPES = {
    "mnist": (1, 32, 10_000),
    "fashion_mnist": (1, 32, 10_000),
    "svhn": (3, 32, 26_032),
    "cifar10": (3, 32, 10_000),
    "stl10": (3, 96, 8_000),
}
RATE = 10.0  # TFLOP/s that are taken to be sustained in float32: an assumption
DEEPFOOL = 50 * 21  # forward passes of an image: at most fifty steps of one pass and ten derivatives of two


@dataclass(frozen=True)
class Needs:
    """What one training and its metrics need.

    Attributes
    ----------
    parameters : int
    operations, measuring : float
        Floating-point operations of the training, and of what is measured, at most.
    disk, resume : int
        Bytes of the run's file, and at most of what it keeps to be taken up again from, while it is trained.
    memory : int
        Bytes that live at once on a GPU in training.
    """

    parameters: int
    operations: float
    measuring: float
    disk: int
    resume: int
    memory: int


@functools.cache
def needs(plan: Plan, run: str) -> Needs:
    """Return what a run of the configuration needs; its data set is one of `SHAPES`."""
    settings, measure = plan.run(PAPER, run)["settings"], plan.measure(PAPER, run)["settings"]
    data = plan.run_data(PAPER, run)
    assert data is not None
    channels, size, test_images = SHAPES[data]
    images = 10 * plan.data(PAPER, data)["settings"]["per_class"]
    with torch.device("meta"):
        network = network_of(settings, channels, 10)
        batch = torch.empty(settings["batch"], channels, size, size)
    optimiser = torch.optim.SGD(network.parameters(), lr=0.1, momentum=settings["momentum"])
    with LiveBytes() as step:
        network(batch).square().mean().backward()
        optimiser.step()
    with FlopCounterMode(display=False) as counter:
        network(batch[:2])
    forward = counter.get_total_flops() / 2
    parameters = sum(parameter.numel() for parameter in network.parameters())
    state = sum(value.numel() * value.element_size() for value in network.state_dict().values())
    recorded = len(measured_epochs(settings["epochs"], settings["measurements"]))
    # of each recorded epoch one pass over all images; where robustness is measured another over the train images, and
    # DeepFool
    attacks = measure["robustness_epochs"] * (images + 10 * measure["robustness_images"] * DEEPFOOL)
    return Needs(
        parameters=parameters,
        operations=3.0 * forward * images * settings["epochs"] * settings["seeds"],
        measuring=forward * settings["seeds"] * ((images + test_images) * recorded + attacks),
        disk=state * recorded * settings["seeds"],
        resume=state * (recorded * settings["seeds"] + 1) + 4 * parameters,
        memory=step.peak + 4 * parameters + 4 * images * channels * size**2,
    )


def table(plan: Plan, rate: float = RATE) -> str:
    """Return the needs of every training under MSE on one of `SHAPES`, sweeps apart, as a table in Markdown."""
    swept = {run for runs in plan.config.sweeps(PAPER).values() for run in runs}
    rows = []
    for run in plan.config.runs[PAPER]:
        spec = plan.run(PAPER, run)
        # cross-entropy needs the same
        if plan.run_data(PAPER, run) not in SHAPES or run in swept or spec["settings"]["loss"] != "mse":
            continue
        need, resources = needs(plan, run), plan.resources("run", PAPER, run)
        operations_per_hour = 3600e12 * rate
        rows.append(
            {
                "training": run.removesuffix("_mse"),
                "parameters (M)": f"{need.parameters / 1e6:.1f}",
                "operations (10¹⁵)": f"{need.operations / 1e15:.0f}",
                "hours": f"{need.operations / operations_per_hour:.1f}",
                "of measuring": f"{need.measuring / operations_per_hour:.2f}",
                "disk (GB)": f"{need.disk / 1e9:.1f}",
                "GPU memory (GB)": f"{need.memory / 1e9:.1f}",
                "main memory (GB)": f"{resources.get('mem_mb', 0) / 1000:.0f}",
                "time limit (h)": f"{resources.get('runtime', 0) / 60:.0f}",
            }
        )
    return tabulate(rows, headers="keys", tablefmt="github", disable_numparse=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.needs", description=__doc__)
    parser.add_argument("--configfile", type=Path, nargs="*", default=[Path("workflow/config/full.yaml")])
    parser.add_argument("--rate", type=float, default=RATE, help="TFLOP/s that are sustained")
    options = parser.parse_args(arguments)
    plan = Plan(load(options.configfile, {"papers": [PAPER]}))
    sys.stdout.write(table(plan, options.rate) + "\n")


if __name__ == "__main__":
    main()
