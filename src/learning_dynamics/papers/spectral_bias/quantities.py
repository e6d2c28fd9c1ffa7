"""Quantities that the tables of several topics have; `layers.spectra_and_loss` writes all but `SAMPLES`.

A network with the layers W1 and W2 is trained on X, which has a row for each sample, and the labels Y. beta = W1 W2 is
its predictor, and beta_* = X^+ Y the interpolator of least norm. |.| is the Frobenius norm. Singular values are in
descending order. Predictions are in the column `predicted`.
"""

# 1/2 |X beta - Y|^2 (eq. 2.2). In `reductions`, with one output, the bound on it by Lemma C.8 is predicted. In `relu`
# it is the loss of a student f: the mean of (f(x_i) - y_i)^2 / 2 over the samples x_i with labels y_i (eq. 2.1)
LOSS = "loss"
# singular values of W1. Predicted: along the flow, the values that Lemma C.10 gives for the measured beta; at its
# limit, those that Corollary 3.1 gives for beta_*, or in `gaussian` for an orthogonal layer of equal mean square; in
# `reductions`, those of the projected layer Z1 (Lemma 3.1)
SIGMA_W1 = "sigma_w1"
SIGMA_W2 = "sigma_w2"  # singular values of W2; predicted from those of beta or, at the limit, of beta_* (Lemma C.10)
# singular values of beta. Predicted: at the limit, those of beta_* (Theorem 3.1 (ii)); along the flow on whitened data,
# the learning curve of Theorem C.12
SIGMA_BETA = "sigma_beta"
DISTANCE = "distance"  # |beta - beta_*| / |beta_*|
RESIDUAL = "residual"  # |X beta - Y| / |Y|
# |X beta - Y| / (sigma_min(X) |beta_*|), with the smallest singular value of X: the largest `DISTANCE` that the
# residual leaves open for a beta in the row space of X
DISTANCE_BOUND = "distance_bound"

SAMPLES = "samples"  # n, the number of samples that a draw is trained on
