"""Declare what the rest of the product looks up by name: the jobs of imports."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "imports.preview": "foilworks.site.imports.jobs:preview_import",
    "imports.store": "foilworks.site.imports.jobs:run_import",
}
