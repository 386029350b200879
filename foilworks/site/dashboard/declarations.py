"""Declare what the rest of the product looks up by name: the jobs of a project's overview."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "dashboard.count": "foilworks.site.dashboard.jobs:count_dashboard",
}
