"""Linear tensor networks f(x) = M(x) o (v_1, ..., v_L): a tensor linear in the input, contracted with L vectors.

Diagonal, circular convolutional and fully connected networks of any depth are special cases
(Yun et al. 2021, section 3 and Appendix B); so is any tensor with a given orthogonal decomposition.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations, pairwise
from string import ascii_lowercase

import numpy as np


@dataclass(frozen=True)
class TensorNetwork:
    """A network, given by the tensors of the unit inputs.

    Attributes
    ----------
    basis : ndarray, shape (inputs, k_1, ..., k_L)
        M(e_c) for every unit vector e_c; M(x) is their combination with the entries of x.
    S : ndarray, shape (m, inputs), optional
        Of an orthogonally decomposable network alone: ``S x`` are the m singular values of M(x), linear in the input.
    U : tuple of ndarray, shapes (k_l, m), optional
        Of an orthogonally decomposable network alone: the singular vectors, in orthonormal columns. M(x) is the sum
        over j of ``(S x)_j`` times the tensor product of ``U_1[:, j]``, ..., ``U_L[:, j]`` (Assumption 1).
    name : str
        Its architecture, as `network_of` names it.
    """

    basis: np.ndarray
    S: np.ndarray | None = None
    U: tuple[np.ndarray, ...] = ()
    name: str = ""

    @property
    def inputs(self) -> int:
        """Dimension of the input."""
        return self.basis.shape[0]

    @property
    def lengths(self) -> tuple[int, ...]:
        """Lengths k_1, ..., k_L of the parameter vectors."""
        return self.basis.shape[1:]

    @property
    def depth(self) -> int:
        """Number L of layers."""
        return len(self.lengths)

    @cached_property
    def bounds(self) -> list[tuple[int, int]]:
        """Where each layer starts and stops in a state, all parameters in one vector."""
        stops = list(accumulate(self.lengths))
        return list(zip([0, *stops], stops, strict=False))

    def layers(self, state: np.ndarray) -> list[np.ndarray]:
        """Return v_1, ..., v_L, shapes (..., k_l), from states, shape (..., sum of k_l)."""
        return [state[..., start:stop] for start, stop in self.bounds]

    def data_tensor(self, x: np.ndarray) -> np.ndarray:
        """Return M(x), shape (..., k_1, ..., k_L), for inputs of shape (..., inputs)."""
        return np.tensordot(x, self.basis, axes=1)

    def coefficients(self, state: np.ndarray) -> np.ndarray:
        """Return beta, shape (..., inputs), the linear coefficients with ``f(x) = x @ beta``."""
        # beta_a is the tensor of unit input a, contracted with all layers: of two layers "abc,...b,...c->...a"
        axes = ascii_lowercase[1 : self.depth + 1]
        subscripts = ",".join([f"a{axes}", *(f"...{axis}" for axis in axes)]) + "->...a"
        return np.einsum(subscripts, self.basis, *self.layers(state), optimize=True)


def outputs(tensors: np.ndarray, layers: Sequence[np.ndarray]) -> np.ndarray:
    """Return M_i o (v_1, ..., v_L), shape (samples,), for data tensors, shape (samples, k_1, ..., k_L)."""
    # each layer contracts the last axis that is left: v_L that of k_L, and so on
    for layer in reversed(layers):
        tensors = tensors @ layer
    return tensors


def contractions(tensors: np.ndarray, layers: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return, for every layer l, tensors contracted with all vectors but v_l (Yun et al. 2021, eq. 8).

    Parameters
    ----------
    tensors : ndarray, shape (..., k_1, ..., k_L)
    layers : sequence of ndarray, shapes (k_l,)

    Returns
    -------
    list of ndarray, shapes (..., k_l)
        Gradients of ``tensor o (v_1, ..., v_L)``; the inner product of each with its v_l is that value.
    """
    products = []
    contracted = tensors  # with v_1, ..., v_(l-1): shape (..., k_l, ..., k_L)
    lead = tensors.ndim - len(layers)  # the number of axes before k_1
    for index, layer in enumerate(layers):
        partial = contracted  # from the last axis on, the later layers are contracted too: shape (..., k_l) at the end
        for later_layer in reversed(layers[index + 1 :]):
            partial = partial @ later_layer
        products.append(partial)
        if index + 1 < len(layers):
            # v_l contracts the axis of k_l: as a matrix product with all later axes flattened, (..., k_l, rest)
            rows = layer @ contracted.reshape(*contracted.shape[: lead + 1], -1)
            contracted = rows.reshape(contracted.shape[:lead] + contracted.shape[lead + 1 :])
    return products


