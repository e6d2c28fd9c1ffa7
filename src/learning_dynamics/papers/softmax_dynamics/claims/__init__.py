"""What is concluded: each claim of the appendix held against the measurements."""
