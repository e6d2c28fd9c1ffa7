"""The lines that figures of training share."""

from __future__ import annotations

from typing import Any

from learning_dynamics.plotting import COLOURS

Line = dict[str, Any]
TRAIN: Line = {"label": "train", "color": COLOURS["blue"]}
TEST: Line = {"label": "test", "color": COLOURS["sky"], "ls": (0, (4, 2)), "split": "test"}


def under_both_losses(quantity: str, split: str = "train", **drawn: Any) -> list[dict[str, Any]]:
    """Lines of one quantity under MSE and under cross-entropy."""
    return [
        {"quantity": quantity, "split": split, "loss": "mse", "label": "MSE", "color": COLOURS["blue"], **drawn},
        {"quantity": quantity, "split": split, "loss": "ce", "label": "CE", "color": COLOURS["orange"], **drawn},
    ]
