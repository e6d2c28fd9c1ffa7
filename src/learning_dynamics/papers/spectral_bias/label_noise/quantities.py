"""Names of what is measured under label noise; `metrics` writes them, claims and figures read them.

The names of `layers.spectra_and_loss` are in the paper's `quantities`. |.| is the Frobenius norm.
"""

# -- of single descents, `metrics.label_noise_descent` -----------------------------------------------------------------

BETA_NORM = "beta_norm"  # |beta_*|, of the minimum-norm interpolator

# -- many paths on each data set, `metrics.label_noise_ensemble` -------------------------------------------------------
# X = U D V^T; u_j is the mean over paths of the square of the j-th row of V^T W. Both moments are predicted by the
# process of appendix D, dW = X^T dB a^T and da = W^T X^T dB.

OUTPUT_SECOND_MOMENT = "output_second_moment"  # E|a|^2, the mean over paths
ROW_GROWTH = "row_growth"  # u_j(t) - u_j(0)

# what both are predicted to be if all D_j were their quadratic mean
OUTPUT_SECOND_MOMENT_OF_EQUAL_WEIGHTS = "output_second_moment_of_equal_weights"
ROW_GROWTH_OF_EQUAL_WEIGHTS = "row_growth_of_equal_weights"

# E|a|^2 of the descent's own recursion without its drift: u_j += h D_j^2 v, v += h sum_j D_j^2 u_j, h = (eta delta)^2
OUTPUT_SECOND_MOMENT_OF_RECURSION = "output_second_moment_of_recursion"
GAIN_OUTSIDE = "gain_outside"  # |(I - V V^T) (W(t) - W(0))| / |W(t)|, the largest over paths
