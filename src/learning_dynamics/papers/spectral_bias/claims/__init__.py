"""What is concluded: each claim of the paper held against the measurements."""
