"""Names of what `metrics.noise_process` measures of many paths, and of its statistics over them."""

# statistics over paths
MEAN = "mean"
SHARE_ABOVE_ONE = "share above 1"  # the share of paths on which the quantity is above 1

HIDDEN_SQUARE = "hidden_norm"  # |w_i|^2 of a column of W, in the mean over columns
OUTPUT_SQUARE = "output_norm"  # a_i^2, in the mean over entries

# of the commutators [w_i, a] of W's rows with a: e is an entry in the first two columns, one for each row
COMMUTATOR_ENTRY = "commutator"  # |e|, in the mean over rows
COMMUTATOR_ENTRY_SQUARED = "commutator_squared"  # e^2, in the mean over rows
COMMUTATOR_LENGTH = "commutator_length"  # root of the sum of e^2 over rows


def power_of_W(power: float) -> str:
    """Return the name of |W|^power."""
    return f"hidden_power_{power:g}"


def power_of_a(power: float) -> str:
    """Return the name of |a|^power + |b|^power, b the moving average of a."""
    return f"output_power_{power:g}"
