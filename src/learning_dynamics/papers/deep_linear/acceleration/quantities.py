"""Quantities of descent on regressions, as its metrics write them and claims read them."""

ITERATIONS = "iterations"  # to the tolerance, one row for each learning rate; empty where it was not reached
FEATURES = "features"  # number of columns of the data
STEPS = "steps"  # to the tolerance at the largest stable learning rate; empty where no rate is stable
FEWEST_STEPS = "fewest"  # to the tolerance over all rates, with those that arrive by luck; empty where none does
