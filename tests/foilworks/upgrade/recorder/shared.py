"""What install.py and answers.py share; like them, of cc592f35 and of no other version."""

import inspect
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from jobs.models import Job
from jobs.runner import run_now

APPS = ("annotation", "corpus", "evaluation", "foilworks", "generation", "projects")
# Nobody listens there: an attempt ends at once.
NOWHERE = "http://127.0.0.1:9/hook"
ANNOTATOR_TEXT = "a man irons a shirt."
CSV = b"id,video,caption,foil\nstored,stored.mp4,a man sits.,a man stands.\n"


def queued_jobs() -> set[str]:
    """Return the dotted name of every function that this version may put on its queue."""
    return {
        f"{module.__name__}.{name}"
        for module in job_modules()
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and name[0] != "_" and takes_a_job(function)
    }


def job_modules() -> list[ModuleType]:
    """Return `jobs` of every app and of every room of an app."""
    names = {
        module.name
        for app in APPS
        for module in walk_packages(import_module(app).__path__, f"{app}.", onerror=lambda _name: None)
    }
    return [import_module(name) for name in sorted(names) if name.endswith(".jobs")]


def takes_a_job(function: object) -> bool:
    return list(inspect.signature(function).parameters)[1:] == ["job"]


def run_quietly(job: Job) -> None:
    """Run the job. The row has its error, if it raises one."""
    try:
        run_now(job)
    except Exception as error:  # noqa: BLE001 - whatever it is, the record contains it
        job.refresh_from_db()
        assert job.error, error
    job.refresh_from_db()
