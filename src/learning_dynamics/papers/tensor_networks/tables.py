"""Columns and quantities that the tables of several topics have."""

from dataclasses import replace

import numpy as np

from learning_dynamics.tidy import INDEX, PREDICTED, QUANTITY, VALUE, VALUE_IF_ANY, Column

# quantities by name, for `tidy.rows`: an array, or a pair of it and its prediction
Measures = dict[str, np.ndarray | tuple[np.ndarray, np.ndarray | float]]

NETWORK = Column("network", "str", "architecture", draw=True)
DEPTH = Column("depth", "int", "number of layers L", draw=True)
SCALE = Column("scale", "float", "initial scale alpha", draw=True)
LOG_LOG_TIME = Column("log_log_time", "float", "log(1 + log(1 + t))")
MEASURED = (QUANTITY, INDEX, VALUE, PREDICTED)  # the last columns of a table without empty values


def measured(empty: str) -> tuple[Column, ...]:
    """Return the last columns of a table whose values may be empty: `empty` says where, in the column's description."""
    value = replace(VALUE_IF_ANY, description=f"measured; empty {empty}")
    return QUANTITY, INDEX, value, PREDICTED


FOLLOWED = measured("where the flow could not be followed")

# Names of quantities. f is the network, x_i are the points and y_i their labels.
MARGIN = "margin"  # min_i y_i f(x_i) / (1 + log(1 + t)) at time t, which tends to one where the loss falls like 1/t
# Two names of one measured number, an entry of a flow's limit, with predictions that are wrong, to be told from the
# right one: the same entry of the minimiser of Theorem 4's norm-like function Q, which has
OTHER_DEPTH = "other_depth"  # L + 1 in place of the number of layers L
OTHER_SCALE = "other_scale"  # 2 alpha in place of the initial scale alpha
