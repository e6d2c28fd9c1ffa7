"""Names of what the table of completions has besides the paper's `quantities`; metrics write them."""

STEPS = "steps"  # how many steps descent took until it stopped
