"""What the flow of a network's layers conserves (appendices D, F and H)."""

from __future__ import annotations

import numpy as np

from learning_dynamics.claims import Finding, Judgement, claim, every_draw
from learning_dynamics.papers.tensor_networks.squared_flow import FLOW_ERROR
from learning_dynamics.tidy import Table, by_draw, select, settings_of

DRAW = ["network", "depth", "seed"]


@claim("appendices D and F", scope="random regression, Gaussian layers; two to four layers; real and complex bases")
def conservation(flow: Table) -> Finding:
    r"""In orthogonally decomposable networks the squared singular coordinates of any two layers keep their
    differences along the flow: $|[U_l^T v_l]_j|^2 - |[U_L^T v_L]_j|^2$ is constant.

    The largest drift is {value:.1e} of the largest term, while the loss fell to {moved:.1e} of itself on the median
    draw.
    """
    orthogonal = ["diagonal", "convolutional", "decomposable"]
    return _conserved(flow, {"network": orthogonal}, "differences of the sizes, in place of their squares")


@claim("equations (80) and (81)", scope="random regression, Gaussian layers; fully connected, two to four layers")
def equation_80(flow: Table) -> Finding:
    r"""In deep fully connected networks $W_l^T W_l - W_{l+1} W_{l+1}^T$, and $W_{L-1}^T W_{L-1} - w_L w_L^T$, are
    constant along the flow.

    The largest drift of an entry is {value:.1e} of the largest term, while the loss fell to {moved:.1e} of itself on
    the median draw.
    """
    return _conserved(flow, {"network": "fully_connected"}, r"$W_l W_l^T - W_{l+1} W_{l+1}^T$, the transposed order")


def _conserved(flow: Table, where: dict, rival: str) -> Finding:
    size = by_draw(flow, "size", draw=DRAW, **where).max(axis=1)
    loss = by_draw(flow, "loss", draw=DRAW, **where)

    def judge(predicted: str) -> Judgement:
        return Judgement(
            every_draw(
                "largest drift relative to the largest term",
                by_draw(flow, predicted, draw=DRAW, **where).max(axis=1) / size,
                at_most=FLOW_ERROR * settings_of(flow)["rtol"],
                because="a hundred times the integrator's tolerance",
                predicted=0.0,
            )
        )

    select(flow, "drift", **where)
    return Finding(judge, "drift", rivals={rival: "other"}, facts={"moved": float(np.median(loss[:, -1] / loss[:, 0]))})
