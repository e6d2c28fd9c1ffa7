"""Names of the quantities of regression: `metrics` writes them, claims read them; `tables` has two further ones.

- The network is orthogonally decomposable, with L layers and the coefficients beta: f(x) = x^T beta and beta = S^T rho.
  In singular coordinates rho_j is the product of the j-th coordinates of all layers.
- At the start these coordinates are alpha eta_j in every layer but the last, where they are zero; alpha is the initial
  scale.
- Q is the norm-like function of Theorem 4, which depends on L, alpha and eta. By the theorem the flow ends at S^T rho
  with the rho of least Q(rho) among those that fit, X S^T rho = y: this is what "the minimiser of Q" means below.
- F is the unitary discrete Fourier transform.
- p_L, q_L and h_L are the functions of the time t in Lemma 5.1: p' = p^(L-2) q, q' = p^(L-1) and h = p^(L-1) q, from
  p(0) = 1 and q(0) = 0.
"""

# Six names of one measured number, beta_j where the flow or the descent ends. They differ in the column `predicted`,
# which has the beta_j of:
COEFFICIENT = "coefficient"  # the minimiser of Q (Theorem 4)
PRINTED_MINIMISER = "printed_minimiser"  # the z of least Q(F z), as Corollary 6 is printed (errata 7)
WEIGHTED_L1 = "weighted_l1"  # the rho of least sum_j |rho_j| |eta_j|^(2 - L), the limit for alpha -> 0 (Remark 4)
WEIGHTED_L2 = "weighted_l2"  # the rho of least sum_j rho_j^2 eta_j^(2 - 2L), for alpha -> infinity (Remark 4)
PLAIN_L1 = "plain_l1"  # the rho of least l1 norm
PLAIN_L2 = "plain_l2"  # the rho of least l2 norm

# Here the measured number is beta_j of the minimiser of Q itself, without any flow, at the scale `theory.SMALL_DEEP`.
# The four names have the predictions of the four names above.
AT_SMALL_SCALE = {
    WEIGHTED_L1: "small_weighted_l1",
    WEIGHTED_L2: "small_weighted_l2",
    PLAIN_L1: "small_plain_l1",
    PLAIN_L2: "small_plain_l2",
}
# The power of alpha with which the minimiser of Q vanishes outside the support of the rho of least l1 norm: that of its
# largest entry there, relative to its largest of all. Two layers; `theory.vanishing_power` predicts it.
VANISHING_POWER = "vanishing_power"
MINIMISER_CURVE = "minimiser_curve"  # beta_1 of the minimiser of Q at each of many alpha, the line of a figure

# the functions of Lemma 5.1, integrated; predicted in closed form
Q = "q"  # q_L(t)
H = "h"  # h_L(t)
TIME_OF_H = "time_of_h"  # t, predicted by the inverse of h_L at the integrated h_L(t)
PENALTY_OVER_H = "penalty_over_h"  # H_L(h) / |h| at h = h_L(t), with H_L the integral of the inverse of h_L (Theorem 4)
TIME_OF_LAST_Q = "time_of_last_q"  # t at which |q_L(t)| passes the setting `last`; negative backward in time
