"""Checks of the exports to evaluation harnesses with the released harnesses."""