def pair_contractions(tensor: np.ndarray, layers: Sequence[np.ndarray]) -> np.ndarray:
    """Return the second derivatives of ``tensor o (v_1, ..., v_L)`` by all layers, shape (parameters, parameters).

    The block of layers i and j is the tensor contracted with all other layers; that of a layer with itself is zero,
    because the output is linear in each layer.

    Parameters
    ----------
    tensor : ndarray, shape (k_1, ..., k_L)
    layers : sequence of ndarray, shapes (k_l,)
    """
    stops = np.cumsum([len(layer) for layer in layers])
    starts = stops - [len(layer) for layer in layers]
    derivatives = np.zeros((stops[-1], stops[-1]))
    axes = ascii_lowercase[: len(layers)]
    for i, j in combinations(range(len(layers)), 2):
        other_axes = [number for number in range(len(layers)) if number not in (i, j)]
        block = tensor
        if other_axes:
            # of three layers, for i = 0 and j = 2: "abc,b->ac"
            subscripts = ",".join([axes, *(axes[number] for number in other_axes)])
            block = np.einsum(f"{subscripts}->{axes[i]}{axes[j]}", tensor, *(layers[n] for n in other_axes))
        derivatives[starts[i] : stops[i], starts[j] : stops[j]] = block
        derivatives[starts[j] : stops[j], starts[i] : stops[i]] = block.T
    return derivatives


def diagonal(inputs: int, depth: int) -> TensorNetwork:
    """Return the diagonal network: the sum over entries of x * w_1 * ... * w_L (Yun et al. 2021, eq. 3)."""
    identity = np.eye(inputs)
    return decomposable(identity, [identity] * depth)


def convolutional(inputs: int, lengths: Sequence[int]) -> TensorNetwork:
    """Return the circular convolutional network with filters of the given lengths (Yun et al. 2021, eq. 4).

    Full-length filters make it orthogonally decomposable in the basis of the discrete Fourier transform, with its
    unitary matrix F (`fourier`): ``S = inputs**((L - 1) / 2) F`` and every U is the conjugate of F.

    Raises
    ------
    ValueError
        If a filter is longer than the input.
    """
    if max(lengths) > inputs:
        raise ValueError(f"filters of lengths {list(lengths)} do not fit {inputs} inputs")
    # entry (i_1, ..., i_L) of M(x) is the entry of x at position i_1 + ... + i_L, modulo the inputs and counted from 0
    position = np.indices(lengths).sum(axis=0) % inputs
    basis = np.stack([(position == c).astype(float) for c in range(inputs)])
    if min(lengths) < inputs:
        return TensorNetwork(basis)
    F = fourier(inputs)
    return TensorNetwork(basis, inputs ** ((len(lengths) - 1) / 2) * F, (F.conj(),) * len(lengths))


def fully_connected(widths: Sequence[int]) -> TensorNetwork:
    """Return the fully connected network of widths d_1 (the inputs), ..., d_L (Yun et al. 2021, Appendix B).

    Its parameters are vec(W_1), ..., vec(W_(L-1)), column by column, and w_L.
    """
    inputs = widths[0]
    tensor: np.ndarray = np.eye(inputs)  # axis 0: the unit inputs
    # Contracted with the layers so far, whose axes are "...", tensor[c, ..., i] is entry i of what they make of e_c.
    # The next layer W makes entry j from it: the sum over i of W[i, j] tensor[c, ..., i]. W[i, j] is entry narrow j + i
    # of vec(W), column by column, so that tensor[c, ..., i] goes to (narrow j + i, j) on the two new axes.
    for narrow, wide in pairwise(widths):
        larger = np.zeros((*tensor.shape[:-1], narrow * wide, wide))
        for j in range(wide):
            larger[..., narrow * j : narrow * (j + 1), j] = tensor
        tensor = larger
    return TensorNetwork(tensor)


def decomposable(S: np.ndarray, U: Sequence[np.ndarray]) -> TensorNetwork:
    """Return the real network with singular values S x and singular vectors U (Yun et al. 2021, eq. 9)."""
    tensor = S.T  # (inputs, m)
    # each adds its axis, of k_l entries, before the last: in the end (inputs, k_1, ..., k_L, m)
    for vectors in U:
        tensor = np.einsum("...j,kj->...kj", tensor, vectors)
    return TensorNetwork(tensor.sum(axis=-1), S, tuple(U))


def fourier(size: int) -> np.ndarray:
    """Return the unitary matrix of the discrete Fourier transform, ``exp(-2 pi i j k / size) / sqrt(size)``."""
    return np.fft.fft(np.eye(size), norm="ortho")
