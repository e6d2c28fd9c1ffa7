"""Quantities along descent on a matrix completion, as metrics write them and figures read them.

The table has more, from the paper's `quantities`. G is the loss's gradient at the end-to-end matrix W; u_r and v_r are
the singular vectors of W, of which r and s count the leading ones, as many as the setting `top` says.
"""

DIAGONAL = "diagonal"  # mean of |u_r^T G v_r| over r
OFF_DIAGONAL = "off_diagonal"  # mean of |u_r^T G v_s| over all pairs of r and s that differ
