"""Names of what `metrics.linear_descent` measures; `metrics` writes them, claims and figures read them.

R = X^T (Y - X W a); W', a' and R' are those of the next step, eta the step size, |.| the Frobenius norm (appendix C.1).
"""

GRADIENT_NORM = "gradient_norm"  # |R|, over its largest
OUTPUT_NORM = "output_norm"  # |a|, over its largest
GRADIENT_TURNING = "gradient_turning"  # sine of the angle between R(t) and R(0)
OUTPUT_TURNING = "output_turning"  # sine of the angle between a(t) and R(0)
LAYER_TURNING = "layer_turning"  # part of W - W(0) off R(0) R(0)^T, over |W - W(0)|

# over the largest |a|
OUTPUT_STEP = "output_step"  # |a' - (a + eta W^T R)|
OUTPUT_STEP_PRINTED = "output_step_printed"  # |a' - (a + eta W^T a)|, as the paper has it (errata 16)
# over |R(0)|
GRADIENT_STEP = "gradient_step"  # |R' - (R - eta X^T X (W W^T + |a|^2) R - eta^2 (a^T W^T R) X^T X R)|
GRADIENT_STEP_PRINTED = "gradient_step_printed"  # the same with a^T W R, as the paper has it (errata 16)
GRADIENT_STEP_FIRST = "gradient_step_first"  # the same without the term of second order
