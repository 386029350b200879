"""Declare what the rest of the product looks up by name: the jobs of releases."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "releases.preview": "evaluation.releases.jobs:preview_release",
    "releases.freeze": "evaluation.releases.jobs:freeze_by_job",
}
