"""What make.py and say.py share; like them, of 4fafc4b and of no other version."""

import inspect
from importlib import import_module
from typing import Any

from jobs.models import Job
from jobs.runner import run_now

APPS = ("annotation", "corpus", "evaluation", "foilworks", "generation", "projects")
# Nobody listens there: an attempt ends at once.
NOWHERE = "http://127.0.0.1:9/hook"
ANNOTATOR_TEXT = "a man irons a shirt."
CSV = b"id,video,caption,foil\nkept,kept.mp4,a man sits.,a man stands.\n"


def queued_jobs() -> set[str]:
    """The dotted name of every function that this version may have put on its queue."""
    found = set()
    for app in APPS:
        try:
            module = import_module(f"{app}.jobs")
        except ModuleNotFoundError:
            continue
        for name, function in inspect.getmembers(module, inspect.isfunction):
            parameters = list(inspect.signature(function).parameters)
            if function.__module__ == module.__name__ and name[0] != "_" and parameters[1:] == ["job"]:
                found.add(f"{module.__name__}.{name}")
    return found


def run_quietly(job: Job) -> Any:
    """The row as the job ended it; an error that the job raises stands in the row."""
    try:
        return run_now(job)
    except Exception as error:  # noqa: BLE001 - whatever it is, the record says that it was so
        job.refresh_from_db()
        assert job.error, error
        return job
