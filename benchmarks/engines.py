"""Compare the engines, RQ and Ray: the same descriptions with 1 to 8 workers, and a long run whose engine is killed.

    .venv/bin/python benchmarks/engines.py                    a describer that waits 50 ms per text
    .venv/bin/python benchmarks/engines.py --bound processor  one that computes
    .venv/bin/python benchmarks/engines.py --long 50000       a long run on Ray: memory, and a kill of its engine

Each line of output is JSON. Rates are those of the shards' rows, from the start of the last worker to the end of the
first one, so that starts of processes do not count.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
from _served import ROOT, make_tables

WAIT_S, TEXTS_PER_WORKER, SHARDS_PER_WORKER = 0.05, 128, 8
LEASE_S, LOOK_S, FRAMES = 10, 2.0, 8
SHARDS = "evaluation.utd.jobs.describe_shard"


@contextmanager
def lab(settings: dict[str, str]) -> Iterator[dict[str, str]]:
    """Run PostgreSQL, Redis and a Ray node, and join this process to them; yield the environment of workers."""
    from tests.postgres import running_postgres
    from tests.ray_cluster import running_cluster

    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="foilworks-engines-")))
        own = {
            "FOILWORKS_HOME": str(home),
            "DATABASE_URL": stack.enter_context(running_postgres()).make("engines"),
            "DJANGO_SETTINGS_MODULE": "foilworks.settings",
            "FOILWORKS_GPU_QUOTA": "0",
            "FOILWORKS_LEASE_SECONDS": str(LEASE_S),
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(ROOT),
            **settings,
        }
        os.environ |= own
        os.environ.pop("REDIS_URL", None)
        os.environ.pop("RAY_ADDRESS", None)
        make_tables()
        from foilworks.supervisor.embedded_redis import EmbeddedRedis

        redis = EmbeddedRedis(home)
        assert redis.acquire()
        redis.start()
        stack.callback(redis.release)
        stack.callback(redis.stop)
        cluster = stack.enter_context(running_cluster({**os.environ}, 8))
        yield {**os.environ, "RAY_ADDRESS": cluster.address}


def work(engine: str, slots: int, environment: dict[str, str]) -> subprocess.Popen:
    program = str(Path(sys.executable).with_name("foilworks"))
    options = ["--ray"] if engine == "ray" else ["--cpu", "--queue", "gpu"]
    command = [program, "worker", *options, "--slots", str(slots), "--until-empty"]
    given = dict(environment)
    if engine == "rq":
        given.pop("RAY_ADDRESS")
    return subprocess.Popen(command, cwd=ROOT, env=given)


def describe(count: int, shard: int, engine: str, describer: str, frames: int, *, offset: int | None = None) -> Any:
    """Queue descriptions of new videos. They show the numbers from `offset`; without one, all are the same file."""
    import numpy as np
    from django.conf import settings

    from corpus.models import Video
    from evaluation.utd.actions.descriptions import describe_videos
    from media.encode import write_mp4
    from tests import factories
    from tests.foilworks.described_videos import painted

    settings.RAY_ADDRESS = os.environ["ENGINE_RAY"] if engine == "ray" else ""
    settings.SHARD_ITEMS = shard
    folder = Path(settings.MEDIA_ROOT)
    folder.mkdir(parents=True, exist_ok=True)
    project = factories.make_project()
    one = factories.make_video(project, key="v0", file="0.mp4", sha256="0" * 64)
    fields = {field.attname: getattr(one, field.attname) for field in Video._meta.concrete_fields if field.name != "id"}
    numbers = range(count) if offset is None else range(offset, offset + count)
    files = {number: number if offset is not None else 0 for number in numbers}
    for name in set(files.values()):
        write_mp4(folder / f"{name}.mp4", np.stack([painted(name)] * 8), fps=8)
    one.delete()
    rows = [
        Video(**{**fields, "key": f"v{number}", "file": f"{name}.mp4", "sha256": f"{name:064d}"})
        for number, name in files.items()
    ]
    Video.objects.bulk_create(rows, batch_size=5000)
    extractor = describer if describer.startswith("endpoint:") else "fake-reader:"
    made = describe_videos(None, project, describer=describer, extractor=extractor, frames=frames, device="cpu")
    return made.job


def measured(job: Any, slots: int, stage: str = "describe") -> dict[str, float]:
    """Return texts per second of a stage and the share of idle time, while all workers are at work."""
    rows = [shard for shard in job.shards.all() if shard.payload["stage"] == stage]
    assert {shard.state for shard in rows} == {"done"}, {shard.error for shard in rows}
    spans: dict[str, list[tuple[float, float, int]]] = {}
    for row in rows:
        spans.setdefault(row.worker, []).append((row.started_at.timestamp(), row.finished_at.timestamp(), row.total))
    assert len(spans) == slots, f"{len(spans)} of {slots} workers took part: give them more texts"
    begin = max(min(start for start, *_ in one) for one in spans.values())
    end = min(max(end for _, end, _ in one) for one in spans.values())
    shared = [(min(end, e) - max(begin, s), e - s, total) for one in spans.values() for s, e, total in one]
    within = [(part, part / whole * total) for part, whole, total in shared if part > 0]
    seconds, texts = end - begin, sum(texts for _, texts in within)
    idle = 1 - sum(part for part, _ in within) / slots / seconds
    return {"seconds": round(seconds, 2), "rate": round(texts / seconds, 2), "idle": idle}


def scaling(environment: dict[str, str], describer: str, workers: list[int]) -> None:
    first: dict[str, float] = {}
    rates: dict[tuple[str, int], float] = {}
    # No picture twice: an endpoint's answers are stored.
    shown = 0
    for slots in workers:
        for engine in ("rq", "ray"):
            count = TEXTS_PER_WORKER * slots
            shard = TEXTS_PER_WORKER // SHARDS_PER_WORKER
            job = describe(count, shard, engine, describer, 1, offset=shown)
            shown += count
            process = work(engine, slots, {**environment, "FOILWORKS_SHARD_ITEMS": str(shard)})
            assert process.wait(1800) == 0
            job.refresh_from_db()
            found = measured(job, slots)
            rate = rates[engine, slots] = found["rate"]
            first.setdefault(engine, rate / slots)
            share = rate / first[engine] / slots
            say(engine=engine, workers=slots, **found, load=os.getloadavg()[0], share_of_n=round(share, 3))
        say(workers=slots, ray_over_rq=round(rates["ray", slots] / rates["rq", slots], 3))


def long_run(environment: dict[str, str], videos: int) -> None:
    """Describe and extract; kill the engine with its host's processes at half, and continue."""
    from evaluation.utd.models import FrameText

    shard = 500
    job = describe(videos, shard, "ray", "fake-generator:", FRAMES)
    given = {**environment, "FOILWORKS_SHARD_ITEMS": str(shard)}
    process, killed, began = work("ray", 2, given), False, time.monotonic()
    while process.poll() is None or not killed:
        time.sleep(LOOK_S)
        job.refresh_from_db()
        say(seconds=round(time.monotonic() - began), done=job.done, total=job.total, **memory())
        if not killed and job.done > videos * FRAMES // 2:
            tree = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
            for each in tree:
                each.send_signal(signal.SIGKILL)
            process.wait()
            killed, process = True, work("ray", 2, given)
            say(killed=True)
    job.refresh_from_db()
    rows = FrameText.objects.filter(descriptions__job=job)
    distinct = rows.values("video", "place").distinct().count()
    attempts = sorted({shard.attempts for shard in job.shards.all()})
    say(state=job.state, rows=rows.count(), distinct=distinct, wanted=videos * FRAMES, attempts=attempts)


