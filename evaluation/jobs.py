"""Names of jobs that were queued before 0.2.0: each room has its own jobs now. The old names work until 0.4."""

from importlib import import_module
from typing import Any

# Old name in this module -> room.
ROOMS = {
    "answer_samples": "utd",
    "build_archive": "publishing",
    "check_shortcuts": "utd",
    "compute_report": "reports",
    "count_dashboard": "dashboard",
    "describe_videos": "utd",
    "measure_bias": "utd",
    "measure_proximity": "proximity",
    "preview_import": "imports",
    "read_release": "teacher",
    "run_blind_scoring": "blind",
    "run_import": "imports",
    "run_scoring": "scoring",
    "run_teacher": "teacher",
    "score_shard": "scoring",
}


def __getattr__(name: str) -> Any:
    """Return the job of a row that names it here. AttributeError: there never was one of this name."""
    if name not in ROOMS:
        raise AttributeError(name)
    return getattr(import_module(f"evaluation.{ROOMS[name]}.jobs"), name)
