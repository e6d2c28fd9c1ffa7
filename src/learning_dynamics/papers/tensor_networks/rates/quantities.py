"""Names of the quantities of losses and their bounds: `metrics` writes them, claims read them.

L(t) is the loss at time t; in exponents L is the number of layers. The start has the initial scale alpha and the
imbalance lambda: in every singular coordinate the square of each other layer exceeds that of the last by
alpha^2 lambda. S is the network's matrix of Assumption 1, s_min(S) its least singular value, X the matrix of the
points, and gamma their l2 max margin: the largest min_i y_i x_i^T z over unit vectors z. Where there is one point x, s
are the singular values of M(x).
"""

# exponential loss
LOG_LOSS = "log_loss"  # log L(t)
# constants c of bounds L(0) / (1 + c t), as they are printed (errata 8 and 10)
BOUND_CONSTANT = "bound_constant"  # D.1.1: c = alpha^(2L-2) lambda^(L-1) s_min(S)^2 gamma^2
ONE_POINT_BOUND_CONSTANT = "one_point_bound_constant"  # E.1.1, two layers and one point: c = alpha^2 lambda |s|^2

# squared loss: log(L(0) / L(t)) / t over the rate of a bound L(0) exp(-rate t), so that the bound is a speed of one
# (62), rate 2 alpha^(2L-2) lambda^(L-1) s_min(S)^2 s_min(X)^2; for fully connected networks the same without S, which
# is what the steps of H.1 give and twice what it prints (errata 12)
SPEED = "speed"
ONE_POINT_SPEED = "one_point_speed"  # (73), two layers and one point: rate 2 alpha^2 lambda |s|^2
# the rate of (62), (73) or H.1 with the largest number in lambda's place over that with lambda, the least:
# (largest / least)^(L-1), of the squares of the start's weights
RATE_OF_LARGEST = "rate_of_largest"
