"""How architectures are drawn: one colour and one name for each, in every figure."""

from collections.abc import Iterable
from typing import Any

from matplotlib.lines import Line2D

from learning_dynamics.plotting import COLOURS

NETWORKS = {
    "fully_connected": (COLOURS["blue"], "fully connected"),
    "diagonal": (COLOURS["vermilion"], "diagonal"),
    "convolutional": (COLOURS["green"], "convolutional"),
    "decomposable": (COLOURS["purple"], "decomposable"),
    "short_filters": (COLOURS["orange"], "short filters"),
    "general": (COLOURS["black"], "no structure"),
}


def network_handles(networks: Iterable[str], **style: Any) -> list[Line2D]:
    """Return one legend entry for each architecture, in the order of `NETWORKS`."""
    chosen = set(networks)
    return [
        Line2D([], [], color=colour, label=label, **style)
        for name, (colour, label) in NETWORKS.items()
        if name in chosen
    ]
