"""Training of image classifiers by stochastic gradient descent, with checkpoints and a resume point.

The data set is on the device as one tensor; batches are taken from it by index. The order of the batches in an epoch
follows from the seed, the member and the epoch's number alone, and algorithms are deterministic, on the CPU and on a
GPU (`arithmetic`). So a training that is interrupted, and resumed from a whole epoch, ends with the same parameters as
one that is not.
"""

import fcntl
import functools
import math
import os
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from tqdm import tqdm

from learning_dynamics.errors import DivergenceError, ProjectError, UnfinishedError
from learning_dynamics.files import atomic_write
from learning_dynamics.progress import time_left
from learning_dynamics.seeds import seed_sequence

State = dict[str, np.ndarray]
Precision = Literal["float32", "tf32", "bfloat16"]
SHARE = 0.02  # largest share of a training's time that saving may take; chosen
LONGEST = 600.0  # seconds after which the resume point is saved anyway; chosen: an interruption loses ten minutes
SLOW_DISK = 1e8  # bytes a second, assumed until the first save is timed; chosen


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How a network is trained.

    Attributes
    ----------
    loss : {"mse", "ce"}
        ``1/2 Ave ||outputs - one-hot||^2``, the paper's loss, whose weight decay needs no conversion
        (Han, Papyan, Donoho 2022, eq. 2); or cross-entropy.
    learning_rate, momentum, weight_decay : float
        Of stochastic gradient descent.
    batch : int
        Batch size, in images.
    epochs : int
        How many are trained.
    drops : tuple of float
        Fractions of the epochs after which the learning rate is divided by ten.
    precision : {"float32", "tf32", "bfloat16"}
        Of the forward pass; parameters stay float32. See `arithmetic`.
    execution : {"eager", "compiled", "graphs"}
        Operation by operation, or compiled; ``graphs`` replays a compiled step on a GPU as one CUDA graph, which
        networks of many small operations gain by. See `make_step`.
    drop_last : bool
        Whether an epoch leaves out the images that do not fill a last batch, other ones in each epoch.
    diverged : {"stop", "reset"}
        What follows when the loss or a recorded state leaves the finite numbers: an error; or the initial
        network, recorded in place of every state from there on, as a sweep over learning rates wants it.

    Raises
    ------
    ProjectError
        If a field has another value than those in braces.
    """

    loss: Literal["mse", "ce"]
    learning_rate: float
    momentum: float
    weight_decay: float
    batch: int
    epochs: int
    drops: tuple[float, ...]
    precision: Precision = "float32"
    execution: Literal["eager", "compiled", "graphs"] = "eager"
    drop_last: bool = False
    diverged: Literal["stop", "reset"] = "stop"

    def __post_init__(self) -> None:
        for name, kind in get_type_hints(Recipe).items():
            value, choices = getattr(self, name), get_args(kind)
            if get_origin(kind) is Literal and value not in choices:
                raise ProjectError(f"{name}: `{value}` is not one of {', '.join(choices)}")

    def rate(self, epoch: int) -> float:
        """Return the learning rate in an epoch, counted from 1."""
        return self.learning_rate * 0.1 ** sum(epoch > round(drop * self.epochs) for drop in self.drops)


class _Flags(NamedTuple):
    """Torch's flags of arithmetic, which belong to the process."""

    tf32_products: bool
    tf32_convolutions: bool
    benchmark: bool
    deterministic: bool
    deterministic_warn_only: bool
    fill_memory: bool

    @classmethod
    def current(cls) -> "_Flags":
        return cls(
            tf32_products=torch.backends.cuda.matmul.allow_tf32,
            tf32_convolutions=torch.backends.cudnn.allow_tf32,
            benchmark=torch.backends.cudnn.benchmark,
            deterministic=torch.are_deterministic_algorithms_enabled(),
            deterministic_warn_only=torch.is_deterministic_algorithms_warn_only_enabled(),
            fill_memory=torch.utils.deterministic.fill_uninitialized_memory,  # type: ignore[attr-defined]
        )

    def apply(self) -> None:
        torch.backends.cuda.matmul.allow_tf32 = self.tf32_products
        torch.backends.cudnn.allow_tf32 = self.tf32_convolutions
        torch.backends.cudnn.benchmark = self.benchmark
        torch.use_deterministic_algorithms(self.deterministic, warn_only=self.deterministic_warn_only)
        torch.utils.deterministic.fill_uninitialized_memory = self.fill_memory  # type: ignore[attr-defined]


