"""Declare what the rest of the product looks up by name: the jobs of reports."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "reports.compute": "evaluation.reports.jobs:compute_report",
    "reports.compute_figures": "evaluation.reports.jobs:compute_figures",
}
