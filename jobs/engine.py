"""A worker that stays with the model it has loaded: RQ's SimpleWorker runs jobs in its own process, and this one takes
first what waits for the model of its last job, wherever else it may go (`jobs.queue.lane_name`).
"""

from typing import Any

from rq import Queue, SimpleWorker

from jobs.queue import lanes_in_redis

# How many jobs of one model in a row while others wait: a long run must not shut out the others.
IN_A_ROW = 8
# Seconds after which a sleeping worker looks whether there is work of a model that nobody had asked for before.
LOOK_SECONDS = 2


class Engine(SimpleWorker):
    """Listens to the plain queues it was given, in that order, and to the lanes of every model on them."""

    def __init__(self, queues: Any, *arguments: Any, **options: Any) -> None:
        # RQ sleeps for 15 seconds less than this.
        options["worker_ttl"] = 15 + LOOK_SECONDS
        self._plain: list[Queue] = []
        self._warm, self._in_a_row = "", 0
        super().__init__(queues, *arguments, **options)

    @property
    def _ordered_queues(self) -> list[Queue]:
        """What RQ looks through, first to last; it asks before every wait. Of each plain queue: the lane of the loaded
        model, what needs no model, the other lanes, so that none of them waits for ever."""
        by_plain = lanes_in_redis(self.connection, [queue.name for queue in self._plain])
        found: list[Queue] = []
        for queue in self._plain:
            lanes = by_plain[queue.name]
            stays = self._warm in lanes and self._in_a_row < IN_A_ROW
            others = [name for name in lanes if name > self._warm] + [name for name in lanes if name < self._warm]
            warm = [self._warm] if self._warm in lanes else []
            after = others if stays else [*others, *warm]
            found += [*map(self._lane, warm if stays else []), queue, *map(self._lane, after)]
        return found

    @_ordered_queues.setter
    def _ordered_queues(self, queues: list[Queue]) -> None:
        self._plain = list(queues)

    def execute_job(self, job: Any, queue: Queue) -> None:
        self._in_a_row = self._in_a_row + 1 if queue.name == self._warm else 1
        if queue.name not in {plain.name for plain in self._plain}:
            self._warm = queue.name
        super().execute_job(job, queue)

    def _lane(self, name: str) -> Queue:
        return Queue(name, connection=self.connection, serializer=self.serializer)
