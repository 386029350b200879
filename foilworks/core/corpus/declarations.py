"""Declare what the rest of the product looks up by name: the jobs of videos and captions."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "corpus.prepare_videos": "foilworks.core.corpus.jobs:prepare_videos",
}
