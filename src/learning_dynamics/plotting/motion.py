"""A figure that moves: what is drawn, and what brings it from frame to frame."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure

MOVING = 4.4  # inches: the width of a figure that moves, 480 pixels of a page
FRAMES = 60  # enough for four seconds to look smooth


@dataclass(frozen=True)
class Motion:
    """A small figure, and what brings it to each of its frames.

    Attributes
    ----------
    figure : Figure
        `MOVING` wide; its layout is that of the last frame.
    draw : callable
        Called with the number of a frame, 0 to `frames` - 1 in any order, it changes what is drawn; limits and labels
        stay.
    frames : int
    seconds : float
        How long they are shown together; the last is then held for a moment before the first follows again.
    facts, alt
        As of `Plot`.
    """

    figure: Figure
    draw: Callable[[int], Any]
    frames: int = FRAMES
    seconds: float = 4.0
    facts: Mapping[str, Any] = field(default_factory=dict)
    alt: str = ""
