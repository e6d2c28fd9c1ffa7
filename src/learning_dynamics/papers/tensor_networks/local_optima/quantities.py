"""Names of the quantities of local optima: `metrics` writes them, claims read them."""

# the number of the local optimum that a start has come to, predicted by
OPTIMUM = "optimum"  # the greedy choice of coordinates
OPTIMUM_BY_GRADIENTS = "optimum_by_gradients"  # that choice with the same blow-up time for all coordinates
OPTIMUM_BY_WEIGHTED_L1 = "optimum_by_weighted_l1"  # the least l1 norm with the blow-up times as weights
GLOBAL = 1  # the global optimum's: optima are numbered in the order of their quasi-norms

WITHIN_ESCAPED = "within_escaped"  # 1 where the optimum's entries are among the coordinates that escape, else 0
NUMBER_OF_OPTIMA = "number_of_optima"  # of a data set
