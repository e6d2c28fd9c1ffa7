"""Training of one network on the digits, against a plain PyTorch loop over a DataLoader."""

import copy
from typing import Any

import numpy as np

from bench.harness import Row

EPOCHS, BATCH, RATE, MOMENTUM, DECAY = 3, 64, 0.094, 0.9, 5e-3


def digits() -> tuple[Any, Any]:
    """Return standardised images and labels, as a training takes them."""
    import torch

    from learning_dynamics.datasets import images

    data = images.digits(per_class=140, seed=2023)
    standardised = images.standardised(data["train_images"], data["train_images"])
    return torch.from_numpy(standardised), torch.from_numpy(data["train_labels"])


def resnet() -> Any:
    """Return the ResNet of figures 1 and 2 at laptop scale, initialised."""
    from learning_dynamics.dynamics.training import seeded
    from learning_dynamics.papers.neural_collapse.training.models import build

    with seeded(2023, "initialisation", 0):
        return build("resnet", 1, 10, stages=[1, 1, 1], width=16)


def rows() -> list[Row]:
    """Three epochs of 22 batches."""
    import torch
    from torch.nn import functional
    from torch.utils.data import DataLoader, TensorDataset

    from learning_dynamics.dynamics.training import Recipe, train
    from learning_dynamics.seeds import seed_sequence

    images, labels = digits()
    start = resnet()

    def ours(epochs: int = EPOCHS, shown: Any = images, known: Any = labels) -> dict[str, np.ndarray]:
        network = copy.deepcopy(start).to(memory_format=torch.channels_last)
        lying = shown.contiguous(memory_format=torch.channels_last)
        recipe = Recipe("mse", RATE, MOMENTUM, DECAY, BATCH, epochs, ())
        return train(network, lying, known, recipe, np.array([epochs]), seed=2023)[epochs]

    def theirs(epochs: int = EPOCHS, shown: Any = images, known: Any = labels) -> dict[str, np.ndarray]:
        network = copy.deepcopy(start).train()
        optimiser = torch.optim.SGD(network.parameters(), RATE, MOMENTUM, weight_decay=DECAY)
        for epoch in range(1, epochs + 1):
            # the same batches, so that outcomes can be compared
            order = np.random.default_rng(seed_sequence(2023, f"batches of epoch {epoch}", 0)).permutation(len(known))
            for batch, wanted in DataLoader(TensorDataset(shown, known), BATCH, sampler=order.tolist()):
                targets = functional.one_hot(wanted, 10).float()
                loss = 0.5 * functional.mse_loss(network(batch), targets, reduction="sum") / len(batch)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
        return {name: value.detach().numpy() for name, value in network.state_dict().items()}

    def agree(_ours: Any, _theirs: Any) -> None:
        # training amplifies rounding from step to step, so that whole trainings end apart: six steps, in units of what
        # the peer itself moves by when each pixel is changed in its last digit
        few, known = images[::4], labels[::4]
        signs = torch.from_numpy(np.random.default_rng(0).choice([-1.0, 1.0], few.shape)).float()
        changed = few * (1 + torch.finfo(torch.float32).eps * signs)
        reached = theirs(1, few, known)
        trained = [name for name, _ in start.named_parameters()]
        apart = _distance(ours(1, few, known), reached, trained)
        rounding = _distance(theirs(1, changed, known), reached, trained)
        # two memory layouts round differently in every layer of every step, the pixels were changed once
        assert apart <= 30 * rounding

    return [
        Row(
            f"training, ResNet on digits, {EPOCHS} epochs",
            "PyTorch loop over a DataLoader",
            1.5,
            ours,
            theirs,
            agree,
            note="both sides take the same batches",
        )
    ]


def _distance(first: dict[str, np.ndarray], second: dict[str, np.ndarray], names: list[str]) -> float:
    """Return the norm of the difference of all weights relative to theirs."""
    apart = sum(float(np.sum((first[name] - second[name]) ** 2)) for name in names)
    return float(np.sqrt(apart / sum(float(np.sum(second[name] ** 2)) for name in names)))
