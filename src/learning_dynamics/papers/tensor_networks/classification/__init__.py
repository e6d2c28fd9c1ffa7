"""Classification in logarithmic time."""
