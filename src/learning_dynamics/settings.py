"""The types of settings: annotations for the keyword parameters of the functions that a configuration names.

A value outside the bounds is refused before the function is called, which gets a plain number. The text in `doc` is
what the reference says of the type (docs/reference.py). Any other annotation that pydantic understands works too.
Settings that belong together are fields of a frozen dataclass, and the class is their type.
"""

from typing import Annotated

from annotated_types import Ge, Gt, Le, doc

# No descent here has as many steps, no array this size: only a typing error is larger, so that no `doc` names it.
LARGEST_COUNT = 10**10

# infinity and nan are refused in every block of a configuration
Count = Annotated[int, Ge(1), Le(LARGEST_COUNT), doc("a whole number, 1 or more")]
Natural = Annotated[int, Ge(0), Le(LARGEST_COUNT), doc("a whole number, 0 or more")]
Seed = Annotated[int, Ge(0), Le(2**63 - 1), doc("a whole number, 0 or more")]  # up to the largest int64
Real = Annotated[float, doc("a finite number")]
Positive = Annotated[float, Gt(0), doc("a finite number above 0")]
NonNegative = Annotated[float, Ge(0), doc("a finite number, 0 or more")]
Fraction = Annotated[float, Ge(0), Le(1), doc("a number from 0 to 1")]
# Initialisation scale: the square of the weights at the start. At the smallest scale, 1e-24, weights are 1e-12. Modes
# that have been learned are of order one, with rounding errors of 1e-16. Ten of these are 1e-15, a thousandth of such
# weights; of smaller weights they would be a larger share.
Scale = Annotated[float, Ge(1e-24), doc("a finite number, 1e-24 or more")]

# docs/reference.py reads the last annotation of each of these, its `doc`
__all__ = ["Count", "Fraction", "Natural", "NonNegative", "Positive", "Real", "Scale", "Seed"]
