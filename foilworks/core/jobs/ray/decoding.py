"""Call functions on any free processor of the cluster, for actors whose own nodes have too few of them.

    thread of an actor -> task of one CPU on any node -> bytes, through Ray's object store

Clips are decoded so. A thread waits for each task, and an actor has RAY_DECODERS such threads: a slow model holds the
others back. Ray places the tasks, and an autoscaler sees those that wait. If no processor is free for long, or the node
of a task is lost, the actor calls the function itself.
"""

import logging
import os
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)

# How long a call may wait for a processor and its result.
PATIENCE_S = 30.0
# For so long nothing is sent if nothing came back.
PAUSE_S = 60.0


def cluster() -> "Cluster | None":
    """Return the cluster of this process; None outside of an actor, or if actors decode themselves."""
    ray = sys.modules.get("ray")
    return _cluster() if settings.RAY_DECODERS and ray is not None and ray.is_initialized() else None


@lru_cache(maxsize=1)
def _cluster() -> "Cluster":
    return Cluster()


class Cluster:
    """Calls functions of modules, with text and numbers: Ray carries their names, no secret and no object of ours."""

    def __init__(self) -> None:
        self._came_at = time.monotonic()
        self._closed_until = 0.0

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what the function of a module returns, on another node or here."""
        name = f"{function.__module__}.{function.__qualname__}"
        if time.monotonic() >= self._closed_until:
            import ray
            from ray.exceptions import RayError

            try:
                task = _task().remote(name, arguments)
                ready, _ = ray.wait([task], timeout=PATIENCE_S)
                if ready:
                    reply = ray.get(task)
                    self._came_at = time.monotonic()
                    return reply
                ray.cancel(task)
                self._pause()
            except RayError as error:
                logger.warning("%s runs here: %s", name, error)
        return function(*arguments)

    def _pause(self) -> None:
        silent = time.monotonic() - self._came_at
        if silent > PATIENCE_S:
            logger.warning("no processor of the cluster answered in %.0f s; for %.0f s, all runs here", silent, PAUSE_S)
            self._closed_until = time.monotonic() + PAUSE_S


@lru_cache(maxsize=1)
def _task() -> Any:
    import ray

    return ray.remote(num_cpus=1, num_gpus=0, max_retries=1, scheduling_strategy="SPREAD")(called)


def called(name: str, arguments: tuple[Any, ...]) -> Any:
    """Call the function of this dotted name in a task, with the settings of its node: it exists only after setup."""
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "foilworks.site.settings")
    django.setup()
    return import_string(name)(*arguments)
