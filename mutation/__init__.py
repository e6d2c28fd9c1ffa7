"""Mutation testing of the science with cosmic-ray: ``python -m mutation`` draws mutants, runs them, prints the score.

`operators` adds operators for arrays and tables to cosmic-ray's own, `drawing` draws mutants by a seed, `trial` is the
test command of one mutant, `score` reads cosmic-ray's result databases. Nothing in the package depends on it.
"""
