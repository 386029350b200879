"""Declare what the rest of the product looks up by name: the jobs of annotation."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "annotation.estimate_skill": "annotation.jobs:estimate_skill",
    "annotation.extract_nouns": "annotation.jobs:nouns_of_captions",
    "annotation.extract_frames": "annotation.jobs:pictures_of_frames",
}
