"""Quantities of layers and of their product, as metrics write them and claims read them."""

# Along flows; W is the product of the N layers, with the first singular vectors u_1 and v_1; distances are Frobenius
# norms
WITHOUT_FACTOR = "without_factor"  # singular values of W; predicted by the law without its factor N
OTHER_EXPONENT = "other_exponent"  # singular values of W; predicted by the law with the exponent 2 - 1/N
DIRECT = "direct"  # singular values of the end-to-end dynamics, integrated by themselves
NORM = "norm"  # ||W||_F
DIFFERENCE = "difference"  # distance of W from the end-to-end dynamics
ONE_LAYER_FEWER = "one_layer_fewer"  # distance of W from the end-to-end dynamics of depth N - 1
ORDER = "order"  # order in the step of a Runge-Kutta method with which `DIFFERENCE` falls; predicted the method's, 4
ORDER_FEWER = "order_fewer"  # the same of `ONE_LAYER_FEWER`
DRIFT = "drift"  # distance of all W_{j+1}^T W_{j+1} - W_j W_j^T together from their start
SUM_DRIFT = "sum_drift"  # the same of all W_{j+1}^T W_{j+1} + W_j W_j^T
GRAM_DRIFT = "gram_drift"  # the same of all W_j W_j^T but the last
EIGENVALUE = "eigenvalue"  # of the map from gradients to velocities; predicted from the singular values of W
EIGENVALUE_FEWER = "eigenvalue_fewer"  # the same eigenvalues; predicted for one layer fewer
EIGENVALUE_AT_SINGULAR = "eigenvalue_at_singular"  # the least eigenvalue at the nearest singular matrix
MISALIGNMENT = "misalignment"  # 1 - cos^2 between that map's first eigenvector and u_1 v_1^T
# velocity of each singular value over that at depth 1; predicted N sigma^(2 - 2/N) (slide 33); nan near the end, where
# both vanish
RATE_FACTOR = "rate_factor"

# At one matrix; no flow, and never nan
FACTOR = "factor"  # velocity of each singular value over that at depth 1; predicted N sigma^(2 - 2/N)

# From small layers; the imbalance is the largest ||W_{j+1}^T W_{j+1} - W_j W_j^T||_F over j
IMBALANCE_AT_START = "imbalance_at_start"  # at the start, over the layers' squared size at the end
IMBALANCE_AT_END = "imbalance_at_end"  # at the end, over the layers' squared size at the end
RELATIVE_IMBALANCE = "relative_imbalance"  # at the start, over the layers' squared size at the start
LAYER_GROWTH = "layer_growth"  # largest spectral norm of a layer at the end over that at the start
