"""Find the function of a job by the name in its row.

A row stores a name such as "scoring.run", which stays when code moves. Each room declares its names beside its jobs, in
`JOBS` of its `declarations.py`: name -> "module:function". So a process that only queues imports no job.
"""

from collections.abc import Callable
from typing import Any

from django.utils.module_loading import import_string

from foilworks.core.jobs.errors import JobError
from foilworks.core.jobs.names_of_0_3 import NAMES_OF_0_3, REMOVED_IN_0_4
from foilworks.core.rooms import declared


def require_job(name: str) -> None:
    """Check that a room declares the job. JobError: none does."""
    if name not in declared("JOBS"):
        raise JobError(f"'{name}' is not a job; declare it in JOBS of its room's declarations.py")


def find_job(name: str) -> Callable[..., Any]:
    """Return the function that runs a row of this name; 0.3 stored dotted names.

    JobError: no job has this name, or 0.4 removed it.
    """
    if name in REMOVED_IN_0_4:
        raise JobError(f"version 0.4 removed {REMOVED_IN_0_4[name]}; nothing is left to do for this job")
    name = NAMES_OF_0_3.get(name, name)
    require_job(name)
    function: Callable[..., Any] = import_string(declared("JOBS")[name].replace(":", "."))
    return function


def stored_names(*names: str) -> list[str]:
    """Return the names that rows of these jobs may hold: today's and those of 0.3."""
    return [*names, *(old for old, name in NAMES_OF_0_3.items() if name in names)]
