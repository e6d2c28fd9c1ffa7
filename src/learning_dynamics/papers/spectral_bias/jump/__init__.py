"""Singular values learnt one by one."""
