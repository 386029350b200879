"""Declare what the rest of the product looks up by name (`foilworks.core.rooms.declared`)."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {"exports.tables": "foilworks.site.exports.jobs:compute_tables"}
