"""What must hold in every database whatever people did (workflow.md), asked of the rows themselves: `foilworks check`.

One file a subject, one generator an invariant, one row in `table.py`. Nothing here writes.
"""
