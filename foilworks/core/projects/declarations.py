"""Declare what the rest of the product looks up by name: the jobs of projects."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "projects.deliver_webhook": "foilworks.core.projects.jobs:deliver_webhook",
    "projects.mail_notifications": "foilworks.core.projects.jobs:mail_notifications",
}
