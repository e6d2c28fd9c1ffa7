"""Class sizes, and the names of cells, which join them by dashes: ``4-2-1-1``."""

from collections.abc import Iterable


def name_of(sizes: Iterable[int]) -> str:
    """Return class sizes joined by dashes; zeros, which pad an array, are left out."""
    return "-".join(str(size) for size in sizes if size)


def sizes_of(counts: str) -> list[int]:
    """Return the class sizes that a cell's name joins by dashes."""
    return [int(size) for size in counts.split("-")]


def ratio(counts: str) -> float:
    """Return the size of the largest class over that of the smallest."""
    sizes = sizes_of(counts)
    return max(sizes) / min(sizes)
