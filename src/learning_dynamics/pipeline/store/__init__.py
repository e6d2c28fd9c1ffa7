"""What is on disk: arrays, tables and pictures that say what made them, and whether they are whole."""
