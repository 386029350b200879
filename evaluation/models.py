"""Each room of `evaluation` has its own tables, in `<room>/models.py`. Django looks for this module to make them."""
