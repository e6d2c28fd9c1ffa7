"""Functions compiled for one signature: from a cache on disk, a broken one or none, and with errors of their own."""

import os
import subprocess
import sys

import numba
import pytest

from learning_dynamics.dynamics.compilation import compiled

DOUBLING = """\
from learning_dynamics.dynamics.compilation import compiled
@compiled("float64(float64)")
def twice(value):
    return 2.0 * value
print(twice(21.0), sum(twice.stats.cache_hits.values()))
"""


# what the module prints: twice 21, and how often the function was found in the cache
COMPILED, FROM_THE_CACHE = ["42.0", "0"], ["42.0", "1"]


def run_doubling(module, **variables):
    """Write and run a module that compiles a function, in a process of its own; return the two words that it prints."""
    module.write_text(DOUBLING)
    # always the same time: numba forgets what it has cached of a source with another one
    os.utime(module, (1e9, 1e9))
    command = [sys.executable, str(module)]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert not done.stderr
    return done.stdout.split()


def test_where_no_cache_can_be_written_a_function_is_compiled_all_the_same(tmp_path):
    """Files are where the cache's folders would be made; folders without write permission would not stop root."""
    (tmp_path / "__pycache__").write_text("")
    (tmp_path / "home").write_text("")
    home = str(tmp_path / "home")
    # a folder of "" counts as none
    variables = {"HOME": home, "XDG_CACHE_HOME": home, "NUMBA_CACHE_DIR": ""}
    assert run_doubling(tmp_path / "doubling.py", **variables) == COMPILED
    assert not list(tmp_path.rglob("*.nbi"))  # numba's index of a cache


def first_half(content):
    return content[: len(content) // 2]


def zeros(content):
    return bytes(len(content))


# numba's index of a source's functions, and the code of one
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("spoil", [first_half, zeros])
def test_a_broken_cache_is_replaced(spoil, ending, tmp_path):
    cache = tmp_path / "cache"
    variables = {"NUMBA_CACHE_DIR": str(cache)}
    assert run_doubling(tmp_path / "doubling.py", **variables) == COMPILED
    assert run_doubling(tmp_path / "doubling.py", **variables) == FROM_THE_CACHE
    files = list(cache.rglob(f"*{ending}"))
    assert files
    for file in files:
        file.write_bytes(spoil(file.read_bytes()))
    assert run_doubling(tmp_path / "doubling.py", **variables) == COMPILED
    assert run_doubling(tmp_path / "doubling.py", **variables) == FROM_THE_CACHE


def test_an_error_of_a_function_is_raised_where_it_is_defined():
    with pytest.raises(numba.TypingError, match="unknown_name"):

        @compiled("float64(float64)")
        def undefined(value):
            return unknown_name  # noqa: F821
