"""No regulariser emulates the trajectories."""
