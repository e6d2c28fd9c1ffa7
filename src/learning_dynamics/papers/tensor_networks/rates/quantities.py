"""Names of the quantities of losses and their bounds: `metrics` writes them, claims read them.

L(t) is the loss; in exponents L is the number of layers. The start has the initial scale alpha and the
imbalance lambda; gamma is the l2 max margin, and s are the singular values of M(x) of a single point x.
"""

# exponential loss
LOG_LOSS = "log_loss"  # log L(t)
BOUND_CONSTANT = "bound_constant"  # c of D.1.1's bound: alpha^(2L-2) lambda^(L-1) s_min(S)^2 gamma^2
ONE_POINT_BOUND_CONSTANT = "one_point_bound_constant"  # c of E.1.1's bound: alpha^2 lambda |s|^2

# squared loss: log(L(0) / L(t)) / t, in units of the rate of a bound
SPEED = "speed"  # the rate of (62); for fully connected networks that of H.1's steps, twice what it prints (errata 12)
ONE_POINT_SPEED = "one_point_speed"  # the rate of (73), for a single point
