"""Quantities of a descent until a low-rank matrix is learned, as metrics write them and claims read them.

Growth is that of logarithms: 2 log(1 + eta g) in a step eta, by a singular value g of the gradient
(`theory.step_growth`).
"""

# Growth of the first singular value beyond the rank r over that of the r-th
ALPHA = "alpha"  # along the path until the r-th is learned
ALPHA_AT_START = "alpha_at_the_start"  # in the first step
ALPHA_OF_WHOLE = "alpha_of_the_whole"  # along the path, by the whole gradient, nothing set aside
ALPHA_OF_FLOW = "alpha_of_the_flow"  # along the path, as if steps were small

GROWTH = "growth"  # of the r-th singular value along the path
GROWTH_IN_ONE_STEP = "growth_in_one_step"  # growth of the first singular value beyond the rank in one step, at most
