"""How architectures are drawn."""

from __future__ import annotations

from learning_dynamics.plotting import COLOURS

# one colour for each architecture, in every figure
NETWORKS = {
    "fully_connected": (COLOURS["blue"], "fully connected"),
    "diagonal": (COLOURS["vermilion"], "diagonal"),
    "convolutional": (COLOURS["green"], "convolutional"),
}
