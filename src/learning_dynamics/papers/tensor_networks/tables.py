"""Columns and quantities that the tables of several topics have."""

from dataclasses import replace

from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, VALUE, VALUE_IF_ANY, Column

NETWORK = Column("network", "str", "architecture", draw=True)
DEPTH = Column("depth", "int", "number of layers L", draw=True)
SCALE = Column("scale", "float", "initial scale alpha", draw=True)
LOG_LOG_TIME = Column("log_log_time", "float", "log(1 + log(1 + t))")
MEASURED = (QUANTITY, INDEX, VALUE, PREDICTED)


def measured(empty: str) -> tuple[Column, ...]:
    """Return the last columns of a table whose values may be empty: `empty` says where, in the column's description."""
    value = replace(VALUE_IF_ANY, description=f"measured; empty {empty}")
    return QUANTITY, INDEX, value, PREDICTED


FOLLOWED = measured("where the flow could not be followed")

# names of quantities
MARGIN = "margin"  # the least y_i f(x_i) / (1 + log(1 + t)), which tends to one where the loss falls like 1/t
# entries of a limit, predicted by the minimiser of Q (Theorem 4)
OTHER_DEPTH = "other_depth"  # for a layer more
OTHER_SCALE = "other_scale"  # for twice the scale
