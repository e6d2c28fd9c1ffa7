"""The types of settings: what a keyword parameter of a configured function may be annotated with.

To the function they are plain numbers; the bounds beside them are what the configuration may give. Any other
annotation that pydantic understands works too. Settings that belong together are fields of a frozen dataclass, and the
class is their type.
"""

from typing import Annotated

from annotated_types import Ge, Gt, Le, doc

LARGEST_COUNT = 10**10  # steps of the longest descent; nothing of this size is ever held in memory

Count = Annotated[int, Ge(1), Le(LARGEST_COUNT), doc("a whole number, 1 or more")]
Natural = Annotated[int, Ge(0), Le(LARGEST_COUNT), doc("a whole number, 0 or more")]
Seed = Annotated[int, Ge(0), Le(2**63 - 1), doc("a whole number, 0 or more")]
Real = Annotated[float, doc("a finite number")]  # as is every number of a configuration
Positive = Annotated[float, Gt(0), doc("a finite number above 0")]
NonNegative = Annotated[float, Ge(0), doc("a finite number, 0 or more")]
Fraction = Annotated[float, Ge(0), Le(1), doc("a number from 0 to 1")]
# squared size of weights at the start; below the bound, rounding errors of learnt modes show in those yet to be learnt
Scale = Annotated[float, Ge(1e-24), doc("a finite number, 1e-24 or more")]

__all__ = ["Count", "Fraction", "Natural", "NonNegative", "Positive", "Real", "Scale", "Seed"]
