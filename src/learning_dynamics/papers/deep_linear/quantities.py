"""Quantities that the tables of several topics have; no run imports more than their names."""

SIGMA = "sigma"  # singular values of the end-to-end matrix, descending

# Quantities of completed matrices; `completed_matrices.measures_of` writes the first six
ERROR = "error"  # mean square over all entries
TRAIN_LOSS = "train_loss"  # mean square over the observed entries
NUCLEAR_NORM = "nuclear_norm"  # sum of the singular values
EFFECTIVE_RANK = "effective_rank"  # exp of the entropy of the singular values' shares of their sum
TRUE_NUCLEAR_NORM = "true_nuclear_norm"  # of the matrix to complete
TRUE_EFFECTIVE_RANK = "true_effective_rank"  # of the matrix to complete
RANK = "rank"  # of the matrix to complete
SIZE = "size"  # number of rows of the matrix to complete
OBSERVED_ENTRIES = "observed"  # how many entries of the matrix to complete are observed
GAP = "gap"  # of a minimiser: proved distance of its nuclear norm from the least one, relative
MISFIT = "misfit"  # of a minimiser: largest error on an observed entry
BEYOND_RANK = "beyond_rank"  # the first singular value beyond the rank of the matrix to complete
