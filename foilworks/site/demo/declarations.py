"""Declare what the rest of the product looks up by name: the jobs of the sample project."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "demo.train_average": "foilworks.site.jobs:train_average",
    "demo.train_temporal": "foilworks.site.jobs:train_temporal",
}
