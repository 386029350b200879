"""A worker that prefers jobs of the model it has loaded. RQ's SimpleWorker runs jobs in its own process; this one takes
the jobs of its last job's model first (`foilworks.core.jobs.queue.lane_name`).
"""

import logging
from typing import Any

from rq import Queue, SimpleWorker
from rq.exceptions import DeserializationError, InvalidJobOperation

from foilworks.core.jobs.queue import EXECUTE, QUICK, lanes_in_redis

logger = logging.getLogger(__name__)

# Max consecutive jobs of one model while others wait: a long run must not block the others.
MAX_CONSECUTIVE_JOBS = 8
# Seconds after which a sleeping worker checks for jobs of new models.
LOOK_SECONDS = 2


def is_ours(job: Any) -> bool:
    """Return whether the message is one of ours: RQ would call any function and any callback that it names.

    So a person with write access to Redis can only run our jobs again.
    """
    callbacks = (job._success_callback_name, job._failure_callback_name, job._stopped_callback_name)
    try:
        return job.func_name == EXECUTE and not any(callbacks)
    except DeserializationError:
        return False


class ModelAffinityWorker(SimpleWorker):
    """A worker for the given queues, in that order, and for the lanes of every model on them."""

    def __init__(self, queues: Any, *arguments: Any, **options: Any) -> None:
        # RQ sleeps 15 seconds less than this.
        options["worker_ttl"] = 15 + LOOK_SECONDS
        self._plain: list[Queue] = []
        self._warm, self._in_a_row = "", 0
        super().__init__(queues, *arguments, **options)

    @property
    def _ordered_queues(self) -> list[Queue]:
        """Return the queues in order; RQ calls this before every wait. For each plain queue: quick jobs, the lane of
        the loaded model, jobs without a model, then the other lanes, so that none waits forever."""
        by_plain = lanes_in_redis(self.connection, [queue.name for queue in self._plain])
        queues: list[Queue] = []
        for queue in self._plain:
            quick = [name for name in by_plain[queue.name] if name.endswith(f".{QUICK}")]
            lanes = [name for name in by_plain[queue.name] if name not in quick]
            stays = self._warm in lanes and self._in_a_row < MAX_CONSECUTIVE_JOBS
            other_lanes = [name for name in lanes if name > self._warm] + [name for name in lanes if name < self._warm]
            warm = [self._warm] if self._warm in lanes else []
            after = other_lanes if stays else [*other_lanes, *warm]
            first = [*quick, *(warm if stays else [])]
            queues += [*map(self._lane, first), queue, *map(self._lane, after)]
        return queues

    @_ordered_queues.setter
    def _ordered_queues(self, queues: list[Queue]) -> None:
        self._plain = list(queues)

    def execute_job(self, job: Any, queue: Queue) -> None:
        if not is_ours(job):
            logger.error("discarded a message of the queue that Foilworks did not send: %s", job.id)
            job.delete()
            return
        if not queue.name.endswith(f".{QUICK}"):
            self._in_a_row = self._in_a_row + 1 if queue.name == self._warm else 1
            if queue.name not in {plain_queue.name for plain_queue in self._plain}:
                self._warm = queue.name
        super().execute_job(job, queue)

    def handle_job_success(self, job: Any, queue: Queue, started_job_registry: Any) -> None:
        """End a message that was delivered twice as well: its first end has already deleted it from Redis."""
        try:
            super().handle_job_success(job, queue, started_job_registry)
        except InvalidJobOperation:
            logger.info("the message of job %s was delivered twice", job.id)
            with self.connection.pipeline() as pipeline:
                self.cleanup_execution(job, pipeline)
                pipeline.execute()

    def _lane(self, name: str) -> Queue:
        return Queue(name, connection=self.connection, serializer=self.serializer)