def memory() -> dict[str, float]:
    """Return the largest resident memory of an actor and of the engine, in MB."""
    found = {"actor": 0.0, "engine": 0.0}
    for process in psutil.process_iter(["cmdline", "memory_info"]):
        said = " ".join(process.info["cmdline"] or [])
        kind = "actor" if said.startswith("ray::JobActor") else "engine" if "supervisor.ray_worker" in said else ""
        if kind and process.info["memory_info"]:
            found[kind] = max(found[kind], round(process.info["memory_info"].rss / 1e6))
    return found


def say(**found: Any) -> None:
    print(json.dumps({name: round(value, 3) if isinstance(value, float) else value for name, value in found.items()}))
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--workers", default="1,2,4,8", help="numbers of workers")
    parser.add_argument("--bound", choices=("wait", "processor"), default="wait", help="what a text takes")
    parser.add_argument("--long", type=int, default=0, metavar="VIDEOS", help="a long run instead")
    options = parser.parse_args()
    if options.long:
        with lab({}) as environment:
            os.environ["ENGINE_RAY"] = environment["RAY_ADDRESS"]
            long_run(environment, options.long)
        return
    from tests.hub.chat_server import Said, chat_server, content, pictures_of

    def answer(body: dict, n: int) -> Any:
        # The extractor's questions have no picture, and no wait.
        return Said(content("1. a ball").body, wait=WAIT_S if pictures_of(body) else 0.0)

    with chat_server(answer) as server:
        chat = {"ENDPOINTS": "lab", "LAB_URL": server.url, "LAB_MODELS": "tiny", "LAB_IN_FLIGHT": "1"}
        with lab({f"CHAT_{name}": value for name, value in chat.items()}) as environment:
            os.environ["ENGINE_RAY"] = environment["RAY_ADDRESS"]
            describer = "endpoint:lab/tiny" if options.bound == "wait" else "fake-generator:"
            scaling(environment, describer, [int(number) for number in options.workers.split(",")])


if __name__ == "__main__":
    main()
