"""Whether the tensor form computes the networks with an activation (section 3), and what the flow of layers conserves.

- f(x) is the network's output and phi its activation. The tensor form (2) contracts the data tensor M(x) with one layer
  v_l after the other, and applies phi to every entry that is left. In (3) to (5) an architecture has a formula of its
  own, layer by layer.
- U_l are the matrices of an orthogonally decomposable network: the j-th entry of U_l^T v_l is the layer's j-th singular
  coordinate. W_1, ..., W_(L-1) and w_L are the layers of a fully connected network; in formulas W_L is w_L, as a
  column.
"""

from typing import Any

import numpy as np

from learning_dynamics.judging import NOT_CLAIMED, Claim, Facts, claim, every_draw
from learning_dynamics.papers.tensor_networks.network import quantities
from learning_dynamics.papers.tensor_networks.squared_flow import FLOW_ERROR
from learning_dynamics.tidy import Draws, Table


@claim(
    "sections 3 and B",
    scope="random inputs and parameters; diagonal, convolutional (short filters too) and fully connected networks of "
    "three inputs and units in every layer; two to four layers; the identity, tanh, ReLU, sigmoid and softplus",
    correction=r"It gives convolutional networks with any $\phi$. It gives the others with any $\phi$ if they have "
    r"two layers, and with $\phi(0) = 0$ at every depth. With three or more layers of more than one unit each, and "
    r"$\phi(0) \neq 0$, it need not: the data tensors of diagonal and fully connected networks have zeros, which "
    r"$\phi$ turns into $\phi(0)$.",
    quantifier="all draws",
    reason="zeros of the data tensor become the activation's value at zero",
)
def tensor_formulation(outputs: Table) -> Claim:
    r"""With any activation $\phi$ the tensor formulation (2) gives diagonal (3), convolutional (4) and fully connected
    (5) networks.

    (2) contracts the data tensor with one layer after the other, and applies $\phi$ to every entry that is left each
    time; (3) to (5) compute layer by layer. A convolutional network's tensor has no zeros of its own. The rest of the
    paper is on linear networks, for which nothing changes. Where (2) and the network are predicted to agree, the
    difference of their outputs is at most {value:.1e} of the larger output. With sigmoid or softplus and three or more
    layers it is at least {least_difference:.1g} of it in diagonal and fully connected networks.
    """
    # a draw is an input and all layers, for one network, depth and activation; arrays below have shape (draws,)
    draws = Draws(outputs)
    by_tensor = draws[quantities.OUTPUT]  # f(x) by (2)
    by_layers = draws.entries(quantities.OUTPUT, column="predicted")[:, 0]  # f(x) by (3), (4) or (5)
    network, depth, activation = (draws.column(name) for name in ("network", "depth", "activation"))
    larger = np.maximum(np.abs(by_tensor), np.abs(by_layers))
    size = np.maximum(larger, 1e-300)  # where ReLU leaves nothing, both outputs are zero; 1e-300 avoids 0 / 0
    difference = np.abs(by_tensor - by_layers) / size

    # Of each draw, whether the correction predicts that the two formulations agree, and whether each rival does. Each
    # rival predicts a difference on some draws that have none, so that the second check refuses it.
    is_zero_at_zero = draws[quantities.ACTIVATION_AT_ZERO] == 0
    has_zero_blocks = np.isin(network, ["diagonal", "fully_connected"])
    agree = is_zero_at_zero | ~has_zero_blocks | (depth == 2)
    agree_by_rival = {
        r"$\phi(0) = 0$ is needed by every architecture": is_zero_at_zero | (depth == 2),
        r"$\phi(0) = 0$ is needed with two layers too": is_zero_at_zero | ~has_zero_blocks,
        "only linear networks agree": activation == "identity",
    }

    def differences(where: np.ndarray) -> Any:
        """Return the argument of a check on the draws of a mask; `NOT_CLAIMED`, which says nothing, if it has none."""
        return {"values": difference[where]} if where.any() else NOT_CLAIMED

    yield every_draw(
        "difference of outputs, relative, where they are predicted to agree",
        difference,
        at_most=1e-10,  # chosen: far above 1e-13, which is roundoff relative to a thousandth of the terms
        because="rounding, of sums that cancel to a thousandth of their terms",
        # the printed sentence is on all draws; the correction and each rival claim this of the draws of their masks
        corrected=differences(agree),
        rivals={rival: differences(predicted) for rival, predicted in agree_by_rival.items()},
    )
    yield every_draw(
        "difference of outputs, relative, where they are predicted to differ",
        at_least=1e-6,
        because="chosen: far above rounding",
        printed=NOT_CLAIMED,  # the paper claims of no network that the two differ
        corrected=differences(~agree),
        rivals={rival: differences(~predicted) for rival, predicted in agree_by_rival.items()},
    )
    yield Facts(least_difference=float(difference[~agree].min()))


@claim(
    "appendices D and F",
    scope="random regression, Gaussian layers; two to four layers; real and complex bases",
    quantifier="all draws",
)
def conservation(flow: Table) -> Claim:
    r"""In orthogonally decomposable networks the squared singular coordinates of any two layers keep their
    differences along the flow: $|[U_l^T v_l]_j|^2 - |[U_L^T v_L]_j|^2$ is constant.

    $[U_l^T v_l]_j$ is the $j$-th singular coordinate of layer $v_l$. The difference changes by at most {value:.1e} of
    the largest squared coordinate, while the loss falls to {median_loss_ratio:.1e} of its initial value on the median
    draw.
    """
    draws = Draws(flow, network=["diagonal", "convolutional", "decomposable"])
    return _conserved(draws, "differences of the sizes, in place of their squares")  # fills {median_loss_ratio}


@claim(
    "equations (80) and (81)",
    scope="random regression, Gaussian layers; fully connected, two to four layers",
    quantifier="all draws",
)
def equation_80(flow: Table) -> Claim:
    r"""In deep fully connected networks $W_l^T W_l - W_{l+1} W_{l+1}^T$, and $W_{L-1}^T W_{L-1} - w_L w_L^T$, are
    constant along the flow.

    $W_l$ are the layers and $w_L$ is the last one, a vector. An entry of these differences changes by at most
    {value:.1e} of the largest entry of the products, while the loss falls to {median_loss_ratio:.1e} of its initial
    value on the median draw.
    """
    # fills {median_loss_ratio}
    return _conserved(Draws(flow, network="fully_connected"), r"$W_l W_l^T - W_{l+1} W_{l+1}^T$, the transposed order")


def _conserved(flow: Draws, rival: str) -> Claim:
    """Yield the check that the differences that a flow conserves do not drift.

    Parameters
    ----------
    flow : Draws
        A draw is a data set and a start, for one network and depth.
    rival : str
        Of which other differences OTHER_DRIFT is, in words: a rival says that these are conserved.
    """
    # the largest of all times; a drift is the largest change of a difference since the start
    size = flow.largest(quantities.LARGEST_TERM)  # shape (draws,)
    loss = flow.entries(quantities.LOSS)  # shape (draws, times)
    yield every_draw(
        "largest drift relative to the largest term",
        flow.largest(quantities.DRIFT) / size,
        at_most=FLOW_ERROR * flow.setting("integration.rtol"),
        because="a hundred times the integrator's tolerance",
        predicted=0.0,
        # another drift, which has to meet the same bound
        rivals={rival: {"values": flow.largest(quantities.OTHER_DRIFT) / size}},
    )
    yield Facts(median_loss_ratio=float(np.median(loss[:, -1] / loss[:, 0])))
