"""Quantities of a descent until a low-rank matrix is learned, as metrics write them and claims read them.

A network of two layers completes a matrix of rank r from a small start. While the first singular values of its product
W are learned one after another, each step eta multiplies a singular value of W that is still small by (1 + eta g)^2,
where g is a singular value of the loss's gradient. Its growth is the logarithm of this factor, 2 log(1 + eta g)
(`theory.step_growth`). The g that belongs to the r-th singular value of W, or to the next one, is taken from the
gradient outside of the singular vectors of W that are learned (`runs.gradient_along_path`).
"""

# Growth of the (r+1)-th singular value, the first beyond the rank, over growth of the r-th. The law of depth 2 says
# that descent from scale s leaves an (r+1)-th singular value in proportion to s^(1 - alpha)
ALPHA = "alpha"  # both summed over all steps until the r-th is learned
ALPHA_AT_START = "alpha_at_the_start"  # in the first step
ALPHA_OF_WHOLE = "alpha_of_the_whole"  # summed, with the r-th and (r+1)-th singular values of the whole gradient as g
ALPHA_OF_FLOW = "alpha_of_the_flow"  # summed, with growth 2 eta g, as if steps were small

GROWTH = "growth"  # growth of the r-th singular value, summed over all steps until it is learned
GROWTH_IN_ONE_STEP = "growth_in_one_step"  # the most that the (r+1)-th singular value grows in one of these steps
