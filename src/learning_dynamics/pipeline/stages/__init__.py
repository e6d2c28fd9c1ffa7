"""One module for each kind of job; `learning_dynamics.cli` calls them."""
