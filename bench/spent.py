"""What a piece of work takes: processor seconds, and the most memory over what its process has at the start.

``python bench/spent.py LIBRARY MODULE ARGUMENT...`` does what ``python -m MODULE ARGUMENT...`` does, counts from when
LIBRARY is imported, and prints both as its last line.
"""

import importlib
import json
import os
import re
import resource
import runpy
import sys
from pathlib import Path

STATUS, PEAK = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class Spent:
    """Counts from when it is made."""

    def __init__(self) -> None:
        if PEAK.exists():
            PEAK.write_text("5")  # the peak counts from here on
        self.memory, self.seconds = _resident("VmRSS"), _processor_seconds()

    def read(self) -> dict[str, float]:
        """Return the processor seconds, children's too, and the process's peak of memory over its start, until now."""
        seconds = _processor_seconds() - self.seconds
        return {"seconds": seconds, "MB": (_resident("VmHWM") - self.memory) / 1e6}


def _processor_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _resident(what: str) -> float:
    """Return bytes now in memory (VmRSS), or at most so far (VmHWM), which is both where there is no /proc."""
    if STATUS.exists():
        found = re.search(rf"{what}:\s*(\d+) kB", STATUS.read_text())
        assert found
        return 1024.0 * float(found[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return float(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def main(library: str, module: str, *arguments: str) -> None:
    """Do what a module does as a program, and print what it took."""
    sys.path[0] = ""  # the working directory, as for ``python -m``: it was this file's folder
    sys.argv[1:] = arguments
    importlib.import_module(library)
    counter = Spent()
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        print(f"\n{json.dumps(counter.read())}")


if __name__ == "__main__":
    main(*sys.argv[1:])
