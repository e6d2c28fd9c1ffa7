"""Names of the quantities of regression: `metrics` writes them, claims read them; further ones in `tables`."""

# a coefficient beta_j at the flow's limit, predicted by
COEFFICIENT = "coefficient"  # the minimiser of Q(S^(-T) z) (Theorem 4)
PRINTED_MINIMISER = "printed_minimiser"  # the minimiser of Q(F z), as Corollary 6 is printed
WEIGHTED_L1 = "weighted_l1"  # the least sum_j |rho_j| |eta_j|^(2 - L) (Remark 4)
WEIGHTED_L2 = "weighted_l2"  # the least sum_j rho_j^2 eta_j^(2 - 2L) (Remark 4)
PLAIN_L1 = "plain_l1"  # the least l1 norm
PLAIN_L2 = "plain_l2"  # the least l2 norm

# a coefficient of the minimiser of Q at the scale `theory.SMALL_DEEP`, by what predicts it
AT_SMALL_SCALE = {
    WEIGHTED_L1: "small_weighted_l1",
    WEIGHTED_L2: "small_weighted_l2",
    PLAIN_L1: "small_plain_l1",
    PLAIN_L2: "small_plain_l2",
}
VANISHING_POWER = "vanishing_power"  # of alpha, of entries of the minimiser outside the support of the least l1 norm
MINIMISER_CURVE = "minimiser_curve"  # beta_1 of the minimiser of Q, against the scale

# the functions of Lemma 5.1
Q = "q"  # q_L
H = "h"  # h_L = p_L^(L-1) q_L
TIME_OF_H = "time_of_h"  # t at which h_L(t) is `H`, predicted by the inverse of h_L
PENALTY_OVER_H = "penalty_over_h"  # H_L(h) / |h|, with H_L the integral of the inverse of h_L (Theorem 4)
TIME_OF_LAST_Q = "time_of_last_q"  # t at which |q_L(t)| passes the bound of the configuration
