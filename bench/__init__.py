"""The same work by this project and by what one would take instead, timed side by side: ``python -m bench``.

Every module here holds the rows of one family; `rows` is what `__main__` runs. Nothing in the package depends on it.
"""
