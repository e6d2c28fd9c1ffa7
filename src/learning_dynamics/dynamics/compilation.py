"""Functions that are compiled for one signature when their module is imported, and kept on disk."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numba


def compiled(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function for one signature when its module is imported, from a cache on disk where there is one.

    A cache that cannot be read is discarded: a power cut or a full disk may have cut it short, and numba raises
    whatever pickle raises.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        with suppress(Exception):
            return numba.njit(signature, cache=True)(function)
        with suppress(Exception):
            numba.njit(cache=True)(function).recompile()  # empties the cache's index
            return numba.njit(signature, cache=True)(function)
        # nowhere to write, neither beside the source nor in the user's cache; what is wrong with the function is raised
        return numba.njit(signature)(function)

    return decorate
