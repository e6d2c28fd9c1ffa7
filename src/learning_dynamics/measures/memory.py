"""How much memory a piece of PyTorch work holds at once, counted without doing it, and the batch that fits a bound."""

import copy
import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class LiveBytes(TorchDispatchMode):
    """Within this context, the bytes of the tensors that operations make and that are alive at the same time.

    On the ``meta`` device nothing is computed and nothing allocated, so that networks of any size can be counted on
    any machine. What an allocator rounds up and what a convolution's algorithm borrows is not in the count.

    Attributes
    ----------
    live, peak : int
        Bytes now, and the most bytes so far; tensors that existed before the context count as nothing.
    largest : int
        Entries of the largest tensor that was made.
    """

    def __init__(self) -> None:
        super().__init__()
        self.live = self.peak = self.largest = 0
        self._known: dict[int, weakref.ref] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation and count the storages that it made."""
        # an operation in place, or one that returns a view, makes no storage
        before = {id(leaf.untyped_storage()) for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)}
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, Tensor):
                self.largest = max(self.largest, leaf.numel())
                storage = leaf.untyped_storage()
                if id(storage) not in self._known and id(storage) not in before:
                    self._add(storage)
        return result

    def _add(self, storage: Any) -> None:
        """Count a storage until Python frees it."""
        key, size = id(storage), storage.nbytes()
        self._known[key] = weakref.ref(storage, functools.partial(self._release, key, size))
        self.live += size
        self.peak = max(self.peak, self.live)

    def _release(self, key: int, size: int, _gone: weakref.ref) -> None:
        self._known.pop(key, None)
        self.live -= size


def peak_bytes(work: Callable[[], object]) -> int:
    """Return the largest number of bytes that the tensors made by `work` hold at once."""
    with LiveBytes() as counted:
        work()
    return counted.peak


def images_within(
    network: nn.Module, shape: tuple[int, ...], gigabytes: float, *, gradients: bool, most: int = 4096
) -> int:
    """Return how many images a pass through a network may take at once within a bound on memory, at least one.

    Memory is counted on a copy of the network on the ``meta`` device in evaluation mode, at batches of two and three
    images: the difference of the two counts is what one more image needs.

    Parameters
    ----------
    network : Module
    shape : tuple of int
        Of an image: channels, height, width.
    gigabytes : float
        The bound, 1e9 bytes.
    gradients : bool
        Whether derivatives of outputs in the images are taken, which keeps all activations alive.
    most : int
        Never more than this; the default is chosen.
    """
    on_meta = copy.deepcopy(network).to("meta").eval().requires_grad_(False)

    def bytes_of_pass(count: int) -> int:
        images = torch.empty(count, *shape, device="meta", requires_grad=gradients)

        def work() -> None:
            with torch.set_grad_enabled(gradients):
                outputs = on_meta(images)
                if gradients:
                    torch.autograd.grad(outputs[:, 0].sum(), images, retain_graph=True)

        # images exist before the pass, which does not count them: 4 bytes an entry
        return peak_bytes(work) + 4 * images.numel()

    two, three = bytes_of_pass(2), bytes_of_pass(3)
    per_image = max(three - two, 1)
    fixed = max(two - 2 * per_image, 0)
    count = (gigabytes * 1e9 - fixed) // per_image
    return int(min(max(count, 1), most))
