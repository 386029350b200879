"""Declare what the rest of the product looks up by name: the jobs of LLM-teacher."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "teacher.run": "foilworks.site.teacher.jobs:run_teacher",
    "teacher.ask": "foilworks.site.teacher.jobs:ask_teacher",
    "teacher.read_release": "foilworks.site.teacher.jobs:read_release",
}
