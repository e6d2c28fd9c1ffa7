"""Whether the runs that are about to start fit onto the disk."""

import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

from learning_dynamics.errors import ProjectError
from learning_dynamics.pipeline.study.project import Project


def check_disk_space(runs: Sequence[tuple[Project, str, str]], limits: Iterable[int | None], folder: Path) -> None:
    """Refuse to start runs whose files the disk cannot hold, by the `disk_mb` of their `resources`.

    Parameters
    ----------
    runs : sequence of (project, paper, name)
        Those that are to be made.
    limits : iterable of int or None
        How many of them may be under way at once: the least; None limits nothing.
    folder : path
        On the disk.

    Raises
    ------
    ProjectError
        It names what they take, what is free, and the mends.
    """
    sizes = [
        (size, project.keeps(paper, name))
        for project, paper, name in runs
        if (size := project.resources("run", paper, name).get("disk_mb", 0))
    ]
    if not sizes:
        return
    required = max_disk_use(sizes, min([len(sizes), *(limit for limit in limits if limit is not None)]))
    free = shutil.disk_usage(folder).free // 10**6
    if required > free:
        raise ProjectError(
            f"{folder}: {len(sizes)} runs take up to {required / 1000:.1f} GB of disk, and {free / 1000:.1f} are free; "
            "make room, start fewer at once (--resources gpu=1), or let their files go once measured (keep: false)"
        )


def max_disk_use(sizes: Sequence[tuple[int, bool]], at_once: int) -> int:
    """Return the largest sum of what runs have on disk at the same time.

    A run under way has its resume point beside its file, which is no larger. A file that stays counts from then on, one
    that goes counts while it is made or measured.

    Parameters
    ----------
    sizes : sequence of (int, bool)
        Of each run's file, and whether it stays.
    at_once : int
        How many are made or measured at the same time.
    """
    temporary = sorted((size if stays else 2 * size for size, stays in sizes), reverse=True)
    return sum(size for size, stays in sizes if stays) + sum(temporary[:at_once])
