"""One style for every figure: a style sheet, a palette, and the panels that figures share."""

from learning_dynamics.plotting.style import COLOURS, WIDTH, Drawn, sequence, style

__all__ = ["COLOURS", "WIDTH", "Drawn", "sequence", "style"]
