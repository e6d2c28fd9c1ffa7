"""PyTorch as a job has it, inside a process that is somebody else's: a notebook's settings of it change no number."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager

from learning_dynamics.pipeline.plan.source_files import read_source
from learning_dynamics.pipeline.plan.sources import PACKAGE, module_path


def imports_torch(modules: Iterable[str]) -> bool:
    """Whether one of the package's modules imports PyTorch, at its head or inside a function."""
    paths = [module_path(f"{PACKAGE}.{module}") for module in modules]
    named = (name for path in paths if path for _, name, _ in read_source(path).imports)
    return any(name.partition(".")[0] == "torch" for name in named)


@contextmanager
def own_torch(threads: int) -> Iterator[None]:
    """Run a body with PyTorch's own defaults: so many threads, gradients, new tensors in float32 on the processor.

    Whatever was set before is set again afterwards: threads, type and device of new tensors, `autocast`, `no_grad` and
    `inference_mode`.
    """
    import torch

    threads_before, type_before = torch.get_num_threads(), torch.get_default_dtype()
    torch.set_num_threads(threads)
    torch.set_default_dtype(torch.float32)
    try:
        with ExitStack() as contexts:
            contexts.enter_context(torch.inference_mode(False))
            contexts.enter_context(torch.enable_grad())
            if torch.get_default_device().type != "cpu":
                contexts.enter_context(torch.device("cpu"))
            for device in ("cpu", "cuda"):
                contexts.enter_context(torch.autocast(device, enabled=False))
            yield
    finally:
        torch.set_num_threads(threads_before)
        torch.set_default_dtype(type_before)
