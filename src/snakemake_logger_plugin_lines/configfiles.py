"""A file given with ``--configfile`` that Snakemake cannot read, told in one line that names it.

Snakemake reads it before any line of a Snakefile, and fails with a traceback, or without the file's name. A plugin is
imported before that, and reads it first.
"""

import argparse
import stat
import sys
from collections.abc import Sequence
from pathlib import Path

from snakemake_interface_common.exceptions import WorkflowError


def given(arguments: Sequence[str]) -> list[str]:
    """Return the configuration files that a command line of Snakemake's names."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    try:
        return list(parser.parse_known_args(arguments)[0].configfile)
    except argparse.ArgumentError:
        return []  # Snakemake says what is wrong with it


def check(file: str | Path) -> None:
    """Read a configuration file as Snakemake does; end with one line that names it where that fails."""
    from snakemake.common.configfile import load_configfile

    try:
        if stat.S_ISREG(Path(file).stat().st_mode):
            load_configfile(file)
            return
        reason = "is not a regular file"  # a pipe would be waited for without an end
    except FileNotFoundError:
        reason = "no such file"
    except OSError as error:
        reason = f"cannot be read ({error.strerror or error})"
    except UnicodeDecodeError:
        reason = "is not text in UTF-8"
    except (WorkflowError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
    sys.exit(f"error: --configfile {file}: {reason}; mend it, or name another")
