"""Benchmarks against alternative libraries: ``python -m bench`` compares results, then times.

Every module holds the rows of one family; `__main__` runs them. Nothing in the package depends on it.
"""
