"""How depths, and what they are held against, are drawn."""

from __future__ import annotations

from learning_dynamics.plotting import COLOURS

DEPTH_COLOURS = {1: COLOURS["black"], 2: COLOURS["blue"], 3: COLOURS["vermilion"], 4: COLOURS["green"],
                 8: COLOURS["purple"]}  # fmt: skip
DASHED = (0, (4, 2))
