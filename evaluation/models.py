"""Exist for Django, which looks for this module. Each room of `evaluation` has its own tables, in
`<room>/models.py`."""
