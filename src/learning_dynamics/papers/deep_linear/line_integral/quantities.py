"""Names in the table of closed curves: its quantity, and the networks of the column ``case``."""

INTEGRAL = "integral"  # of P_W vec(grad) . dW along the curve, over the integral of |P_W vec(grad) . dW|

WHITENED = "one output, whitened inputs"
CASES = (WHITENED, "one output, correlated inputs", "two outputs, whitened inputs")
