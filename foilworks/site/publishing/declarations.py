"""Declare what the rest of the product looks up by name: the jobs of public pages."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "publishing.build_archive": "foilworks.site.publishing.jobs:build_archive",
    "publishing.build_folder": "foilworks.site.publishing.jobs:build_folder",
}
