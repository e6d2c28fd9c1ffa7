"""What is simulated and trained."""