class _Context(NamedTuple):
    """An open context of `arithmetic`: whether it lets factors be rounded, and its thread."""

    rounded: bool
    thread: int


class _OpenContexts:
    """The open contexts of `arithmetic`. The first sets torch's flags; the last restores them."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._open: list[_Context] = []
        self._before: _Flags  # what the flags were when the first was opened

    def open(self, rounded: bool) -> _Context:
        context = _Context(rounded, threading.get_ident())
        with self._lock:
            if _Context(not rounded, context.thread) in self._open:
                raise RuntimeError("arithmetic of one kind within another; close that first")
            self._lock.wait_for(lambda: not self._open or self._open[0].rounded == rounded)
            if not self._open:
                self._before = _Flags.current()
                _Flags(
                    tf32_products=rounded,
                    tf32_convolutions=rounded,
                    benchmark=False,
                    deterministic=True,
                    deterministic_warn_only=False,
                    # nothing here reads memory before it is written; filling it would make a step 4 to 8 % slower
                    fill_memory=False,
                ).apply()
            self._open.append(context)
        return context

    def close(self, context: _Context) -> None:
        with self._lock:
            self._open.remove(context)
            if not self._open:
                self._before.apply()
                self._lock.notify_all()


_OPEN_CONTEXTS = _OpenContexts()


@contextmanager
def arithmetic(precision: Precision = "float32") -> Iterator[None]:
    """Within this context algorithms are deterministic, and products of float32 are exact but where `precision` says.

    ``tf32`` lets a GPU round the factors of products and convolutions to 10 bits; ``float32`` and ``bfloat16``, whose
    casts the forward pass makes itself, do not. An operation without a deterministic algorithm raises.

    Several threads may be in it; one that lets factors be rounded waits for those that do not, and they for it.

    Raises
    ------
    RuntimeError
        If a thread opens a context of the one kind within one of the other, for which it would wait for ever.
    """
    # cuBLAS reads this when it is first used; without it cuBLAS's products are not deterministic. It is one of the two
    # values with which they are, by its manual.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    context = _OPEN_CONTEXTS.open(precision == "tf32")
    try:
        yield
    finally:
        _OPEN_CONTEXTS.close(context)


# without it two threads could each take a GPU: the cache answers only once `free_place` has returned
_PLACE_LOCK = threading.Lock()


def chosen_device(wanted: str) -> torch.device:
    """Return the device for ``auto``, ``cpu`` or ``cuda``; ``auto`` is a GPU where there is one.

    CUDA_VISIBLE_DEVICES says which GPUs a process sees. Where it leaves several, as on a workstation, a process takes
    the first that no other process of this project holds, until it ends.
    """
    if wanted == "auto":
        wanted = "cuda" if torch.cuda.is_available() else "cpu"
    if wanted == "cuda" and torch.cuda.device_count() > 1:
        names = tuple(_uuid(index) for index in range(torch.cuda.device_count()))
        with _PLACE_LOCK:
            return torch.device("cuda", free_place(names))
    return torch.device(wanted)


@functools.cache  # a second handle of this process would find the first one's lock
def free_place(names: tuple[str, ...], folder: str | None = None) -> int:
    """Return the index of the first of `names` that no other process holds, and hold it while this process lives.

    The first of all if none is free: then two share it.
    """
    for index, name in enumerate(names):
        place = Path(folder or tempfile.gettempdir(), f"learning_dynamics-{os.getuid()}-{name}.lock")
        handle = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            continue
        return index  # the lock goes with the process: its handle stays open
    return 0


def _uuid(index: int) -> str:
    return str(getattr(torch.cuda.get_device_properties(index), "uuid", index))


def measured_epochs(epochs: int, count: int) -> np.ndarray:
    """Return about `count` epochs from 1 to `epochs`, evenly spaced on a logarithmic axis, without repeats."""
    return np.unique(np.round(np.geomspace(1, epochs, count)).astype(np.int64))


@contextmanager
def seeded(seed: int, label: str, member: int) -> Iterator[None]:
    """Let what torch draws in this thread, as to initialise layers, come from a stream of the project's seed.

    Torch's own generator, which is the process's, is neither read nor changed; an operation that can draw from no
    other raises.
    """
    state = int(seed_sequence(seed, label, member).generate_state(1, np.uint64)[0] >> 1)
    with _DrawFrom(torch.Generator().manual_seed(state)):
        yield


class _DrawFrom(TorchDispatchMode):
    """Within this context, and this thread, random operations draw from a generator."""

    def __init__(self, generator: torch.Generator) -> None:
        super().__init__()
        self._generator = generator

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation; one that draws, in the form that takes a generator."""
        kwargs = kwargs or {}
        if torch.Tag.nondeterministic_seeded in func.tags:
            forms = func.overloadpacket
            func = forms.generator if "generator" in forms.overloads() else func
            kwargs = {**kwargs, "generator": self._generator}
        return func(*args, **kwargs)


