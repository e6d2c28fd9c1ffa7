"""How exact the limits of integrated flows are."""

from __future__ import annotations

from learning_dynamics.tables import Tables

# Error of the limits of LSODA's flows, relative, in units of its rtol: at most 40 over all runs here. The bound
# leaves room for other machines.
FLOW_ERROR = 100.0


def flow_error(tables: Tables) -> float:
    """Return the relative error that limits may have at the largest rtol among the runs."""
    return FLOW_ERROR * max(table.attrs["settings"]["rtol"] for table in tables.values())
