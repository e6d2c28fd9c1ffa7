"""How many planted errors the tests notice: ``python -m mutation`` draws, plants and counts them.

`operators` says what may be changed, `drawing` where, `baseline` which tests and claims reach what, `trial` plants one
error in a process of its own, `campaign` carries out all of them, `score` tells the result. Nothing in the package
depends on it.
"""
