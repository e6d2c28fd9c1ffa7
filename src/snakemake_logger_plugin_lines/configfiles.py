"""A file given with ``--configfile`` that Snakemake cannot read, told in one line that names it.

Snakemake reads it before any line of a Snakefile, and fails with a traceback, or without the file's name.
"""

from __future__ import annotations

import functools
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from snakemake_interface_common.exceptions import WorkflowError


def named(load: Callable[[str | Path], Any]) -> Callable[[str | Path], Any]:
    """Return a function that reads a configuration file as `load` does, or ends with one line that names the file."""

    @functools.wraps(load)
    def read(file: str | Path) -> Any:
        try:
            if not stat.S_ISREG(Path(file).stat().st_mode):
                reason = "is not a regular file"  # a pipe would be waited for without an end
            else:
                return load(file)
        except FileNotFoundError:
            reason = "no such file"
        except OSError as error:
            reason = f"cannot be read ({error.strerror or error})"
        except UnicodeDecodeError:
            reason = "is not text in UTF-8"
        except (WorkflowError, ValueError, RecursionError) as error:
            reason = " ".join(str(error).split())
        sys.exit(f"error: --configfile {file}: {reason}; mend it, or name another")

    return read


def mend() -> None:
    """Have this process's Snakemake read configuration files so."""
    from snakemake.settings import types

    types.load_configfile = named(types.load_configfile)
