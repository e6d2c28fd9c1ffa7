"""What is to be done: the configuration, read and checked, and every job that follows from it."""