def train(
    network: nn.Module,
    images: Tensor,
    labels: Tensor,
    recipe: Recipe,
    recorded_epochs: np.ndarray,
    *,
    seed: int,
    member: int = 0,
    resume: Path | None = None,
) -> dict[int, State]:
    """Train a network in place and return its states at the recorded epochs.

    Parameters
    ----------
    network : Module
        On the device of the images.
    images : Tensor, shape (examples, channels, height, width)
    labels : Tensor of int64, shape (examples,)
    recipe : Recipe
    recorded_epochs : ndarray of int, ascending
        Epochs after which the state is kept.
    seed, member : int
        From which the order of the batches follows.
    resume : path, optional
        Folder of a `ResumePoint`; training goes on from one that is found there.

    Returns
    -------
    dict
        For each recorded epoch the network's parameters and batch-norm statistics by name.

    Raises
    ------
    DivergenceError
        If the loss or a recorded state leaves the finite numbers and the recipe says to stop: names the epoch
        and the learning rate.
    UnfinishedError
        If the time left may be too short for another epoch; what has been reached is saved.
    """
    optimiser = torch.optim.SGD(
        network.parameters(), lr=recipe.learning_rate, momentum=recipe.momentum, weight_decay=recipe.weight_decay
    )
    initial = _state(network)
    resume_point = None if resume is None else ResumePoint(resume)
    states, epochs_done = ({}, 0) if resume_point is None else resume_point.load(network, optimiser)
    targets = functional.one_hot(labels, int(labels.max()) + 1).float() if recipe.loss == "mse" else labels
    step = make_step(network, optimiser, images, targets, recipe)
    network.train()
    epochs = tqdm(range(epochs_done + 1, recipe.epochs + 1), desc=f"seed {member}", unit="epoch", mininterval=5.0)
    for epoch in epochs:
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate(epoch)
        order = np.random.default_rng(seed_sequence(seed, f"batches of epoch {epoch}", member)).permutation(len(images))
        with arithmetic(recipe.precision):
            mean = one_epoch(step, torch.from_numpy(order).to(images.device), recipe)
        state = _state(network) if epoch in recorded_epochs else {}
        # a statistic of batch norm can overflow while the loss is still finite
        if not (math.isfinite(mean) and all(np.isfinite(value).all() for value in state.values())):
            if recipe.diverged == "reset":
                return {int(later): states.get(int(later), initial) for later in recorded_epochs}
            raise DivergenceError(
                f"training diverged in epoch {epoch}: the loss is {mean} at learning rate {recipe.rate(epoch):g} "
                f"(seed {member}); lower learning_rate"
            )
        epochs.set_postfix(loss=f"{mean:.3g}", refresh=False)
        if state:
            states[epoch] = state
        if resume_point is not None:
            resume_point.epoch_ended()
            must_stop = epoch < recipe.epochs and resume_point.must_stop(network, states)
            if must_stop or epoch == recipe.epochs or resume_point.is_due(network, states):
                resume_point.save(network, optimiser, states, epoch)
            if must_stop:
                raise UnfinishedError(f"{epoch} of {recipe.epochs} epochs are trained (seed {member})")
    return states


