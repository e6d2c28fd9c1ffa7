"""Names of the quantities of local optima: `metrics` writes them, claims read them.

A diagonal network of L layers classifies; beta are its coefficients. The problem is that of the l_(2/L) max margin: the
least sum_j |beta_j|^(2/L) with all margins y_i x_i^T beta at least one. From three layers on it has several local
optima. Those of a data set are numbered from 1 in the order of this sum. From a small start the coordinates beta_j
escape from zero one after the other. Each has a blow-up time of its own, which the start gives (`theory`).
"""

# three names of one measured number, that of the local optimum that a start has come to, predicted by:
OPTIMUM = "optimum"  # the greedy choice: the optimum of most entries among the coordinates that escape
OPTIMUM_BY_GRADIENTS = "optimum_by_gradients"  # the greedy choice with equal blow-up times, the same for all starts
OPTIMUM_BY_WEIGHTED_L1 = "optimum_by_weighted_l1"  # the least l1 norm with the blow-up times as weights
GLOBAL = 1  # the number of the global optimum

WITHIN_ESCAPED = "within_escaped"  # 1 if all nonzero beta_j of the optimum reached are among those that escape, else 0
NUMBER_OF_OPTIMA = "number_of_optima"  # how many local optima a data set has
