"""Class sizes, and their name in tables, which joins them by dashes: ``4-2-1-1``, the column `counts`."""

from collections.abc import Iterable


def name_of(sizes: Iterable[int]) -> str:
    """Return class sizes joined by dashes; zeros, which pad an array, are left out."""
    return "-".join(str(size) for size in sizes if size)


def sizes_of(counts: str) -> list[int]:
    """Return the class sizes that their name joins by dashes."""
    return [int(size) for size in counts.split("-")]


def ratio(counts: str) -> float:
    """Return the size of the largest class over that of the smallest."""
    sizes = sizes_of(counts)
    return max(sizes) / min(sizes)
