"""Declare what the rest of the product looks up by name: the jobs of generation."""

# Name in the row of a job -> the function that a worker runs.
JOBS = {
    "generation.run": "generation.jobs:run_generation",
    "generation.answer_hint": "generation.jobs:answer_hint",
    "generation.tune": "generation.jobs:run_tuning",
    "generation.select": "generation.jobs:work_out_selection",
    "generation.preview_captions": "generation.jobs:run_caption_preview",
    "generation.make_captions": "generation.jobs:run_captions",
}
