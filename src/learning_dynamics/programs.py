"""Programs of others, and what they print."""

import subprocess
import sys
from collections.abc import Sequence
from typing import Any


def run_program(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and return what it printed, whatever bytes that is.

    Bytes that are no text in the encoding of file names become what `os.fsdecode` makes of them, so that paths
    compare equal to those of `pathlib`.
    """
    encoding = sys.getfilesystemencoding()
    return subprocess.run(command, capture_output=True, encoding=encoding, errors="surrogateescape", **options)
