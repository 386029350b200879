"""Check the invariants that every database must satisfy (docs/workflow.md#rules): `foilworks check`.

One file per subject, one generator per invariant, one row in `registry.py`. Nothing here writes.
"""
