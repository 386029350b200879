"""Choosing foils so that text alone does not tell them from captions. Pure: no tables, no models."""
