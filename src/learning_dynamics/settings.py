"""The types of settings: what a keyword parameter of a configured function may be annotated with.

They are plain numbers to whoever calls the function; `Bounds` beside them is what configuration holds them to, and how
the reference says it. Settings that belong together are fields of a frozen dataclass, and the class is their type.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

LARGEST_COUNT = 10**10  # steps of the longest descent; nothing of this size is ever held in memory


@dataclass(frozen=True)
class Bounds:
    """What a number may be: in words, and as limits (gt, ge, le: above, from, to) by pydantic's names."""

    words: str
    limits: Mapping[str, Any] = field(default_factory=dict, hash=False)


Count = Annotated[int, Bounds("a whole number, 1 or more", {"ge": 1, "le": LARGEST_COUNT})]
Natural = Annotated[int, Bounds("a whole number, 0 or more", {"ge": 0, "le": LARGEST_COUNT})]
Seed = Annotated[int, Bounds("a whole number, 0 or more", {"ge": 0, "le": 2**63 - 1})]
Real = Annotated[float, Bounds("a finite number")]
Positive = Annotated[float, Bounds("a finite number above 0", {"gt": 0})]
NonNegative = Annotated[float, Bounds("a finite number, 0 or more", {"ge": 0})]
Fraction = Annotated[float, Bounds("a number from 0 to 1", {"ge": 0, "le": 1})]
# squared size of weights at the start: below its bound rounding of what is learnt shows in what is not yet
Scale = Annotated[float, Bounds("a finite number, 1e-24 or more", {"ge": 1e-24})]

__all__ = ["Count", "Fraction", "Natural", "NonNegative", "Positive", "Real", "Scale", "Seed"]
