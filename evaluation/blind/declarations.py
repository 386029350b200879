"""Declare what the rest of the product looks up by name: the jobs of blind scoring."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "blind.score": "evaluation.blind.jobs:run_blind_scoring",
}
