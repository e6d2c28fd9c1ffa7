"""Names of what `metrics.label_noise_ensemble` measures of many paths on each data set, X = U D V^T."""

OUTPUT_SQUARE = "output_square"  # mean of |a|^2
ROW_GROWTH = "row_growth"  # growth since the start of the mean square of each row of V^T W

# what both are predicted to be if all D_j were their quadratic mean
OUTPUT_SQUARE_OF_EQUAL_WEIGHTS = "output_square_isotropic"
ROW_GROWTH_OF_EQUAL_WEIGHTS = "row_growth_isotropic"

OUTPUT_SQUARE_OF_RECURSION = "euler"  # mean of |a|^2 by the recursion, step by step and without its drift
GAIN_OUTSIDE = "outside"  # norm of what W has gained outside the span of the rows of X, relative to |W|
