"""Wrap the two databases, and check and create their tables."""
