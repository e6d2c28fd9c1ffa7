"""What is concluded: each claim of the slides held against the measurements."""
