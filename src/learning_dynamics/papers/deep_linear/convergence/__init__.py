"""Where descent converges."""
