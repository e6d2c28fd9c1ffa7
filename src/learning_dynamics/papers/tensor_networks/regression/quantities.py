"""Names of the quantities of regression: `metrics` writes them, claims read them; further ones in `tables`."""

# a coefficient at the flow's limit, predicted by
COEFFICIENT = "coefficient"  # the minimiser of Q (Theorem 4)
PRINTED_MINIMISER = "printed"  # the minimiser of Q(F z), as Corollary 6 is printed
WEIGHTED_L1 = "weighted_l1"  # the least l1 norm with the weights of Remark 4
WEIGHTED_L2 = "weighted_l2"  # the least l2 norm with the weights of Remark 4
PLAIN_L1 = "plain_l1"  # the least l1 norm
PLAIN_L2 = "plain_l2"  # the least l2 norm

# a coefficient of the minimiser of Q at the scale `theory.SMALL_DEEP`, by what predicts it
AT_SMALL_SCALE = {
    WEIGHTED_L1: "small_weighted_l1",
    WEIGHTED_L2: "small_weighted_l2",
    PLAIN_L1: "small_plain_l1",
    PLAIN_L2: "small_plain_l2",
}
VANISHING_POWER = "vanishing"  # of alpha, of entries of the minimiser outside the support of the least l1 norm
CURVE = "curve"  # first coefficient of the minimiser of Q over the scale

# the functions of Lemma 5.1
Q = "q"  # q_L
H = "h"  # h_L
TIME_OF_H = "time_of_h"  # at which h_L takes its value
PENALTY = "penalty"  # H_L(h) / |h| (Theorem 4)
TIME_OF_LAST_Q = "reached"  # at which |q_L| passes the bound of the configuration
