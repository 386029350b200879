"""Declare what the rest of the product looks up by name: the jobs of composed items."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "choices.compose": "annotation.choices.jobs:compose_items",
}
