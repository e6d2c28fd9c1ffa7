"""Functions that are compiled for one signature when their module is imported, and kept on disk."""

from collections.abc import Callable
from typing import Any

import numba


def compiled(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for one signature when its module is imported, from a cache on disk where there is one."""

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(signature, cache=True)(function)
        except RuntimeError:  # nowhere to write: neither beside the source nor in the user's cache
            return numba.njit(signature)(function)

    return decorate
