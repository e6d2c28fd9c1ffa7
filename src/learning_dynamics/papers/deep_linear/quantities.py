"""Quantities that the tables of several topics have, as metrics write them and claims and figures read them.

Runs import no more of this module than its names.
"""

SIGMA = "sigma"  # singular values of the end-to-end matrix, the largest first

# Quantities of completed matrices. W is a completed matrix, made by a network or by minimising the nuclear norm; W* is
# the matrix to complete, of which some entries are observed. `completed_matrices.measures_of` writes the first six
ERROR = "error"  # mean of (W - W*)^2 over all entries
TRAIN_LOSS = "train_loss"  # mean of (W - W*)^2 over the observed entries
NUCLEAR_NORM = "nuclear_norm"  # sum of the singular values of W
EFFECTIVE_RANK = "effective_rank"  # exp of the entropy of the shares that W's singular values have in their sum
TRUE_NUCLEAR_NORM = "true_nuclear_norm"  # sum of the singular values of W*
TRUE_EFFECTIVE_RANK = "true_effective_rank"  # effective rank of W*
RANK = "rank"  # rank of W*
SIZE = "size"  # number of rows of W*, which is square
OBSERVED_ENTRIES = "observed"  # how many entries of W* are observed
# of the W that a solver finds for the least nuclear norm: proved bound on how far its nuclear norm is above the least
# one, relative to its nuclear norm
GAP = "gap"
MISFIT = "misfit"  # of the same W: largest |W - W*| on an observed entry
BEYOND_RANK = "beyond_rank"  # the first singular value of W beyond the rank r of W*, sigma_(r+1)
