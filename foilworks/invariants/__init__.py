"""Invariants that every database must satisfy (docs/workflow.md#rules), checked on the rows: `foilworks check`.

One file per subject, one generator per invariant, one row in `table.py`. Nothing here writes.
"""
