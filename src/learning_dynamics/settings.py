"""The types of settings: what a keyword parameter of a configured function may be annotated with.

They are plain numbers here; what configuration holds them to stands in `pipeline.signatures`, which reads the
annotations from the source, so that no job pays for the checks.
"""

from __future__ import annotations

from typing import Literal

Count = int  # 1, 2, 3, ...
Natural = int  # 0, 1, 2, ...
Seed = int  # 0, 1, 2, ...
Real = float  # any finite number
Positive = float  # above 0, finite
NonNegative = float  # 0 or more, finite
Fraction = float  # from 0 to 1
# squared size of weights at the start, 1e-24 or more: below it rounding of what is learnt shows in what is not yet
Scale = float

__all__ = ["Count", "Fraction", "Literal", "Natural", "NonNegative", "Positive", "Real", "Scale", "Seed"]
