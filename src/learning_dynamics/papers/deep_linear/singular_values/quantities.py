"""Quantities along descent on a matrix completion, as metrics write them and figures read them; others in the paper's.

U and V are the leading singular vectors of the end-to-end matrix W.
"""

DIAGONAL = "diagonal"  # mean of |u_r^T grad v_r| over r
OFF_DIAGONAL = "off_diagonal"  # mean of |u_r^T grad v_s| over r and s that differ
