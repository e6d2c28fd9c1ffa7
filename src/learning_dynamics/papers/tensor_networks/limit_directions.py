"""Limit directions of classifiers, extrapolated to infinite log t."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from learning_dynamics.claims import Check, Untested, at_most, equal
from learning_dynamics.papers.tensor_networks.measured import values_of

# Directions are compared in degrees. Those of different norms lie several degrees apart on the data used here.
ANGLE = 0.5
# Powers of tau below this cannot be told from constants at log t = 1e6, where they have changed by less than 1/30.
SLOWEST = 0.25
# Degrees by which X^T r may still turn in the last decade of log t where a theorem assumes that it converges.
TURN = 0.1
RUN = ["seed", "network", "scale", "direction"]


def loss_vanishes(tables: Sequence[pd.DataFrame]) -> Check:
    """Check that the loss falls like 1/t, up to a power of log t."""
    lags = []
    for table in tables:
        last = table[table["tau"] == table["tau"].max()]
        rows = values_of(last, "log_loss")
        lags.append((1 + rows["value"] / rows["tau"]).max())
    return at_most(max(lags), 0.01, because="1 + log loss / log t at the last time; the loss falls like 1/t")


def check_directions(
    tables: Sequence[tuple[pd.DataFrame, dict]], keys: list[str], wanted: int = 2
) -> tuple[Check, int]:
    """Check that extrapolated angles to limit directions vanish; return the check, and how many draws it is on."""
    angles, draws = [], 0
    for table, where in tables:
        found, of = _limit_angles(table, keys, **where)
        angles.append(found)
        draws += of
    within = np.concatenate(angles)
    if len(within) < wanted:
        raise Untested(f"only {len(within)} of {draws} draws settle fast enough to extrapolate their direction")
    check = equal(
        float(np.abs(within).max()),
        0.0,
        ANGLE,
        because=f"next powers of log t; {len(within)} of {draws} draws settle fast enough to be extrapolated",
    )
    return check, len(within)


def _limit_angles(table: pd.DataFrame, keys: list[str], **where: object) -> tuple[np.ndarray, int]:
    """Return extrapolated angles of the draws whose limit is within reach, and how many draws there are."""
    exponents = values_of(table, "exponent", **where).set_index(keys)["predicted"]
    settled = values_of(table, "settled", **where).set_index(keys)["value"].reindex(exponents.index)
    reachable = (exponents >= SLOWEST) & (settled <= TURN)
    intercepts = table[table["quantity"] == "intercept"].set_index(keys)["value"].reindex(exponents.index)
    return intercepts[reachable].to_numpy(), len(exponents)
