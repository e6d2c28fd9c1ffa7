"""The process that noise alone drives."""
