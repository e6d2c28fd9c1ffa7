"""Names of the quantities of losses and their bounds: `metrics` writes them, claims read them."""

LOG_LOSS = "log_loss"
CONSTANT = "constant"  # c of the bound of D.1.1
ONE_POINT_CONSTANT = "constant_one"  # c of the bound of E.1.1
SPEED = "speed"  # log(L(0) / L(t)) / t, over the rate of (62); fully connected: over twice that of H.1
ONE_POINT_SPEED = "speed_one"  # the same in units of the rate of (73)
