"""One folder for each paper: what it predicts, what is simulated, measured, drawn and concluded."""
