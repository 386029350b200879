"""A real Redis, empty for each test, as `foilworks up` would run it."""

import os
import signal
import time
from collections.abc import Iterator

import pytest
from django.conf import settings
from django_rq import get_worker
from rq import SimpleWorker

from foilworks.site.supervisor.embedded_redis import EmbeddedRedis, client_of


class Guest(SimpleWorker):
    """A worker that leaves the signal handlers of its process as they are: they would outlive it."""

    def _install_signal_handlers(self) -> None:
        pass


class RedisServer(EmbeddedRedis):
    """The product's server, with the accidents that tests need."""

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        while self.is_alive():
            time.sleep(0.01)

    def wait_for_the_disk(self) -> None:
        """Until all that was written to the append-only file so far is on the disk."""
        client = client_of(self.home)
        while client.info("persistence")["aof_pending_bio_fsync"]:
            time.sleep(0.01)
        time.sleep(1.1)
        client.close()

    def worker(self) -> SimpleWorker:
        """A worker in this process; it ends with the queue (`burst`)."""
        return get_worker("default", "gpu", worker_class=Guest, serializer="rq.serializers.JSONSerializer")


@pytest.fixture(scope="package")
def _one_redis() -> Iterator[RedisServer]:
    server = RedisServer(settings.FOILWORKS_HOME)
    assert server.acquire()
    server.start()
    yield server
    server.stop()
    server.release()


@pytest.fixture
def redis_server(_one_redis: RedisServer) -> RedisServer:
    if not _one_redis.is_alive():
        _one_redis.start()
    client = client_of(_one_redis.home)
    client.flushall()
    client.close()
    return _one_redis
