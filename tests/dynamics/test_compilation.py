"""Functions compiled for one signature: from a cache on disk, without one, from a broken one, and their own errors."""

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


def doubled(module, **variables):
    """Run a module that compiles a function, in a process of its own; return the function's value and cache hits."""
    module.write_text(DOUBLING)
    os.utime(module, (1e9, 1e9))  # numba drops what it has kept of a source whose modification time is another
    command = [sys.executable, "-B", str(module)]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert not done.stderr
    return done.stdout.split()


def test_where_nothing_can_be_kept_it_compiles_all_the_same(tmp_path):
    """Files stand where the cache's folders would be made: root may write anywhere, but no folder in a file's place."""
    (tmp_path / "__pycache__").write_text("")
    (tmp_path / "home").write_text("")
    home = str(tmp_path / "home")
    assert doubled(tmp_path / "doubling.py", HOME=home, XDG_CACHE_HOME=home, NUMBA_CACHE_DIR="") == ["42.0", "0"]
    assert not list(tmp_path.rglob("*.nbi"))


def first_half(content):
    return content[: len(content) // 2]


def zeros(content):
    return bytes(len(content))


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
@pytest.mark.parametrize("spoil", [first_half, zeros])
def test_a_broken_cache_is_replaced(spoil, ending, tmp_path):
    cache = tmp_path / "cache"
    variables = {"NUMBA_CACHE_DIR": str(cache)}
    assert doubled(tmp_path / "doubling.py", **variables) == ["42.0", "0"]
    assert doubled(tmp_path / "doubling.py", **variables) == ["42.0", "1"]
    files = list(cache.rglob(f"*{ending}"))
    assert files
    for file in files:
        file.write_bytes(spoil(file.read_bytes()))
    assert doubled(tmp_path / "doubling.py", **variables) == ["42.0", "0"]
    assert doubled(tmp_path / "doubling.py", **variables) == ["42.0", "1"]


def test_what_is_wrong_with_a_function_is_raised():
    with pytest.raises(numba.TypingError, match="unknown_name"):

        @compiled("float64(float64)")
        def undefined(value):
            return unknown_name  # noqa: F821
