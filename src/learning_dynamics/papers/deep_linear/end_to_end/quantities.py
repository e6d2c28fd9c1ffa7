"""Names of the quantities of layers and of their product: `metrics` writes them, claims and figures read them.

W = W_N ... W_1 is the product of N layers; its singular values are sigma_r, with singular vectors u_r and v_r, the
largest first. G is the loss's gradient at W. Layers are balanced if W_{j+1}^T W_{j+1} = W_j W_j^T for all j (slide 14).
The product of balanced layers obeys the end-to-end dynamics under gradient flow (slide 16),

    dW/dt = -sum_j [W W^T]^((N-j)/N) G [W^T W]^((j-1)/N),

and its singular values obey the law of slide 33, d(sigma_r)/dt = -N sigma_r^(2 - 2/N) <G, u_r v_r^T>.
"""

# Along flows of layers. A prediction "by the law" is the law's rate at the measured W, integrated over time. Distances
# are Frobenius norms.
WITHOUT_FACTOR = "without_factor"  # singular values of W; predicted by the law without its factor N
OTHER_EXPONENT = "other_exponent"  # singular values of W; predicted by the law with the exponent 2 - 1/N
DIRECT = "direct"  # singular values of the solution of the end-to-end dynamics from the first W
NORM = "norm"  # ||W||_F
DIFFERENCE = "difference"  # distance of W from the solution of the end-to-end dynamics
ONE_LAYER_FEWER = "one_layer_fewer"  # distance of W from the solution of the end-to-end dynamics with N - 1 for N
# log2 of the largest `DIFFERENCE` along the flow over that with half the step, when a Runge-Kutta method of order 4
# integrates both the layers and the dynamics in fixed steps; predicted 4
ORDER = "order"
ORDER_FEWER = "order_fewer"  # the same logarithm for `ONE_LAYER_FEWER`; nothing predicts it
# Distances from the first time: the root of the sum over j of ||A_j(t) - A_j(0)||_F^2 for the matrices A_j, which are
DRIFT = "drift"  # W_{j+1}^T W_{j+1} - W_j W_j^T, j = 1 ... N - 1; of gradient descent, only at the end
SUM_DRIFT = "sum_drift"  # W_{j+1}^T W_{j+1} + W_j W_j^T, j = 1 ... N - 1
GRAM_DRIFT = "gram_drift"  # W_j W_j^T, j = 1 ... N - 1
# Eigenvalues, the largest first, of the map from G to -dW/dt that the layers make, balanced or not (slide 17). Balanced
# layers have the eigenvalues sum_j sigma_r^(2(N-j)/N) sigma_s^(2(j-1)/N), for all r and s (slide 16); where W is not
# square, zeros are added to the singular values of its longer side
EIGENVALUE = "eigenvalue"  # predicted by that sum
EIGENVALUE_FEWER = "eigenvalue_fewer"  # the same eigenvalues; predicted by that sum with N - 1 for N
EIGENVALUE_AT_SINGULAR = "eigenvalue_at_singular"  # the least one for balanced layers of the singular matrix nearest W
MISALIGNMENT = "misalignment"  # 1 - cos^2 of the angle between the first eigenvector of that map and u_1 v_1^T
# u_r^T (dW/dt) v_r, the velocity of sigma_r, over -u_r^T G v_r, its velocity at depth 1; predicted N sigma_r^(2 - 2/N)
# (slide 33). nan where the velocity at depth 1 is too small for a ratio, as near the end of the flow
RATE_FACTOR = "rate_factor"

# Of balanced layers at one matrix W, for a random G
FACTOR = "factor"  # the same ratio of velocities as `RATE_FACTOR`, with the same prediction; never nan

# From small or identity layers. The imbalance is the largest ||W_{j+1}^T W_{j+1} - W_j W_j^T||_F over j, the layers'
# size the largest spectral norm of a layer
IMBALANCE_AT_START = "imbalance_at_start"  # imbalance at the first time, over the layers' squared size at the last
IMBALANCE_AT_END = "imbalance_at_end"  # imbalance at the last time, over the layers' squared size at the last
RELATIVE_IMBALANCE = "relative_imbalance"  # imbalance at the first time, over the layers' squared size at the first
LAYER_GROWTH = "layer_growth"  # the layers' size at the last time, over that at the first
