"""Declare what the rest of the product looks up by name: the jobs of semantic proximity."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "proximity.measure": "evaluation.proximity.jobs:measure_proximity",
}
