"""Quantities that the tables of several topics have; `layers.spectra_and_loss` writes all but the last.

beta = W1 W2, beta_* is the minimum-norm interpolator, |.| the Frobenius norm. Singular values are in descending order.
"""

# 1/2 |X beta - Y|^2 (eq. 2.2); predicted, for the reduced flow with one output, its bound (Lemma C.8); of a ReLU
# student the mean of (f(x_i) - y_i)^2 / 2 over samples (eq. 2.1)
LOSS = "loss"
SIGMA_W1 = "sigma_w1"  # singular values of W1; predicted from those of beta or beta_* (Lemma C.10, Corollary 3.1)
SIGMA_W2 = "sigma_w2"  # singular values of W2; predicted likewise
SIGMA_BETA = "sigma_beta"  # singular values of beta; predicted by Theorem 3.1 (ii) or Theorem C.12
DISTANCE = "distance"  # |beta - beta_*| / |beta_*|
RESIDUAL = "residual"  # |X beta - Y| / |Y|
# |X beta - Y| / (sigma_min(X) |beta_*|): the largest `DISTANCE` that the residual leaves open for a beta in the row
# space of X
DISTANCE_BOUND = "distance_bound"

SAMPLES = "samples"  # n, of the data of a draw
