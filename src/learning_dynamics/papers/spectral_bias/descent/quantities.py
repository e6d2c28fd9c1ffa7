"""Names of what `metrics.linear_descent` measures; `metrics` writes them, claims and figures read them.

W and a are the layers of a square network with one output, trained by discrete gradient descent (appendix C.1).
R = X^T (Y - X W a), and R(0) is its first value. W', a' and R' are those after the next step, eta is the step size, and
|.| is the Frobenius norm.
"""

GRADIENT_NORM = "gradient_norm"  # |R|, over its largest value along the descent
OUTPUT_NORM = "output_norm"  # |a|, over its largest value along the descent
GRADIENT_TURNING = "gradient_turning"  # sine of the angle between R(t) and R(0)
OUTPUT_TURNING = "output_turning"  # sine of the angle between a(t) and R(0)
LAYER_TURNING = "layer_turning"  # |W - W(0) less its part along R(0) R(0)^T|, over |W - W(0)|

# distances of a' from two formulas, over the largest |a| along the descent
OUTPUT_STEP = "output_step"  # |a' - (a + eta W^T R)|
OUTPUT_STEP_PRINTED = "output_step_printed"  # |a' - (a + eta W^T a)|, as the paper has it (errata 16)
# distances of R' from three formulas, over |R(0)|
GRADIENT_STEP = "gradient_step"  # |R' - (R - eta X^T X (W W^T + |a|^2) R - eta^2 (a^T W^T R) X^T X R)|
GRADIENT_STEP_PRINTED = "gradient_step_printed"  # with a^T W R for a^T W^T R, as the paper has it (errata 16)
GRADIENT_STEP_FIRST = "gradient_step_first"  # without the term of second order in eta
