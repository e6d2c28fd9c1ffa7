"""Names of what is measured under label noise; `metrics` writes them, claims and figures read them.

The names of `layers.spectra_and_loss` are in the paper's `quantities`. |.| is the Frobenius norm.
"""

# -- of single descents, `metrics.label_noise_descent` -----------------------------------------------------------------

BETA_NORM = "beta_norm"  # |beta_*|, of the minimum-norm interpolator beta_*

# -- over many paths on each data set, `metrics.label_noise_ensemble` --------------------------------------------------
# W and a are the layers of a network with one output. X = U D V^T is the singular value decomposition of the data, with
# the singular values D_j. u_j is the mean over paths of the squared norm of the j-th row of V^T W, and E|a|^2 that of
# |a|^2. Both are predicted by the process of appendix D, dW = X^T dB a^T and da = W^T X^T dB.

OUTPUT_SECOND_MOMENT = "output_second_moment"  # E|a|^2; predicted
ROW_GROWTH = "row_growth"  # u_j(t) - u_j(0) of each row j; predicted

# what the process would predict for both if all D_j were their quadratic mean
OUTPUT_SECOND_MOMENT_OF_EQUAL_WEIGHTS = "output_second_moment_of_equal_weights"
ROW_GROWTH_OF_EQUAL_WEIGHTS = "row_growth_of_equal_weights"

# what the descent's own recursion gives for v = E|a|^2 without its drift: each step adds h D_j^2 v to u_j and
# h sum_j D_j^2 u_j to v, where h = (eta delta)^2 with the step size eta and the standard deviation delta of the noise
OUTPUT_SECOND_MOMENT_OF_RECURSION = "output_second_moment_of_recursion"
# |(I - V V^T) (W(t) - W(0))| / |W(t)|, what W has gained outside the span of the rows of X: the largest over paths
GAIN_OUTSIDE = "gain_outside"
