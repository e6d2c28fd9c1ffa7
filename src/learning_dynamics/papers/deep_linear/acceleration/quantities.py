"""Quantities of descent on regressions, as its metrics write them and claims read them."""

# the first iteration with loss <= (1 + tolerance) * least loss; one row for each learning rate; empty where none has
ITERATIONS = "iterations"
FEATURES = "features"  # number of columns of the data, which tells the data sets apart
GAS_SENSOR = "gas sensor"
DATA_SETS = {3: "linnerud", 4: "iris", 10: "diabetes", 13: "wine", 128: GAS_SENSOR}  # by their number of features
STEPS = "steps"  # to the tolerance at the largest stable learning rate; empty where no rate is stable
FEWEST_STEPS = "fewest_steps"  # to the tolerance over all rates, with those that arrive by luck; empty where none does
