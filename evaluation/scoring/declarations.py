"""Declare what the rest of the product looks up by name: the jobs of scoring."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "scoring.run": "evaluation.scoring.jobs:run_scoring",
    "scoring.shard": "evaluation.scoring.jobs:score_shard",
}
