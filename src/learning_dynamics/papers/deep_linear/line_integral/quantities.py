"""Names in the table of closed curves: its quantity, and the networks of the column ``case``.

W is the end-to-end matrix, G the loss's gradient at W. P_W is the preconditioner of slide 16: balanced layers under
gradient flow move W by -P_W vec(G).
"""

# integral of P_W vec(G) . dW along the closed curve, over the integral of |P_W vec(G) . dW|; zero if P_W vec(G) is the
# gradient of a function. For `WHITENED` predicted by the closed form of the first integral (`theory.sector_integral`)
INTEGRAL = "integral"

# networks and inputs; whitened inputs have the identity for their covariance
WHITENED = "one output, whitened inputs"
CORRELATED = "one output, correlated inputs"
TWO_OUTPUTS = "two outputs, whitened inputs"
CASES = (WHITENED, CORRELATED, TWO_OUTPUTS)
