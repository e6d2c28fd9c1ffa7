"""Reproductions of papers on gradient-descent dynamics, each claim checked against what was measured."""

__version__ = "0.1.0"
