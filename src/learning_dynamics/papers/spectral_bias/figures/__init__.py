"""What is drawn: figures from the metrics tables alone."""
