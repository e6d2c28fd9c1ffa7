"""What the flow of a tensor network's layers conserves (Appendix D and F)."""

from __future__ import annotations

from learning_dynamics.claims import Outcome, all_of, at_most, claim, equal
from learning_dynamics.papers.tensor_networks.flow_error import FLOW_ERROR
from learning_dynamics.papers.tensor_networks.measured import values_of
from learning_dynamics.tables import Tables


@claim(
    "Appendix D and F",
    "largest drift of |(U_lᵀ v_l)_j|² − |(U_Lᵀ v_L)_j|² along the flow, relative to its largest term",
)
def conservation(tables: Tables) -> Outcome:
    """In orthogonally decomposable networks the layers' squared singular coordinates keep their differences
    along the flow.

    Tried from Gaussian layers, at depths 2, 3 and 4, for real singular vectors and for the complex ones of
    convolutional networks.
    """
    table = tables["conservation"]
    keys = ["seed", "network", "depth"]
    drift = (
        values_of(table, "drift").groupby(keys)["value"].max() / values_of(table, "size").groupby(keys)["value"].max()
    )
    loss = values_of(table, "loss").groupby(keys)["value"]
    moved = float((loss.last() / loss.first()).median())
    return Outcome(
        all_of(
            equal(float(drift.max()), 0.0, FLOW_ERROR * table.attrs["settings"]["rtol"], because="100 rtol"),
            at_most(moved, 0.5, because="median of the last loss relative to the first: the flow has moved"),
        ),
        len(drift),
    )
