"""Make a paper's tables and figures again from the files that are public, with the product's own steps.

One module per paper: `SOURCES`, the files it looks for, and `reproduce(sources, work, *, weights, seed) -> Result`.
"""