def make_step(
    network: nn.Module, optimiser: torch.optim.Optimizer, images: Tensor, targets: Tensor, recipe: Recipe
) -> Callable[[Tensor], Tensor]:
    """Make what takes a step as the recipe executes it; without a GPU ``graphs`` is ``eager``, and a warning says so.

    It takes the indices of a batch's images, shape (batch,), and returns their mean loss before the step.
    """
    if recipe.execution == "graphs" and images.device.type != "cuda":
        warnings.warn("execution: graphs needs a GPU; this one trains operation by operation", stacklevel=3)
        return Step(network, optimiser, images, targets, recipe)
    if recipe.execution != "eager":
        network.compile()
    step = Step(network, optimiser, images, targets, recipe)
    return RecordedStep(step) if recipe.execution == "graphs" else step


def batches(order: Tensor, size: int, *, drop_last: bool) -> list[Tensor]:
    """Return the images of an epoch in the order given, batch by batch; with `drop_last` full batches alone.

    Raises
    ------
    ProjectError
        If that leaves none.
    """
    parts = list(order.split(size))
    if drop_last and len(parts[-1]) < size:
        parts.pop()
    if not parts:
        raise ProjectError(f"batch: {size} is more than the {len(order)} images; lower it, or drop no last batch")
    return parts


def one_epoch(step: Callable[[Tensor], Tensor], order: Tensor, recipe: Recipe) -> float:
    """Take one step for each batch; return the mean loss over their examples."""
    total = torch.zeros((), device=order.device)
    parts = batches(order, recipe.batch, drop_last=recipe.drop_last)
    for indices in parts:
        total += step(indices) * len(indices)
    return float(total) / sum(map(len, parts))


class Step:
    """A step of the optimiser on a batch of images."""

    def __init__(
        self,
        network: nn.Module,
        optimiser: torch.optim.Optimizer,
        images: Tensor,
        targets: Tensor,
        recipe: Recipe,
    ) -> None:
        self.network, self.optimiser = network, optimiser
        self.images, self.targets, self.recipe = images, targets, recipe

    def __call__(self, indices: Tensor) -> Tensor:
        """Take a step on the images at `indices`, shape (batch,); return their mean loss before it."""
        with torch.autocast(self.images.device.type, torch.bfloat16, enabled=self.recipe.precision == "bfloat16"):
            outputs = self.network(self.images[indices])
        targets = self.targets[indices]
        if self.recipe.loss == "mse":
            loss = 0.5 * functional.mse_loss(outputs.float(), targets, reduction="sum") / len(indices)
        else:
            loss = functional.cross_entropy(outputs.float(), targets)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        self.optimiser.step()
        return loss.detach()


class RecordedStep:
    """A step that is recorded once as a CUDA graph and then replayed, which saves starting its operations one by one.

    A graph keeps the memory addresses and the numbers of its recording. So each batch is copied to the memory of the
    recorded one, and the step is recorded again when the learning rate changes.
    """

    def __init__(self, step: Step) -> None:
        self._step = step
        self._rates: list[float] = []
        self._indices = torch.zeros(step.recipe.batch, dtype=torch.int64, device=step.images.device)
        self._graph = torch.cuda.CUDAGraph()
        self._loss = torch.zeros((), device=step.images.device)

    def __call__(self, indices: Tensor) -> Tensor:
        """Take a step on the images at `indices`; see `Step`. The next call overwrites what it returns."""
        if len(indices) != len(self._indices):
            return self._step(indices)
        self._indices.copy_(indices)
        rates = [group["lr"] for group in self._step.optimiser.param_groups]
        # of several GPUs torch would record the first one's streams
        with torch.cuda.device(self._indices.device):
            if rates != self._rates:
                self._record()
                self._rates = rates
            self._graph.replay()
        return self._loss

    def _record(self) -> None:
        self._graph = torch.cuda.CUDAGraph()
        before = [tensor.clone() for tensor in self._state()]
        # steps that are not recorded compile, choose algorithms, and make the momenta; then all is put back
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):  # as often as `torch.cuda.make_graphed_callables` does by default
                self._step(self._indices)
        torch.cuda.current_stream().wait_stream(stream)
        after = self._state()
        # `after` ends with the momenta that the steps have made, if there were none before
        for tensor, value in zip(after, before, strict=False):
            tensor.copy_(value)
        for momentum in after[len(before) :]:  # there was none before the first step, which is as if it were zero
            momentum.zero_()
        self._step.optimiser.zero_grad(set_to_none=True)
        with torch.cuda.graph(self._graph):
            self._loss = self._step(self._indices)

    def _state(self) -> list[Tensor]:
        """Return what a step changes: parameters, batch-norm statistics, and momenta as far as there are any."""
        network, optimiser = self._step.network, self._step.optimiser
        parameters = list(network.parameters())
        momenta = [optimiser.state[parameter].get("momentum_buffer") for parameter in parameters]
        return [
            *(parameter.detach() for parameter in parameters),
            *network.buffers(),
            *(momentum for momentum in momenta if momentum is not None),
        ]


