"""What a person types: each module with an `execute` is one command, and a stage's is what a job does."""
