"""What the slides print: reconstruction error, nuclear norm and effective rank, by observations and method."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A row of a table; one draw, rounded."""

    error: float
    norm: float
    rank: float


# by depth of the network; 0 is nuclear-norm minimisation
PRINTED = {
    "5k": {0: Row(8e-7, 221, 5), 2: Row(5e-6, 221, 5), 3: Row(4e-6, 221, 5)},
    "2k": {0: Row(2e-1, 217, 8), 2: Row(6e-2, 220, 6), 3: Row(3e-5, 221, 5)},
}
METHODS = {0: "nuclear norm min", 2: "depth 2", 3: "depth 3"}