def _state(network: nn.Module) -> State:
    return {name: value.detach().cpu().numpy().copy() for name, value in network.state_dict().items()}


class ResumePoint:
    """What a training has reached, in a folder: the last whole epoch, and the states recorded so far.

    It is saved so seldom that saving takes no more than `SHARE` of the time, but after `LONGEST` seconds at the latest.
    Each file is written whole or not at all, the one that names the others last.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # when the training began, when the point was last saved, and when the last epoch ended
        self._begun = self._last_save = self._last_epoch_end = time.monotonic()
        self._saving_seconds = self._longest_epoch = 0.0
        self._bytes_per_second = SLOW_DISK
        self._written: set[int] = set()

    def load(self, network: nn.Module, optimiser: torch.optim.Optimizer) -> tuple[dict[int, State], int]:
        """Load what an earlier run of the same training reached: the recorded states, and how many epochs."""
        if not (self._folder / "last.pt").is_file():
            return {}, 0
        device = next(network.parameters()).device
        last = torch.load(self._folder / "last.pt", map_location=device, weights_only=True)
        network.load_state_dict(last["network"])
        optimiser.load_state_dict(last["optimiser"])
        states = {}
        for epoch in last["recorded"]:
            with np.load(self._folder / f"epoch-{epoch}.npz") as archive:
                states[epoch] = dict(archive)
        self._written = set(states)
        return states, last["epoch"]

    def is_due(self, network: nn.Module, states: dict[int, State]) -> bool:
        """Return whether the point is to be saved: saving is cheap enough, or the last save is too long ago."""
        now = time.monotonic()
        affordable = self._saving_seconds + self._seconds(network, states) <= SHARE * (now - self._begun)
        return affordable or now - self._last_save >= LONGEST

    def epoch_ended(self) -> None:
        """Take note of how long an epoch took; to be called at the end of each."""
        now = time.monotonic()
        self._longest_epoch = max(self._longest_epoch, now - self._last_epoch_end)
        self._last_epoch_end = now

    def must_stop(self, network: nn.Module, states: dict[int, State]) -> bool:
        """Return whether the time left may be too short for another epoch."""
        # twice is chosen: an epoch may take longer than those before it, and a save longer than at the last one's speed
        return time_left() < 2.0 * (self._longest_epoch + self._seconds(network, states))

    def save(self, network: nn.Module, optimiser: torch.optim.Optimizer, states: dict[int, State], epoch: int) -> None:
        """Save what the training has reached: first the recorded states, then the file that names them."""
        begun, size = time.monotonic(), self._bytes(network, states)
        for recorded in sorted(set(states) - self._written):
            with atomic_write(self._folder / f"epoch-{recorded}.npz") as partial, open(partial, "wb") as stream:
                np.savez(stream, **states[recorded])  # type: ignore[arg-type]
        last = {
            "network": network.state_dict(),
            "optimiser": optimiser.state_dict(),
            "epoch": epoch,
            "recorded": sorted(states),
        }
        with atomic_write(self._folder / "last.pt") as partial:
            torch.save(last, partial)
        self._written = set(states)
        self._last_save = time.monotonic()
        self._saving_seconds += self._last_save - begun
        self._bytes_per_second = size / max(self._last_save - begun, 1e-6)

    def _bytes(self, network: nn.Module, states: dict[int, State]) -> int:
        """Return how many bytes a save writes: parameters, momenta, and the states that no earlier one has written."""
        held = sum(value.numel() * value.element_size() for value in network.state_dict().values())
        momenta = sum(parameter.numel() * parameter.element_size() for parameter in network.parameters())
        return held + momenta + held * len(set(states) - self._written)

    def _seconds(self, network: nn.Module, states: dict[int, State]) -> float:
        return self._bytes(network, states) / self._bytes_per_second
