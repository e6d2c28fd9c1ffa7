"""Test images and accuracy."""
