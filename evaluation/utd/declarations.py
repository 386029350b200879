"""Declare what the rest of the product looks up by name: the jobs of UTD."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "utd.describe": "evaluation.utd.jobs:describe_videos",
    "utd.describe_shard": "evaluation.utd.jobs:describe_shard",
    "utd.measure": "evaluation.utd.jobs:measure_bias",
    "utd.measure_shard": "evaluation.utd.jobs:measure_shard",
    "utd.check_shortcuts": "evaluation.utd.jobs:check_shortcuts",
    "utd.answer": "evaluation.utd.jobs:answer_samples",
    "utd.answer_shard": "evaluation.utd.jobs:answer_shard",
}
