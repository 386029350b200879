"""Map job names in rows of older versions to the functions that run them now.

A row keeps the name with which it was queued. The names of 0.1 work until 0.4: tests/foilworks/upgrade/ runs
each of them.
"""

from collections.abc import Callable
from typing import Any

from django.utils.module_loading import import_string

# Name before 0.3.0 -> name today.
RENAMED = {
    "evaluation.jobs.answer_samples": "evaluation.utd.jobs.answer_samples",
    "evaluation.jobs.build_archive": "evaluation.publishing.jobs.build_archive",
    "evaluation.jobs.check_shortcuts": "evaluation.utd.jobs.check_shortcuts",
    "evaluation.jobs.compute_report": "evaluation.reports.jobs.compute_report",
    "evaluation.jobs.count_dashboard": "evaluation.dashboard.jobs.count_dashboard",
    "evaluation.jobs.describe_videos": "evaluation.utd.jobs.describe_videos",
    "evaluation.jobs.measure_bias": "evaluation.utd.jobs.measure_bias",
    "evaluation.jobs.measure_proximity": "evaluation.proximity.jobs.measure_proximity",
    "evaluation.jobs.preview_import": "evaluation.imports.jobs.preview_import",
    "evaluation.jobs.read_release": "evaluation.teacher.jobs.read_release",
    "evaluation.jobs.run_blind_scoring": "evaluation.blind.jobs.run_blind_scoring",
    "evaluation.jobs.run_import": "evaluation.imports.jobs.run_import",
    "evaluation.jobs.run_scoring": "evaluation.scoring.jobs.run_scoring",
    "evaluation.jobs.run_teacher": "evaluation.teacher.jobs.run_teacher",
    "evaluation.jobs.score_shard": "evaluation.scoring.jobs.score_shard",
}


def find_job(dotted: str) -> Callable[..., Any]:
    """Find the function that a row names. ImportError: no version had a function of this name."""
    return import_string(RENAMED.get(dotted, dotted))
