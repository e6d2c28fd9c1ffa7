"""Names of the quantities of losses and their bounds: `metrics` writes them, claims read them."""

LOG_LOSS = "log_loss"  # log L(t)
BOUND_CONSTANT = "bound_constant"  # c of D.1.1: alpha^(2L-2) lambda^(L-1) s_min(S)^2 gamma^2
ONE_POINT_BOUND_CONSTANT = "one_point_bound_constant"  # c of E.1.1: alpha^2 lambda |s|^2
SPEED = "speed"  # log(L(0) / L(t)) / t, over the rate of (62); fully connected: over twice that of H.1
ONE_POINT_SPEED = "one_point_speed"  # the same in units of the rate of (73)
