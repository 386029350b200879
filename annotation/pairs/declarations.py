"""Declare what the rest of the product looks up by name: the jobs of items of two clips."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "pairs.add_natural": "annotation.pairs.jobs:add_natural_pairs",
    "pairs.add_reversals": "annotation.pairs.jobs:add_reversals",
    "pairs.add_orders": "annotation.pairs.jobs:add_orders",
}
